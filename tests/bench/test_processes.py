"""What the benchmark reads about processes, of some that it starts."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from bench import processes
from bench.burn import burn

pytestmark = pytest.mark.slow

# Two children, the first of which has a child; each waits until its parent is gone.
FAMILY = """
import os, sys
reader, writer = os.pipe()
def child(and_then):
    if os.fork() == 0:
        os.close(writer)
        and_then()
        os.write(1, b".")
        os.read(reader, 1)
        os._exit(0)
child(lambda: os.fork() or (os.write(1, b"."), os.read(reader, 1), os._exit(0)))
child(lambda: None)
sys.stdin.read()
"""


@pytest.fixture
def family():
    """Return the process of three that are all there."""
    with subprocess.Popen(
        [sys.executable, "-c", FAMILY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read(3) == b"..."
        yield process
        assert process.stdin is not None
        process.stdin.close()


def test_generations_are_told_apart(family):
    children, grandchildren = processes.generations(family.pid)

    assert [family.pid] * 2 == [one.parent for one in children]
    assert [children[0].pid] == [one.parent for one in grandchildren]


def test_the_memory_of_the_whole_tree_counts_and_what_is_shared_counts_once(family):
    everybody = processes.memory_bytes(family.pid)
    alone = processes.memory_bytes(processes.generations(family.pid)[1][0].pid)

    assert 0 < alone < everybody < 4 * 50_000_000


@pytest.mark.parametrize("where", ["here", "in a thread", "in a child"])
def test_the_processor_time_of_a_process_is_that_of_its_threads(where):
    program = [sys.executable, "-c", "from bench.burn import burn; burn(200)"]
    with ThreadPoolExecutor(1) as executor:  # its thread lives until all is read
        before = processes.own_seconds(os.getpid())
        if where == "here":
            burn(200)
        elif where == "in a thread":
            executor.submit(burn, 200).result()
        else:
            subprocess.run(program, check=True)
        spent = processes.own_seconds(os.getpid()) - before

    assert (spent > 0.19) == (where != "in a child")


def test_a_process_that_is_gone_has_neither():
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass

    assert processes.generations(process.pid) == []
    assert processes.memory_bytes(process.pid) == 0

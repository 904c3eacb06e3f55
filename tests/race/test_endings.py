"""The end: whatever the workers are doing, no process outlives the program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.engine import Gate, Tally, running
from tests.processes import children_of, gone

ROOT = Path(__file__).parents[2]

PROGRAM = """
import os, sys, time
from tests.engine import running

def note(path):
    with open(path, "a") as file:
        file.write(f"{os.getpid()}\\n")

def busy(path):
    note(path)
    while True:
        pass

def blocked(path):
    note(path)
    time.sleep(1000)

with running("processes", 3) as engine:
    for function in (busy, blocked):
        engine.submit(function, sys.argv[1])
    engine.run(note, sys.argv[1])
    engine.until(lambda: len(open(sys.argv[1]).readlines()) == 3)
    print(engine.crew.spawner.pid, flush=True)
    engine.until(lambda: False)
"""


@pytest.mark.slow
@pytest.mark.parametrize("stopped", [False, True])
def test_no_child_survives_a_program_that_is_killed(tmp_path, stopped):
    # GIVEN a program with a busy, a blocked and an idle worker
    pids_file = tmp_path / "pids"
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(pids_file)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None
        spawner = int(program.stdout.readline())
        workers = [int(line) for line in pids_file.read_text().split()]
        assert 4 == len({spawner, *workers})
        if stopped:
            os.kill(workers[0], signal.SIGSTOP)

        # WHEN
        program.kill()

        # THEN
        deadline = time.monotonic() + 10
        while not all(map(gone, [spawner, *workers])):
            assert time.monotonic() < deadline
            time.sleep(0.005)


def wait_at(tally, gate):
    tally.mark()
    gate.wait()


@pytest.mark.slow
@pytest.mark.parametrize("stopped", [False, True])
def test_closing_ends_workers_in_mid_call(tmp_path, stopped):
    # GIVEN
    before = children_of("self")
    tally, gate = Tally(tmp_path / "tally"), Gate(tmp_path / "gate")
    with running("processes") as engine:
        result = engine.submit(wait_at, tally, gate)
        engine.until(lambda: tally.count == 1)
        if stopped:
            os.kill(tally.pids[0], signal.SIGSTOP)

        # WHEN
        engine.dispatcher.close()

        # THEN
        assert gone(tally.pids[0])
        assert before == children_of("self")
        assert "TxClosedError" == type(result.error).__name__


def test_closing_ends_idle_workers_at_once(tmp_path):
    # GIVEN
    before = children_of("self")
    with running("processes") as engine:
        pids = engine.ask_all_workers(os.getpid, tmp_path)

        # WHEN
        engine.dispatcher.close()

    # THEN
    assert [True, True] == [gone(pid) for pid in pids]
    assert before == children_of("self")


def test_closing_works_where_the_program_reaps_its_children_itself(tmp_path):
    # GIVEN
    with running("processes") as engine:
        pids = engine.ask_all_workers(os.getpid, tmp_path)
        spawner = engine.crew.spawner
        assert spawner is not None
        os.kill(spawner.pid, signal.SIGKILL)
        os.waitpid(spawner.pid, 0)

    # THEN the workers see the end of their connections
    deadline = time.monotonic() + 10
    while not all(map(gone, pids)):
        assert time.monotonic() < deadline
        time.sleep(0.005)


SIGNALLED = """
import os, signal, sys
from tests.engine import running

with running("processes") as engine:
    engine.run(int)
    pids = [one.pid for one in engine.processes._workers]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
        os.killpg(0, number)
    print(engine.run(os.getpid) in pids, flush=True)
"""


@pytest.mark.slow
def test_signals_to_the_whole_group_are_the_loops_business():
    """Ctrl-C in a terminal reaches every process of the program."""
    # WHEN
    run = subprocess.run(
        [sys.executable, "-c", SIGNALLED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        start_new_session=True,
    )

    # THEN
    assert ("True\n", "", 0) == (run.stdout, run.stderr, run.returncode)


PRINTING = """
import atexit, sys
from tests.engine import running

def speak(word):
    print("printed", word)
    print("complained", word, file=sys.stderr)

atexit.register(print, "the end")
print("buffered before the fork")
with running("processes") as engine:
    for word in ("one", "two"):
        engine.run(speak, word)
"""


@pytest.mark.slow
def test_what_workers_print_comes_out_once():
    # WHEN
    run = subprocess.run(
        [sys.executable, "-c", PRINTING], cwd=ROOT, capture_output=True, text=True
    )

    # THEN
    first, *printed, last = run.stdout.splitlines()
    assert ("buffered before the fork", "the end") == (first, last)
    assert ["printed one", "printed two"] == sorted(printed)
    assert ["complained one", "complained two"] == run.stderr.splitlines()


def test_a_process_that_the_program_forked_later_holds_up_no_end(tmp_path):
    """It has inherited the ends of all connections, and lives on."""
    with running("processes", 2) as engine:
        # GIVEN
        pids = engine.ask_all_workers(os.getpid, tmp_path)
        child = os.fork()
        if child == 0:
            signal.pause()
            os._exit(0)
        try:
            # WHEN
            engine.dispatcher.close()

            # THEN
            assert [True, True] == [gone(pid) for pid in pids]
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

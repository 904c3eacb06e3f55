"""Whole programs on a cluster: a server, two at a time, and without Dask."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import urllib.request
from typing import TYPE_CHECKING

import pytest

from tests.examples import running_example
from txloop.errors import TxConfigurationError
from txloop.executors.protocol import executor_named

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.timeout(150)]

PROGRAM = """
import asyncio
import os
import sys
import time

import txloop
from txloop import TDict
from helper import STEP

accounts = TDict(n=int(sys.argv[1]))


class Refused(Exception):
    pass


def add():
    time.sleep(0.01)  # too long to run here
    accounts["n"] += STEP
    if accounts["n"] < 0:
        raise Refused(accounts["n"])
    return os.getpid(), accounts["n"]


async def main():
    for _ in range(20):
        pid, n = await txloop.atomically(add)
        assert pid != os.getpid()
        print(n, flush=True)
        sys.stdin.readline()
    accounts["n"] = -100
    try:
        await txloop.atomically(add)
    except Refused as error:
        print(error)


if __name__ == "__main__":
    txloop.install(executor="dask")
    asyncio.run(main())
"""


def start(folder: Path, begin: int, step: int, address: str) -> subprocess.Popen[str]:
    """Start a program whose modules no Dask worker can import."""
    folder.mkdir()
    (folder / "program.py").write_text(PROGRAM)
    (folder / "helper.py").write_text(f"STEP = {step}\n")
    return subprocess.Popen(
        [sys.executable, str(folder / "program.py"), str(begin)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "DASK_SCHEDULER_ADDRESS": address},
    )


def test_two_programs_on_one_cluster_do_not_meet(machines, tmp_path):
    # GIVEN
    machines.add(threads=2)
    said: list[list[str]] = [[], []]
    with (
        start(tmp_path / "one", 0, 1, machines.address) as one,
        start(tmp_path / "two", 1000, 10, machines.address) as two,
    ):
        # WHEN they run in turn
        for _ in range(20):
            for program, lines in zip((one, two), said, strict=True):
                assert program.stdout is not None
                assert program.stdin is not None
                lines.append(program.stdout.readline().strip())
                program.stdin.write("\n")
                program.stdin.flush()
        ends = [program.communicate()[0].strip() for program in (one, two)]

    # THEN
    counted = range(1, 21), range(1010, 1201, 10)
    assert [[str(n) for n in one] for one in counted] == said
    assert ["-99", "-90"] == ends


MODULE = """
import asyncio, os, time, txloop

def where():
    time.sleep(0.01)  # too long to run here
    return os.getpid()

async def main():
    print(await txloop.atomically(where) != os.getpid())

if __name__ == "__main__":
    txloop.install(executor="dask")
    asyncio.run(main())
"""


def test_a_module_of_a_package_without_a_file_runs_there(machines, tmp_path):
    # GIVEN
    machines.add()
    (tmp_path / "shop" / "pages").mkdir(parents=True)
    (tmp_path / "shop" / "__init__.py").touch()
    (tmp_path / "shop" / "pages" / "main.py").write_text(MODULE)

    # WHEN
    said = subprocess.check_output(
        [sys.executable, "-m", "shop.pages.main"],
        text=True,
        cwd=tmp_path,
        env={**os.environ, "DASK_SCHEDULER_ADDRESS": machines.address},
    )

    # THEN
    assert "True" == said.strip()


def test_a_server_answers_from_there(machines, monkeypatch):
    machines.add(threads=2)
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", machines.address)
    with running_example("primes.py", "--executor", "dask") as (process, line):
        url = line.split()[3]
        answers = [
            urllib.request.urlopen(f"{url}/3000", timeout=60).read() for _ in range(3)
        ]
        process.terminate()
        told = process.communicate()[0]

    assert "executor dask" in line + told
    assert 1 == len(set(answers))


def test_importing_txloop_does_not_import_dask():
    proof = "import sys, txloop; print([n for n in sys.modules if 'distributed' in n])"

    said = subprocess.check_output([sys.executable, "-c", proof], text=True)

    assert "[]" == said.strip()


def test_without_dask_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    with pytest.raises(TxConfigurationError, match=r"pip install 'txloop\[dask\]'"):
        executor_named("dask")

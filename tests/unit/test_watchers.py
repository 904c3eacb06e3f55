"""The checks around every test bite: a small run of bad tests, each caught."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.logs import expect_log

ROOT = Path(__file__).parents[2]

BAD_TESTS = """
import logging, os, subprocess, sys, time
import pytest
from tests.logs import expect_log

kept = []

def sleep():
    return os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "60")

def test_leaves_a_file():
    kept.append(open(__file__))

def test_leaves_a_process():
    sleep()

def test_leaves_a_zombie():
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)

def test_leaves_a_grandchild():
    pid = os.fork()
    if not pid:
        sleep()
        os._exit(0)
    os.waitpid(pid, 0)

@pytest.mark.leaks_ok("the test of the marker")
def test_may_leave_a_file():
    kept.append(open(__file__))

def test_lets_a_warning_out():
    logging.getLogger("txloop.web").warning("surprise")

def test_leaves_nothing():
    with open(__file__):
        subprocess.run(["true"])
    logging.getLogger("txloop").info("fine")
    logging.getLogger("elsewhere").warning("not ours")
    with expect_log("txloop", "announced"):
        logging.getLogger("txloop.web").warning("announced")
"""


@pytest.mark.slow
def test_every_bad_test_is_caught(tmp_path: Path) -> None:
    # GIVEN
    (tmp_path / "test_bad.py").write_text(BAD_TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  leaks_ok(reason): x\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.leaks", "-p", "tests.logs"]

    # WHEN
    run = subprocess.run(
        [*command, "-rE", "--tb=no", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTHONWARNINGS": "ignore",
            "TXLOOP_TEST_GRACE_SECONDS": "1",
        },
        capture_output=True,
        text=True,
    )

    # THEN
    caught = sorted(
        line.partition("::")[2].partition(" ")[0]
        for line in run.stdout.splitlines()
        if line.startswith("ERROR ")
    )
    assert [
        "test_leaves_a_file",
        "test_leaves_a_grandchild",
        "test_leaves_a_process",
        "test_leaves_a_zombie",
        "test_lets_a_warning_out",
    ] == caught, run.stdout


def test_an_announced_record_that_does_not_come_is_a_failure() -> None:
    with (
        pytest.raises(pytest.fail.Exception, match="1 log record"),
        expect_log("txloop", "missing"),
    ):
        pass


def test_an_announced_record_that_comes_twice_is_a_failure() -> None:
    def warn_twice() -> None:
        with expect_log("txloop", "twice"):
            logging.getLogger("txloop").warning("twice")
            logging.getLogger("txloop").warning("twice")

    with pytest.raises(pytest.fail.Exception, match="2 came"):
        warn_twice()

"""`breakpoint()` and the titles of processes, where there is no terminal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.logs import expect_log
from txloop.executors.debugging import have_no_terminal
from txloop.stm.threads import gil_enabled

PASSED_OVER = (
    r"^breakpoint\(\) at .*test_debugging\.py:\d+ was passed over: this process \(\d+\)"
    r" has no terminal; 'txloop --debug app.py' runs everything on yours$"
)


def stop_here() -> str:
    breakpoint()
    return "went on"


@pytest.fixture
def plain_hook(monkeypatch):
    """Undo what pytest sets, as in a program."""
    monkeypatch.setattr(sys, "breakpointhook", sys.__breakpointhook__)
    monkeypatch.delenv("PYTHONBREAKPOINT", raising=False)


@pytest.mark.usefixtures("plain_hook")
@pytest.mark.skipif(not gil_enabled(), reason="workers are threads")
def test_in_a_worker_it_says_so_and_goes_on(engine, tmp_path):
    with expect_log("txloop", PASSED_OVER):
        value = engine.run(stop_here)

    assert "went on" == value


@pytest.mark.usefixtures("plain_hook")
def test_a_chosen_debugger_is_left_alone(monkeypatch):
    monkeypatch.setenv("PYTHONBREAKPOINT", "web_pdb.set_trace")

    have_no_terminal()

    assert sys.breakpointhook is sys.__breakpointhook__


PROGRAM = """\
import os, txloop
from tornado.ioloop import IOLoop

@txloop.transactional
def body():
    where = os.getpid() == {owner}
    breakpoint()
    print("after", where)
    IOLoop.current().stop()

IOLoop.current().add_callback(body)
IOLoop.current().start()
"""


@pytest.mark.parametrize("install", ["", "txloop.install('processes')\n"])
def test_with_debug_it_opens_on_the_terminal(tmp_path, install):
    """Also where the program says itself how it runs."""
    program = tmp_path / "app.py"
    text = PROGRAM.replace("{owner}", "os.getpid()")
    begin = "IOLoop.current().add_callback"
    program.write_text(text.replace(begin, f"{install}{begin}"))
    root = Path(__file__).parents[2]

    ended = subprocess.run(
        [sys.executable, "-m", "txloop", "--debug", str(program)],
        input="p 6 * 7\nc\n",
        capture_output=True,
        text=True,
        check=False,
        cwd=root,
    )

    assert "42" in ended.stdout, ended.stderr
    assert "after True" in ended.stdout

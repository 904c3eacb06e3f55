"""A program that a warm process forks sees what it would see if Python had begun."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests import warm
from tests.processes import children_of

SHOW = """
import os, signal, sys, threading
from pathlib import Path

def function():
    pass

main = sys.modules["__main__"]
loader = type(globals()["__loader__"]).__name__, getattr(__loader__, "name", None)
own = {"__loader__", "__builtins__", "function", "main", "loader", "own"}
print({name: str(vars(main)[name]) for name in sorted(vars(main).keys() - own)})
print(loader, globals() is vars(main), function.__code__.co_filename)
print(sys.argv, sys.path, sys.orig_argv, os.getcwd(), sorted(os.environ.items()))
print(sys.flags, sys.warnoptions, sys.stdin, sys.stdout, sys.stderr)
print([each for each in signal.Signals if signal.getsignal(each) != signal.SIG_DFL])
print(signal.getsignal(signal.SIGINT), sorted(os.listdir("/proc/self/fd")))
print(threading.main_thread().native_id == os.getpid(), threading.active_count())
print(sys.stdin.read(), os.getsid(0) == os.getpid())
"""
TXLOOP = """
import txloop
from txloop.loop import closing
from txloop.stmlog import process_log
print(closing._imported_by == process_log._MAIN == os.getpid())
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="there are no warm processes"),
]


def told(kind, folder, *words, **options):
    """Return a program's exit code, and what it printed."""
    with kind(
        [sys.executable, *words],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    ) as process:
        output, errors = process.communicate("given", timeout=40)
    return process.returncode, output, errors


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app.py").write_text(SHOW)
    (tmp_path / "both.py").write_text(SHOW + TXLOOP)
    (tmp_path / "link.py").symlink_to("app.py")
    return tmp_path


@pytest.mark.parametrize("session", [False, True])
@pytest.mark.parametrize(
    "words",
    [
        ["app.py", "an argument", "-x"],
        ["link.py"],
        ["both.py"],
        ["-m", "txloop", "--workers", "2", "app.py", "8888"],
    ],
)
def test_it_sees_the_same(words, session, folder):
    # GIVEN
    paths = os.pathsep.join([".", str(warm.ROOT)])
    given = {"PYTHONPATH": paths, "TXLOOP_SIGNALS": "0", "HERE": "é"}
    environment = {**os.environ, **given}
    options = {"env": environment, "start_new_session": session}

    # WHEN
    begun = told(subprocess.Popen, folder, *words, **options)
    forked = told(warm.Popen, folder, *words, **options)

    # THEN
    assert (0, "") == (begun[0], begun[2])
    assert begun == forked


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("raise SystemExit(3)", 3),
        ("1 / 0", 1),
        ("import atexit; atexit.register(print, 'ends')", 0),
        ("import os; os.abort()", -signal.SIGABRT),
        ("raise KeyboardInterrupt", -signal.SIGINT),
    ],
)
def test_it_ends_the_same(source, code, tmp_path):
    (tmp_path / "app.py").write_text(source)

    begun = told(subprocess.Popen, tmp_path, "app.py")
    forked = told(warm.Popen, tmp_path, "app.py")

    assert code == begun[0]
    assert begun[:2] == forked[:2]
    assert begun[2].splitlines()[-1:] == forked[2].splitlines()[-1:]


def test_it_is_a_child_of_this_process_as_any_other(tmp_path):
    (tmp_path / "app.py").write_text(
        "import time; print(1, flush=True); time.sleep(60)"
    )

    with warm.Popen(
        [sys.executable, "app.py"], cwd=tmp_path, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        here = children_of("self")
        running = process.poll()
        process.send_signal(signal.SIGTERM)

    assert process.pid in here
    assert warm.processes() <= here
    assert (None, -signal.SIGTERM) == (running, process.returncode)


def test_what_is_no_program_starts_python():
    ready = warm.processes()

    done = warm.run(
        [sys.executable, "-c", "import os; print(os.getppid())"], capture_output=True
    )

    assert ready == warm.processes()
    assert os.getpid() == int(done.stdout)

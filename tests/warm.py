"""Programs started as forks of a process that has imported what they import first.

``warm.Popen`` and ``warm.run`` are those of ``subprocess``. Most of the time that
``python app.py`` or ``python -m txloop app.py`` takes to start is for Python, Tornado
and txloop: a process that has them ready forks such programs (`warm_process`). There is
one for each set of modules, and of variables but for those that are read later. In the
fork, variables, files and folder are as asked for, and the program is `__main__`.
What starts Python in another way (`-c`, `preexec_fn` ...) starts it.

A program becomes a child of the process that asks, which adopts orphans; so `Popen`
waits for it as ever. On Linux only.
"""

from __future__ import annotations

import atexit
import ctypes
import inspect
import json
import os
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Popen", "adopt_orphans", "descriptors", "processes", "run"]

ROOT = Path(__file__).parents[1]
PROCESS = ROOT / "tests/warm_process.py"

PR_SET_CHILD_SUBREAPER = 36

LATER = ("TXLOOP_", "PYPYSTM", "SHAPES_")
"""How the names of variables begin that nothing asks for while it is imported."""

MODULES = {
    "txloop": ("txloop", "txloop.check", "txloop.sharing"),
    "tests.shapes.server": ("txloop",),
    "tests.where_it_ran": ("txloop",),
    "pytest": ("pytest", "hypothesis", "txloop"),
}
"""What modules import that are programs, whatever else they do."""

_FIRST = re.compile(rb"^\s*(?:import|from) txloop\b", re.MULTILINE)
_OPTIONS = [*inspect.signature(subprocess.Popen._execute_child).parameters][1:]  # type: ignore[attr-defined] # not public
_PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
_OTHERS = ("preexec_fn", "pass_fds", "shell", "gid", "gids", "uid", "process_group")

_warm: dict[tuple[object, ...], _Warm] = {}
_lock = threading.Lock()


def adopt_orphans() -> None:
    """Become the parent of each descendant whose own parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def processes() -> set[int]:
    """Return those that are ready, which stay until this one ends."""
    return {one.process.pid for one in _warm.values()}


def descriptors() -> set[int]:
    """Return those that lead to these processes."""
    return {one.channel.fileno() for one in _warm.values()}


class Popen(subprocess.Popen):  # type: ignore[type-arg] # as the annotation says
    """A program that runs, forked where that makes no difference."""

    def _execute_child(self, *given: Any) -> None:
        asked = dict(zip(_OPTIONS, given, strict=True))
        words, folder = list(map(os.fspath, asked["args"])), asked["cwd"] or os.getcwd()
        modules = _imported_first(words, folder)
        if not modules or any(
            asked.get(one) not in (None, False, -1, ()) for one in _OTHERS
        ):
            super()._execute_child(*given)  # type: ignore[misc] # not public
            return
        environment = dict(os.environ if asked["env"] is None else asked["env"])
        at_start = {k: v for k, v in environment.items() if not k.startswith(LATER)}
        if "PYTHONPATH" in at_start:
            paths = at_start["PYTHONPATH"].split(os.pathsep)
            absolute = (os.path.join(folder, path) for path in paths)
            at_start["PYTHONPATH"] = os.pathsep.join(absolute)
        ends = [asked[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        files = [number if end == -1 else end for number, end in enumerate(ends)]
        request = words, os.fspath(folder), environment, asked["start_new_session"]
        key = (os.getpid(), modules, *sorted(at_start.items()))
        with _lock:
            if key not in _warm:
                _warm[key] = _Warm(modules, at_start)
            self.pid = _warm[key].fork(request, files)
        self._child_created = True
        self._close_pipe_fds(*(asked[name] for name in _PIPES))  # type: ignore[attr-defined] # not public


def run(
    command: Sequence[Any],
    *,
    capture_output: bool = False,
    check: bool = False,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """Run a program to its end, as `subprocess.run` does."""
    timeout = options.pop("timeout", None)
    if capture_output:
        options["stdout"] = options["stderr"] = subprocess.PIPE
    with Popen(command, **options) as process:
        try:
            told = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    ended = subprocess.CompletedProcess(command, process.returncode, *told)
    if check:
        ended.check_returncode()
    return ended


def _imported_first(words: list[str], folder: str) -> tuple[str, ...]:
    """Return the modules that a program imports in any case; none if not known."""
    if sys.platform != "linux" or words[0] != sys.executable or len(words) < 2:
        return ()
    if words[1] == "-m":
        return MODULES.get(words[2], ())
    script = Path(folder, words[1])
    if words[1].startswith("-") or not script.is_file():
        return ()
    return ("txloop" if _FIRST.search(script.read_bytes()) else "tornado.web",)


class _Warm:
    """A process that has imported some modules; one thread asks it at a time."""

    def __init__(self, modules: Sequence[str], environment: dict[str, str]) -> None:
        adopt_orphans()
        self.channel, theirs = socket.socketpair()
        command = [sys.executable, str(PROCESS), str(theirs.fileno()), *modules]
        with theirs:
            self.process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                cwd="/",
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # a terminal gets each line at once
            )
        atexit.register(self.close)

    def fork(self, request: tuple[object, ...], files: Sequence[int]) -> int:
        """Start a program; return its number."""
        text = json.dumps(request).encode()
        socket.send_fds(self.channel, [len(text).to_bytes(8, "big")], files)
        self.channel.sendall(text)
        answer = self.channel.recv(8)
        assert answer, f"the warm process {self.process.pid} has ended"
        return int.from_bytes(answer, "big")

    def close(self) -> None:
        """End the process."""
        self.channel.close()
        self.process.wait()

"""Forks programs that import what it has imported: ``warm_process.py FD MODULE ...``.

`tests.warm` asks it by a socket. It is a program of its own, of which only a line of
tracebacks is left in its forks: each is `__main__`, and begins as Python does.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import socket
import sys
import threading
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType

BARE = ("__name__", "__package__", "__spec__", "__loader__", "__builtins__")
"""What `__main__` keeps of this module."""


def wait_to_fork(channel: socket.socket) -> tuple[list[Any], list[int]]:
    """Fork for each request; return in the fork what it is to be, and its files."""
    while True:
        size, files, _, _ = socket.recv_fds(channel, 8, 3)
        if not size:
            sys.exit()
        text = channel.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
        number, tell = os.pipe()
        gate, closed = os.pipe()
        between = os.fork()
        if not between:
            pid = os.fork()
            if pid:
                os.write(tell, pid.to_bytes(8, "big"))
                os._exit(0)
            os.close(closed)
            os.read(gate, 1)  # until it is an orphan, and adopted
            channel.detach()
            return json.loads(text), files
        os.waitpid(between, 0)
        channel.sendall(os.read(number, 8))
        for end in (number, tell, gate, closed, *files):
            os.close(end)


def become(request: Sequence[Any], files: Sequence[int], forked_by: int) -> CodeType:
    """Make this process what it would be if Python had begun; return what it runs."""
    words, folder, environment, own_session = request
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    if own_session:
        os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.main_thread()._set_native_id()  # type: ignore[attr-defined] # not public
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for name, module in list(sys.modules.items()):
        if name.startswith("txloop"):  # some of it notes which process has imported it
            for key, value in list(vars(module).items()):
                if type(value) is int and value == forked_by:
                    setattr(module, key, os.getpid())
    sys.orig_argv[:] = words
    return module_of(words[1:]) if words[1] == "-m" else script_of(words)


def module_of(words: list[str]) -> CodeType:
    """Do what Python does for ``-m``."""
    sys.argv[:] = words[1:]
    sys.path[0] = os.getcwd()
    text = f"import runpy; runpy._run_module_as_main({words[1]!r})"
    leave(__doc__=None)
    return compile(text, "<string>", "exec", dont_inherit=True)


def script_of(words: list[str]) -> CodeType:
    """Do what Python does for a file."""
    sys.argv[:] = words[1:]
    file = os.path.join(os.getcwd(), words[1])
    sys.path[0] = os.path.dirname(os.path.realpath(file))
    text, loader = Path(file).read_bytes(), SourceFileLoader("__main__", file)
    leave(__doc__=None, __loader__=loader, __file__=file, __cached__=None)
    return compile(text, file, "exec", dont_inherit=True)


def leave(**names: object) -> None:
    """Leave nothing of this module in `__main__`, but give it other names."""
    main = vars(sys.modules["__main__"])
    for name in main.keys() - set(BARE):
        del main[name]
    main.update(names, __annotations__={})


def main() -> CodeType:
    """Import what is asked for, and wait; return what a fork runs."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # which is for its forks
    sys.path[0] = str(Path(__file__).parents[1])  # for this clone's txloop
    for name in sys.argv[2:]:
        importlib.import_module(name)
    gc.collect()
    if hasattr(gc, "freeze"):  # not in PyPy; a collection would copy all that it sees
        gc.freeze()
    forked_by = os.getpid()
    return become(*wait_to_fork(channel), forked_by)


if __name__ == "__main__":
    exec(main())

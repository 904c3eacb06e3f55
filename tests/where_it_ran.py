"""Runs a program under the command line, and tells where each of its verbs ran.

``python -m tests.where_it_ran OPTIONS app.py``: as ``python -m txloop``, but whatever
port the program asks for, it listens on a free one, whose number is printed. When the
program has ended, what ran and why on the loop thread is printed, as JSON.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any
from unittest import mock

import tornado.netutil
import tornado.tcpserver

import txloop.__main__
from tests import warm
from txloop.engine.dispatcher import Dispatcher

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def why_on_loop(
    folder: Path,
    requests: Iterable[tuple[str, str, bytes | None, dict[str, str]]],
    *arguments: str,
) -> dict[str, str]:
    """Return why each verb that was asked ran on the loop thread, "" if it did not.

    Args:
        folder: Where ``app.py`` is.
        requests: Methods, paths, bodies and headers.
        arguments: Those of the program.
    """
    command = [sys.executable, "-m", "tests.where_it_ran", "--transactional", "*"]
    with warm.Popen(
        [*command, "app.py", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([os.getcwd(), *_paths()])},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            port = next(line for line in process.stdout if line.startswith("port "))
            for method, path, body, headers in requests:
                request = urllib.request.Request(
                    f"http://127.0.0.1:{int(port[5:])}{path}", body, headers
                )
                request.method = method
                with contextlib.suppress(urllib.error.HTTPError):
                    urllib.request.urlopen(request, timeout=40).close()
            process.send_signal(signal.SIGTERM)
            last = process.stdout.read().splitlines()[-1]
        finally:
            process.kill()
    return dict(json.loads(last))


def _paths() -> list[str]:
    return [path for path in [os.environ.get("PYTHONPATH")] if path]


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Run the program that the command line names."""
    dispatchers: list[Dispatcher] = []
    stock_init, stock_bind = Dispatcher.__init__, tornado.netutil.bind_sockets

    def note(self: Dispatcher, *arguments: Any, **options: Any) -> None:
        stock_init(self, *arguments, **options)
        dispatchers.append(self)

    def bind(port: int, *_: object, **__: object) -> Any:
        sockets = stock_bind(0, "127.0.0.1")
        _say(f"port {sockets[0].getsockname()[1]}")
        return sockets

    def tell() -> None:
        labels = [one for each in dispatchers for one in each.stats().labels]
        _say(json.dumps({one.label: one.on_loop_because for one in labels}))

    atexit.register(tell)
    with (
        mock.patch.object(Dispatcher, "__init__", note),
        mock.patch.object(tornado.netutil, "bind_sockets", bind),
        mock.patch.object(tornado.tcpserver, "bind_sockets", bind),
    ):
        return txloop.__main__.main()


if __name__ == "__main__":
    sys.exit(main())

"""Programs that know nothing of txloop, started as they are or with the loop swapped.

Each is a folder with an ``app.py``, which runs in a fresh copy.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from tests import warm

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "OPTIONS",
    "ROOT",
    "Asked",
    "Program",
    "inherited_environment",
    "running",
    "wait_for",
]

ROOT = Path(__file__).parents[2]
OPTIONS = ("--transactional", "*", "--workers", "2")
TIMEOUT_SECONDS = 30.0
CLIENTS = 20


@dataclass(frozen=True)
class Asked:
    """One request, with the cookies that its client has got so far."""

    method: str
    path: str
    body: str | None = None


class Program:
    """A program that runs, and a client of it."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port

    def ask(self, requests: Sequence[Asked]) -> list[tuple[int, str]]:
        """Return the answers to requests that come one after another, in one browser.

        Each is the status and the body.
        """
        cookies: dict[str, str] = {}
        return [self._answer(request, cookies) for request in requests]

    def ask_together(self, requests: Sequence[Asked]) -> list[tuple[int, str]]:
        """Return the answers to requests from many clients at once, sorted."""
        with ThreadPoolExecutor(CLIENTS) as pool:
            return sorted(pool.map(lambda one: self._answer(one, {}), requests))

    def _answer(self, request: Asked, cookies: dict[str, str]) -> tuple[int, str]:
        headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in cookies.items())}
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=TIMEOUT_SECONDS
        )
        with contextlib.closing(connection):
            connection.request(
                request.method, request.path, request.body, headers if cookies else {}
            )
            response = connection.getresponse()
            for cookie in response.headers.get_all("Set-Cookie") or ():
                name, _, value = cookie.partition(";")[0].partition("=")
                cookies[name] = value.strip('"')
            return response.status, response.read().decode()


@contextlib.contextmanager
def running(
    source: Path,
    folder: Path,
    executor: str | None,
    environment: Mapping[str, str] = MappingProxyType({}),
    fixed_port: int | None = None,
    options: Sequence[str] = OPTIONS,
) -> Iterator[Program]:
    """Run a copy of a program while the block runs.

    Args:
        source: The program's folder.
        folder: Where its copy and its output go.
        executor: Where transactions run; None for stock Tornado.
        environment: Variables of the program.
        fixed_port: The port that it listens on; without it, the program is given 0 as
            its argument and prints the one that it got.
        options: Of the command line, where it is not stock Tornado.
    """
    home = folder / f"{source.name} {executor}"
    shutil.copytree(source, home)
    swapped = ["-m", "txloop", "--executor", executor, *options] if executor else []
    argument = [] if fixed_port else ["0"]
    with (
        (folder / f"{home.name}.log").open("w+") as log,
        warm.Popen(
            [sys.executable, *swapped, "app.py", *argument],
            cwd=home,
            env={**inherited_environment(), **environment},
            stdin=subprocess.DEVNULL,
            stdout=log if fixed_port else subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        try:
            yield Program(home, fixed_port or _printed_port(process))
        except Exception as error:
            log.seek(0)
            error.add_note(f"{home.name} wrote:\n{log.read()[-3000:]}")
            raise
        finally:
            process.terminate()
            process.wait(TIMEOUT_SECONDS)


def inherited_environment() -> dict[str, str]:
    """Return the variables of a program that is to use this clone's txloop."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("TXLOOP_", "PYTHON"))
    }
    return {**inherited, "PYTHONPATH": str(ROOT)}


def _printed_port(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.match(r"port (\d+)", line)
    assert found, f"no port but {line!r}"
    return int(found[1])


def wait_for(port: int) -> None:
    """Wait until a program listens on its port."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return

"""Programs and console sessions of a page, run as a reader runs them.

A block with a title is a file: ``python title="app.py"``. A block of the kind `console`
has commands after ``$ `` and all that they print; ``...`` stands for anything. One that
ends in ``&`` is a server: it goes on until ``kill %1``, the next server or the end of
the page. All of a page runs in one folder, with a free port in the place of 8888.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.release_check import free_port, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ROOT", "Block", "Folder", "blocks_of", "commands_of", "is_as_told"]

ROOT = Path(__file__).parents[2]

PORT = "8888"
"""The port that pages speak of."""

SECONDS = 40.0
"""How long a command may take, and the end of a server."""

_FENCE = re.compile(
    r'^```(\w+)(?: title="([^"\n]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE
)
_ASSIGNMENTS = re.compile(r"((?:\w+=\S* )*)(.*)", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of code of a page.

    Attributes:
        kind: Its language.
        title: The file that it is; None if it is none.
        text: What is in it.
        line: The line of the page on which it begins.
    """

    kind: str
    title: str | None
    text: str
    line: int


def blocks_of(text: str) -> list[Block]:
    """Return all blocks of a page, from top to bottom."""
    return [
        Block(found[1], found[2], found[3], text.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(text)
    ]


def commands_of(block: Block) -> Iterator[tuple[str, str]]:
    """Return the commands of a session, each with what the page says it prints."""
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert parts[0] == "", "a session begins with a command"
    for part in parts[1:]:
        lines = part.splitlines(keepends=True)
        command = lines.pop(0)
        while command.endswith("\\\n"):
            command += lines.pop(0)
        yield command.strip(), "".join(lines)


def is_as_told(told: str, printed: str) -> bool:
    """Tell whether a command has printed what the page says."""
    pattern = ".*".join(re.escape(part) for part in told.strip().split("..."))
    return re.fullmatch(pattern, _trimmed(printed), re.DOTALL) is not None


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


class Folder:
    """Where a page's files lie and its commands run."""

    def __init__(self, place: Path) -> None:
        """Take an empty folder."""
        self._place = place
        self._port = str(free_port())
        self._server: subprocess.Popen[bytes] | None = None
        paths = (str(Path(sys.executable).parent), os.environ["PATH"])
        self._environment = {
            **os.environ,
            "PATH": os.pathsep.join(paths),
            "PYTHONPATH": str(ROOT),
            "COLUMNS": "80",
        }

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        (self._place / name).write_text(text.replace(PORT, self._port))

    def run(self, command: str) -> str:
        """Run a command, and return what it has printed."""
        command = command.replace(PORT, self._port)
        if command == "kill %1":
            self.end_server()
            return ""
        if command.endswith("&"):
            self._serve(command.removesuffix("&"))
            return ""
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self._place,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
        )
        return done.stdout.replace(self._port, PORT)

    def _serve(self, command: str) -> None:
        self.end_server()
        found = _ASSIGNMENTS.fullmatch(command)
        assert found is not None
        self._server = subprocess.Popen(
            ["bash", "-c", f"{found[1]} exec {found[2]}"],
            cwd=self._place,
            env=self._environment,
        )
        wait_for(self._server, int(self._port))

    def end_server(self) -> None:
        """End the server, if there is one, as an operator does."""
        if self._server is None:
            return
        server, self._server = self._server, None
        server.send_signal(signal.SIGTERM)
        try:
            assert server.wait(SECONDS) == 0, server.returncode
        finally:
            server.kill()
            server.wait()

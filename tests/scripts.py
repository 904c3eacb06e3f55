"""Small programs of their own process, as a user would start them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests import warm

if TYPE_CHECKING:
    import signal
    from collections.abc import Iterator

__all__ = ["Ended", "Running", "run_script", "running_script"]

ROOT = Path(__file__).parent.parent

TIMEOUT_SECONDS = 40


@dataclass(frozen=True)
class Ended:
    """What became of a program."""

    exit_code: int
    output: str
    errors: str

    @property
    def lines(self) -> list[str]:
        """The lines that it printed."""
        return self.output.splitlines()


class Running:
    """A program that is running; it prints ``port N`` when it is ready."""

    def __init__(self, process: subprocess.Popen[str], ended_at_port: str) -> None:
        self.process = process
        self.output = ended_at_port
        self.port = int(re.search(r"port (\d+)", ended_at_port)[1])  # type: ignore[index] # or it failed

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program's own process."""
        self.process.send_signal(number)

    def wait(self) -> Ended:
        """Wait for its end."""
        output, errors = self.process.communicate(timeout=TIMEOUT_SECONDS)
        return Ended(self.process.returncode, self.output + output, errors)


def run_script(folder: Path, text: str, **environment: str) -> Ended:
    """Run a program to its end."""
    with _started(folder, text, environment) as process:
        output, errors = process.communicate(timeout=TIMEOUT_SECONDS)
    return Ended(process.returncode, output, errors)


@contextmanager
def running_script(folder: Path, text: str, **environment: str) -> Iterator[Running]:
    """Run a program while the block runs, from when it says its port."""
    with _started(folder, text, environment) as process:
        assert process.stdout is not None
        lines = ""
        while "port " not in lines:
            line = process.stdout.readline()
            if not line:
                _, errors = process.communicate()
                raise AssertionError(f"the program ended:\n{lines}{errors}")
            lines += line
        yield Running(process, lines)


@contextmanager
def _started(
    folder: Path, text: str, environment: dict[str, str]
) -> Iterator[subprocess.Popen[str]]:
    # A file, because the scan of functions reads their source.
    script = folder / "script.py"
    script.write_text(textwrap.dedent(text))
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("TXLOOP_", "PYTHON"))
    }
    with warm.Popen(
        [sys.executable, str(script)],
        cwd=folder,
        env={**inherited, "PYTHONPATH": str(ROOT), **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()

"""The example programs, as a user starts them, from a directory of no importance."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests import warm

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["EXAMPLES", "run_example", "running_example"]

EXAMPLES = Path(__file__).parent.parent / "examples"


def run_example(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program that must end by itself."""
    return warm.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        capture_output=True,
        text=True,
        timeout=40,
        cwd="/",
    )


@contextmanager
def running_example(
    name: str, *arguments: str, **environment: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a server on a free port; yield it and the first line that it printed."""
    with warm.Popen(
        [sys.executable, str(EXAMPLES / name), *arguments, "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
        env=os.environ | environment,
    ) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().rstrip("\n")
        finally:
            process.kill()

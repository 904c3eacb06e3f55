"""Run all tests: ``python -m tests``, on two cores at once.

Three runs of pytest go side by side, each with its part of the folders; the third one,
Tornado's own suite, waits for more than half of its time. Threads of one process would
be in the way of tests that fork. What arguments ask for is run by pytest as it is:
``python -m tests tests/unit -x``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]

ONE_PART = ("browser", "http", "loop", "soak")
"""Folders that take as long as all others together."""

ASLEEP = "tests/loop/test_tornado_suite.py"
"""What waits for much of its time, and so costs the other parts little."""


def parts() -> list[list[str]]:
    """Return the arguments of each run; each folder with tests is in one of them."""
    folders = sorted({path.parent for path in ROOT.glob("tests/*/test_*.py")})
    names = [path.name for path in folders]
    missing = set(ONE_PART) - set(names)
    assert not missing, f"there is no folder {missing}"
    assert (ROOT / ASLEEP).exists(), f"there is no {ASLEEP}"
    one = [f"tests/{name}" for name in names if name in ONE_PART]
    other = [f"tests/{name}" for name in names if name not in ONE_PART]
    return [other, [*one, f"--ignore={ASLEEP}"], [ASLEEP]]


def main(arguments: list[str]) -> int:
    """Run the tests; return 0 if all passed, else the first other exit code."""
    pytest = [sys.executable, "-m", "pytest"]
    if arguments:
        return subprocess.run([*pytest, *arguments], cwd=ROOT, check=False).returncode
    shown, *others = parts()
    with ExitStack() as stack:
        outputs = [stack.enter_context(tempfile.TemporaryFile()) for _ in others]
        beside = [
            stack.enter_context(_running([*pytest, *part], output))
            for part, output in zip(others, outputs, strict=True)
        ]
        code = subprocess.run([*pytest, *shown], cwd=ROOT, check=False).returncode
        for run, output in zip(beside, outputs, strict=True):
            code = run.wait() or code
            output.seek(0)
            sys.stdout.write(output.read().decode(errors="replace"))
    return code


@contextmanager
def _running(
    command: list[str], output: IO[bytes]
) -> Iterator[subprocess.Popen[bytes]]:
    run = subprocess.Popen(command, cwd=ROOT, stdout=output)
    try:
        yield run
    finally:
        run.kill()
        run.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

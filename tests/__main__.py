"""Run all tests: ``python -m tests``, on two cores at once.

Two runs of pytest go side by side, each with its part of the folders. Threads of one
process would be in the way of tests that fork. What arguments ask for is run by pytest
as it is: ``python -m tests tests/unit -x``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]

ONE_PART = ("browser", "http", "loop", "soak")
"""Folders that take as long as all others together."""


def parts() -> tuple[list[str], list[str]]:
    """Return the folders of both parts; each folder with tests is in one of them."""
    folders = sorted({path.parent for path in ROOT.glob("tests/*/test_*.py")})
    names = [path.name for path in folders]
    missing = set(ONE_PART) - set(names)
    assert not missing, f"there is no folder {missing}"
    one = [f"tests/{name}" for name in names if name in ONE_PART]
    return one, [f"tests/{name}" for name in names if name not in ONE_PART]


def main(arguments: list[str]) -> int:
    """Run the tests; return 0 if all passed, else the first other exit code."""
    pytest = [sys.executable, "-m", "pytest"]
    if arguments:
        return subprocess.run([*pytest, *arguments], cwd=ROOT, check=False).returncode
    one, other = parts()
    with tempfile.TemporaryFile() as output:
        beside = subprocess.Popen([*pytest, *one], cwd=ROOT, stdout=output)
        try:
            code = subprocess.run([*pytest, *other], cwd=ROOT, check=False).returncode
            code = beside.wait() or code
        finally:
            beside.kill()
            beside.wait()
        output.seek(0)
        sys.stdout.write(output.read().decode(errors="replace"))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

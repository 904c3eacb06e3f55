"""Run all tests: ``python -m tests``, on two cores at once.

Each part is run by a pytest of its own, three side by side, as some wait for more than
half of their time. Where tests start loops and servers, a part is one file: the scan
and the pictures of each of these take all test modules that are imported for the
program. In other folders it is ten files at the most. What arguments ask for is run by
one pytest, as it is: ``python -m tests tests/unit -x``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tests.cluster import DASK

ROOT = Path(__file__).parents[1]

AT_ONCE = 3
FILES = 10
"""How many files a part has at the most."""

ALONE = ("http", "loop")
"""Folders of which each file is a part."""

LONGEST = (
    "tests/loop/test_tornado_suite.py",
    "tests/shapes",
    "tests/browser",
    "tests/soak",
)
"""Parts of their own, and the first ones, or all would wait for them at the end."""

_COUNTS = re.compile(r"(\d+) ([a-z]+)")
_COLOR = re.compile(r"\x1b\[[\d;]*m")


def parts() -> list[list[str]]:
    """Return what each run is given; every file with tests is in one of them."""
    missing = [name for name in LONGEST if not (ROOT / name).exists()]
    assert not missing, f"there is no {missing}"
    files: dict[str, list[str]] = {}
    for path in sorted(ROOT.glob("tests/*/test_*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith((*LONGEST, *(["tests/machines"] * (not DASK)))):
            files.setdefault(path.parent.name, []).append(name)
    several = [
        (names, len(names) if folder in ALONE else -(-len(names) // FILES))
        for folder, names in files.items()
    ]
    small = [names[one::count] for names, count in several for one in range(count)]
    return [*([name] for name in LONGEST), *small]


def main(arguments: list[str]) -> int:
    """Run the tests; return 0 if all passed, else the code of a run that failed."""
    pytest = [sys.executable, "-m", "pytest"]
    if arguments:
        return subprocess.run([*pytest, *arguments], cwd=ROOT, check=False).returncode
    if sys.stdout.isatty():
        pytest.append("--color=yes")
    begun, ended = time.monotonic(), list[subprocess.CompletedProcess[str]]()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        runs = [pool.submit(_run, [*pytest, *part]) for part in parts()]
        try:
            for run in as_completed(runs):
                ended.append(run.result())
                sys.stdout.write(ended[-1].stdout)
                sys.stdout.flush()
        finally:  # after Ctrl-C, no other part begins
            pool.shutdown(wait=False, cancel_futures=True)
    sys.stdout.write(summary(ended, time.monotonic() - begun))
    return next((one.returncode for one in ended if one.returncode), 0)


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=ROOT,
        env=_environment(),
        check=False,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )


def _environment() -> dict[str, str]:
    """Return the variables of a run, which may keep the modules that it compiles."""
    unwanted = "PYTHONDONTWRITEBYTECODE"
    return {name: value for name, value in os.environ.items() if name != unwanted}


def summary(runs: list[subprocess.CompletedProcess[str]], seconds: float) -> str:
    """Return what failed in the runs, and how many tests did what in all of them."""
    failed, counts = list[str](), Counter[str]()
    for run in runs:
        *lines, last = ["", *_COLOR.sub("", run.stdout).rstrip().splitlines()]
        failed += [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
        if run.returncode not in (0, 1):  # no test has failed, but the run itself
            failed.append(f"ERROR exit code {run.returncode}: {' '.join(run.args)}")
            counts["error"] += 1
        for number, what in _COUNTS.findall(last.partition(" in ")[0]):
            counts[what.removesuffix("s")] += int(number)
    told = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
    return "\n".join([*failed, f"{f' {told} in {seconds:.0f}s ':=^88}\n"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Run all tests, or those of some folders, on two cores at once.

``python -m tests``, or ``python -m tests tests/unit tests/contract``. Each part is run
by a pytest of its own, three side by side, as some wait for more than half of their
time. Where tests start loops and servers, a part is one file: the scan and the pictures
of each of these take all test modules that are imported for the program. In other
folders it is ten files at the most. What other arguments ask for is run by one pytest,
as it is: ``python -m tests tests/unit -x``.

They are forked from a process that has imported pytest and txloop (`tests.warm`). Each
has a folder of its own for temporary files: pytest's usual one is shared by all
that run at once, each of which removes what is old there, and ends with an error where
another does so at the same time.
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
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests import warm
from tests.cluster import DASK

if TYPE_CHECKING:
    from collections.abc import Collection

ROOT = Path(__file__).parents[1]

AT_ONCE = 3
FILES = 10
"""How many files a part has at the most."""

ALONE = ("http", "loop")
"""Folders of which each file is a part."""

LONGEST = (
    "tests/loop/test_tornado_suite.py",
    "tests/shapes",
    "tests/sharing",
    "tests/unchanged",
    "tests/browser",
    "tests/soak",
)
"""Parts of their own, and the first ones, or all would wait for them at the end."""

IMPORTED_BEFORE = "ignore:Module already imported so cannot be rewritten"
"""What pytest warns of where `tests.warm` starts it: asserts stay those of Python."""

_COUNTS = re.compile(r"(\d+) ([a-z]+)")
_COLOR = re.compile(r"\x1b\[[\d;]*m")


def parts(folders: Collection[str] = ()) -> list[list[str]]:
    """Return what each run is given; every file with tests is in one of them.

    Args:
        folders: Those whose tests are run, such as ``"tests/unit"``; none for all.
    """
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
    found = [*([name] for name in LONGEST), *small]
    asked = tuple(f"{folder}/" for folder in folders) or ("",)
    return [part for part in found if f"{part[0]}/".startswith(asked)]


def folders_in(arguments: Collection[str]) -> list[str]:
    """Return the folders of tests that are asked for; none if it is anything else."""
    found = [argument.rstrip("/") for argument in arguments]
    known = {str(Path(part[0]).parent) for part in parts()} | {*LONGEST}
    return found if known.issuperset(found) else []


def main(arguments: list[str]) -> int:
    """Run the tests; return 0 if all passed, else the code of a run that failed."""
    pytest = [sys.executable, "-m", "pytest"]
    folders = folders_in(arguments)
    if arguments and not folders:
        return subprocess.run([*pytest, *arguments], cwd=ROOT, check=False).returncode
    for name in ("hypothesis", "_hypothesis"):
        pytest += ["-W", f"{IMPORTED_BEFORE}; {name}"]
    if sys.stdout.isatty():
        pytest.append("--color=yes")
    begun, ended = time.monotonic(), list[subprocess.CompletedProcess[str]]()
    with (
        TemporaryDirectory(prefix="tests-", ignore_cleanup_errors=True) as made,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        runs = [
            pool.submit(_run, [*pytest, f"--basetemp={made}/{number}", *part])
            for number, part in enumerate(parts(folders))
        ]
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
    return warm.run(
        command,
        cwd=ROOT,
        env=_environment(),
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

"""Where a run takes place: the machine, the interpreter, the commit, the cores."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import tornado

if TYPE_CHECKING:
    from collections.abc import Iterable

_ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class Machine:
    """What a figure means nothing without."""

    cpu: str
    cores: int
    system: str
    date: str
    interpreter: str
    gil: bool
    tornado: str
    commit: str


def describe_machine() -> Machine:
    """Return the machine that this process runs on, as it is now."""
    return Machine(
        cpu=_cpu_model(),
        cores=available_cores(),
        system=f"{platform.system()} {platform.release()}",
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        interpreter=f"{platform.python_implementation()} {platform.python_version()}",
        gil=_gil_enabled(),
        tornado=tornado.version,
        commit=_commit(),
    )


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(_cores())


def pinned(positions: Iterable[int]) -> list[str]:
    """Return a command prefix that keeps a program on the cores at those positions.

    It is empty where there is no core at one of them, or no taskset: with as many
    server processes as cores, load and server have to share.
    """
    cores = _cores()
    chosen = [cores[position] for position in positions if position < len(cores)]
    if not chosen or len(chosen) == len(cores) or shutil.which("taskset") is None:
        return []
    return ["taskset", "--cpu-list", ",".join(map(str, chosen))]


def _cores() -> list[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    lines = Path("/proc/self/status").read_text().splitlines()  # as for PyPy
    fields = dict(line.split(":", 1) for line in lines)
    mask = int(fields["Cpus_allowed"].replace(",", ""), 16)
    return [core for core in range(mask.bit_length()) if mask >> core & 1]


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _gil_enabled() -> bool:
    # Only since 3.13 can it be off.
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())


def _commit() -> str:
    """Return the commit, with a plus when files differ from it."""
    head = _git("rev-parse", "--short=12", "HEAD")
    if not head:
        return "unknown"
    return head + ("+" if _git("status", "--porcelain") else "")


def _git(*arguments: str) -> str:
    try:
        finished = subprocess.run(
            ["git", *arguments], cwd=_ROOT, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return finished.stdout.strip() if finished.returncode == 0 else ""

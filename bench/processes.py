"""What Linux tells about processes: who is in a tree, and who used the processor."""

from __future__ import annotations

import os
import re
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Process:
    """One line of /proc/PID/stat. `start_ticks` tells a reused pid from the old one."""

    pid: int
    parent: int
    session: int
    start_ticks: int
    cpu_ticks: int


def tree(root: int) -> tuple[Process, ...]:
    """Return the live process `root`, its descendants, and all else in its session.

    The session counts because an orphan is no descendant any more.
    """
    processes = _all_processes()
    members = {
        process.pid for process in processes if root in (process.pid, process.session)
    }
    grown = True
    while grown:
        children = {process.pid for process in processes if process.parent in members}
        grown = not children <= members
        members |= children
    return tuple(process for process in processes if process.pid in members)


def cpu_seconds(root: int) -> float:
    """Return the processor time that the tree has used, with its reaped children's."""
    return sum(process.cpu_ticks for process in tree(root)) / _TICKS_PER_SECOND


def own_seconds(pid: int) -> float:
    """Return the processor time of the live threads of that one process."""
    nanoseconds = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            text = Path(f"/proc/{pid}/task/{thread}/schedstat").read_text()
            nanoseconds += int(text.split()[0])
    return nanoseconds / 1e9


def memory_bytes(root: int) -> int:
    """Return the memory of the tree; what its processes share counts once."""
    return 1024 * sum(_proportional_kilobytes(process.pid) for process in tree(root))


def generations(root: int) -> list[list[Process]]:
    """Return the children of the root, their children and so on, each oldest first."""
    processes = _all_processes()
    found = []
    parents = {root}
    while parents:
        children = [process for process in processes if process.parent in parents]
        if children:
            found.append(sorted(children, key=lambda one: (one.start_ticks, one.pid)))
        parents = {child.pid for child in children}
    return found


def machine_seconds() -> float:
    """Return the processor time that the machine has spent on anything but waiting.

    That includes what a virtual machine's host took away for its other guests.
    """
    with open("/proc/stat") as file:
        fields = [int(field) for field in file.readline().split()[1:9]]
    user, nice, system, _idle, _waiting, interrupt, soft_interrupt, stolen = fields
    ticks = user + nice + system + interrupt + soft_interrupt + stolen
    return ticks / _TICKS_PER_SECOND


def wait_until_idle(root: int, limit_seconds: float, window_seconds: float) -> bool:
    """Wait until the tree uses no processor; return whether that came in time.

    No processor means at most 2 %: one tick of 10 ms in a window of half a second.
    """
    deadline = time.monotonic() + limit_seconds
    used = cpu_seconds(root)
    while time.monotonic() < deadline:
        time.sleep(window_seconds)
        before, used = used, cpu_seconds(root)
        if used - before <= 1.01 / _TICKS_PER_SECOND:
            return True
    return False


def end(processes: tuple[Process, ...], limit_seconds: float) -> None:
    """End those of the processes that are still alive, the hard way after the limit."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in alive(processes):
            with suppress(ProcessLookupError):
                os.kill(process.pid, number)
        deadline = time.monotonic() + limit_seconds
        while alive(processes) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)


def alive(processes: tuple[Process, ...]) -> list[Process]:
    """Return those of the processes that have not ended."""
    current = ((process, _read(process.pid)) for process in processes)
    return [old for old, new in current if new and new.start_ticks == old.start_ticks]


def _proportional_kilobytes(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0  # it has just ended
    found = re.search(r"^Pss: +(\d+) kB", text, re.MULTILINE)
    return int(found[1]) if found else 0


def _all_processes() -> list[Process]:
    pids = (int(name) for name in os.listdir("/proc") if name.isdecimal())
    return [process for process in map(_read, pids) if process is not None]


def _read(pid: int) -> Process | None:
    """Return the process, or None when it is gone or only waits to be reaped."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The name before the last parenthesis may itself hold spaces and parentheses.
    fields = text.rpartition(")")[2].split()
    if fields[0] in "ZX":
        return None
    return Process(
        pid=pid,
        parent=int(fields[1]),
        session=int(fields[3]),
        start_ticks=int(fields[19]),
        cpu_ticks=sum(map(int, fields[11:15])),
    )

"""A test that leaves a process or an open file behind fails.

Workers are grandchildren: the test process makes itself their reaper, so one that
outlives its parents becomes a child here and is seen. Linux only; elsewhere the check
is off. `@pytest.mark.leaks_ok("reason")` switches it off for a test.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import warm
from tests.processes import children_of, state

if TYPE_CHECKING:
    from collections.abc import Iterator

# An orphan sees the end of its parent a moment after the test does.
GRACE_SECONDS = float(os.environ.get("TXLOOP_TEST_GRACE_SECONDS", 10))

# The processes forked by this one itself. Nobody else may reap these, while a zombie
# that was adopted is nobody's fault.
forked: set[int] = set()


def pytest_configure() -> None:
    """Adopt orphans, and write down what this process forks."""
    if not sys.platform.startswith("linux"):
        return
    warm.adopt_orphans()
    fork = os.fork

    def recording_fork() -> int:
        pid = fork()
        if pid:
            forked.add(pid)
        return pid

    os.fork = recording_fork


@pytest.fixture(autouse=True)
def leaks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Compare processes and open files after the test with those before it."""
    if not sys.platform.startswith("linux") or request.node.get_closest_marker(
        "leaks_ok"
    ):
        yield
        return
    children_before, files_before = children_of("self"), open_files()
    yield
    left = remaining_children(children_before)
    complaints = [f"process {pid}: {describe(pid)}" for pid in sorted(left)]
    for pid in left:
        end(pid)
    if open_files() - files_before:
        # What only a cycle keeps open is not the test's doing.
        gc.collect()
    complaints += [
        f"file {number}: {target}"
        for number, target in sorted(open_files() - files_before)
    ]
    if complaints:
        pytest.fail("left behind:\n  " + "\n  ".join(complaints), pytrace=False)


def remaining_children(before: set[int]) -> set[int]:
    """Return the new children that stay, after giving orphans a moment to leave."""
    deadline = time.monotonic() + GRACE_SECONDS
    while True:
        left = children_of("self") - before - warm.processes()
        ended = {pid for pid in left if state(pid) == "Z"}
        for pid in ended - forked:
            reap(pid)
        left -= ended - forked
        if left <= ended or time.monotonic() > deadline:
            return left
        time.sleep(0.01)


def open_files() -> set[tuple[int, str]]:
    """Return each open file descriptor with what it stands for."""
    found = set()
    for number in set(map(int, os.listdir("/proc/self/fd"))) - warm.descriptors():
        # The descriptor that read the folder is closed by now.
        with suppress(OSError):
            found.add((number, os.readlink(f"/proc/self/fd/{number}")))
    return found


def describe(pid: int) -> str:
    """Say what a process is, for the person who has to find it."""
    if state(pid) == "Z":
        return "ended, but nobody waited for it"
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()
    return "gone meanwhile"


def end(pid: int) -> None:
    """Kill a process that stayed, so that the next test is not blamed for it."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    reap(pid)


def reap(pid: int) -> None:
    """Wait for a child that has ended or is about to."""
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)

"""The processes of programs under test, as Linux's /proc tells of them.

Any of them may end while it is looked at: one that is gone has no children.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def children_of(pid: int | str) -> set[int]:
    """Return the children of a process, zombies too; ``"self"`` is this one."""
    found: set[int] = set()
    threads: list[Path] = []
    with suppress(OSError):
        threads.extend(Path(f"/proc/{pid}/task").iterdir())
    for thread in threads:  # each of which may end, too
        with suppress(OSError):
            found.update(map(int, (thread / "children").read_text().split()))
    return found


def descendants(pid: int) -> set[int]:
    """Return the processes that a process has started, and those that these have."""
    children = children_of(pid)
    return children.union(*map(descendants, children))


def state(pid: int) -> str:
    """Return the letter of a process's state, or nothing when it is gone."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return ""


def gone(pid: int) -> bool:
    """Tell whether a process has ended."""
    return state(pid) in ("", "Z")

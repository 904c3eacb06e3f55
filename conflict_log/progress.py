"""How much of large logs has been read, on a terminal."""

from __future__ import annotations

import importlib.util
import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from conflict_log.files import members

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conflict_log.files import Progress

__all__ = ["told"]

# What is read in less than a second needs none.
_LARGE_BYTES: Final = 32 << 20


@contextmanager
def told(files: Sequence[str], forks: bool) -> Iterator[Progress | None]:
    """Show on the terminal how much was read while the block runs.

    Nothing is shown in a pipe, without rich, or for logs that are read at once: then
    there is nobody to be told.

    Args:
        files: What will be read.
        forks: Whether the logs of forked processes are read, too.
    """
    if not sys.stderr.isatty() or importlib.util.find_spec("rich") is None:
        yield None
        return
    paths = [one for path in files for one in (members(path) if forks else [path])]
    whole = sum(map(_size, paths))
    if whole < _LARGE_BYTES:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    columns = BarColumn(), DownloadColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("", total=whole)
        yield lambda size: shown.advance(task, size)


def _size(path: str) -> int:
    """Return how long a file is; what is no file is told of when it is read."""
    with suppress(OSError):
        return os.stat(path).st_size
    return 0

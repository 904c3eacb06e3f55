"""From names to bytes: plain files, compressed ones, standard input, sets of forks."""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["CHUNK", "Progress", "Readable", "members", "opened", "read_fully"]

CHUNK = 1 << 18
"""How much of a log is in memory at a time."""

STDIN = "-"

Progress: TypeAlias = "Callable[[int], object]"
"""Told how many bytes of a file were read, compressed or not, each time."""


class Readable(Protocol):
    """Where the bytes of a log come from."""

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes; none at the end."""


_FORK = re.compile(r"\.fork\d+(\.gz)?$")


def members(path: str) -> list[str]:
    """Return a log and the logs of the processes that its process forked.

    ``PYPYSTM=stm.log+`` makes a child write to ``stm.log.fork<PID>``.
    """
    if path == STDIN or _FORK.search(path):
        return [path]
    whole = Path(path)
    stem = whole.name.removesuffix(".gz")
    try:
        siblings = list(whole.parent.iterdir())
    except OSError:
        siblings = []
    forks = [
        one
        for one in siblings
        if one.name.startswith(f"{stem}.fork") and _FORK.search(one.name)
    ]
    return [path, *sorted(map(str, forks))]


@contextmanager
def opened(path: str, progress: Progress | None = None) -> Iterator[Readable]:
    """Open a log for reading; ``-`` is standard input, gzip is seen by its magic.

    Raises:
        OSError: The file cannot be opened.
    """
    if path == STDIN:
        yield sys.stdin.buffer
        return
    with Path(path).open("rb") as file:
        packed = file.peek(2)[:2] == b"\x1f\x8b"
        told: IO[bytes] | _Told = _Told(file, progress) if progress else file
        if not packed:
            yield told
            return
        with gzip.open(told) as inner:  # type: ignore[arg-type]  # it only reads
            yield _Unpacked(inner)


class _Told:
    """A file that tells how much of it was read."""

    def __init__(self, file: IO[bytes], progress: Progress) -> None:
        self._file, self._progress = file, progress

    def read(self, size: int = -1, /) -> bytes:
        """Return at most so many bytes; none at the end."""
        data = self._file.read(size)
        self._progress(len(data))
        return data


class _Unpacked:
    """What a compressed file holds, in pieces: of one that is cut, all but the end."""

    def __init__(self, inner: gzip.GzipFile) -> None:
        self._inner = inner

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes; none at the end."""
        return self._inner.read1(size)


def read_fully(file: Readable, size: int) -> bytes:
    """Read so many bytes, fewer only at the end: a pipe gives them in pieces."""
    parts: list[bytes] = []
    while size:
        try:
            part = file.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile):  # it is cut or damaged
            break
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)

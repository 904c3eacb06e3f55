"""Memory of the process that objects show: buffers, mappings, what ctypes leads to.

A mapping is shared with forked processes, as a rule: no copy of it is ever old. One
that was made with `MAP_PRIVATE` or `ACCESS_COPY` is copied by them like all else. Only
the system tells which one it is.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from txloop.watch import limits
from txloop.watch.pictures import Thing

if TYPE_CHECKING:
    from txloop.watch.pictures import Names

__all__ = ["Bytes", "Mapped", "Text", "kept_by_ctypes"]


class Bytes(Thing):
    """What has a buffer: a bytearray, an array, numpy's."""

    __slots__ = ("_picture",)

    def retake(self) -> None:
        self._picture = _sum_of(self.object)
        size = _view_of(self.object).nbytes
        self.parts = 1 + min(size, limits.WHOLE_BYTES) // limits.BYTES_A_PART
        self.whole = size <= limits.WHOLE_BYTES

    def difference(self, names: Names | None) -> str | None:
        return None if _sum_of(self.object) == self._picture else ""


class Mapped(Bytes):
    """A mapping of a file, or of none: compared if it is the process's own."""

    __slots__ = ("_is_private",)

    def retake(self) -> None:
        self._is_private = _is_private(self.object)
        if self._is_private:
            super().retake()

    def difference(self, names: Names | None) -> str | None:
        return super().difference(names) if self._is_private else None


class Text(Thing):
    """A file in memory, with its position."""

    __slots__ = ("_picture",)

    def retake(self) -> None:
        self._picture = self._look()
        self.parts = 2

    def _look(self) -> tuple[object, object]:
        if self.object.closed:
            return None, None
        return hash(self.object.getvalue()), self.object.tell()

    def difference(self, names: Names | None) -> str | None:
        return None if self._look() == self._picture else ""


def _view_of(thing: Any) -> memoryview:
    view = memoryview(b"")
    with suppress(TypeError, ValueError, BufferError):
        view = memoryview(thing)
    if not view.contiguous or view.nbytes == 0:
        with suppress(Exception):  # whatever an array of a library raises
            view = memoryview(thing.tobytes())
    with suppress(TypeError):
        view = view.cast("B")
    return view


def _sum_of(thing: Any) -> int:
    """Return a checksum of a buffer; of a large one, of samples."""
    view = _view_of(thing)
    size = view.nbytes
    if size <= limits.WHOLE_BYTES:
        return zlib.crc32(view, size)
    total, last = size, size - limits.SAMPLE_BYTES
    for start in range(0, last, last // limits.SAMPLES):
        total = zlib.crc32(view[start : start + limits.SAMPLE_BYTES], total)
    return total


def _is_private(mapping: Any) -> bool:
    """Tell whether a process that is forked gets a copy of a mapping."""
    import ctypes  # a program that has mappings has memory to spare

    try:
        address = ctypes.addressof(ctypes.c_char.from_buffer(mapping))
        with open("/proc/self/maps", encoding="ascii", errors="replace") as file:
            for line in file:
                place, access = line.split(maxsplit=2)[:2]
                first, last = (int(one, 16) for one in place.split("-"))
                if first <= address < last:
                    return access.endswith("p")
    except (OSError, TypeError, ValueError):  # it is read-only, or closed
        return False
    return False


def kept_by_ctypes(thing: object) -> object:
    """Return what pointers in an object of ctypes lead to, as far as it is kept."""
    modules = [str(each.__module__).partition(".")[0] for each in type(thing).__mro__]
    return getattr(thing, "_objects", None) if "_ctypes" in modules else None

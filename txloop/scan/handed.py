"""What calls of libraries do to streams, iterators and bytes that they are given.

A function or a class in C, and a method of an object that the scan does not know, may
change another object than its own: ``csv.writer(BUFFER)`` writes to the stream,
``struct.pack_into(format, BYTES, 0)`` into the bytes. Streams and iterators are given
away for that only. Bytes are mostly read: the calls have to be known that fill them.
"""

from __future__ import annotations

import array
import ctypes
import gc
import io
from types import BuiltinMethodType
from typing import TYPE_CHECKING

from txloop.scan.live_objects import has_type, is_container, is_iterator
from txloop.scan.value import Live, shared

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Iterator

    from txloop.scan.notebook import Notebook
    from txloop.scan.value import Value

__all__ = ["FILLING", "give"]

_STREAMS = (io.BytesIO, io.StringIO)

_BYTES = (bytearray, memoryview, array.array, ctypes.Array.__mro__[1])

FILLING = frozenset(
    [
        *("from_buffer", "ioctl", "pack_into", "preadv", "readinto", "readinto1"),
        *("readv", "recv_bytes_into", "recv_into", "recvfrom_into", "recvmsg_into"),
    ]
)
"""Functions and methods that fill bytes which they are given."""

_WRAPPING = frozenset(
    [
        *(
            "bz2",
            "codecs",
            "csv",
            "encodings",
            "gzip",
            "io",
            "lzma",
            "pickle",
            "tarfile",
            "wave",
        ),
        "zipfile",
    ]
)
"""Packages whose objects read and write streams that they are given."""

_MOST = 64  # objects that are looked at for streams

_TELLING = frozenset(
    [
        *("bool", "callable", "format", "hasattr", "hash", "id", "isinstance", "len"),
        *("partial", "repr", "str", "type"),
    ]
)
"""Functions that do nothing to a stream that they get."""


def streams_behind(owner: Live) -> Iterator[Live]:
    """Yield the streams that an object of Python's own writes to, or reads.

    Such are readers and writers of the packages that are given a stream.
    """
    waiting, seen = [owner.thing], 0
    while waiting and seen < _MOST:
        thing, seen = waiting.pop(), seen + 1
        if has_type(thing, BuiltinMethodType):
            waiting.append(thing.__self__)
        elif has_type(thing, *_STREAMS) and thing is not owner.thing:
            yield shared(thing, owner.name, owner.family)
        elif type(thing).__module__.partition(".")[0].lstrip("_") in _WRAPPING:
            for each in gc.get_referents(thing):
                waiting += each.values() if type(each) is dict else [each]


def give(
    notes: Notebook, home: str, name: str, given: Iterable[Value], node: ast.AST
) -> None:
    """Write down what a call changes of the streams, iterators, bytes that it gets.

    Args:
        notes: Where to write.
        home: The package of what is called; "" if it is not known.
        name: The name of the function, class or method.
        given: What it gets.
        node: The call.
    """
    fills = name in FILLING or home == "ctypes"
    for each in given:
        thing = each.thing if isinstance(each, Live) else None
        if is_container(type(thing)):
            continue
        moved = has_type(thing, *_STREAMS) or (
            is_iterator(thing) and not has_type(thing, io.IOBase)
        )
        if (moved and name not in _TELLING) or (fills and has_type(thing, *_BYTES)):
            notes.change(each, node)

"""What calls of libraries do with what they are given, and what comes out of them.

None is a value that an attempt has made itself, or that cannot change. `Unfollowed` is
one of which that is not known. Using it is no finding, but no proof either: what is
called on it, or stored in it, is written down (`Notebook.lose`).

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
import re
import sys
from collections import Counter, OrderedDict, defaultdict
from operator import attrgetter, methodcaller
from types import BuiltinFunctionType, BuiltinMethodType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, cast

from txloop.scan.known import (
    ADDING,
    HEAPS,
    IMPORTING,
    INSORTS,
    MUTATORS,
    RUNNING,
    SERIALIZERS,
)
from txloop.scan.live_objects import has_type, is_container, is_iterator
from txloop.scan.parts import is_risky, made_of, part_of, passes_on
from txloop.scan.value import FOREIGN, SOMETHING, Live, Value, shared
from txloop.stm.immutability import CHANGEABLE
from txloop.stm.origin import own_module_of

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Iterator

    from txloop.scan.notebook import Notebook

__all__ = [
    "CHANGERS",
    "READING",
    "calls_later",
    "changes_argument",
    "give",
    "home_and_name",
    "is_of_library",
    "leads_anywhere",
    "may_change",
    "names_in",
    "outcome",
    "streams_behind",
    "tells_process",
]

_NAMED = (FunctionType, BuiltinFunctionType, type)
_CYTHON = "cython_function_or_method"  # each library has a type of its own

_PASSING = frozenset(
    [
        *("bisect", "builtins", "collections", "copy", "functools", "heapq"),
        *("itertools", "operator", "random", "types", "weakref"),
    ]
)
"""Modules of the standard library whose functions give back parts of what they get."""

_MEASURING = frozenset(
    [
        *("abs", "all", "any", "ascii", "bool", "bytes", "callable", "deepcopy"),
        *("float", "format", "hasattr", "hash", "id", "int", "isinstance"),
        *("issubclass", "len", "open", "print", "range", "repr", "round", "str"),
    ]
)
"""Their functions that do not."""

_RESHAPING = frozenset(
    [
        *(("builtins", "frozenset"), ("builtins", "iter"), ("builtins", "list")),
        *(("builtins", "reversed"), ("builtins", "set"), ("builtins", "sorted")),
        *(("builtins", "tuple"), ("collections", "deque"), ("itertools", "chain")),
    ]
)
"""Those that give a container of the parts of what they get, by package and name."""

_CHOOSING = frozenset([("builtins", "max"), ("builtins", "min"), ("builtins", "next")])
"""Those that give one of the parts of what they get."""

_OF_PROCESS = frozenset(
    [
        *(("posix", "getpid"), ("posix", "getppid"), ("multiprocessing", "getpid")),
        *(("threading", "active_count"), ("threading", "current_thread")),
        *(("threading", "get_ident"), ("threading", "get_native_id")),
        *(("thread", "get_ident"), ("thread", "get_native_id")),
        *(("threading", "enumerate"), ("multiprocessing", "current_process")),
    ]
)
"""Functions, by package and name; a package in C is without its underscore."""

CHANGERS = frozenset([*HEAPS, *INSORTS, "shuffle", "SubElement"])
"""Functions of the standard library that change the list they get."""

_CHANGERS_HOMES = frozenset(
    [
        *("_bisect", "_elementtree", "_heapq"),
        *("bisect", "heapq", "random", "xml.etree.ElementTree"),
    ]
)

_IN_PLACE = ADDING | {"delitem", "iand", "imul", "isub", "ixor"}
"""Functions of `operator` that change what they get first."""

_CHANGED = (*CHANGEABLE, Counter, OrderedDict, defaultdict)

_COPYING = frozenset(
    [
        *SERIALIZERS,
        *("PIL", "jinja2", "jwt", "markdown", "matplotlib", "numpy", "pandas"),
        *("scipy", "sklearn", "tensorflow", "torch"),
    ]
)
"""Packages that change no list or dict that they get, but that they shuffle some."""

READING = frozenset(
    [
        *("dump", "dumps", "encode", "execute", "executemany", "fit", "generate"),
        *("get", "packb", "post", "predict", "predict_proba", "publish", "put"),
        *("render", "render_async", "request", "send", "stream", "transform"),
        "validate",
    ]
)
"""Methods of libraries that change nothing of what they get."""

_ANYTHING = RUNNING | IMPORTING | {"getattr", "vars"}
"""Functions that lead to anything; where `getattr` has a known name it is followed."""


def is_of_library(cls: type) -> bool:
    """Tell whether a class is a library's, but not Python's, Tornado's or txloop's."""
    return own_module_of(cls) is None and not _is_known(_home(cls))


def outcome(thing: object, given: Iterable[Value]) -> Value:
    """Return what a call of something gives that is not the program's."""
    home, name = _home(thing), _name(thing)
    if not _is_known(home):
        return FOREIGN
    if home in ("builtins", "importlib") and name in _ANYTHING:
        return SOMETHING
    passes = is_risky if name == "partial" else passes_on
    passed = [each for each in given if passes(each)]
    if home not in _PASSING or name in _MEASURING or not passed:
        return None
    if (home, name) in _RESHAPING:
        return made_of(map(part_of, passed))
    if (home, name) in _CHOOSING and len(passed) == 1:
        return part_of(passed[0])
    return SOMETHING


def names_in(caller: attrgetter[Any] | methodcaller) -> list[str]:
    """Return the attributes that a function of `operator` takes; or first calls one."""
    if has_type(caller, attrgetter):
        return re.findall("'(.+?)'", repr(caller))
    name = getattr(caller, "_method_name", None)  # PyPy's
    made, given = cast("tuple[Any, tuple[str, ...]]", caller.__reduce__()[:2])
    return [name or [*getattr(made, "args", ()), *given][0]]


def leads_anywhere(thing: object) -> bool:
    """Tell whether a call of it runs code that is not named."""
    return _name(thing) in RUNNING | IMPORTING and _home(thing) in (
        "builtins",
        "importlib",
    )


def tells_process(thing: object) -> bool:
    """Tell whether it gives what differs from one process, or thread, to another."""
    if not has_type(thing, *_NAMED):
        return False
    return (_home(thing), _name(thing)) in _OF_PROCESS


def changes_argument(thing: object) -> bool:
    """Tell whether a call of it changes what it gets first."""
    if type(thing).__module__ != "builtins":
        return False
    home, name = getattr(thing, "__module__", None), getattr(thing, "__name__", None)
    if name in MUTATORS and any(vars(cls).get(name) is thing for cls in _CHANGED):
        return True
    if home in ("_operator", "operator"):
        return str(name).strip("_") in _IN_PLACE
    return home in _CHANGERS_HOMES and name in CHANGERS


def may_change(thing: object) -> bool:
    """Tell whether a call of a library's function may change lists that it gets."""
    if has_type(thing, MethodType):
        thing = thing.__func__
    home, name = _home(thing), _name(thing)
    if has_type(thing, type) or _is_known(home):
        return False
    return name == "shuffle" or not (home in _COPYING or name in READING)


def calls_later(thing: object) -> bool:
    """Tell whether a function that is passed to it may be called at any time."""
    home = _home(thing)
    later = ("asyncio", "atexit", "concurrent", "multiprocessing", "threading")
    return home in later or not (home in sys.stdlib_module_names or home == "builtins")


def home_and_name(thing: object) -> tuple[str, str]:
    """Return the package and the name of what is called."""
    return _home(thing), _name(thing)


def _is_named(thing: object) -> bool:
    return has_type(thing, *_NAMED) or type(thing).__name__ == _CYTHON


def _name(thing: object) -> str:
    return str(getattr(thing, "__name__", "")) if _is_named(thing) else ""


def _home(thing: object) -> str:
    """Return the package that has the function or class, or the object's class."""
    named = thing if _is_named(thing) else type(thing)
    module = getattr(named, "__module__", None)
    if module is None:  # a method in C
        module = type(getattr(thing, "__self__", None)).__module__
    home = module if isinstance(module, str) else "builtins"
    return home.partition(".")[0].removeprefix("_")


def _is_known(home: str) -> bool:
    return (
        home in ("tornado", "txloop", "")
        or home in sys.stdlib_module_names
        or f"_{home}" in sys.stdlib_module_names
    )


_STREAMS = (io.BytesIO, io.StringIO)

_BYTES = (bytearray, memoryview, array.array, ctypes.Array.__mro__[1])

_FILLING = frozenset(
    [
        *("from_buffer", "ioctl", "pack_into", "preadv", "readinto", "readinto1"),
        *("readv", "recv_bytes_into", "recv_into", "recvfrom_into", "recvmsg_into"),
    ]
)
"""Functions and methods that fill bytes which they are given."""

_WRAPPING = frozenset(
    [
        *("bz2", "codecs", "csv", "encodings", "gzip", "io", "lzma", "pickle"),
        *("tarfile", "wave", "zipfile"),
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
    fills = name in _FILLING or home == "ctypes"
    for each in given:
        thing = each.thing if isinstance(each, Live) else None
        if is_container(type(thing)):
            continue
        moved = has_type(thing, *_STREAMS) or (
            is_iterator(thing) and not has_type(thing, io.IOBase)
        )
        if (moved and name not in _TELLING) or (fills and has_type(thing, *_BYTES)):
            notes.change(each, node)

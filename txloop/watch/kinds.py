"""What an object is to the watch, told by its class alone.

Objects are never asked themselves: a proxy would answer by running the program's code.
Classes of libraries are known by name, so that no library is imported to be known.
"""

from __future__ import annotations

import contextvars
import datetime
import decimal
import enum
import functools
import ipaddress
import logging
import operator
import pathlib
import re
import sys
import threading
import types
import weakref
import zoneinfo
from array import array
from collections import deque
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any

from txloop.scan.live_objects import class_has, is_application, is_options
from txloop.stm.immutability import SCALARS
from txloop.stm.origin import own_module_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ATOMS",
    "CODE",
    "Kind",
    "is_harmless",
    "is_live_stream",
    "kind_of",
]

ATOMS = SCALARS - {re.Pattern, zoneinfo.ZoneInfo}
"""Classes of immutable things without parts, which are the same if they are equal."""


class Kind(enum.Enum):
    """How an object is pictured, and what leads on from it."""

    NOTHING = enum.auto()  # neither
    PARTS = enum.auto()  # immutable, its parts may not be
    VIEW = enum.auto()  # shows a mapping, which may change
    LIST = enum.auto()
    DICT = enum.auto()
    SET = enum.auto()
    WEAK = enum.auto()  # what it holds may vanish by itself
    BUFFER = enum.auto()
    MAPPING = enum.auto()  # memory that processes share, or not
    TEXT = enum.auto()  # a file in memory
    FUNCTION = enum.auto()
    WRAPPER = enum.auto()  # methods, partials, properties
    CACHE = enum.auto()  # of `lru_cache`
    GETTER = enum.auto()  # of `attrgetter` and the like
    TEMPLATE = enum.auto()  # of Tornado's, or a loader of some
    CLASS = enum.auto()
    MODULE = enum.auto()
    VARIABLE = enum.auto()  # of a context
    LOGGING = enum.auto()  # a logger, a handler, an adapter
    DECIMALS = enum.auto()  # a context of decimal numbers
    OPTIONS = enum.auto()  # a parser of Tornado's
    OBJECT = enum.auto()  # attributes, in a dict or in slots
    HELD = enum.auto()  # a copy is useless, wherever it is found
    HELD_NEAR = enum.auto()  # ... where the program's own code uses it


CODE = (Kind.CLASS, Kind.FUNCTION, Kind.MODULE, Kind.WRAPPER)
"""What a program is made of, rather than its data."""

_WRAPPERS = (
    types.MethodType,
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    functools.partial,
    functools.partialmethod,
    functools.cached_property,
    weakref.ref,
    property,
    classmethod,
    staticmethod,
)

_made: list[Any] = [functools.lru_cache(size)(len) for size in (0, 1, None)]
_CACHE = None if type(_made[0]) is types.FunctionType else type(_made[0])

# On PyPy a cache is a function like others, with one of these codes.
_CACHE_CODES = {each.__code__ for each in _made if _CACHE is None}

_BASES = (
    # The first that fits counts.
    (Kind.LOGGING, (logging.Logger, logging.LoggerAdapter, logging.Handler)),
    (Kind.DECIMALS, (decimal.Context,)),
    (Kind.NOTHING, (re.Pattern,)),
    (Kind.VARIABLE, (contextvars.ContextVar,)),
    (Kind.NOTHING, (types.CodeType, types.FrameType, types.TracebackType)),
    (Kind.NOTHING, (zoneinfo.ZoneInfo, datetime.tzinfo)),
    # They keep what they have worked out.
    (Kind.NOTHING, (pathlib.PurePath, ipaddress._IPAddressBase)),
    (Kind.WEAK, (weakref.WeakSet, weakref.WeakKeyDictionary)),
    (Kind.WEAK, (weakref.WeakValueDictionary,)),
    (Kind.MODULE, (types.ModuleType,)),
    (Kind.FUNCTION, (types.FunctionType,)),
    (Kind.WRAPPER, _WRAPPERS),
    (Kind.GETTER, (operator.attrgetter, operator.methodcaller)),
    (Kind.PARTS, (tuple, frozenset)),
    (Kind.VIEW, (types.MappingProxyType,)),
    (Kind.LIST, (list, deque)),
    (Kind.DICT, (dict,)),
    (Kind.SET, (set,)),
    (Kind.BUFFER, (bytearray, array, memoryview)),
    (Kind.OBJECT, (threading.local,)),
)

# By module, the names of classes, which count for what derives from them, too; "*"
# stands for all classes of the module.
_HELD = {
    "socket": ("socket",),
    "_socket": ("socket",),
    "tornado.iostream": ("BaseIOStream",),
    "tornado.web": ("RequestHandler",),
    "tornado.websocket": ("WebSocketClientConnection",),
}

_HELD_NEAR = {
    "_io": ("_IOBase",),
    "tempfile": ("*",),
    "shelve": ("*",),
    "zipfile": ("ZipFile",),
    "tarfile": ("TarFile",),
    "subprocess": ("Popen",),
    "concurrent.futures._base": ("Executor",),
    "multiprocessing.pool": ("Pool",),
    "multiprocessing.connection": ("_ConnectionBase",),
    "multiprocessing.process": ("BaseProcess",),
    "_thread": ("lock", "RLock"),
    "thread": ("lock", "RLock"),
    "threading": ("_RLock", "Condition", "Semaphore", "Event", "Barrier", "Thread"),
    "queue": ("Queue", "SimpleQueue"),
    "_queue": ("SimpleQueue", "Queue"),
    "multiprocessing.queues": ("*",),
    "multiprocessing.synchronize": ("*",),
    "multiprocessing.sharedctypes": ("*",),
    "asyncio.queues": ("Queue",),
    "asyncio.locks": ("*",),
    "_asyncio": ("Future", "Task"),
    "asyncio.futures": ("Future",),
    "asyncio.tasks": ("Task",),
    "tornado.queues": ("Queue",),
    "tornado.locks": ("*",),
    "_lsprof": ("Profiler",),  # cProfile's
    "profile": ("Profile",),
    "random": ("Random",),
    "_random": ("Random",),
    "numpy.random.mtrand": ("RandomState",),
    "numpy.random._generator": ("Generator",),
    "numpy.random.bit_generator": ("BitGenerator",),
    "tornado.ioloop": ("PeriodicCallback",),
    # What goes on from call to call, and shows nothing of where it is.
    "_hashlib": ("HASH", "HMAC"),
    "_blake2": ("*",),
    "_md5": ("*",),
    "_sha1": ("*",),
    "_sha2": ("*",),
    "_sha3": ("*",),
    "hmac": ("HMAC",),
    "zlib": ("Compress", "Decompress"),
    "builtins": ("Compress", "Decompress"),  # PyPy's names of these two
    "_bz2": ("*",),
    "_lzma": ("*",),
    "codecs": ("IncrementalDecoder", "IncrementalEncoder"),
    "_multibytecodec": ("*",),
    "pyexpat": ("xmlparser",),
    "_contextvars": ("Context",),
    "contextvars": ("Context",),
}

_BUFFERS = {
    "_ctypes": ("Array", "Structure", "Union", "_Pointer", "_SimpleCData"),
    # PyPy's
    "_ctypes.array": ("Array",),
    "_ctypes.pointer": ("_Pointer",),
    "_ctypes.primitive": ("_SimpleCData",),
    "_ctypes.structure": ("Structure",),
    "_ctypes.union": ("Union",),
}

_HARMLESS = {
    "random": ("SystemRandom",),
    "uvloop": ("*",),
    "tornado.httpclient": ("AsyncHTTPClient", "HTTPClient"),
    "tornado.httpserver": ("*",),
    "tornado.httputil": ("HTTPServerConnectionDelegate",),
    "tornado.ioloop": ("IOLoop", "_Timeout"),
    "tornado.locale": ("*",),
    "tornado.log": ("*",),
    "tornado.platform.asyncio": ("*",),
    "tornado.routing": ("*",),
    "tornado.tcpserver": ("*",),
    "tornado.template": ("*",),
    "asyncio.base_events": ("*",),
    "asyncio.events": ("*",),
    "_asyncio": ("*",),
}
"""What no transaction changes, or what may well differ: loops, parts of templates."""

_TEMPLATES = {"tornado.template": ("BaseLoader", "Template")}

_kinds: dict[type, Kind] = dict.fromkeys(ATOMS, Kind.NOTHING)
"""The kind of each class, as far as asked: a memory of `_judged`, for all threads."""


def kind_of(thing: object) -> Kind:
    """Return what `thing` is to the watch."""
    cls = type(thing)
    kind = _kinds.get(cls)
    if kind is None:
        kind = _kinds[cls] = _judged(cls)
    if kind is Kind.FUNCTION and _CACHE_CODES and _has_code_of_cache(thing):
        return Kind.CACHE
    return kind


def _has_code_of_cache(function: Any) -> bool:
    is_of_functools = function.__globals__ is vars(functools)
    return is_of_functools and function.__code__ in _CACHE_CODES


def _judged(cls: type) -> Kind:
    if issubclass(cls, type):
        return Kind.CLASS
    names = [(str(each.__module__), each.__name__) for each in cls.__mro__]
    if any(module.partition(".")[0] == "txloop" for module, _ in names):
        return Kind.NOTHING
    if ("random", "SystemRandom") in names:
        return Kind.NOTHING
    if issubclass(cls, StringIO | BytesIO):
        return Kind.TEXT
    if _lists(_HELD, names) or _is_database(cls):
        return Kind.HELD
    if _lists(_HELD_NEAR, names):
        return Kind.HELD_NEAR
    if _lists(_TEMPLATES, names):
        return Kind.TEMPLATE
    if is_options(cls):
        return Kind.OPTIONS
    if ("mmap", "mmap") in names:
        return Kind.MAPPING
    is_own = own_module_of(cls) is not None
    if any(map(is_harmless, cls.__mro__)) and not _is_programs(cls):
        return Kind.NOTHING
    if cls is _CACHE:
        return Kind.CACHE
    for kind, bases in _BASES:
        if issubclass(cls, bases) and (kind is not Kind.NOTHING or not is_own):
            return kind
    if "__next__" in dir(cls) or issubclass(cls, types.CoroutineType):
        return Kind.HELD_NEAR
    if _is_numpy_array(cls) or _lists(_BUFFERS, names):
        return Kind.BUFFER
    if any(module == "numpy" for module, _ in names):
        return Kind.NOTHING  # its scalars and dtypes
    return Kind.OBJECT


def is_harmless(cls: type) -> bool:
    """Tell whether what a class itself does to its objects is of no importance."""
    return _lists(_HARMLESS, [(str(cls.__module__), cls.__name__)])


def _is_programs(cls: type) -> bool:
    """Tell whether the program keeps what it likes on objects of the class."""
    return own_module_of(cls) is not None or is_application(cls)


def _lists(table: Mapping[str, tuple[str, ...]], names: list[tuple[str, str]]) -> bool:
    for module, name in names:
        listed = table.get(module, ())
        if name in listed or "*" in listed:
            return True
    return False


def _is_database(cls: type) -> bool:
    """Tell whether it is a connection or a cursor as PEP 249 has them."""
    if cls.__module__ == "builtins":
        return False
    connection = class_has(cls, "cursor") and class_has(cls, "commit")
    return connection or (class_has(cls, "execute") and class_has(cls, "fetchone"))


def _is_numpy_array(cls: type) -> bool:
    numpy = sys.modules.get("numpy")
    array_class = getattr(numpy, "ndarray", None)
    return isinstance(array_class, type) and issubclass(cls, array_class)


def is_live_stream(thing: object) -> bool:
    """Tell whether a file is one that each process has, or is closed."""
    standard = [sys.stdin, sys.stdout, sys.stderr]
    standard += [sys.__stdin__, sys.__stdout__, sys.__stderr__]
    if any(thing is one or thing is getattr(one, "buffer", one) for one in standard):
        return False
    return not getattr(thing, "closed", False)

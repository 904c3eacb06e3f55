"""What functions and methods of Python and of libraries do, by their names alone.

The one table of each kind, from which each room takes what it needs.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ADDING",
    "COPIERS",
    "GETTERS",
    "HEAPS",
    "IMPORTING",
    "INSORTS",
    "KEEPING",
    "LISTING",
    "LOGS",
    "METHODS",
    "MODULES",
    "MUTATORS",
    "NAMESPACES",
    "PARTS",
    "PUTTING",
    "READERS",
    "RUNNING",
    "SCALARS",
    "SERIALIZERS",
    "SETTING",
    "TAKING",
]

# Methods of containers

MUTATORS = frozenset(
    [
        *("__delitem__", "__iadd__", "__ior__", "__setitem__", "add", "append"),
        *("appendleft", "clear", "difference_update", "discard", "extend"),
        *("extendleft", "insert", "intersection_update", "move_to_end", "pop"),
        *("popitem", "popleft", "remove", "reverse", "rotate", "setdefault", "sort"),
        *("subtract", "symmetric_difference_update", "update"),
    ]
)
"""The methods by which the builtin containers change."""

KEEPING = frozenset(
    [
        *("__iadd__", "__ior__", "__setitem__", "add", "append", "appendleft"),
        *("extend", "extendleft", "insert", "setdefault", "update"),
    ]
)
"""Those of them that keep what they are given."""

PUTTING = frozenset(["put", "put_nowait", "set_result"])
"""The methods by which queues and futures keep what they are given."""

ADDING = frozenset(["iadd", "iconcat", "ior", "setitem"])
"""Functions of `operator` that put into the first argument what comes after it."""

GETTERS = frozenset(["__getitem__", "get", "pop", "popleft", "setdefault"])
"""Those that return an element."""

METHODS = MUTATORS | GETTERS | {"items", "values"}
"""Those whose name tells that an unknown object is such a container."""

HEAPS: Mapping[str, str] = MappingProxyType(
    {
        "heapify": "sort",
        "heappop": "pop",
        "heappush": "append",
        "heappushpop": "setdefault",
        "heapreplace": "setdefault",
    }
)
"""The functions of `heapq`, with methods of lists that do as much to the items."""

INSORTS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("insort", "insort_left", "insort_right"), "insert")
)
"""Those of `bisect` that change a list, likewise."""

# What leads to names that the code does not have

RUNNING = frozenset(["eval", "exec"])
"""Functions that run a text, which may use any name."""

IMPORTING = frozenset(["__import__", "import_module"])
"""Those that return a module by its name."""

NAMESPACES = frozenset(["globals", "locals", "vars"])
"""Those that return variables, or attributes, with their names."""

LISTING = frozenset(["__dict__", "dir", "getmembers"])
"""What else leads to all attributes of an object."""

TAKING = frozenset(["attrgetter", "getattr", "methodcaller"])
"""Functions that take an attribute by a name that they are given."""

SETTING = frozenset(["delattr", "setattr"])
"""Those that set or delete one."""

# What functions return

SCALARS = frozenset(
    [
        *("abs", "all", "any", "b64encode", "bool", "bytes", "count", "decode"),
        *("digest", "dumps", "encode", "float", "format", "get_argument", "get_cookie"),
        *("get_body_argument", "get_query_argument", "get_secure_cookie", "hexdigest"),
        *("hex", "index", "int", "isinstance", "isoformat", "join", "json_encode"),
        *("len", "lower", "monotonic", "now", "ord", "perf_counter", "randint"),
        *("random", "randrange", "replace", "reverse_url", "round", "str", "strftime"),
        *("strip", "sum", "time", "timestamp", "title", "token_hex", "token_urlsafe"),
        *("upper", "utcnow", "uuid1", "uuid4", "xhtml_escape"),
    ]
)
"""Those that return what cannot change."""

PARTS = frozenset(
    [
        *("Counter", "OrderedDict", "_asdict", "_make", "_replace", "accumulate"),
        *("batched", "cast", "chain", "choice", "choices", "combinations"),
        *("combinations_with_replacement", "compress", "copy", "cycle", "defaultdict"),
        *("deque", "dict", "dropwhile", "enumerate", "filter", "filterfalse"),
        *("from_iterable", "fromkeys", "frozenset", "groupby", "heappop", "islice"),
        *("items", "iter", "list", "map", "max", "min", "next", "nlargest"),
        *("nsmallest", "pairwise", "permutations", "product", "repeat", "reversed"),
        *("sample", "set", "sorted", "starmap", "takewhile", "tee", "tuple", "values"),
        *("zip", "zip_longest"),
    ]
)
"""Those whose result has parts of what they are given."""

COPIERS = frozenset(["dict", "frozenset", "list", "set", "sorted", "tuple"])
"""Python's own that make something new of the parts of what they are given."""

LOGS = frozenset(
    [
        *("critical", "debug", "error", "exception", "fatal", "info", "log"),
        *("warn", "warning"),
    ]
)
"""The methods of loggers that log."""

READERS = LOGS | frozenset(
    [
        *("finish", "getattr", "hasattr", "issubclass", "print", "range", "render"),
        *("render_string", "repr", "send_error", "set_cookie", "set_header"),
        *("set_secure_cookie", "set_signed_cookie", "set_status", "type", "write"),
        "write_message",
    ]
)
"""Those that only read what they are given, and keep nothing of it."""

SERIALIZERS = frozenset(
    ["msgpack", "orjson", "rapidjson", "simplejson", "ujson", "yaml"]
)
"""Packages that make bytes or texts of what they are given."""

MODULES = frozenset(
    [
        *("base64", "binascii", "datetime", "decimal", "hashlib", "hmac", "html"),
        *("logging", "math", "random", "secrets", "statistics", "time", "uuid"),
        *("zlib",),
    ]
)
"""Modules whose other functions return what cannot change."""

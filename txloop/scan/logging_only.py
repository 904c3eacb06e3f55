"""Calls outside of the program's code that do no more than read, or log.

What follows an answer may run in a copy of the program, where anything else would be
lost. So unlike in a verb, whose objects are watched, only what is known counts.
"""

from __future__ import annotations

from txloop.scan.known import MODULES
from txloop.scan.libraries import home_and_name
from txloop.scan.live_objects import has_type

__all__ = ["only_reads", "only_reads_by_name"]

_BUILTINS = frozenset(
    [
        *("abs", "all", "any", "ascii", "bin", "bool", "bytes", "chr", "dict"),
        *("divmod", "enumerate", "float", "format", "frozenset", "getattr", "hasattr"),
        *("hash", "hex", "id", "int", "isinstance", "issubclass", "len", "list", "max"),
        *("min", "oct", "ord", "pow", "print", "range", "repr", "reversed", "round"),
        *("set", "sorted", "str", "sum", "super", "tuple", "type", "vars", "zip"),
    ]
)

_LOGGING = frozenset(
    [
        *("critical", "debug", "error", "exception", "fatal", "getEffectiveLevel"),
        *("getLevelName", "getLogger", "info", "isEnabledFor", "log", "warn"),
        "warning",
    ]
)

_OTHERS = {
    "json": frozenset(["dumps", "loads"]),
    "os": frozenset(["getpid"]),
    "re": frozenset(["compile", "escape", "findall", "fullmatch", "match", "search"]),
    "sys": frozenset(["exc_info"]),
    "traceback": frozenset(["format_exc", "format_exception", "format_stack"]),
    "urllib": frozenset(["quote", "unquote", "urlencode", "urlparse", "urlsplit"]),
}

_OF_TORNADO = frozenset(
    [
        *("_log", "_request_summary", "full_url", "get_argument", "get_arguments"),
        *("get_body_argument", "get_body_arguments", "get_cookie", "get_secure_cookie"),
        *("get_query_argument", "get_query_arguments", "get_signed_cookie"),
        *("get_status", "json_encode", "log_request", "native_str", "on_finish"),
        *("request_time", "reverse_url", "to_unicode", "utf8"),
    ]
)

_OF_VALUES = frozenset(
    [
        *("capitalize", "casefold", "center", "count", "date", "decode", "encode"),
        *("endswith", "find", "format", "get", "hex", "hexdigest", "index", "items"),
        *("isoformat", "join", "keys", "ljust", "lower", "lstrip", "partition"),
        *("replace", "rjust", "rpartition", "rsplit", "rstrip", "split", "splitlines"),
        *("startswith", "strftime", "strip", "time", "timestamp", "title"),
        *("total_seconds", "upper", "values", "zfill"),
    ]
)
"""Methods of texts, of moments, and those by which dicts are read."""


def only_reads(thing: object) -> bool:
    """Tell whether a call of what is not the program's only reads, or logs."""
    home, name = home_and_name(thing)
    if has_type(thing, type) and issubclass(thing, BaseException):
        return True
    if home == "builtins":
        return name in _BUILTINS
    if home == "logging":
        return name in _LOGGING
    if home == "tornado":
        return name in _OF_TORNADO
    return home in MODULES or name in _OTHERS.get(home, ())


def only_reads_by_name(method: str) -> bool:
    """Tell the same of a method of an unknown object."""
    return method in _OF_TORNADO or method in _OF_VALUES

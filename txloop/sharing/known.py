"""What functions of libraries return, by their names alone."""

from __future__ import annotations

__all__ = ["MODULES", "PARTS", "READERS", "SCALARS"]

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
        *("Counter", "OrderedDict", "chain", "choice", "choices", "copy", "cycle"),
        *("deque", "defaultdict", "dict", "enumerate", "filter", "frozenset"),
        *("heappop", "islice", "items", "iter", "list", "map", "max", "min", "next"),
        *("nlargest", "nsmallest", "product", "repeat", "reversed", "sample", "set"),
        *("sorted", "tuple", "values", "zip", "zip_longest"),
    ]
)
"""Those whose result has parts of what they are given."""

READERS = frozenset(
    [
        *("critical", "debug", "error", "exception", "finish", "getattr", "hasattr"),
        *("info", "issubclass", "log", "print", "range", "render"),
        *("render_string", "repr", "send_error", "set_cookie", "set_header"),
        *("set_secure_cookie", "set_signed_cookie", "set_status", "type", "warning"),
        *("write", "write_message"),
    ]
)
"""Those that only read what they are given, and keep nothing of it."""

MODULES = frozenset(
    [
        *("base64", "binascii", "datetime", "decimal", "hashlib", "hmac", "html"),
        *("logging", "math", "random", "secrets", "statistics", "time", "uuid"),
        *("zlib",),
    ]
)
"""Modules whose other functions return what cannot change."""

"""What the scan cannot follow: values that may be shared, and are not known.

None is a value that an attempt has made itself, or that cannot change. `Unfollowed` is
one of which that is not known. Using it is no finding, but no proof either: what is
called on it, or stored in it, is written down (`Record.lose`).
"""

from __future__ import annotations

import itertools
import sys
from collections import deque
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING

from txloop.scan.live_objects import (
    IMMUTABLE,
    UNKNOWN,
    has_type,
    is_container,
    is_harmless,
    is_plain,
)
from txloop.scan.value import (
    FOREIGN,
    SOMETHING,
    Bound,
    Family,
    Instance,
    Live,
    Member,
    Parts,
    Several,
    Unfollowed,
    Value,
    either,
    element,
    sample,
    shared,
)
from txloop.stm.origin import is_own_function, own_module_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "is_lost",
    "is_of_library",
    "is_risky",
    "made_of",
    "may_be_several",
    "outcome",
    "part_of",
    "passes_on",
]

_NAMED = (FunctionType, BuiltinFunctionType, type)

_MOST = 100  # elements of a container that are looked at

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

_ANYTHING = frozenset(
    ["__import__", "eval", "exec", "getattr", "import_module", "vars"]
)
"""Functions that lead to anything; where `getattr` has a known name it is followed."""


def is_of_library(cls: type) -> bool:
    """Tell whether neither the program, Python, Tornado nor txloop has the class."""
    return own_module_of(cls) is None and not _is_known(_home(cls))


def is_lost(value: Value) -> bool:
    """Tell whether it is a shared object that cannot be looked at."""
    return (
        isinstance(value, Live)
        and value.thing is UNKNOWN
        and value.role is None
        and value.family is not Family.CLOSURE  # a variable of the same attempt
    )


def is_risky(value: Value) -> bool:
    """Tell whether calls and changes cannot be followed once it is in a container."""
    if isinstance(value, Live):
        return is_lost(value) or (value.thing is not UNKNOWN and _is_risky(value.thing))
    if isinstance(value, Unfollowed):
        return not value.foreign
    if isinstance(value, Several):
        return any(map(is_risky, value.values))
    return isinstance(value, Instance | Bound | Member | Parts)


def made_of(values: Iterable[Value]) -> Value:
    """Return what a new container of these values is."""
    risky = [each for each in values if is_risky(each)]
    if not risky:
        return None
    parts = Parts([])
    for each in risky:
        parts.add(each)
    return parts


def part_of(value: Value) -> Value:
    """Return what stands for any part of a container."""
    if isinstance(value, Several):
        return either(map(part_of, value.values))
    if isinstance(value, Member):
        return part_of(value.holder)
    if isinstance(value, Parts):
        return either(value.values)
    if isinstance(value, Live):
        return either(samples(value)) if may_be_several(value) else element(value)
    return value if isinstance(value, Unfollowed) else None


def samples(holder: Live) -> Iterator[Value]:
    """Yield one part of a plain container for each kind that runs code of its own."""
    kinds = set()
    for part in _parts(holder.thing):
        kind = id(part) if has_type(part, FunctionType, type) else id(type(part))
        if _runs_own_code(part) and kind not in kinds:
            kinds.add(kind)
            value = shared(part, holder.name, holder.family, holder.slots)
            yield sample(value)


def passes_on(value: Value) -> bool:
    """Tell whether a container of its parts has some that cannot be followed."""
    if isinstance(value, Several):
        return any(map(passes_on, value.values))
    if isinstance(value, Member):
        value = value.holder
    if isinstance(value, Live) and (
        is_plain(value.thing) or has_type(value.thing, tuple)
    ):
        return any(map(_is_risky, _parts(value.thing)))
    return is_risky(value)


def may_be_several(holder: Live) -> bool:
    """Tell whether what is taken from it is one of several that run other code."""
    thing = holder.thing
    if not (is_plain(thing) or has_type(thing, tuple)):
        return False
    kinds = {
        id(part) if has_type(part, FunctionType, type) else type(part)
        for part in _parts(thing)
        if _runs_own_code(part)
    }
    return len(kinds) > 1


def outcome(thing: object, given: Iterable[Value]) -> Value:
    """Return what a call of something gives that is not the program's."""
    home, name = _home(thing), _name(thing)
    if not _is_known(home):
        return FOREIGN
    if home in ("builtins", "importlib") and name in _ANYTHING:
        return SOMETHING
    passed = [each for each in given if passes_on(each)]
    if home not in _PASSING or name in _MEASURING or not passed:
        return None
    if (home, name) in _RESHAPING:
        return made_of(map(part_of, passed))
    if (home, name) in _CHOOSING and len(passed) == 1:
        return part_of(passed[0])
    return SOMETHING


def leads_anywhere(thing: object) -> bool:
    """Tell whether a call of it runs code that is not named."""
    named = _name(thing) in ("__import__", "eval", "exec", "import_module")
    return named and _home(thing) in ("builtins", "importlib")


def tells_process(thing: object) -> bool:
    """Tell whether it gives what differs from one process, or thread, to another."""
    if not has_type(thing, *_NAMED):
        return False
    return (_home(thing), _name(thing)) in _OF_PROCESS


def calls_later(thing: object) -> bool:
    """Tell whether a function that is passed to it may be called at any time."""
    home = _home(thing)
    later = ("asyncio", "atexit", "concurrent", "multiprocessing", "threading")
    return home in later or not (home in sys.stdlib_module_names or home == "builtins")


def _name(thing: object) -> str:
    return str(getattr(thing, "__name__", "")) if has_type(thing, *_NAMED) else ""


def _home(thing: object) -> str:
    """Return the package that has the function or class, or the object's class."""
    module = getattr(
        thing if has_type(thing, *_NAMED) else type(thing), "__module__", None
    )
    home = module if isinstance(module, str) else "builtins"
    return home.partition(".")[0].removeprefix("_")


def _is_known(home: str) -> bool:
    return (
        home in ("tornado", "txloop", "")
        or home in sys.stdlib_module_names
        or f"_{home}" in sys.stdlib_module_names
    )


def _is_risky(thing: object) -> bool:
    if has_type(thing, *IMMUTABLE) or is_container(type(thing)):
        return False
    if has_type(thing, tuple):
        return any(map(_is_risky, itertools.islice(thing, _MOST)))
    if is_harmless(thing):
        return _runs_own_code(thing)
    return True


def _runs_own_code(thing: object) -> bool:
    if has_type(thing, FunctionType):
        return is_own_function(thing)
    cls = thing if has_type(thing, type) else type(thing)
    return own_module_of(cls) is not None


def _parts(thing: object) -> Iterable[object]:
    if has_type(thing, dict):
        return itertools.islice(list(dict.values(thing)), _MOST)
    if has_type(thing, list, tuple, set, frozenset, deque):
        return itertools.islice(list(thing), _MOST)
    return ()

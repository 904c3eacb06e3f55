"""The program's own code that others call: registries of Python and of libraries.

No code of the program names it where it is called: `print` writes to what stands in
`sys.stdout`, `pickle` calls what `copyreg` knows, a library's event bus calls its
subscribers. What they lead to belongs to what the code can reach.

Of a library nothing else is looked at. What its modules keep are caches, as a rule,
which grow for ever and do no harm; no look can tell them from state that matters.
"""

from __future__ import annotations

import builtins
import copyreg
import functools
import logging
import sys
import types
import warnings
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from txloop.scan.known import LOGS
from txloop.stm.origin import is_own_function, is_own_module, own_module_of
from txloop.watch import limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Set

__all__ = ["Hook", "called_by", "hooks", "kept_by_module", "libraries_behind"]

_CONTAINERS = (dict, list, set, tuple)
_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)


class Hook(NamedTuple):
    """Something of the program's that others call.

    Attributes:
        name: What messages call it.
        thing: Itself.
        called: Which of its methods.
        users: The names in code by which that happens; None: whatever the code.
    """

    name: str
    thing: object
    called: frozenset[str] = frozenset()
    users: frozenset[str] | None = None

    def is_used(self, names: Set[str]) -> bool:
        """Tell whether code of these names may come to call it."""
        return self.users is None or not self.users.isdisjoint(names)


_WRITING = frozenset(["flush", "write", "writelines"])
_PRINTING = frozenset(["pp", "pprint", "print", "print_exc", "print_exception"])
_FINDING = frozenset(["find_spec"])
_COPYING = frozenset(["Pickler", "copy", "deepcopy", "dump", "dumps", "pickle"])
_WARNING = frozenset(["warn", "warn_explicit"])
_LOGGING = LOGS | {"makeRecord"}


_STREAMS = _WRITING | {"close", "read", "readinto", "readline", "seek", "tell"}
_DUCKS = (
    (frozenset(["closing"]), frozenset(["close"])),
    (frozenset(["insort", "insort_left", "insort_right"]), frozenset(["insert"])),
    (frozenset(["urlencode", "url_concat"]), frozenset(["items"])),
    (
        frozenset(
            [
                *("DictWriter", "Pickler", "dump", "print", "pprint", "print_exc"),
                *("print_exception", "redirect_stderr", "redirect_stdout", "writer"),
            ]
        ),
        _WRITING,
    ),
    (
        frozenset(
            [
                *("BZ2File", "GzipFile", "LZMAFile", "TarFile", "TextIOWrapper"),
                *("Unpickler", "ZipFile", "copyfileobj", "iterparse", "load", "parse"),
            ]
        ),
        _STREAMS,
    ),
)
"""By names of the standard library, what that calls of any object that it gets."""


def called_by(names: Set[str]) -> Iterator[frozenset[str]]:
    """Yield the methods that libraries call where code uses these names."""
    return (called for users, called in _DUCKS if not users.isdisjoint(names))


def hooks() -> list[Hook]:
    """Return what of the program's stands in Python's own registries just now."""
    return [one for one in _entries() if _is_programs(one.thing)]


def _entries() -> Iterator[Hook]:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        yield Hook(f"sys.{name}", stream, _WRITING, _PRINTING | {name})
    for name in ("showwarning", "formatwarning"):
        yield Hook(f"warnings.{name}", getattr(warnings, name), users=_WARNING)
    for cls, reducer in list(copyreg.dispatch_table.items()):
        name = f"copyreg.dispatch_table[{getattr(cls, '__name__', '?')}]"
        yield Hook(name, reducer, users=_COPYING)
    for finder in (*sys.meta_path, *sys.path_hooks):
        yield Hook("an import hook", finder, _FINDING)
    factory = logging.getLogRecordFactory()
    yield Hook("the factory of log records", factory, users=_LOGGING)
    for name, thing in list(vars(builtins).items()):
        if type(thing) is types.FunctionType:
            yield Hook(f"builtins.{name}", thing, users=frozenset([name]))


def libraries_behind(thing: object, names: Set[str]) -> Iterator[types.ModuleType]:
    """Yield the modules of libraries that run when code uses something of theirs.

    Args:
        thing: What code uses by some name: a module, a class, a function.
        names: All that the code uses.
    """
    if type(thing) is not types.ModuleType:
        found = sys.modules.get(str(getattr(thing, "__module__", None)))
        if found is not None and not is_own_module(found):
            yield found
    elif not is_own_module(thing):
        yield thing
        # A package may only re-export what its modules define, or lead to them.
        for name in vars(thing).keys() & names:
            part = vars(thing)[name]
            if type(part) in (types.FunctionType, type) or _is_inside(part, thing):
                yield from libraries_behind(part, names)


def _is_inside(part: object, package: types.ModuleType) -> bool:
    if type(part) is not types.ModuleType:
        return False
    inner, outer = vars(part).get("__name__"), vars(package).get("__name__")
    return str(inner).startswith(f"{outer}.")


def kept_by_module(
    module: types.ModuleType, names: Set[str]
) -> Iterator[tuple[str, object]]:
    """Yield what of the program's a library's module calls, with names for messages.

    That is functions which it was given: event buses and the like keep them in its
    globals. A function that patches the library is there, too; it only counts where
    code calls it by its name.

    Args:
        module: The library's.
        names: All that the code uses.
    """
    label = str(vars(module).get("__name__"))
    for name, thing in islice(list(vars(module).items()), limits.MOST_ENTRIES):
        if name in names or issubclass(type(thing), _CONTAINERS):
            for one in _functions_in(thing, limits.HOOK_DEPTH):
                yield f"{label}.{name}", one


def _functions_in(thing: Any, depth: int) -> Iterator[object]:
    kind = type(thing)
    if kind in _FUNCTIONS:
        if _is_programs(thing):
            yield thing
    elif issubclass(kind, _CONTAINERS) and depth:
        base = next(one for one in kind.__mro__ if one in _CONTAINERS)
        parts = dict.values(thing) if base is dict else base.__iter__(thing)
        for part in list(islice(parts, limits.MOST_ENTRIES)):
            its = type(part)  # of nearly all parts of tables, one of others
            if its in _FUNCTIONS or issubclass(its, _CONTAINERS):
                yield from _functions_in(part, depth - 1)


def _is_programs(thing: Any) -> bool:
    """Tell whether it is a function of the program, or an object of its classes."""
    kind = type(thing)
    if kind is types.FunctionType:
        # PyPy has functions that are no Python code.
        return type(thing.__code__) is types.CodeType and is_own_function(thing)
    if kind is types.MethodType:
        return _is_programs(thing.__func__)
    if kind is functools.partial:
        return _is_programs(thing.func)
    if kind is types.ModuleType:
        return is_own_module(thing)
    return own_module_of(thing if issubclass(kind, type) else kind) is not None

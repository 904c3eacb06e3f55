"""Whose code it is: the program's, or that of what the program runs on.

The program is every module outside the standard library whose top-level package (or
file) holds the main script, a marked function, or the class of a handler or an
application that is served. Where such a package is installed makes no difference: it is
*claimed*, by `claim`. What lies neither among installed packages nor in the standard
library is the program's anyway. Installed is what lies in ``site-packages``, and what
pip has put elsewhere (``--target``), by the records that it leaves beside it.

Python, Tornado, txloop and conflict_log are never the program's. Callable from any
thread; a claim holds for every answer that is given after it.
"""

from __future__ import annotations

import builtins
import enum
import functools
import importlib.util
import os
import re
import sys
import sysconfig
from contextlib import suppress
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TypeGuard

__all__ = [
    "Owner",
    "claim",
    "claim_all",
    "claimed",
    "file_of",
    "is_installed_file",
    "is_own_function",
    "is_own_module",
    "own_module_of",
    "owner_of",
]

_LIBRARIES = frozenset({"txloop", "tornado", "conflict_log"})
_UNCLAIMABLE = _LIBRARIES | sys.stdlib_module_names | {"", "__main__"}
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")


class Owner(enum.Enum):
    """Whose a file is."""

    PROGRAM = enum.auto()
    TXLOOP = enum.auto()
    LIBRARY = enum.auto()


def _library_folders() -> tuple[str, ...]:
    """Return the folders of Python, Tornado and conflict_log, a separator at each end.

    Packages may be installed inside Python's: those are told apart first.
    """
    folders = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")]
    folders.append(os.path.dirname(os.__file__))  # PyPy has another one besides
    for name in ("tornado", "conflict_log"):
        spec = importlib.util.find_spec(name)
        if spec is not None:
            folders += spec.submodule_search_locations or ()
    unique = dict.fromkeys(map(os.path.abspath, folders))
    return tuple(os.path.join(folder, "") for folder in unique)


_LIBRARY_FOLDERS = _library_folders()

_claimed: frozenset[str] = frozenset()
"""Top-level names; replaced, never changed, so that its identity tells its age."""


class _Owners(dict[str, Owner]):
    """Whose each file is, by its name: found out when it is first asked for."""

    def __missing__(self, file: str) -> Owner:
        while True:
            claimed = _claimed
            owner = self[file] = _find_owner(file, claimed)
            if claimed is _claimed:  # else another thread's claim came in between
                return owner


_owners = _Owners()


def claim(module_name: str) -> None:
    """Make the top-level package of a module, or its file, a part of the program.

    Args:
        module_name: As in ``__module__``; ``"__main__"`` claims what holds the main
            script, which ``python -m`` may have started out of an installed package.
            Names of the standard library, Tornado and txloop are passed over.
    """
    module = sys.modules.get(module_name)
    file = file_of(module) if isinstance(module, ModuleType) else ""
    if file:
        top = _installed_top(file)
    else:  # it may be about to be run
        spec = getattr(module, "__spec__", None)
        top = (getattr(spec, "name", None) or module_name).partition(".")[0]
    global _claimed
    if top not in _claimed | _UNCLAIMABLE:
        _claimed |= {top}
        _owners.clear()


def claim_all(names: frozenset[str]) -> None:
    """Claim top-level names that another process has claimed."""
    global _claimed
    _claimed |= names
    _owners.clear()


def is_installed_file(file: str) -> bool:
    """Tell whether a file is among the packages of a Python, which others may have."""
    return not _INSTALLED.isdisjoint(os.path.abspath(file).split(os.sep)[:-1])


def claimed() -> frozenset[str]:
    """Return the top-level names that were claimed: the same object until one more is.

    What was derived from earlier answers is as good as the answers while it is.
    """
    return _claimed


def owner_of(file: str) -> Owner:
    """Return whose a source file is, by its name as code objects have it."""
    return _owners[file]


def is_own_function(function: FunctionType) -> bool:
    """Return whether the function's code stands in one of the program's modules.

    So does what the program has made by `exec`, in a namespace that is no module's.
    """
    namespace: dict[str, object] | None = function.__globals__
    if namespace is None:  # it is one of PyPy's own, such as `dict.__getitem__`
        return False
    name = namespace.get("__name__")
    file = function.__code__.co_filename
    return _is_own(name, file) or (file.startswith("<") and _is_nowhere(name))


def own_module_of(thing: object) -> ModuleType | None:
    """Return the program's module that defines the class, or None.

    A class of a namespace that is no module's (`exec`), or of a module that is not in
    `sys.modules` (as loaders of plugins leave them), is the program's unless its
    functions are a library's. What is returned then stands for that module, and has
    the name and the file of it only.
    """
    name = getattr(thing, "__module__", None)
    # Of metaclasses, for instance Cython's, this attribute may be anything.
    if not isinstance(name, str):
        return None
    module = sys.modules.get(name)
    if module is None or module is builtins:
        return _unlisted_module_of(thing, name)
    return module if is_own_module(module) else None


_OF_C = (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    MethodDescriptorType,
    WrapperDescriptorType,
)

_ATTRIBUTES = type.__dict__["__dict__"]

_unlisted: dict[tuple[str, str], ModuleType] = {}
"""What stands for modules that are not in `sys.modules`: a memory, for all threads."""


def _unlisted_module_of(thing: object, name: str) -> ModuleType | None:
    if not issubclass(type(thing), type):
        return None
    attributes: dict[str, object] = _ATTRIBUTES.__get__(thing)
    # Classes that are written in C have names of any modules, or none.
    if attributes.get("__module__") != name or _is_builtin(thing):
        return None
    if any(map(_is_of_c, attributes.values())):
        return None
    functions = [one for one in attributes.values() if type(one) is FunctionType]
    if functions and not any(map(is_own_function, functions)):
        return None
    files = (one.__code__.co_filename for one in functions)
    file = next((one for one in files if not one.startswith("<")), "")
    module = _unlisted.get((name, file))
    if module is None:
        module = ModuleType(name)
        module.__file__ = file
        module = _unlisted.setdefault((name, file), module)
    return module


def _is_of_c(thing: object) -> bool:
    if type(thing) is FunctionType:  # as PyPy's own are, with code of another kind
        return not isinstance(thing.__code__, CodeType)
    return isinstance(thing, _OF_C)


_NAME = type.__dict__["__name__"]


def _is_builtin(cls: object) -> bool:
    return vars(builtins).get(_NAME.__get__(cls)) is cls


def _is_nowhere(name: object) -> bool:
    """Tell whether a namespace of that name is no module's; a namedtuple's is not."""
    if name is None:
        return True
    unlisted = isinstance(name, str) and name not in sys.modules
    return unlisted and not str(name).startswith("namedtuple_")


def is_own_module(module: object) -> TypeGuard[ModuleType]:
    """Return whether the module belongs to the program, not to a library."""
    if not isinstance(module, ModuleType):
        return False
    name, file = module.__dict__.get("__name__"), file_of(module)
    # What is typed at a prompt has no file.
    return _is_own(name, file) if file else name == "__main__"


def file_of(module: ModuleType) -> str:
    """Return the file of the module, or "" for one that has none."""
    file = module.__dict__.get("__file__")
    return file if isinstance(file, str) else ""


def _is_own(name: object, file: str) -> bool:
    if isinstance(name, str) and name.partition(".")[0] in _LIBRARIES:
        return False
    return _owners[file] is Owner.PROGRAM


def _find_owner(file: str, claimed: frozenset[str]) -> Owner:
    if file.startswith("<"):
        return Owner.LIBRARY
    path = os.path.abspath(file)
    if path.startswith(_HERE):
        return Owner.TXLOOP
    top = _installed_top(path)
    own = top in claimed if top else not path.startswith(_LIBRARY_FOLDERS)
    return Owner.PROGRAM if own else Owner.LIBRARY


def _installed_top(file: str) -> str:
    """Return the top-level name under which a file is installed, "" if it is not."""
    folders = os.path.abspath(file).split(os.sep) if file else []
    for index in reversed(range(len(folders) - 1)):
        name = folders[index + 1].partition(".")[0]
        folder = os.sep.join(folders[: index + 1])
        if folders[index] in _INSTALLED or name in _put_by_pip(folder):
            return name
    return ""


@functools.cache
def _put_by_pip(folder: str) -> frozenset[str]:
    """Return the top-level names that pip has put into a folder, by its records."""
    names = set[str]()
    entries: list[str] = []
    with suppress(OSError):
        entries = os.listdir(folder or os.sep)
    for entry in entries:
        record = os.path.join(folder, entry, "RECORD")
        if entry.endswith(".dist-info"):
            with suppress(OSError), open(record, errors="replace") as file:
                names.update(re.split("[/,.]", line, maxsplit=1)[0] for line in file)
    return frozenset(names - {""})


claim("__main__")

"""Which code is the program's own, not a library's."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from types import FunctionType, ModuleType

_INSTALLED = {"site-packages", "dist-packages"}
_LIBRARIES = {"txloop", "tornado"}
_FOREIGN_FOLDERS = tuple(
    os.path.join(os.path.abspath(folder), "")
    for folder in (
        sysconfig.get_paths()["stdlib"],
        sysconfig.get_paths()["platstdlib"],
        os.path.dirname(os.path.dirname(__file__)),
    )
)


def is_own_function(function: FunctionType) -> bool:
    """Return whether the function's code stands in one of the program's modules."""
    name = function.__globals__.get("__name__")
    return is_own(name, function.__code__.co_filename)


def own_module_of(thing: object) -> ModuleType | None:
    """Return the program's module that defines the class, or None."""
    name = getattr(thing, "__module__", None)
    module = sys.modules.get(name) if isinstance(name, str) else None
    return module if is_own_module(module) else None


def is_own_module(module: object) -> bool:
    """Return whether the module belongs to the program, not to a library."""
    if not isinstance(module, ModuleType):
        return False
    name, file = module.__dict__.get("__name__"), file_of(module)
    # What is typed at a prompt has no file.
    return is_own(name, file) if file else name == "__main__"


def file_of(module: ModuleType) -> str:
    """Return the file of the module, or "" for one that has none."""
    file = module.__dict__.get("__file__")
    return file if isinstance(file, str) else ""


@functools.lru_cache(maxsize=4096)
def is_own(name: object, file: str) -> bool:
    """Return whether code of this module name and file belongs to the program."""
    if isinstance(name, str) and name.partition(".")[0] in _LIBRARIES:
        return False
    if file.startswith("<"):
        return False
    path = os.path.abspath(file)
    return not path.startswith(_FOREIGN_FOLDERS) and _INSTALLED.isdisjoint(
        path.split(os.sep)
    )

"""What the code of a function uses of modules: its globals, builtins, imports."""

from __future__ import annotations

import builtins
import sys
import types
from typing import TYPE_CHECKING

from txloop.scan.live_objects import module_label
from txloop.stm.origin import is_own_module
from txloop.watch.definitions import Import, note_besides
from txloop.watch.names import imports_of, names_of, uses_any_global
from txloop.watch.places import Job, Place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from txloop.watch.walk import Walk

__all__ = ["use_globals", "use_imports"]

_CONSTANTS = frozenset({"Ellipsis", "NotImplemented"})


def use_globals(walk: Walk, function: types.FunctionType) -> None:
    """Go into what a function's code names of its module, and in `builtins`."""
    namespace = function.__globals__
    if walk.by_value and namespace is _namespace_of(function):
        return
    code = function.__code__
    names: Iterable[str] = names_of(function)
    given = [one for one in names if one not in namespace and _is_given(one)]
    if given:
        _use(walk, vars(builtins), "builtins", given, code)
    if walk.any_global or uses_any_global(names):
        walk.any_global = True
        names = list(namespace)
    _use(walk, namespace, module_label(namespace), names, code)


def _use(
    walk: Walk,
    namespace: dict[str, object],
    label: str,
    names: Iterable[str],
    code: types.CodeType,
) -> None:
    space = walk.modules.get(id(namespace))
    if space is None:
        job = Job(namespace, label, None, True)
        space = walk.space(job, lambda: namespace, "globals")
        space.used = set()
        walk.modules[id(namespace)] = space
    assert space.used is not None
    for name in names:
        if name not in space.used:
            space.used.add(name)
            walk.enter(space, (name,), Place(code, name))


def _is_given(name: str) -> bool:
    """Tell whether the program has put something of that name into `builtins`."""
    if name not in vars(builtins) or name in _CONSTANTS or name.startswith("__"):
        return False
    thing = vars(builtins)[name]
    if issubclass(type(thing), type):
        return bool(thing.__module__ != "builtins")
    return type(thing) is not types.BuiltinFunctionType


def _namespace_of(function: types.FunctionType) -> object:
    module = sys.modules.get(str(function.__globals__.get("__name__")))
    return None if module is None else vars(module)


def use_imports(walk: Walk, function: types.FunctionType) -> None:
    """Go into modules that code imports when it runs."""
    package = function.__globals__.get("__package__")
    for name in imports_of(function.__code__):
        for full in (name, f"{package}.{name}"):
            module = sys.modules.get(full)
            if module is None:
                continue
            job = Job(module, full, Place(function.__code__, name), True)
            if is_own_module(module):
                note_besides(walk, job, Import)
            if is_own_module(module) or full == name:
                walk.add(*job)

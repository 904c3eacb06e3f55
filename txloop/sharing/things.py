"""The objects that findings name, and what has them; asked where the program runs."""

from __future__ import annotations

import ast
import functools
import re
from types import FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING

from tornado.web import Application, RequestHandler

from txloop.cells.tobject import TObject
from txloop.scan.live_objects import class_label, module_label
from txloop.scan.source import own_modules
from txloop.sharing.making import PLAIN
from txloop.stm.origin import is_own_module, own_module_of
from txloop.web.targets import all_targets, applications

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

__all__ = ["classes_in", "describe", "found"]

_STEP = re.compile(r"\.(\w+)|\[((?:'[^']*'|\"[^\"]*\"|[^\]])*)\]")
_MOST_OBJECTS = 10_000

_ARGUMENT = object()
_NOTHING = object()


def found(name: str) -> tuple[object, str, object]:
    """Return what has the thing of that name, its name there, and the thing."""
    for root, rest in _roots(name):
        owner: object = _NOTHING
        attribute, thing = "", root
        for step in _STEP.finditer(rest):
            owner = thing
            attribute = step[1] or step[2]
            if step[1] is not None and type(owner) in (*PLAIN, tuple):
                owner = _holder(owner, attribute)
            thing = _part(owner, step[1], step[2])
            if thing is _NOTHING:
                break
        else:
            if rest:
                return owner, attribute, thing
            return _ARGUMENT, name[name.index("(") + 1 : -1], thing
    return _NOTHING, "", _NOTHING


def _holder(plain: object, attribute: str) -> object:
    """Return one of the objects in a plain one that has the attribute.

    Findings about an element's attribute do not say which element's it is.
    """
    for one in _parts_of(plain):
        is_own = own_module_of(type(one)) is not None
        if is_own and _part(one, attribute, "") is not _NOTHING:
            return one
    return _NOTHING


def _roots(name: str) -> Iterator[tuple[object, str]]:
    argument = re.match(r"initialize\((\w+)\)", name)
    if argument:
        for target in all_targets():
            if argument[1] in target.handler_kwargs:
                yield target.handler_kwargs[argument[1]], name[argument.end() :]
        return
    if name.startswith("application"):
        for application in applications():
            yield application, name.removeprefix("application")
    for module in _own_modules():
        label = module_label(vars(module))
        if name.startswith(f"{label}."):
            yield module, name.removeprefix(label)


@functools.cache
def _own_modules() -> list[ModuleType]:
    """Return the program's modules, in the child; the longest names first."""
    return sorted(own_modules(), key=lambda one: -len(module_label(vars(one))))


def _part(owner: object, attribute: str | None, key: str) -> object:
    if attribute is not None:
        if isinstance(owner, type):
            for kind in owner.__mro__:
                if attribute in vars(kind):
                    return vars(kind)[attribute]
            return _NOTHING
        if isinstance(owner, TObject):
            return getattr(owner, attribute, _NOTHING)
        if type(getattr(type(owner), attribute, None)) is MemberDescriptorType:
            return getattr(owner, attribute, _NOTHING)
        own = getattr(owner, "__dict__", {})
        if attribute in own or own_module_of(type(owner)) is None:
            return own.get(attribute, _NOTHING)
        # An object has what its class gives it until it is assigned.
        given = _part(type(owner), attribute, key)
        return _NOTHING if hasattr(type(given), "__get__") else given
    try:
        return owner[ast.literal_eval(key)]  # type: ignore[index] # if it has any
    except Exception:  # whatever the program's classes raise
        return _NOTHING


def describe(owner: object) -> tuple[str, str]:
    """Return what kind of thing has something, and the label of it or of its class."""
    if owner is _ARGUMENT:
        return "argument", ""
    if owner is _NOTHING:
        return "", ""
    if is_own_module(owner):
        return "module", module_label(vars(owner))
    if isinstance(owner, type):
        return "class", class_label(owner)
    if isinstance(owner, FunctionType) and own_module_of(owner) is not None:
        return "function", f"{module_label(owner.__globals__)}:{owner.__qualname__}"
    if isinstance(owner, Application):
        return "application", class_label(type(owner))
    if own_module_of(type(owner)) is not None:
        return "object", class_label(type(owner))
    return "", ""


def classes_in(thing: object) -> set[str]:
    """Return the program's classes whose objects are inside of a thing."""
    owned = (one for one in _parts_of(thing) if own_module_of(type(one)) is not None)
    return {class_label(type(one)) for one in owned}


def _parts_of(thing: object) -> Iterator[object]:
    """Yield a thing and what is inside of it, deeply."""
    seen: set[int] = set()
    waiting = [thing]
    while waiting and len(seen) < _MOST_OBJECTS:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type | Application | RequestHandler):
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple | set | frozenset) or type(one) in PLAIN:
            waiting += one  # type: ignore[arg-type] # it is iterable
        elif own_module_of(type(one)) is not None:
            waiting += getattr(one, "__dict__", {}).values()

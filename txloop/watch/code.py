"""What functions and classes lead to: what the program's code is made of."""

from __future__ import annotations

import abc
import functools
import logging
import sys
import types
from typing import TYPE_CHECKING

from txloop.scan.live_objects import class_label
from txloop.stm.callables import contents_of, is_found_by_name
from txloop.stm.origin import is_own_function, is_own_module
from txloop.watch.definitions import (
    Bases,
    Function,
    Registered,
    Subclasses,
    note_besides,
)
from txloop.watch.kinds import Kind, is_harmless, kind_of
from txloop.watch.names import names_of
from txloop.watch.namespaces import use_globals, use_imports
from txloop.watch.parts import class_attributes
from txloop.watch.patched import use_library_of
from txloop.watch.places import Job, Place

if TYPE_CHECKING:
    from txloop.watch.walk import Walk

__all__ = [
    "BARE",
    "CONSTRUCTING",
    "TELLS_SUBCLASSES",
    "add_class_of",
    "add_subclasses",
    "visit_class",
    "visit_function",
]

BARE = ("abc", "builtins", "typing", "collections.abc", "_collections_abc")
"""Of bases that use no attribute of their own, and call only methods of operators."""

# Of handlers it is known what Tornado calls; what it calls of an application, and of a
# WebSocket besides `on_message`, is called on the loop thread.
_CALLED_BY_NAME = (
    ("tornado.web", "Application"),
    ("tornado.web", "RequestHandler"),
    ("tornado.websocket", "WebSocketHandler"),
)

# Likewise, for records are handled when a transaction has committed.
_LOGGING = (logging.Filter, logging.Formatter, logging.Handler)

# Of functions of `functools`, what their closures keep to be fast.
_MEMORIES = frozenset(["cache", "cache_token", "dispatch_cache", "hits", "misses"])

CONSTRUCTING = frozenset(["__class__", "type"])
"""Names that lead to an object's class."""

TELLS_SUBCLASSES = "__subclasses__"


def visit_function(walk: Walk, job: Job) -> None:
    """Go into what a function's code names, and what is around it."""
    function = job.thing
    code = function.__code__
    if type(code) is not types.CodeType:  # one of PyPy's own
        return
    own = is_own_function(function) or _is_made_by_program(function)
    if walk.by_value and is_found_by_name(function):
        return
    if own:
        use_globals(walk, function)
        use_imports(walk, function)
        walk.use(names_of(function))
    cells = contents_of(function)
    if "on_commit" in code.co_names:  # what only its effects use does not count
        used = names_of(function)
        cells = {name: one for name, one in cells.items() if name in used}
    if own and cells:
        look = functools.partial(contents_of, function)
        walk.space(job._replace(name=""), look, "cells")
    of_functools = function.__module__ == "functools"
    for name, thing in cells.items():
        if not (of_functools and name in _MEMORIES):
            walk.add(thing, name, Place(code, name))
    defaults = [*(function.__defaults__ or ())]
    defaults += (function.__kwdefaults__ or {}).values()
    for default in defaults:
        name = f"a default of {job.name or code.co_name}"
        walk.add(default, name, Place(code, code.co_name))
    if own:
        note_besides(walk, job, Function)
    if own and vars(function):
        walk.add_space(job, lambda: vars(function))
    elif "__wrapped__" in vars(function):
        walk.add(function.__wrapped__, job.name, job.place)


def visit_class(walk: Walk, job: Job, of_object: bool = False) -> None:
    """Go into a class of the program's, and its bases.

    Args:
        walk: The walk.
        job: The class.
        of_object: Whether only an object of it is there: no other one is made of
            it, as long as no code leads from that to its class.
    """
    if walk.by_value:
        return
    called = _is_called_by_library(walk, job.thing)
    if sum(map(walk.is_own, job.thing.__mro__)) > 1:
        note_besides(walk, job, Bases)
    for cls in job.thing.__mro__:
        if not walk.is_own(cls):
            use_library_of(walk, cls.__module__)
            continue
        each = job._replace(thing=cls, name=class_label(cls))
        if not of_object:
            walk.seen.add(id(cls))
        space = walk.add_space(each, class_attributes(cls), not of_object)
        if called:
            attributes = list(space.thing.attributes.items())
            code = (Kind.FUNCTION, Kind.WRAPPER)
            walk.enter(
                space, [name for name, one in attributes if kind_of(one) in code]
            )
        if issubclass(type(cls), abc.ABCMeta):
            note_besides(walk, each, Registered, "what is registered with ")
        if vars(cls).get("_is_protocol"):
            # Up to 3.11 `isinstance` gets all that it names.
            named = [*vars(cls), *vars(cls).get("__annotations__", ())]
            walk.use(frozenset(one for one in named if not one.startswith("_")))
        if TELLS_SUBCLASSES in walk.names:
            add_subclasses(walk, each)
    if walk.is_own(type(job.thing)):
        walk.add(type(job.thing), class_label(type(job.thing)), job.place)


def _is_called_by_library(walk: Walk, cls: type) -> bool:
    """Tell whether a class is derived from one that calls methods by their names.

    What its names are, no code of the program tells: ``default`` of a JSONEncoder,
    ``visit_...`` of a NodeVisitor.
    """
    return not issubclass(cls, _LOGGING) and any(
        not walk.is_own(base)
        and str(base.__module__) not in BARE
        and (base.__module__, base.__name__) not in _CALLED_BY_NAME
        and not is_harmless(base)
        and str(base.__module__).partition(".")[0] != "txloop"
        for base in cls.__mro__
    )


def add_subclasses(walk: Walk, job: Job) -> None:
    """Go into the subclasses of a class, from where code may ask for them."""
    note_besides(walk, job, Subclasses, "the subclasses of ")
    for cls in type.__subclasses__(job.thing):
        walk.add(cls, class_label(cls), job.place)


def add_class_of(walk: Walk, job: Job) -> None:
    """Go into the class of an object, of which there need be no other."""
    cls = type(job.thing)
    key = "class of an object", cls
    if walk.constructs or not walk.names.isdisjoint(CONSTRUCTING):
        walk.add(cls, class_label(cls), job.place)
    elif id(cls) not in walk.seen and key not in walk.seen:
        walk.seen.add(key)
        each = Job(cls, class_label(cls), job.place, job.near)
        visit_class(walk, each, of_object=True)
        walk.unconstructed.append(each)


def _is_made_by_program(function: types.FunctionType) -> bool:
    """Tell whether a function has no file, and no module of a library either.

    Dataclasses make such functions in the module of the class, `exec` in any namespace.
    """
    if not function.__code__.co_filename.startswith("<"):
        return False
    module = sys.modules.get(str(function.__globals__.get("__name__")))
    return module is None or is_own_module(module)

"""What an object leads to, by its kind: one function for each."""

from __future__ import annotations

import abc
import contextvars
import functools
import logging
import sys
import threading
import types
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from txloop.scan.live_objects import class_label, mapping_behind, options_of
from txloop.stm.callables import contents_of, is_found_by_name
from txloop.stm.origin import is_own_function, is_own_module
from txloop.watch import limits
from txloop.watch.ambient import shared_generators
from txloop.watch.caches import cache_results
from txloop.watch.hooks import kept_by_module, libraries_behind
from txloop.watch.kinds import (
    ATOMS,
    Kind,
    is_harmless,
    is_tornados_application,
    kind_of,
)
from txloop.watch.library import (
    ADAPTING,
    Registered,
    Subclasses,
    flags_of,
    logging_attributes,
    numbers_of,
)
from txloop.watch.names import (
    names_in_code,
    names_in_format,
    names_in_templates,
    names_of,
)
from txloop.watch.namespaces import use_globals, use_imports
from txloop.watch.parts import (
    BUILTIN,
    attributes_of,
    parts_of,
    wrapped,
)
from txloop.watch.places import Job, Place
from txloop.watch.states import state_behind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from txloop.watch.pictures import Thing
    from txloop.watch.walk import Walk

__all__ = [
    "CONSTRUCTING",
    "TELLS_SUBCLASSES",
    "VISITS",
    "add_subclasses",
    "use_library",
]

# Bases that use no attribute of their own, and call no method but those of operators.
_BARE = ("abc", "builtins", "typing", "collections.abc", "_collections_abc")

# Of handlers it is known what Tornado calls; what it calls of an application is called
# on the loop thread.
_CALLED_BY_NAME = (("tornado.web", "RequestHandler"), ("tornado.web", "Application"))

# Likewise, for records are handled when a transaction has committed.
_LOGGING = (logging.Filter, logging.Formatter, logging.Handler)

# Of functions of `functools`, what their closures keep to be fast.
_MEMORIES = frozenset(["cache", "cache_token", "dispatch_cache", "hits", "misses"])

CONSTRUCTING = frozenset(["__class__", "type"])
"""Names that lead to an object's class."""

TELLS_SUBCLASSES = "__subclasses__"


def _visit_items(walk: Walk, job: Job) -> None:
    parts = list(islice(parts_of(job.thing), limits.MOST_CHILDREN))
    walk.add_all(((f"[{index}]", one) for index, one in enumerate(parts)), job)
    _note_rest(walk, job, parts)
    _visit_subclass(walk, job)


def _visit_members(walk: Walk, job: Job) -> None:
    parts = list(islice(parts_of(job.thing), limits.MOST_CHILDREN))
    walk.add_all((("", one) for one in parts), job)
    _note_rest(walk, job, parts)
    _visit_subclass(walk, job)


def _note_rest(walk: Walk, job: Job, parts: list[object]) -> None:
    """Note that there are too many parts to go into, if that matters."""
    if len(parts) < limits.MOST_CHILDREN or walk.by_value:
        return
    if any(map(_can_change, parts)):
        walk.reach.complete = False


def _visit_dict(walk: Walk, job: Job) -> None:
    items = list(islice(dict.items(job.thing), limits.MOST_CHILDREN))
    _note_rest(walk, job, [value for _, value in items])
    for key, value in items:
        known = type(key) in ATOMS
        label = f"{job.name}[{key!r}]" if known else f"{job.name}[...]"
        walk.add(key, job.name, job.place, job.near)
        walk.add(value, label, job.place, job.near)
    _visit_subclass(walk, job)


def _visit_view(walk: Walk, job: Job) -> None:
    """Go into the mapping that a proxy shows: who has that itself may change it."""
    mapping = mapping_behind(job.thing)
    if type(mapping) is dict and "__doc__" in mapping:  # of a class, or a module
        space = walk.space(job, lambda: job.thing)
        space.whole = True  # the attributes that matter are asked for as keys
        walk.enter(space, list(mapping))
    else:
        walk.add(mapping, job.name, job.place, job.near)


def _visit_subclass(walk: Walk, job: Job) -> None:
    """Go into what a container has besides its parts."""
    if type(job.thing).__module__ not in BUILTIN:
        _visit_object(walk, job)


def _visit_cache(walk: Walk, job: Job) -> None:
    walk.reach.caches.append(job.name)
    walk.add_space(job, lambda: vars(job.thing))
    walk.add(job.thing.__wrapped__, job.name, job.place)
    walk.add_all((("(...)", one) for one in cache_results(job.thing)), job)


def _visit_wrapper(walk: Walk, job: Job) -> None:
    for part in wrapped(job.thing):
        if type(part) is str:  # whose method `format` may be
            walk.use(frozenset(names_in_format(part)))
        walk.add(part, job.name, job.place, job.near)
    if issubclass(type(job.thing), classmethod):
        walk.construct()


def _visit_getter(walk: Walk, job: Job) -> None:
    """Count the attributes that it gets as named by code."""
    _, arguments = job.thing.__reduce__()[:2]
    names = [one for one in arguments if type(one) is str]
    walk.use(frozenset(part for name in names for part in name.split(".")))


def _visit_template(walk: Walk, job: Job) -> None:
    """Go into what a template, or those of a loader, are given and use."""
    attributes = vars(job.thing)
    compiled = attributes.get("compiled")
    if isinstance(compiled, types.CodeType):
        walk.use(frozenset(names_in_code(compiled)))
    else:
        walk.use(frozenset(names_in_templates({"template_loader": job.thing}, "")))
    for name in ("dict", "namespace"):
        walk.add(attributes.get(name), f"{job.name}.{name}", job.place, job.near)


def _visit_buffer(walk: Walk, job: Job) -> None:
    """Go into an array of objects."""
    dtype = getattr(job.thing, "dtype", None)
    if getattr(dtype, "hasobject", False):
        parts = job.thing.ravel()[: limits.MOST_CHILDREN].tolist()
        walk.add_all((("[...]", one) for one in parts), job)


def _visit_function(walk: Walk, job: Job) -> None:
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
        space = walk.space(job._replace(name=""), look, "cells")
        space.whole = True
    of_functools = function.__module__ == "functools"
    for name, thing in cells.items():
        if not (of_functools and name in _MEMORIES):
            walk.add(thing, name, Place(code, name))
    defaults = [*(function.__defaults__ or ())]
    defaults += (function.__kwdefaults__ or {}).values()
    for default in defaults:
        name = f"a default of {job.name or code.co_name}"
        walk.add(default, name, Place(code, code.co_name))
    if own and (vars(function) or walk.any_attribute):
        walk.add_space(job, lambda: vars(function))
    elif own:  # code may set some later
        walk.bare_functions.append(job)
    elif "__wrapped__" in vars(function):
        walk.add(function.__wrapped__, job.name, job.place)


def _visit_class(walk: Walk, job: Job, of_object: bool = False) -> None:
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
    for cls in job.thing.__mro__:
        if not walk.is_own(cls):
            continue
        each = job._replace(thing=cls, name=class_label(cls))
        if not of_object:
            walk.seen.add(id(cls))
        space = walk.add_space(
            each, functools.partial(_class_attributes, cls), not of_object
        )
        if called:
            attributes = list(space.thing.attributes.items())
            walk.enter(space, [name for name, one in attributes if _is_code(one)])
        if issubclass(type(cls), abc.ABCMeta):
            _note_besides(walk, each, Registered, "what is registered with ")
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
        and str(base.__module__) not in _BARE
        and (base.__module__, base.__name__) not in _CALLED_BY_NAME
        and not is_harmless(base)
        and str(base.__module__).partition(".")[0] != "txloop"
        for base in cls.__mro__
    )


def add_subclasses(walk: Walk, job: Job) -> None:
    """Go into the subclasses of a class, from where code may ask for them."""
    _note_besides(walk, job, Subclasses, "the subclasses of ")
    for cls in type.__subclasses__(job.thing):
        walk.add(cls, class_label(cls), job.place)


def _note_besides(walk: Walk, job: Job, kind: type[Thing], what: str) -> None:
    """Have something looked at that is no attribute of an object."""
    key = id(job.thing), kind
    thing = walk.table.get(key)
    if thing is None:
        thing = kind(job.thing, f"{what}{job.name}", job.place)
        walk.table[key] = thing
    walk.note(job, thing)


def use_library(walk: Walk, job: Job) -> None:
    """Go into what the modules behind something keep of the program's."""
    state = state_behind(job.thing)
    if state is not None:
        walk.states.add(state)
    for module in libraries_behind(job.thing, walk.names):
        if id(module) not in walk.libraries:
            walk.libraries.add(id(module))
            for name, thing in kept_by_module(module, walk.names):
                walk.add(thing, name, job.place)


def _visit_logging(walk: Walk, job: Job) -> None:
    if issubclass(type(job.thing), logging.LoggerAdapter):
        walk.use(ADAPTING)
    if issubclass(type(job.thing), logging.Handler):
        walk.handlers.append(job)
    if walk.is_own(type(job.thing)):
        _add_class_of(walk, job)
    walk.add_space(job, logging_attributes(job.thing))


def _visit_decimals(walk: Walk, job: Job) -> None:
    walk.space(job, numbers_of(job.thing)).whole = True
    walk.add_space(job, flags_of(job.thing), part="flags")


def _visit_options(walk: Walk, job: Job) -> None:
    look = functools.partial(options_of, job.thing)
    space = walk.space(job, look)
    space.whole = True  # code may ask for all of them
    walk.enter(space, list(look()))


def _visit_module(walk: Walk, job: Job) -> None:
    if job.thing in (sys.modules.get("tornado"), sys.modules.get("tornado.options")):
        parser = getattr(sys.modules.get("tornado.options"), "options", None)
        if "options" in walk.names:
            walk.add(parser, "tornado.options.options", job.place)
    for generator in shared_generators(job.thing, walk.names):
        walk.add(generator, job.name, job.place)
    own = is_own_module(job.thing) or _is_made_by_hand(job.thing)
    if own and not walk.by_value:
        walk.add_space(job, lambda: job.thing.__dict__)


def _visit_object(walk: Walk, job: Job) -> None:
    cls = type(job.thing)
    own = any(map(walk.is_own, cls.__mro__))
    if own:
        _add_class_of(walk, job)
    _visit_attributes(walk, job, own)


def _add_class_of(walk: Walk, job: Job) -> None:
    """Go into the class of an object, of which there need be no other."""
    cls = type(job.thing)
    key = "class of an object", cls
    if walk.constructs or not walk.names.isdisjoint(CONSTRUCTING):
        walk.add(cls, class_label(cls), job.place)
    elif id(cls) not in walk.seen and key not in walk.seen:
        walk.seen.add(key)
        each = Job(cls, class_label(cls), job.place, job.near)
        _visit_class(walk, each, of_object=True)
        walk.unconstructed.append(each)


def _visit_attributes(walk: Walk, job: Job, own: bool) -> None:
    look = attributes_of(job.thing)
    if look is None:
        return
    if _names_tell(walk, type(job.thing)):
        walk.add_space(job, look)
        return
    space = walk.space(job, look)
    space.whole = True
    near = job.near and own
    parts = [(f".{name}", one) for name, one in list(look().items())]
    walk.add_all(parts[: limits.MOST_CHILDREN], job, near=near)


def _names_tell(walk: Walk, cls: type) -> bool:
    """Tell whether only code of the program uses attributes of these objects."""
    if cls is threading.local or is_tornados_application(cls):
        return True
    foreign = [one for one in cls.__mro__ if not walk.is_own(one)]
    return walk.is_own(cls) and all(
        one is threading.local or one.__module__ in _BARE or is_harmless(one)
        for one in foreign
    )


def _visit_weak(walk: Walk, job: Job) -> None:
    data = vars(job.thing)["data"]
    parts = [*data, *(data.values() if type(data) is dict else ())]
    walk.add_all((("", one) for one in parts[: limits.MOST_CHILDREN]), job)


def _visit_variable(walk: Walk, job: Job) -> None:
    """Go into what a context variable is, unless it is set."""
    for context in (contextvars.Context(), contextvars.copy_context()):
        with suppress(LookupError):
            walk.add(context.run(job.thing.get), job.name, job.place)


def _can_change(thing: object) -> bool:
    return type(thing) not in ATOMS and kind_of(thing) not in (
        *(Kind.NOTHING, Kind.CLASS, Kind.MODULE, Kind.FUNCTION, Kind.WRAPPER),
        *(Kind.PARTS, Kind.GETTER),
    )


def _is_code(thing: object) -> bool:
    kind = kind_of(thing)
    return kind is Kind.FUNCTION or kind is Kind.WRAPPER


def _is_made_by_program(function: types.FunctionType) -> bool:
    """Tell whether a function has no file, and no module of a library either.

    Dataclasses make such functions in the module of the class, `exec` in any namespace.
    """
    if not function.__code__.co_filename.startswith("<"):
        return False
    module = sys.modules.get(str(function.__globals__.get("__name__")))
    return module is None or is_own_module(module)


def _is_made_by_hand(module: types.ModuleType) -> bool:
    """Tell whether a module has not been imported: the program keeps things in it."""
    attributes = vars(module)
    known = sys.modules.get(str(attributes.get("__name__"))) is module
    return not known and not attributes.get("__file__")


def _class_attributes(cls: type) -> Mapping[str, object]:
    return cls.__dict__


VISITS: dict[Kind, Callable[[Walk, Job], None]] = {
    Kind.PARTS: _visit_items,
    Kind.LIST: _visit_items,
    Kind.DICT: _visit_dict,
    Kind.VIEW: _visit_view,
    Kind.SET: _visit_members,
    Kind.CACHE: _visit_cache,
    Kind.WRAPPER: _visit_wrapper,
    Kind.GETTER: _visit_getter,
    Kind.TEMPLATE: _visit_template,
    Kind.BUFFER: _visit_buffer,
    Kind.FUNCTION: _visit_function,
    Kind.CLASS: _visit_class,
    Kind.MODULE: _visit_module,
    Kind.OBJECT: _visit_object,
    Kind.VARIABLE: _visit_variable,
    Kind.WEAK: _visit_weak,
    Kind.LOGGING: _visit_logging,
    Kind.DECIMALS: _visit_decimals,
    Kind.OPTIONS: _visit_options,
}
"""What goes into an object of each kind; of others nothing leads on."""

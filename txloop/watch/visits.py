"""What an object leads to, by its kind: one function for each."""

from __future__ import annotations

import contextvars
import functools
import logging
import sys
import threading
import types
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from txloop.scan.live_objects import is_application, mapping_behind, options_of
from txloop.stm.origin import is_own_module
from txloop.watch import limits
from txloop.watch.ambient import shared_generators
from txloop.watch.caches import cache_results
from txloop.watch.code import BARE, add_class_of, visit_class, visit_function
from txloop.watch.hooks import kept_by_module, libraries_behind
from txloop.watch.kinds import (
    ATOMS,
    CODE,
    Kind,
    is_harmless,
    kind_of,
)
from txloop.watch.library import (
    ADAPTING,
    flags_of,
    logging_attributes,
    numbers_of,
)
from txloop.watch.memory import Bytes, Mapped, Text, kept_by_ctypes
from txloop.watch.names import (
    names_in_code,
    names_in_format,
    names_in_templates,
)
from txloop.watch.parts import (
    BUILTIN,
    attributes_of,
    parts_of,
    wrapped,
)
from txloop.watch.patched import use_library_of
from txloop.watch.pictures import Items, Keys, Living, Members, Results, Thing
from txloop.watch.states import state_behind

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.watch.places import Job
    from txloop.watch.walk import Walk

__all__ = [
    "VISITS",
    "thing_of",
    "use_library",
]


def _visit_items(walk: Walk, job: Job) -> None:
    parts = list(islice(parts_of(job.thing), limits.MOST_CHILDREN))
    ordered = not issubclass(type(job.thing), set)
    labels = (f"[{index}]" if ordered else "" for index in range(len(parts)))
    walk.add_all(zip(labels, parts, strict=True), job)
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
    """Go into the mapping that a proxy shows: code that has it may change it."""
    mapping = mapping_behind(job.thing)
    if type(mapping) is dict and "__doc__" in mapping:  # of a class, or a module
        # The attributes that matter are asked for as keys.
        walk.enter(walk.space(job, lambda: job.thing), list(mapping))
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
    """Go into an array of objects, or what ctypes points to."""
    walk.add(kept_by_ctypes(job.thing), job.name, job.place, job.near)
    if walk.is_own(type(job.thing)):
        _visit_object(walk, job)
    dtype = getattr(job.thing, "dtype", None)
    if getattr(dtype, "hasobject", False):
        parts = job.thing.ravel()[: limits.MOST_CHILDREN].tolist()
        walk.add_all((("[...]", one) for one in parts), job)


def use_library(walk: Walk, job: Job) -> None:
    """Go into what the modules behind something keep of the program's."""
    walk.states.add(state_behind(job.thing))
    for module in libraries_behind(job.thing, walk.names):
        if type(job.thing) is types.ModuleType:
            walk.states.add(state_behind(module))
        if id(module) not in walk.libraries:
            walk.libraries.add(id(module))
            use_library_of(walk, module.__dict__.get("__name__"))
            for name, thing in kept_by_module(module, walk.names):
                walk.add(thing, name, job.place)


def _visit_logging(walk: Walk, job: Job) -> None:
    if issubclass(type(job.thing), logging.LoggerAdapter):
        walk.use(ADAPTING)
    if issubclass(type(job.thing), logging.Handler):
        walk.handlers.append(job)
    if walk.is_own(type(job.thing)):
        add_class_of(walk, job)
    walk.add_space(job, functools.partial(logging_attributes, job.thing))


def _visit_decimals(walk: Walk, job: Job) -> None:
    walk.space(job, functools.partial(numbers_of, job.thing))
    walk.add_space(job, functools.partial(flags_of, job.thing), part="flags")


def _visit_options(walk: Walk, job: Job) -> None:
    look = functools.partial(options_of, job.thing)
    walk.enter(walk.space(job, look), list(look()))  # code may ask for all of them


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
        add_class_of(walk, job)
    else:
        use_library_of(walk, cls.__module__)
    look = attributes_of(job.thing)
    if look is None:
        return
    if _names_tell(walk, cls):
        walk.add_space(job, look)
        return
    walk.space(job, look)
    parts = [(f".{name}", one) for name, one in list(look().items())]
    walk.add_all(parts[: limits.MOST_CHILDREN], job, near=job.near and own)


def _names_tell(walk: Walk, cls: type) -> bool:
    """Tell whether only code of the program uses attributes of these objects."""
    if cls is threading.local or is_application(cls):
        return True
    if issubclass(cls, BaseException):  # whose text is made of its arguments
        return False
    foreign = [one for one in cls.__mro__ if not walk.is_own(one)]
    return walk.is_own(cls) and all(
        one is threading.local or one.__module__ in BARE or is_harmless(one)
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
    kind = kind_of(thing)
    return kind not in CODE and kind not in (Kind.NOTHING, Kind.PARTS, Kind.GETTER)


def _is_made_by_hand(module: types.ModuleType) -> bool:
    """Tell whether a module has not been imported: the program keeps things in it."""
    attributes = vars(module)
    known = sys.modules.get(str(attributes.get("__name__"))) is module
    return not known and not attributes.get("__file__")


VISITS: dict[Kind, Callable[[Walk, Job], None]] = {
    Kind.PARTS: _visit_items,
    Kind.LIST: _visit_items,
    Kind.DICT: _visit_dict,
    Kind.VIEW: _visit_view,
    Kind.SET: _visit_items,
    Kind.CACHE: _visit_cache,
    Kind.WRAPPER: _visit_wrapper,
    Kind.GETTER: _visit_getter,
    Kind.TEMPLATE: _visit_template,
    Kind.BUFFER: _visit_buffer,
    Kind.FUNCTION: visit_function,
    Kind.CLASS: visit_class,
    Kind.MODULE: _visit_module,
    Kind.OBJECT: _visit_object,
    Kind.VARIABLE: _visit_variable,
    Kind.WEAK: _visit_weak,
    Kind.LOGGING: _visit_logging,
    Kind.DECIMALS: _visit_decimals,
    Kind.OPTIONS: _visit_options,
}
"""What goes into an object of each kind; of others nothing leads on."""


_PICTURES: dict[Kind, type[Thing]] = {
    Kind.LIST: Items,
    Kind.DICT: Keys,
    Kind.SET: Members,
    Kind.WEAK: Living,
    Kind.BUFFER: Bytes,
    Kind.MAPPING: Mapped,
    Kind.TEXT: Text,
    Kind.CACHE: Results,
}


def thing_of(thing: object, kind: Kind, name: str) -> Thing | None:
    """Return an object under watch; None for one that is not pictured."""
    found = _PICTURES.get(kind)
    return None if found is None else found(thing, name)

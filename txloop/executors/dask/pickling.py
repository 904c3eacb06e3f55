"""Pickles of what pickle refuses, or takes otherwise than as a copy: see `image`."""

from __future__ import annotations

import contextlib
import enum
import functools
import importlib
import importlib.machinery
import marshal
import pickle
import sys
import threading
import types
import weakref
from contextvars import Context, ContextVar
from typing import TYPE_CHECKING, Any

from txloop.executors.carried import reducer_of
from txloop.executors.codec.by_value import HEAP_TYPE, ByValuePickler
from txloop.executors.codec.frames import UNPICKLABLE
from txloop.executors.dask.absent import Absent
from txloop.executors.dask.loading import (
    bare,
    cached,
    descriptor_of,
    made_class,
    module_named,
    nothing,
    set_attributes,
    set_on_class,
    set_state,
    space_of,
    submodule_named,
    variable,
)
from txloop.stm.container import Container
from txloop.stm.held import is_held_kind
from txloop.stm.origin import (
    is_installed_file,
    is_own_module,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["PROTOCOL", "ImagePickler", "goes_by_value"]

PROTOCOL = 5
_MOST_PARTS = 5  # of what `__reduce_ex__` returns, without what sets the state


def goes_by_value(module: types.ModuleType) -> bool:
    """Tell whether a module is sent with all that is in it."""
    name = module.__name__
    if sys.modules.get(name) is not module:
        return False
    file = getattr(module, "__file__", None) or ""
    if file.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES)):
        return False
    return name == "__main__" or not is_installed_file(file)


class ImagePickler(ByValuePickler):  # type: ignore[misc] # cloudpickle ships no types
    """Pickles the contents of modules, so that functions find these as globals."""

    def reducer_override(self, thing: Any) -> Any:
        """Return how to make something again; see `pickle`."""
        kind = type(thing)
        if kind is types.FunctionType:
            return _tied(thing, super().reducer_override(thing))
        if kind is types.CodeType:
            # cloudpickle forgets the file's name; and the Python is the same there.
            return marshal.loads, (marshal.dumps(thing),)
        if kind is types.ModuleType:
            return module_named, (thing.__name__,)
        if issubclass(kind, type):
            return _as_it_is(thing, super().reducer_override(thing))
        if kind is types.MemberDescriptorType:
            return Absent, (f"the slot {thing.__name__} of a class",)
        if kind is types.GetSetDescriptorType:  # as an attribute it may be another's
            return descriptor_of, (thing.__objclass__, thing.__name__)
        reduce = reducer_of(kind) or _REDUCERS.get(kind)
        if reduce is not None:
            return reduce(thing)
        if is_held_kind(thing):
            return Absent, (_named(thing),)
        if _is_plain_object(kind):
            return bare, (kind,), _state_of(thing), None, None, set_state
        try:
            reduced = self._reduced(thing)
        except RecursionError:
            raise
        except UNPICKLABLE:
            return Absent, (_named(thing),)
        if isinstance(reduced, str) and not _is_found(thing, reduced):
            return Absent, (_named(thing),)
        return _with_setter(thing, reduced)

    def _reduced(self, thing: Any) -> Any:
        reduce = self.dispatch_table.get(type(thing))
        return thing.__reduce_ex__(PROTOCOL) if reduce is None else reduce(thing)


def _with_setter(thing: Any, reduced: Any) -> Any:
    """Have attributes set where the class would not let pickle set them.

    It refuses them, as a frozen one, or its `__getattr__` fails as long as they lack.
    """
    kind: Any = type(thing)
    asks = hasattr(kind, "__getattr__")
    if (
        type(reduced) is not tuple
        or len(reduced) > _MOST_PARTS
        or hasattr(kind, "__setstate__")
    ):
        return reduced
    make, arguments, state, *items = (*reduced, None, None, None)[:_MOST_PARTS]
    if type(state) is tuple and len(state) == 2:
        if kind.__setattr__ is object.__setattr__ and not asks:
            return reduced
        merged = {**(state[0] or {}), **(state[1] or {})}
        return make, arguments, merged, *items, set_state
    if type(state) is dict and asks:
        return make, arguments, state, *items, set_attributes
    return reduced


def _is_plain_object(kind: type) -> bool:
    """Tell whether objects of a class have attributes and nothing else.

    They are copied as they are, if the class stands in the program: what it does for
    pickle may need what is not there yet, and mean something else than a copy.
    """
    module = sys.modules.get(kind.__module__)
    return (
        is_own_module(module)
        and all(one is object or one.__flags__ & HEAP_TYPE for one in kind.__mro__)
        and not issubclass(kind, Container | enum.Enum)
    )


def _state_of(thing: Any) -> dict[str, Any]:
    state = dict(getattr(thing, "__dict__", ()))
    for kind in type(thing).__mro__:
        for name, slot in vars(kind).items():
            if isinstance(slot, types.MemberDescriptorType):
                with contextlib.suppress(AttributeError):  # it is not set
                    state[name] = slot.__get__(thing)
    return state


def _tied(function: types.FunctionType, reduced: Any) -> Any:
    """Return how to make a function again whose globals are those of its module."""
    if reduced is NotImplemented:
        return reduced
    space = function.__globals__
    home = sys.modules.get(space.get("__name__", ""))
    if home is None or vars(home) is not space:
        return reduced
    make, (code, _, *rest), (state, slots), *others = reduced
    submodules = [_Found(submodule_named, name) for name in _submodules_of(function)]
    slots = {**slots, "__globals__": {}, "_cloudpickle_submodules": submodules}
    arguments = (code, _Found(space_of, home.__name__), *rest)
    return make, arguments, (state, slots), *others


def _as_it_is(kind: type, reduced: Any) -> Any:
    """Return how to make a class again: with its slots, and without any preparation."""
    if reduced is NotImplemented or issubclass(kind, enum.Enum) or len(reduced) < 3:
        return reduced
    if not kind.__flags__ & HEAP_TYPE:  # the interpreter's, and has no name
        return Absent, (f"the class {kind.__qualname__}",)
    _, (meta, name, _, space, *_), (state, _), *_ = reduced
    bases = kind.__bases__  # not as written: `typing.NamedTuple` is a function
    space = dict(space)
    if "__slots__" in state:
        slots = state["__slots__"]
        slots = (slots,) if isinstance(slots, str) else tuple(slots)
        space["__slots__"] = tuple(one for one in slots if one != "__weakref__")
        state = {key: one for key, one in state.items() if key != "__slots__"}
    return made_class, (meta, name, bases, space), state, None, None, set_on_class


def _submodules_of(function: types.FunctionType) -> Iterator[str]:
    """Yield the names of modules that a function may find as attributes of others.

    ``import xml.dom`` makes ``xml`` a global, and ``dom`` an attribute of that.
    cloudpickle does not look at what is within the function, such as comprehensions.
    """
    names = {*_names_in(function.__code__)}
    for name in names:
        module = function.__globals__.get(name)
        if type(module) is types.ModuleType:
            yield from _loaded_below(module.__name__, names)


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if type(constant) is types.CodeType:
            yield from _names_in(constant)


def _loaded_below(package: str, names: set[str]) -> Iterator[str]:
    for name in names:
        full_name = f"{package}.{name}"
        if full_name in sys.modules:
            yield full_name
            yield from _loaded_below(full_name, names)


class _Found:
    """Unpickles as what a function finds by a name."""

    def __init__(self, find: Callable[[str], object], name: str) -> None:
        self._found = find, (name,)

    def __reduce__(self) -> tuple[object, ...]:
        return self._found


def _named(thing: object) -> str:
    kind = type(thing)
    return f"a {kind.__module__}.{kind.__qualname__}".replace("a builtins.", "a ")


def _module_of(thing: object, name: str) -> str:
    found: str = pickle.whichmodule(thing, name)  # type: ignore[attr-defined] # typeshed lacks it
    return found


def _is_found(thing: Any, name: str) -> bool:
    """Tell whether what pickles as a name is found there, in a module by name."""
    home = getattr(thing, "__module__", None) or _module_of(thing, name)
    module = sys.modules.get(home)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    by_value = is_own_module(module) and goes_by_value(module)
    return found is thing and not by_value


def _reduce_variable(thing: ContextVar[Any]) -> tuple[Any, ...]:
    try:
        default = (Context().run(thing.get),)
    except LookupError:
        return variable, (thing.name,)
    return variable, (thing.name, *default)


def _reduce_cache(thing: Any) -> tuple[Any, ...]:
    settings = thing.cache_parameters()
    return cached, (thing.__wrapped__, settings["maxsize"], settings["typed"])


def _reduce_reference(reference: weakref.ref[Any]) -> tuple[Any, ...]:
    thing = reference()
    return (nothing, ()) if thing is None else (weakref.ref, (thing,))


def _made_anew(thing: Any) -> tuple[Any, ...]:
    return type(thing), ()


_REDUCERS: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    type(threading.Lock()): lambda _: (threading.Lock, ()),
    type(threading.RLock()): lambda _: (threading.RLock, ()),
    threading.local: _made_anew,
    threading.Event: _made_anew,
    threading.Condition: _made_anew,
    weakref.WeakKeyDictionary: _made_anew,
    weakref.WeakValueDictionary: _made_anew,
    weakref.WeakSet: _made_anew,
    weakref.ref: _reduce_reference,
    ContextVar: _reduce_variable,
    types.MappingProxyType: lambda one: (types.MappingProxyType, (dict(one),)),
    functools._lru_cache_wrapper: _reduce_cache,
}
"""What pickle does not take apart, and a copy can have afresh; by class."""

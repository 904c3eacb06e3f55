"""A program as bytes: what a process on another machine has to know to run its calls.

A forked worker inherits all of the program's process. Here the same is made by hand, of
what counts. The program's own files go by value: their modules, with all functions,
classes and plain objects, as they are when the image is made. So nothing of the program
runs again there, not even its import, and a worker needs none of its files. What is
installed goes by name: a worker has to have it, in the same version. Of an installed
package that is a part of the program (see `txloop.stm.origin`), the values of globals
are sent besides.

Then a call travels by the very bytes by which it goes to a forked worker, and finds
everything by the same names. What cannot be copied, such as a connection to a database,
is `Absent` there.

To run the main script again, as multiprocessing's "spawn" does, was rejected: what it
does besides defining things would be done again, and what it has changed since would
be missing.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import importlib
import importlib.machinery
import io
import logging
import os
import pickle
import sys
import threading
import types
import weakref
from contextvars import Context, ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from txloop.executors.carried import carried, put_carried, reducer_of
from txloop.executors.codec.by_value import ByValuePickler, by_value
from txloop.executors.codec.frames import UNPICKLABLE
from txloop.executors.dask.absent import Absent, AbsentModules
from txloop.executors.faults import VARIABLE
from txloop.stm.container import Container
from txloop.stm.held import is_held_kind
from txloop.stm.immutability import CONSTANTS
from txloop.stm.origin import (
    claim_all,
    claimed,
    is_installed_file,
    is_own_module,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

__all__ = ["load_image", "make_image"]

_Spaces = dict[str, dict[str, Any]]
"""The globals of modules, by their names."""

_FIRST = (type, types.FunctionType, types.ModuleType)

_PROTOCOL = 5
_HEAP_TYPE = 1 << 9  # as in CPython's `Py_TPFLAGS_HEAPTYPE`: made by a class statement
_DEPTH = 10_000  # of calls; a pickler needs several for each level

_OWN = frozenset(
    ("__builtins__", "__cached__", "__loader__", "__name__", "__package__", "__spec__")
)
"""Globals that a module gets when it is made."""


class _Header(NamedTuple):
    """What has to be there before anything else can be loaded."""

    claims: frozenset[str]
    modules: list[tuple[str, bool]]  # by value: the name, and whether it is a package
    libraries: list[str]  # modules of txloop's that the program has imported
    arguments: list[str]
    faults: str | None
    levels: dict[str, tuple[int, bool, bool]]  # of loggers


# Making one


def make_image(dump: bytes, version: int) -> bytes:
    """Return the program as it is now; on the loop thread, between callbacks.

    Args:
        dump: All of the shared state.
        version: Its version.
    """
    own = [one for one in list(sys.modules.values()) if is_own_module(one)]
    values = {one.__name__: one for one in own if _goes_by_value(one)}
    values |= dict(_packages_of(values))
    header = _Header(
        claimed(),
        [(name, hasattr(one, "__path__")) for name, one in sorted(values.items())],
        [name for name in sys.modules if name.startswith("txloop.")],
        list(sys.argv),
        os.environ.get(VARIABLE),
        dict(_levels()),
    )
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEPTH))
    try:
        with by_value(values.values()):
            spaces = {name: _contents(one) for name, one in values.items()}
            spaces |= {
                one.__name__: dict(_plain_globals(one))
                for one in own
                if one.__name__ not in values
            }
            code, rest = _divided(spaces)
            program = _pickled(code, (rest, carried()))
    finally:
        sys.setrecursionlimit(limit)
    return pickle.dumps((tuple(header), program, dump, version), _PROTOCOL)


def _goes_by_value(module: types.ModuleType) -> bool:
    name = module.__name__
    if sys.modules.get(name) is not module:
        return False
    file = getattr(module, "__file__", None) or ""
    if file.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES)):
        return False
    return name == "__main__" or not is_installed_file(file)


def _packages_of(names: Iterable[str]) -> Iterator[tuple[str, types.ModuleType]]:
    """Yield the packages of modules, which may have no file of their own."""
    for name in names:
        package = name.rpartition(".")[0]
        while package:
            module = sys.modules.get(package)
            if module is not None:
                yield package, module
            package = package.rpartition(".")[0]


def _contents(module: types.ModuleType) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if name not in _OWN}


def _plain_globals(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the globals of an installed module whose values travel."""
    for name, value in list(vars(module).items()):
        if name.startswith("__") or isinstance(
            value, type | types.FunctionType | types.ModuleType
        ):
            continue
        if isinstance(value, Container) or _travels(value):
            yield name, value


def _travels(value: object) -> bool:
    try:
        pickle.dumps(value, _PROTOCOL)
    except UNPICKLABLE:
        return False
    return True


def _levels() -> Iterator[tuple[str, tuple[int, bool, bool]]]:
    loggers = {"": logging.root, **logging.root.manager.loggerDict}
    for name, one in loggers.items():
        if isinstance(one, logging.Logger):
            yield name, (one.level, one.propagate, one.disabled)


def _divided(spaces: _Spaces) -> tuple[_Spaces, _Spaces]:
    """Return what objects may need when they are made, and what is left."""
    code: _Spaces = {}
    rest: _Spaces = {}
    for name, values in spaces.items():
        for each, value in values.items():
            first = isinstance(value, _FIRST) or type(value) in CONSTANTS
            (code if first else rest).setdefault(name, {})[each] = value
    return code, rest


def _pickled(*parts: object) -> bytes:
    """Return one pickle after the other, each of which knows those before it."""
    with io.BytesIO() as file:
        pickler = _Pickler(file, protocol=_PROTOCOL)
        for part in parts:
            pickler.dump(part)
        return file.getvalue()


class _Pickler(ByValuePickler):  # type: ignore[misc] # cloudpickle ships no types
    """Pickles the contents of modules, so that functions find these as globals."""

    def reducer_override(self, thing: Any) -> Any:
        kind = type(thing)
        if kind is types.FunctionType:
            return _tied(thing, super().reducer_override(thing))
        if kind is types.ModuleType:
            return _module, (thing.__name__,)
        if issubclass(kind, type):
            return _as_it_is(thing, super().reducer_override(thing))
        if kind is types.MemberDescriptorType:
            return Absent, (f"the slot {thing.__name__} of a class",)
        reduce = reducer_of(kind) or _REDUCERS.get(kind)
        if reduce is not None:
            return reduce(thing)
        if is_held_kind(thing):
            return Absent, (_named(thing),)
        if _is_plain_object(kind):
            return _bare, (kind,), _state_of(thing), None, None, _set_state
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
        return thing.__reduce_ex__(_PROTOCOL) if reduce is None else reduce(thing)


def _with_setter(thing: Any, reduced: Any) -> Any:
    """Have slots set where the class refuses to have them set, as a frozen one."""
    if (
        type(reduced) is not tuple
        or getattr(type(thing), "__setattr__", None) is object.__setattr__
        or hasattr(thing, "__setstate__")
    ):
        return reduced
    make, arguments, state, *_ = (*reduced, None)
    if not (type(state) is tuple and len(state) == 2):
        return reduced
    merged = {**(state[0] or {}), **(state[1] or {})}
    return make, arguments, merged, None, None, _set_state


def _is_plain_object(kind: type) -> bool:
    """Tell whether objects of a class have attributes and nothing else.

    They are copied as they are, if the class stands in the program: what it does for
    pickle may need what is not there yet, and mean something else than a copy.
    """
    module = sys.modules.get(kind.__module__)
    return (
        is_own_module(module)
        and all(one is object or one.__flags__ & _HEAP_TYPE for one in kind.__mro__)
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
    slots = {**slots, "__globals__": {}, "_cloudpickle_submodules": []}
    arguments = (code, _Space(home.__name__), *rest)
    return make, arguments, (state, slots), *others


def _as_it_is(kind: type, reduced: Any) -> Any:
    """Return how to make a class again: with its slots, and without any preparation."""
    if reduced is NotImplemented or issubclass(kind, enum.Enum) or len(reduced) < 3:
        return reduced
    if not kind.__flags__ & _HEAP_TYPE:  # the interpreter's, and has no name
        return Absent, (f"the class {kind.__qualname__}",)
    _, (meta, name, bases, space, *_), (state, _), *_ = reduced
    space = dict(space)
    if "__slots__" in state:
        slots = state["__slots__"]
        slots = (slots,) if isinstance(slots, str) else tuple(slots)
        space["__slots__"] = tuple(one for one in slots if one != "__weakref__")
        state = {key: one for key, one in state.items() if key != "__slots__"}
    return _made_class, (meta, name, bases, space), state, None, None, _set_on_class


class _Space:
    """Unpickles as the globals of a module."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __reduce__(self) -> tuple[object, ...]:
        return _space, (self._name,)


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
    by_value = is_own_module(module) and _goes_by_value(module)
    return found is thing and not by_value


def _reduce_variable(variable: ContextVar[Any]) -> tuple[Any, ...]:
    try:
        default = (Context().run(variable.get),)
    except LookupError:
        return _variable, (variable.name,)
    return _variable, (variable.name, *default)


def _reduce_cache(cached: Any) -> tuple[Any, ...]:
    settings = cached.cache_parameters()
    return _cached, (cached.__wrapped__, settings["maxsize"], settings["typed"])


def _reduce_reference(reference: weakref.ref[Any]) -> tuple[Any, ...]:
    thing = reference()
    return (_nothing, ()) if thing is None else (weakref.ref, (thing,))


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


# Loading it: these run in the other process


def load_image(image: bytes) -> tuple[bytes, int]:
    """Make this process a copy of the program; return its shared state, and version."""
    parts, program, dump, version = pickle.loads(image)
    header = _Header(*parts)
    claim_all(header.claims)
    sys.argv[:] = header.arguments
    if header.faults is not None:
        os.environ[VARIABLE] = header.faults
    for name in header.libraries:
        importlib.import_module(name)
    for name, is_package in header.modules:
        sys.modules[name] = _empty_module(name, is_package)
    sys.meta_path.append(AbsentModules())
    load = pickle.Unpickler(io.BytesIO(program)).load
    _fill(load())
    rest, others = load()
    _fill(rest)
    _set_levels(header.levels)
    put_carried(others)
    return dump, version


def _fill(spaces: _Spaces) -> None:
    for name, values in spaces.items():
        vars(_module(name)).update(values)


def _empty_module(name: str, is_package: bool) -> types.ModuleType:
    module = types.ModuleType(name)
    spec = importlib.machinery.ModuleSpec(name, None, is_package=is_package)
    module.__spec__ = None if name == "__main__" else spec
    module.__package__ = name if is_package else name.rpartition(".")[0]
    vars(module)["__builtins__"] = __builtins__
    return module


def _set_levels(levels: Mapping[str, tuple[int, bool, bool]]) -> None:
    for name, (level, propagates, disabled) in levels.items():
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.propagate, logger.disabled = propagates, disabled


def _module(name: str) -> types.ModuleType:
    return sys.modules.get(name) or importlib.import_module(name)


def _space(name: str) -> dict[str, Any]:
    return vars(_module(name))


def _variable(name: str, *default: Any) -> ContextVar[Any]:
    # In module globals after all: where it is put when it was unpickled.
    return ContextVar(name, default=default[0]) if default else ContextVar(name)


def _cached(function: Callable[..., Any], maxsize: int | None, typed: bool) -> Any:
    return functools.lru_cache(maxsize, typed)(function)


class _Quiet:
    """The first base of a class while it is made, so that nothing else is told."""

    __slots__ = ()

    def __init_subclass__(cls, **_: object) -> None:
        pass


def _made_class(
    meta: type[type], name: str, bases: tuple[type, ...], space: dict[str, Any]
) -> type:
    if any("__init_subclass__" in vars(one) for base in bases for one in base.__mro__):
        with contextlib.suppress(TypeError):
            made = type.__new__(meta, name, (_Quiet, *bases), dict(space))
            made.__bases__ = bases
            return made
    return types.new_class(
        name, bases, {"metaclass": meta}, lambda made: made.update(space)
    )


def _set_on_class(kind: type, state: dict[str, Any]) -> None:
    for subclass in state.pop("_abc_impl", ()):
        kind.register(subclass)  # type: ignore[attr-defined] # an abstract one
    for name, value in state.items():
        type.__setattr__(kind, name, value)


def _bare(kind: type) -> object:
    return object.__new__(kind)


def _set_state(thing: Any, state: dict[str, Any]) -> None:
    for name, value in state.items():
        object.__setattr__(thing, name, value)


def _nothing() -> Callable[[], None]:
    return type(None)

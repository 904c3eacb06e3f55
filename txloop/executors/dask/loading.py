"""The image of a program, and its parts, made into a copy: in the other process."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.machinery
import io
import logging
import os
import pickle
import sys
import types
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from txloop.executors.carried import put_carried
from txloop.executors.dask.absent import AbsentModules
from txloop.executors.faults import VARIABLE
from txloop.stm.origin import (
    claim_all,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "Header",
    "Spaces",
    "bare",
    "cached",
    "descriptor_of",
    "load_image",
    "made_class",
    "module_named",
    "nothing",
    "set_attributes",
    "set_on_class",
    "set_state",
    "space_of",
    "submodule_named",
    "variable",
]

Spaces = dict[str, dict[str, Any]]
"""The globals of modules, by their names."""


class Header(NamedTuple):
    """What has to be there before anything else can be loaded."""

    claims: frozenset[str]
    modules: list[tuple[str, bool]]  # by value: the name, and whether it is a package
    libraries: list[str]  # modules of txloop's that the program has imported
    arguments: list[str]
    faults: str | None
    levels: dict[str, tuple[int, bool, bool]]  # of loggers


def load_image(image: bytes) -> tuple[bytes, int]:
    """Make this process a copy of the program; return its shared state, and version."""
    parts, program, dump, version = pickle.loads(image)
    header = Header(*parts)
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


def _fill(spaces: Spaces) -> None:
    for name, values in spaces.items():
        vars(module_named(name)).update(values)


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


def module_named(name: str) -> types.ModuleType:
    """Return a module, imported if need be."""
    return sys.modules.get(name) or importlib.import_module(name)


def submodule_named(name: str) -> types.ModuleType | None:
    """Return a module, imported if need be; None if there is none, as for made ones."""
    with contextlib.suppress(ImportError):
        return module_named(name)
    return None


def space_of(name: str) -> dict[str, Any]:
    """Return the globals of a module."""
    return vars(module_named(name))


def descriptor_of(kind: type, name: str) -> object:
    """Return what stands in a class itself, and is not asked for its value."""
    return vars(kind)[name]


def variable(name: str, *default: Any) -> ContextVar[Any]:
    """Make a context variable."""
    # In module globals after all: where it is put when it was unpickled.
    return ContextVar(name, default=default[0]) if default else ContextVar(name)


def cached(function: Callable[..., Any], maxsize: int | None, typed: bool) -> Any:
    """Make a cache of a function, which holds nothing."""
    return functools.lru_cache(maxsize, typed)(function)


class _Quiet:
    """The first base of a class while it is made, so that nothing else is told."""

    __slots__ = ()

    def __init_subclass__(cls, **_: object) -> None:
        pass


def made_class(
    meta: type[type], name: str, bases: tuple[type, ...], space: dict[str, Any]
) -> type:
    """Make a class without anything else being told of it."""
    if any("__init_subclass__" in vars(one) for base in bases for one in base.__mro__):
        with contextlib.suppress(TypeError):
            made = type.__new__(meta, name, (_Quiet, *bases), dict(space))
            made.__bases__ = bases
            return made
    return types.new_class(
        name, bases, {"metaclass": meta}, lambda made: made.update(space)
    )


def set_on_class(kind: type, state: dict[str, Any]) -> None:
    """Set what a class has besides its namespace."""
    for subclass in state.pop("_abc_impl", ()):
        kind.register(subclass)  # type: ignore[attr-defined] # an abstract one
    for name, value in state.items():
        type.__setattr__(kind, name, value)


def bare(kind: type) -> object:
    """Make an object without its constructor."""
    return object.__new__(kind)


def set_state(thing: Any, state: dict[str, Any]) -> None:
    """Set attributes and slots, whatever the class says of that."""
    for name, value in state.items():
        object.__setattr__(thing, name, value)


def set_attributes(thing: Any, state: dict[str, Any]) -> None:
    """Set attributes, without asking the class or an object that is not whole yet."""
    object.__getattribute__(thing, "__dict__").update(state)


def nothing() -> Callable[[], None]:
    """Stand for a reference to what is gone: calling it returns None."""
    return type(None)

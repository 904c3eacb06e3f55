"""What a callable is under its partials and methods, and what it refers to."""

from __future__ import annotations

import functools
import inspect
import sys
import types
import weakref
from contextlib import suppress
from types import MethodType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "contents_of",
    "is_coroutine",
    "is_found_by_name",
    "is_generator",
    "is_native_coroutine",
    "layers",
    "name_of",
    "weakly",
    "with_article",
    "without_partials",
]


_COROUTINE_FLAGS = (
    inspect.CO_COROUTINE
    | inspect.CO_GENERATOR
    | inspect.CO_ASYNC_GENERATOR
    | inspect.CO_ITERABLE_COROUTINE
)


def without_partials(function: Callable[..., object]) -> Callable[..., object]:
    """Return the function that a partial calls, of as many as there are."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def layers(function: object) -> Iterator[Any]:
    """Yield a callable, what it calls, and so on, through all partials and methods.

    The last one is neither: a function, or an object that can be called. Objects are
    not asked for their class: a proxy would answer by running the program's code.
    """
    thing: Any = function
    while True:
        yield thing
        cls = type(thing)
        if issubclass(cls, functools.partial):
            thing = thing.func
        elif issubclass(cls, types.MethodType):
            thing = thing.__func__
        else:
            return


def name_of(function: Callable[..., object]) -> str:
    """Return what a callable is called in statistics and warnings."""
    # Not its repr: that of a partial shows arguments, and they may be secret.
    bare = without_partials(function)
    name = getattr(bare, "__qualname__", None) or type(bare).__qualname__
    return str(name)


def with_article(name: str) -> str:
    """Return a name, as that of a class, after an indefinite article."""
    return f"{'an' if name[:1] in 'aeioAEIO' else 'a'} {name}"


def is_coroutine(function: Callable[..., object]) -> bool:
    """Tell whether calling it makes a coroutine, decorated or not."""
    if type(function) is types.FunctionType and not vars(function):
        return bool(function.__code__.co_flags & _COROUTINE_FLAGS)
    bare: object = function
    while True:
        if isinstance(bare, functools.partial):
            bare = bare.func
        elif inspect.iscoroutinefunction(bare) or getattr(
            bare, "__tornado_coroutine__", False
        ):
            return True
        elif hasattr(bare, "__wrapped__"):
            bare = bare.__wrapped__
        else:
            return inspect.isgeneratorfunction(bare) or inspect.isasyncgenfunction(bare)


def is_generator(function: Callable[..., object]) -> bool:
    """Tell whether calling it makes a generator that is not awaited."""
    bare = getattr(function, "__func__", function)
    if getattr(bare, "__tornado_coroutine__", False):
        return False
    return inspect.isgeneratorfunction(bare) or inspect.isasyncgenfunction(bare)


def is_native_coroutine(function: object) -> bool:
    """Tell whether a function is written with ``async def``, and nothing is around it.

    So a call returns what can be driven without a loop.
    """
    if type(function) is not types.FunctionType:
        return False
    return bool(function.__code__.co_flags & inspect.CO_COROUTINE)


def is_found_by_name(function: Any) -> bool:
    """Tell whether a function is the same one wherever it is unpickled."""
    found: Any = sys.modules.get(function.__module__ or "")
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is function


def contents_of(function: types.FunctionType) -> dict[str, object]:
    """Return what the variables around a function hold, as far as they are assigned."""
    found: dict[str, object] = {}
    cells = function.__closure__
    if not cells:  # PyPy's functions in C have a code that knows no names either
        return found
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        with suppress(ValueError):
            found[name] = cell.cell_contents
    return found


P = ParamSpec("P")
R = TypeVar("R")


def weakly(method: Callable[P, R]) -> Callable[P, R | None]:
    """Return what calls a bound method as long as its object lives, and then nothing.

    Parts of a loop call back what they belong to. Were these references strong, a loop
    that is dropped, closed or not, would stay until the collector finds it, with all
    that the program has tied to it. `weakref.WeakMethod` does the same in two steps,
    and takes twice as long.
    """
    assert isinstance(method, MethodType)
    find_owner = weakref.ref(method.__self__)
    function = method.__func__

    def call(*args: P.args, **kwargs: P.kwargs) -> R | None:
        owner = find_owner()
        if owner is None:
            return None
        result: R = function(owner, *args, **kwargs)
        return result

    return call

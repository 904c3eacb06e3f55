"""A shape: one small piece of an ordinary program, and what is asked of it.

Each shape is a marked handler or function as people write them, which knows nothing of
txloop. The decorators of this module enter it into a list; `tests.shapes.server` serves
the list, and `tests.shapes.play` asks it the same questions on each loop.
"""

from __future__ import annotations

import enum
import importlib
import os
import pkgutil
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from tornado.web import RequestHandler

from txloop import transactional

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "IN_SERVER",
    "Kind",
    "Shape",
    "burn",
    "load",
    "reads",
    "settles",
    "sometimes",
    "steady",
    "writes",
]

BURN_SECONDS = float(os.environ.get("SHAPES_BURN_SECONDS", "0.003"))
"""How long each handler takes, so that it is worth sending away."""

IN_SERVER = "SHAPES_BURN_SECONDS" in os.environ
"""Whether this process serves shapes, so that they may change what belongs to it."""

T = TypeVar("T")


class Kind(enum.Enum):
    """What a shape does with the plain state that it shares."""

    WRITES = "changes it at each run"
    SOMETIMES = "changes it at some runs"
    SETTLES = "changes it at the first runs only"
    READS = "reads what unmarked code changes"
    STEADY = "changes nothing that is shared"


@dataclass(frozen=True)
class Shape:
    """One marked handler or function.

    Attributes:
        name: Its path, and how it is called in failures.
        kind: What it does.
        target: The marked handler class or function.
        home: The module that it stands in, without the package.
        kwargs: What its handler is registered with.
        total: Returns on the loop thread what the runs have left behind, if anything.
        change: What unmarked code does to the state that is read.
        way: How that code is called; see `tests.shapes.ways`.
    """

    name: str
    kind: Kind
    target: Callable[..., object]
    home: str
    kwargs: Mapping[str, object] = field(default_factory=dict)
    total: Callable[[], object] | None = None
    change: Callable[[], object] | None = None
    way: str = "handler"

    @property
    def label(self) -> str:
        """Its name in statistics and warnings."""
        return f"GET {self.name}" if self.is_handler else self.target.__qualname__

    @property
    def is_handler(self) -> bool:
        """Whether it is a handler class, not a function."""
        return isinstance(self.target, type) and issubclass(self.target, RequestHandler)


_shapes: dict[str, Shape] = {}


def load(*modules: str) -> list[Shape]:
    """Return the shapes of these modules, in order; of all if none is named."""
    for module in modules or all_modules():
        importlib.import_module(f"tests.shapes.ordinary.{module}")
    return [shape for shape in _shapes.values() if not modules or shape.home in modules]


def all_modules() -> list[str]:
    """Return the names of the modules that have shapes in them."""
    package = importlib.import_module("tests.shapes.ordinary")
    return [
        module.name
        for module in pkgutil.iter_modules(package.__path__)
        if not module.ispkg
    ]


def burn() -> None:
    """Take the time of a handler that has something to do."""
    time.sleep(BURN_SECONDS)


def writes(
    *,
    total: Callable[[], object] | None = None,
    kwargs: Mapping[str, object] | None = None,
    way: str = "handler",
) -> Callable[[T], T]:
    """Enter a shape that changes shared state at each run."""
    return _entering(Kind.WRITES, total=total, kwargs=kwargs or {}, way=way)


def sometimes(*, total: Callable[[], object] | None = None) -> Callable[[T], T]:
    """Enter a shape that changes shared state at some runs."""
    return _entering(Kind.SOMETIMES, total=total)


def settles() -> Callable[[T], T]:
    """Enter a shape that fills a cache or a lazy value and then leaves it."""
    return _entering(Kind.SETTLES)


def reads(
    change: Callable[[], object],
    way: str = "handler",
    kwargs: Mapping[str, object] | None = None,
) -> Callable[[T], T]:
    """Enter a shape that reads what `change`, which is not marked, changes."""
    return _entering(Kind.READS, change=change, way=way, kwargs=kwargs or {})


def steady(*, kwargs: Mapping[str, object] | None = None) -> Callable[[T], T]:
    """Enter a shape that nothing keeps from running in parallel."""
    return _entering(Kind.STEADY, kwargs=kwargs or {})


def _entering(kind: Kind, **more: object) -> Callable[[T], T]:
    def enter(target: T) -> T:
        marked: type = transactional(target)  # type: ignore[call-overload] # class or function
        name, module = marked.__name__, marked.__module__.rpartition(".")[2]
        assert name not in _shapes, f"there are two shapes called {name}"
        _shapes[name] = Shape(name, kind, marked, module, **more)  # type: ignore[arg-type] # as its callers say
        return target

    return enter

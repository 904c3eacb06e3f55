"""What a case declares, and how a case is found by its name.

A case is one module in `bench/cases` with a `CASE` and with the functions that build
the applications its competitors serve. Those functions import what they need when
they are called, so that a stock server never imports txloop.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

import bench.cases
from bench.errors import UsageError

if TYPE_CHECKING:
    import tornado.web

Values = Mapping[str, int]
"""The values of a case's parameters, by name."""

ApplicationFactory = Callable[[int], "tornado.web.Application"]
"""Builds an application; the number is how many processes it may start itself."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A whole number that a case can be run with: `--NAME VALUE`."""

    name: str
    default: int
    help: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One request whose answer is known."""

    path: str
    is_right: Callable[[bytes], bool]


@dataclass(frozen=True, slots=True)
class Competitor:
    """One way to serve the same answers.

    `server` is a module of `bench.servers`, `application` a function of the case's
    module, `options` what the server is given besides.
    """

    name: str
    server: str
    application: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """What one benchmark measures.

    `load` names the paths that the load asks for, in turn; `samples` the requests
    that are checked before and after, which need not be the same. `baseline` is the
    competitor that the others are divided by.
    """

    name: str
    summary: str
    competitors: tuple[Competitor, ...]
    baseline: str
    load: Callable[[Values], tuple[str, ...]]
    samples: Callable[[Values], tuple[Sample, ...]]
    parameters: tuple[Parameter, ...] = ()

    def select(self, names: str | None) -> tuple[Competitor, ...]:
        """Return the competitors that the comma-separated `names` ask for, or all.

        A name may be written with dashes for its spaces.

        Raises:
            UsageError: there is no competitor of such a name.
        """
        if names is None:
            return self.competitors
        by_name = {_key(one.name): one for one in self.competitors}
        selected = []
        for name in names.split(","):
            if _key(name) not in by_name:
                known = ", ".join(one.name for one in self.competitors)
                raise UsageError(f"{self.name} has no {name.strip()!r}, only: {known}")
            selected.append(by_name[_key(name)])
        return tuple(dict.fromkeys(selected))


class CaseModule(Protocol):
    """A module of `bench.cases`. Its application functions are found by name."""

    CASE: Case


def case_names() -> list[str]:
    """Return the names of all cases, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(bench.cases.__path__))


def load_case(name: str) -> Case:
    """Return the case of that name."""
    return _load_module(name).CASE


def load_application(spec: str) -> ApplicationFactory:
    """Return the function that `CASE:FUNCTION` names.

    Raises:
        UsageError: there is no such case or no such function in it.
    """
    name, _, function = spec.partition(":")
    if name not in case_names():
        raise UsageError(f"no case {name!r}, only: {', '.join(case_names())}")
    factory = getattr(_load_module(name), function, None)
    if factory is None:
        raise UsageError(f"the case {name} has no function {function!r}")
    # The contract of case modules; getattr by name knows nothing of it.
    return cast("ApplicationFactory", factory)


def _load_module(name: str) -> CaseModule:
    # As above: that every module here has a CASE is what makes it a case.
    return cast("CaseModule", importlib.import_module(f"bench.cases.{name}"))


def _key(name: str) -> str:
    return "-".join(name.lower().replace("-", " ").split())

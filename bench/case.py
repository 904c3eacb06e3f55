"""What a case declares, and how a case is found by its name.

A case is one module in `bench/cases` with a `CASE` and with the functions that build
the applications its competitors serve. Those functions import what they need when
they are called, so that a stock server never imports txloop.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Protocol, cast

import bench.cases
from bench.errors import UsageError

if TYPE_CHECKING:
    import tornado.web

    from bench.load import LoadGenerator, Throughput

_TRIALS = {"tally", "timeline"}  # that have applications, too

Values = Mapping[str, int]
"""The values of a case's parameters, by name."""

ApplicationFactory = Callable[[int, Values], "tornado.web.Application"]
"""Builds an application; the number is how many processes it may start itself."""

GeneratorFactory = Callable[[Values, int], "LoadGenerator"]
"""Makes a load generator; the number is that of the servers' processes.

It runs on the other cores, if there are any.
"""


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
    module, `options` what the server is given besides. The command `python` runs it,
    this very interpreter where it is empty; `workers` is its number of workers, 0 for
    that of the settings. One that `needs_no_gil` is left out with the GIL, unless it is
    asked for. `fronts` is how many of those txloop is to have; None leaves it to the
    environment.
    """

    name: str
    server: str
    application: str
    options: tuple[str, ...] = ()
    python: tuple[str, ...] = ()
    workers: int = 0
    warm_up_seconds: int = 1
    needs_no_gil: bool = False
    fronts: int | None = None

    @property
    def environment(self) -> dict[str, str]:
        """What its server has in its environment besides."""
        return {} if self.fronts is None else {"TXLOOP_FRONTS": str(self.fronts)}


SERIAL, PROCESSES, THREADS = (
    Competitor(f"txloop {kind}", "txloop", "transactional", ("--executor", kind))
    for kind in ("serial", "processes", "threads")
)

TXLOOP = (SERIAL, PROCESSES, replace(THREADS, needs_no_gil=True))
"""A case's `transactional` application on each executor that may be faster."""


@dataclass(frozen=True, slots=True)
class Column:
    """A figure of a case's own load, and how it is condensed over all repeats."""

    title: str
    figure: str
    digits: int = 0
    condense: Callable[[Iterable[float]], float] = median


@dataclass(frozen=True, slots=True)
class Comparison:
    """What "ratio" means: of what one competitor and the baseline achieved."""

    title: str
    ratio: Callable[[Throughput, Throughput], float]


def compare_rates(own: Throughput, baseline: Throughput) -> float:
    """Return how many times the requests per second of the baseline there were."""
    return own.rate / baseline.rate


@dataclass(frozen=True, slots=True)
class Case:
    """What one benchmark measures.

    `load` names the paths that the load asks for, in turn; `samples` the requests
    that are checked before and after, which need not be the same. `baseline` is the
    competitor that the others are divided by. A case with a load `generator` of its
    own is loaded by that alone, and asks for the paths of `load` to warm up only.
    What such a load finds besides is in `columns`, the far end of its latencies in the
    table where `tail` says so, and `notes` are lines below it.
    A case with a `sweep` is measured with each of these values of its one parameter,
    where none is asked for.
    `clients` is the default of how many users there are, `workers` of how many
    processes: None for the cores. `comparison` is by the rate where there is none.
    One that is for `fronts` can be asked to compare servers without and with those.
    """

    name: str
    summary: str
    competitors: tuple[Competitor, ...]
    baseline: str
    load: Callable[[Values], tuple[str, ...]]
    samples: Callable[[Values], tuple[Sample, ...]]
    parameters: tuple[Parameter, ...] = ()
    generator: GeneratorFactory | None = None
    clients: int = 50
    workers: int | None = None
    comparison: Comparison | None = None
    columns: tuple[Column, ...] = ()
    tail: bool = False
    notes: tuple[str, ...] = ()
    sweep: tuple[int, ...] = ()
    fronts: bool = False

    @property
    def compare(self) -> Comparison:
        """What the ratios are of."""
        return self.comparison or Comparison(f"to {self.baseline}", compare_rates)

    def with_fronts(self, number: int) -> Case:
        """Return the case with each server of txloop twice: without and with fronts."""
        found: list[Competitor] = []
        for one in self.competitors:
            if one.server != "txloop":
                found.append(one)
                continue
            name = f"{one.name} fronts {number}"
            found += [replace(one, fronts=0), replace(one, name=name, fronts=number)]
        return replace(self, competitors=tuple(found))

    def select(self, names: str | None, gil: bool = True) -> tuple[Competitor, ...]:
        """Return the competitors that the comma-separated `names` ask for, or all.

        A name may be written with dashes for its spaces. `gil` is whether the servers'
        interpreter has one.

        Raises:
            UsageError: there is no competitor of such a name.
        """
        if names is None:
            return tuple(
                one for one in self.competitors if not (gil and one.needs_no_gil)
            )
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
    """Return the function that `CASE:FUNCTION` names, or `TRIAL:FUNCTION`.

    Raises:
        UsageError: there is no such case or no such function in it.
    """
    name, _, function = spec.partition(":")
    if name in _TRIALS:
        module: object = importlib.import_module(f"bench.trials.{name}")
    elif name in case_names():
        module = _load_module(name)
    else:
        raise UsageError(f"no case {name!r}, only: {', '.join(case_names())}")
    factory = getattr(module, function, None)
    if factory is None:
        raise UsageError(f"the case {name} has no function {function!r}")
    # The contract of case modules; getattr by name knows nothing of it.
    return cast("ApplicationFactory", factory)


def _load_module(name: str) -> CaseModule:
    # As above: that every module here has a CASE is what makes it a case.
    return cast("CaseModule", importlib.import_module(f"bench.cases.{name}"))


def _key(name: str) -> str:
    return "-".join(name.lower().replace("-", " ").split())

"""Ordinary shapes of plain shared state, live, beside stock Tornado.

A shape that changes shared state at each run loses nothing at all. One that does so now
and then, or reads what unmarked code changes, may be late once, with a warning that
names it. One that changes nothing runs in parallel, and not a word is said.
"""

from __future__ import annotations

import functools
import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.serving import FRONTS, THREADS
from tests.shapes.play import FEWER, FEWEST, GROUPS, REQUESTS, play
from tests.shapes.shape import Kind, load

if TYPE_CHECKING:
    from tests.shapes.play import Played, Told
    from tests.shapes.shape import Shape

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

HAVE_NUMPY = importlib.util.find_spec("numpy") is not None
MODULES = {
    group: tuple(name for name in names if HAVE_NUMPY or "numpy" not in name)
    for group, names in GROUPS.items()
}
SHAPES = {shape.name: shape for names in MODULES.values() for shape in load(*names)}


@dataclass(frozen=True)
class Variant:
    """One way to run transactions.

    Attributes:
        executor: Where they run.
        requests: How many each shape gets.
        burn: How long each takes, in seconds.
        faults: What goes wrong on purpose.
        fronts: How many there are.
    """

    executor: str
    requests: int = REQUESTS
    burn: str = "0.003"
    faults: str = ""
    fronts: int = 0


VARIANTS = {
    "serial": Variant("serial", FEWEST, burn="0"),
    "processes": Variant("processes"),
    "away": Variant("processes", FEWER, burn="0", faults="away=1"),
    **({"threads": Variant("threads")} if THREADS else {}),
    **(
        {"fronts": Variant("processes", burn="0", faults="fronts=1", fronts=2)}
        if FRONTS
        else {}
    ),
}

LATE = (Kind.READS, Kind.SOMETIMES, Kind.SETTLES)
"""Kinds that may be late once, if a warning says so."""

SETTLING = [name for name, shape in SHAPES.items() if shape.kind is Kind.SETTLES]


@functools.cache
def stock(group: str) -> Played:
    """Return what stock Tornado answers about the shapes of a group."""
    return play("stock", MODULES[group], SHAPES_BURN_SECONDS="0")


@functools.cache
def played(variant: str, group: str) -> Played:
    """Return what the shapes of a group answer where transactions run."""
    how = VARIANTS[variant]
    environment = {"SHAPES_BURN_SECONDS": how.burn, "TXLOOP_FRONTS": str(how.fronts)}
    if how.faults:
        environment["TXLOOP_FAULTS"] = how.faults
    return play(how.executor, MODULES[group], stock(group), how.requests, **environment)


def group_of(shape: Shape) -> str:
    return next(group for group, names in MODULES.items() if shape.home in names)


def differences(expected: Told, told: Told, requests: int) -> list[str]:
    """Say where answers are not those of stock Tornado."""
    found = []
    in_order = len(expected.phases) == 1
    wanted = [sorted(expected.phases[0][:requests])] if in_order else expected.phases
    for number, (right, given) in enumerate(zip(wanted, told.phases, strict=False)):
        if right != given:
            lost = sorted(set(right) - set(given))
            more = sorted(set(given) - set(right)) or "some of them twice"
            found.append(f"phase {number}: {lost} did not come, but {more}")
    for number, total in told.totals.items():
        if total != expected.totals[number]:
            found.append(f"it left {total}, not {expected.totals[number]}")
    return found


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_nothing_is_lost_without_a_word(variant, name):
    # GIVEN
    shape = SHAPES[name]
    there = played(variant, group_of(shape))

    # WHEN
    told, expected = there.told[name], stock(group_of(shape)).told[name]
    wrong = differences(expected, told, VARIANTS[variant].requests)
    said, because = there.warnings(shape), there.on_loop_because(shape)

    # THEN
    may_be_late = variant != "serial" and shape.kind in LATE
    assert not wrong or (may_be_late and said), "\n".join([*wrong, *said])
    assert len(said) <= (3 if shape.kind is Kind.SETTLES else 1), "\n".join(said)
    if shape.kind is Kind.READS:
        assert expected.phases[-1] == told.phases[-1], "it is stale for ever"
    if shape.kind is Kind.STEADY:
        assert ("", []) == (because, said), because


@pytest.mark.parametrize("name", SETTLING)
@pytest.mark.parametrize("variant", [name for name in VARIANTS if name != "serial"])
def test_what_settles_runs_in_parallel_again(variant, name):
    told = played(variant, group_of(SHAPES[name])).told[name]

    assert told.settled, f"held after {len(told.phases)} rounds of requests"


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("variant", ["away", *(["fronts"] * FRONTS)])
def test_each_shape_was_tried_elsewhere_or_is_held(variant, group):
    """The proof above says nothing about what never left the loop thread."""
    there = played(variant, group)

    stayed = []
    for shape in load(*MODULES[group]):
        figures = there.labels[shape.label]
        away = figures["attempts"] != figures["inline"]
        if not away and not there.on_loop_because(shape):
            stayed.append(shape.name)

    assert [] == stayed


@pytest.mark.parametrize("group", GROUPS)
def test_answers_tell_what_a_shape_does(group):
    """A shape whose answers are all the same would hide what is lost."""
    told = stock(group).told

    silent = []
    for shape in load(*MODULES[group]):
        phases = told[shape.name].phases
        seen = set(phases[0]) if len(phases) == 1 else set(map(tuple, phases))
        counts = shape.kind is Kind.WRITES and shape.total is None
        if len(seen) == 1 and (counts or shape.kind is Kind.READS):
            silent.append(shape.name)

    assert [] == silent

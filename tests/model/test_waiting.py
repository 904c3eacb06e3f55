"""Programs of transactions that wait: nothing is lost, and nobody is forgotten.

When nothing runs any more, whoever still waits has nothing to do; what was put in was
taken out once or is still there; whoever was given up has taken nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from tests.engine import running
from txloop import TDict, TList, TVar, or_else, retry
from txloop.engine.events import Woken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tests.engine import Engine, Result
    from txloop.engine.profile import Profile


@dataclass
class Shop:
    """Shared state: a queue, shelves, and a sign that says how many may go in."""

    queue: TList[int] = field(default_factory=TList)
    shelves: TDict[str, int] = field(default_factory=TDict)
    sign: TVar[int] = field(default_factory=lambda: TVar(0))

    def take_first(self) -> list[int]:
        if not self.queue:
            retry()
        return [self.queue.pop(0)]

    def take_from_shelf(self, shelf: str) -> list[int]:
        if shelf not in self.shelves:
            retry()
        return [self.shelves.pop(shelf)]

    def take_two(self) -> list[int]:
        if len(self.queue) < 2:
            retry()
        return [self.queue.pop(), self.queue.pop()]

    def take_any(self) -> list[int]:
        return or_else(
            self.take_first,
            lambda: or_else(
                lambda: self.take_from_shelf("a"), lambda: self.take_from_shelf("b")
            ),
        )

    def go_in(self, least: int) -> list[int]:
        if self.sign.value < least:
            retry()
        return []

    def append(self, thing: int) -> list[int]:
        self.queue.append(thing)
        return [thing]

    def insert(self, thing: int) -> list[int]:
        self.queue.insert(0, thing)
        return [thing]

    def fill(self, shelf: str, thing: int) -> list[int]:
        if shelf in self.shelves:
            return []
        self.shelves[shelf] = thing
        return [thing]

    def turn_sign(self, number: int) -> list[int]:
        self.sign.value = number % 3
        return []

    def contents(self) -> Counter[int]:
        return Counter([*self.queue, *self.shelves.values()])


# What a waiting transaction does, and whether there is something to do for it.
CUSTOMERS: dict[str, tuple[Callable[[Shop], list[int]], Callable[[Shop], bool]]] = {
    "first": (Shop.take_first, lambda shop: len(shop.queue) > 0),
    "two": (Shop.take_two, lambda shop: len(shop.queue) > 1),
    "shelf": (lambda shop: shop.take_from_shelf("a"), lambda shop: "a" in shop.shelves),
    "any": (Shop.take_any, lambda shop: bool(shop.queue or shop.shelves)),
    "in": (lambda shop: shop.go_in(1), lambda shop: shop.sign.value >= 1),
    "in later": (lambda shop: shop.go_in(2), lambda shop: shop.sign.value >= 2),
}

SUPPLIES: dict[str, Callable[[Shop, int], list[int]]] = {
    "queue": Shop.append,
    "front": Shop.insert,
    "shelf a": lambda shop, thing: shop.fill("a", thing),
    "shelf b": lambda shop, thing: shop.fill("b", thing),
    "sign": Shop.turn_sign,
}

Step = tuple[str, object]

steps = st.one_of(
    st.tuples(st.just("customer"), st.sampled_from(sorted(CUSTOMERS))),
    st.tuples(st.just("customer in order"), st.sampled_from(sorted(CUSTOMERS))),
    st.tuples(st.just("customer at once"), st.sampled_from(sorted(CUSTOMERS))),
    st.tuples(st.just("supply"), st.sampled_from(sorted(SUPPLIES))),
    st.tuples(st.just("supply at once"), st.sampled_from(sorted(SUPPLIES))),
    st.tuples(st.just("supply directly"), st.sampled_from(sorted(SUPPLIES))),
    st.tuples(st.sampled_from(("begin", "finish", "give up")), st.integers(0, 5)),
    st.tuples(st.just("turn"), st.none()),
)


class Performance:
    """One program on an engine with the scripted executor."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.shop = Shop()
        self.customers: dict[int, tuple[str, Result]] = {}  # by transaction
        self.served: list[Result] = []  # those that did not have to wait
        self.short = short_here(engine)
        self.given_up: set[int] = set()
        self.supplied = Counter[int]()
        self.supplies: list[Result] = []
        self.things = 0

    def perform(self, program: Sequence[Step]) -> None:
        for what, argument in program:
            kind, _, how = what.partition(" ")
            if kind == "customer":
                self.enter(str(argument), how)
            elif kind == "supply":
                self.supply(str(argument), how)
            elif what == "turn":
                self.engine.turn()
            else:
                assert isinstance(argument, int)
                self.choose(what, argument)
        self.finish()

    def enter(self, kind: str, how: str) -> None:
        function, _ = CUSTOMERS[kind]
        result = self.submit(function, ordered=how == "in order", at_once=how)
        if result.done:
            self.served.append(result)
        else:
            self.customers[result.number] = kind, result

    def supply(self, kind: str, how: str) -> None:
        self.things += 1
        if how == "directly":
            self.supplied.update(SUPPLIES[kind](self.shop, self.things))
        else:
            self.supplies.append(self.submit(SUPPLIES[kind], self.things, at_once=how))

    def submit(
        self, function: Callable[..., list[int]], *args: object, **options: object
    ) -> Result:
        at_once = options.pop("at_once") == "at once"
        profile = self.short if at_once else None
        return self.engine.submit(
            function,
            self.shop,
            *args,
            profile=profile,
            ordered=bool(options.get("ordered")),
            at_once=at_once,
        )

    def choose(self, what: str, index: int) -> None:
        executor = self.engine.scripted
        act: Callable[[int], object]
        if what == "begin":
            numbers, act = sorted(executor.waiting), executor.begin
        elif what == "finish":
            numbers, act = sorted(executor.begun), executor.finish
        else:
            numbers, act = sorted(self.open()), self.give_up
        if index < len(numbers):
            act(numbers[index])

    def open(self) -> Iterator[int]:
        for number, (_, result) in self.customers.items():
            if not result.done and number not in self.given_up:
                yield number

    def give_up(self, number: int) -> None:
        self.given_up.add(number)
        self.engine.dispatcher.leave(number)

    def finish(self) -> None:
        """Let everything run that can."""
        executor = self.engine.scripted
        quiet = 0
        while quiet < 4:  # one that is woken goes through a round first
            self.engine.turn()
            quiet = 0 if executor.waiting or executor.begun else quiet + 1
            executor.run_all()
        assert 0 == self.engine.dispatcher.busy

    def check(self) -> None:
        forgotten = [
            kind
            for number in self.open()
            for kind in [self.customers[number][0]]
            if CUSTOMERS[kind][1](self.shop)
        ]
        assert [] == forgotten, "they sleep although there is something to do"
        done = [result for _, result in self.customers.values() if result.done]
        taken = counted([*self.served, *done])
        assert self.supplied + counted(self.supplies) == taken + self.shop.contents()


def short_here(engine: Engine) -> Profile:
    """Return the record of a function that is known to be short."""
    profile = engine.profile("short")
    for _ in range(3):
        profile.note_body(0.00001, inline=True)
    return profile


def counted(results: Iterable[Result]) -> Counter[int]:
    """Return how often each thing is in the results."""
    things = Counter[int]()
    for result in results:
        assert isinstance(result.value, list)
        things.update(result.value)
    return things


@pytest.fixture(scope="module", params=["heard", "unheard"])
def engine(request):
    """An engine of which somebody hears, and one whose short calls run at once."""
    with running("scripted") as engine:
        engine.wait(engine.submit(int))
        if request.param == "unheard":
            engine.dispatcher.listeners.clear()
            engine.scripted.transport_seconds = 0.001  # what is short stays
        yield engine


@pytest.mark.slow
@pytest.mark.timeout(120)
@given(
    first=st.lists(st.sampled_from(sorted(CUSTOMERS)), max_size=4),
    times=st.integers(1, 4),
    program=st.lists(steps, min_size=5, max_size=40),
)
@example(
    first=[],
    times=1,
    program=[
        ("customer", "first"),
        ("turn", None),
        ("begin", 0),
        ("supply directly", "queue"),
    ],
)
def test_nobody_is_forgotten_and_nothing_is_lost(engine, first, times, program):
    engine.events.clear()
    performance = Performance(engine)
    try:
        performance.perform([("customer", kind) for kind in first * times])
        performance.perform(program)
        event(f"some woken: {any(isinstance(one, Woken) for one in engine.events)}")
        event(f"some at once: {performance.short.inline > 0}")
        performance.check()
    finally:
        for number in list(performance.open()):
            engine.dispatcher.leave(number)
        engine.scripted.run_all()
        engine.turn()
    assert 0 == engine.dispatcher.pending

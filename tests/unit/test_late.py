"""Late attempts: whatever reads first, reads what there is then."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from txloop import (
    TCache,
    TCounter,
    TDefaultDict,
    TDeque,
    TDict,
    TList,
    TObject,
    TSet,
    TVar,
)
from txloop.stm.attempt import Attempt, current, make_current
from txloop.stm.attempt_kinds import LateAttempt, LateTracedAttempt
from txloop.stm.run import run_attempt
from txloop.stm.store import committed
from txloop.stm.types import Call, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Point(TObject):
    """Has a field that is read."""

    x: int = 0


def changed(make: Callable[[], Any], change: Callable[[Any], object]) -> Any:
    """Return a container, made and changed outside of all attempts."""
    shared = make()
    change(shared)
    return shared


def put(one: Any) -> None:
    """Set an entry, of a list the last one."""
    one["a" if isinstance(one, TDict | TCache) else -1] = 1


def mark(one: Any) -> None:
    """Set a field."""
    one.x = 1


EMPTY: Callable[[], Any] = TDict
ZERO: Callable[[], Any] = partial(TDict, a=0)

OPERATIONS: dict[str, tuple[Callable[[], Any], Any, Callable[[Any], object]]] = {
    # What is made, how it is changed, and how it is read.
    "TVar.get": (partial(TVar, 0), lambda one: one.set(1), TVar.get),
    "TCounter": (partial(TCounter, 0), lambda one: one.add(1), lambda one: one.value),
    "TDict[key]": (ZERO, put, lambda one: one["a"]),
    "TDict.get": (EMPTY, put, lambda one: one.get("a")),
    "key in TDict": (EMPTY, put, lambda one: "a" in one),
    "len of TDict": (EMPTY, put, len),
    "truth of TDict": (EMPTY, put, bool),
    "keys of TDict": (EMPTY, put, list),
    "items of TDict": (ZERO, put, lambda one: list(one.items())),
    "TDict ==": (ZERO, put, lambda one: one == {"a": 1}),
    "TDefaultDict[key]": (partial(TDefaultDict, int), put, lambda one: one["a"]),
    "TList[index]": (partial(TList, [0]), put, lambda one: one[0]),
    "TList[-1]": (partial(TList, [0]), lambda one: one.append(1), lambda one: one[-1]),
    "TList beyond": (TList, lambda one: one.append(1), lambda one: one[0:] or None),
    "TList[span]": (partial(TList, [0, 0]), put, lambda one: one[0:2]),
    "len of TList": (TList, lambda one: one.append(1), len),
    "all of TList": (TList, lambda one: one.append(1), list),
    "item in TList": (TList, lambda one: one.append(1), lambda one: 1 in one),
    "TList.pop": (partial(TList, [0]), put, lambda one: one.pop()),
    "item in TSet": (TSet, lambda one: one.add(1), lambda one: 1 in one),
    "len of TSet": (TSet, lambda one: one.add(1), len),
    "all of TSet": (TSet, lambda one: one.add(1), sorted),
    "TDeque[0]": (partial(TDeque, [0]), put, lambda one: one[0]),
    "TDeque.popleft": (partial(TDeque, [0]), put, lambda one: one.popleft()),
    "TObject.x": (Point, mark, lambda one: one.x),
    "vars of TObject": (Point, mark, lambda one: dict(vars(one))),
    "TCache.get": (partial(TCache, 9), put, lambda one: one.get("a")),
}


class Renewing:
    """Runs attempts that find, at their first read, a change that was made just then.

    Attributes:
        renewed: How often an attempt has asked.
    """

    def __init__(self) -> None:
        self.renewed = 0
        self.snapshot = committed.open_snapshot()

    def run(
        self, read: Callable[[], object], change: Callable[[], object], traced: bool
    ) -> Outcome:
        """Read in a late attempt; the change comes when that is about to be done."""

        def renew() -> int:
            self.renewed += 1
            make_current(None)
            change()
            make_current(attempts[0])
            return committed.version

        attempts: list[Attempt] = []
        answer = run_attempt(
            Call(read, traced=traced),
            speculative=True,
            snapshot=self.snapshot,
            renew=renew,
            on_begin=attempts.append,
        )
        assert isinstance(answer, Outcome)
        if answer.error is not None:
            raise answer.error
        return answer


@pytest.fixture
def late() -> Iterator[Renewing]:
    renewing = Renewing()
    yield renewing
    committed.close_snapshot(renewing.snapshot)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", OPERATIONS)
def test_the_first_read_finds_what_was_committed_before_it(name, traced, late):
    # GIVEN
    make, change, read = OPERATIONS[name]
    shared, twin = make(), changed(make, change)
    expected = read(twin)
    assert expected != read(make()), "the change must be seen"

    # WHEN
    outcome = late.run(lambda: read(shared), lambda: change(shared), traced)

    # THEN
    assert expected == outcome.value
    assert 1 == late.renewed
    assert late.snapshot < committed.version == outcome.snapshot


def test_later_reads_are_of_the_same_version(late):
    # GIVEN
    a, b = TVar(0), TVar(0)

    def read() -> object:
        first = a.get()
        kept = committed.open_snapshot()
        attempt = committed_by_another(b)
        second = b.get()
        make_current(attempt)
        committed.close_snapshot(kept)
        return first, second

    def committed_by_another(variable: TVar[int]) -> Attempt | None:
        attempt = current()
        make_current(None)
        variable.set(7)
        make_current(attempt)
        return attempt

    # WHEN
    outcome = late.run(read, lambda: a.set(1), traced=False)

    # THEN
    assert (1, 0) == outcome.value
    assert 1 == late.renewed


def test_what_reads_nothing_never_asks(late):
    # GIVEN
    counter, variable, seen = TCounter(0), TVar(0), TDict[str, int]()

    def write() -> None:
        counter.add(1)
        variable.set(1)
        seen["a"] = 1

    # WHEN
    outcome = late.run(write, int, traced=False)

    # THEN
    assert 0 == late.renewed
    assert late.snapshot == outcome.snapshot
    assert 3 == len(outcome.writes)


@pytest.mark.parametrize("kind", [LateAttempt, LateTracedAttempt])
def test_what_goes_on_as_if_on_the_loop_thread_reads_what_it_is_told(kind):
    # GIVEN
    attempt = kind(3, True)
    attempt.renew_by(lambda: 9)

    # WHEN
    attempt.stay(7)

    # THEN
    assert 7 == attempt.snapshot

"""What a container is made with is there at once, for all, and replicas are told."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

import pytest

from tests.comparing import attempted, in_a_transaction
from txloop import (
    TCounter,
    TDict,
    TList,
    TObject,
    TSet,
    TVar,
    TxThreadError,
    share,
)
from txloop.executors.codec.frames import loads
from txloop.executors.codec.plain_cells import unpack_commits
from txloop.executors.processes.replication import DeltaLog
from txloop.stm import store
from txloop.stm.container import Update
from txloop.stm.store import committed
from txloop.stm.types import Key


class Point(TObject):
    x: int
    y: int = 0


class Noted(TObject):
    """Tells others of itself before it is finished."""

    seen: ClassVar[TDict[int, Any]] = TDict()
    x: int
    doubled: int = 0

    def __post_init__(self) -> None:
        self.seen[self.x] = self
        self.doubled = 2 * self.x


class Grown(TObject):
    """Is changed by a transaction while it is made."""

    x: int
    y: int = 0

    def __post_init__(self) -> None:
        in_a_transaction(grow, self)
        self.y += 1


def grow(grown: Grown) -> None:
    grown.x += 10


class Failing(TObject):
    last: ClassVar[list[Any]] = []
    x: int

    def __post_init__(self) -> None:
        self.last.append(self)
        self.x += 1
        raise ValueError("it fails")


MAKERS = {
    "TVar": lambda: TVar(1),
    "TCounter": lambda: TCounter(1),
    "TDict": lambda: TDict(a=1),
    "TList": lambda: TList([1, 2]),
    "TSet": lambda: TSet([1]),
    "TObject": lambda: Point(1),
    "TObject with code": lambda: Noted(1),
    "share": lambda: share({"a": [1]}),
}


@pytest.fixture
def log():
    log = DeltaLog(committed)
    yield log
    log.close()


def told(log):
    """Return what a replica is told, by container."""
    deltas = log.since(log.forked_at)
    assert deltas is not None
    found: dict[int, dict[object, object]] = {}
    for writes in (one for delta in deltas for one in unpack_commits(delta)):
        for container, key, value in writes:
            cells = found.setdefault(container._tx_number, {})
            cells.update(value.items if isinstance(value, Update) else {key: value})
    return found


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_its_contents_are_there_at_every_snapshot(make):
    """Whoever finds it finds it full: it was nowhere before."""
    # GIVEN
    snapshot = committed.open_snapshot()

    # WHEN
    made = make()

    # THEN
    before = committed.contents_at(made, snapshot)
    assert before == committed.contents_at(made, committed.version) != {}
    committed.close_snapshot(snapshot)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: TVar(1), {Key.VALUE: 1}),
        (lambda: TDict(a=1, b=2), {"a": 1, "b": 2}),
        (lambda: TSet("ab"), {"a": True, "b": True}),
        (lambda: Point(1), {"x": 1, "y": 0}),
        (lambda: Noted(1), {"x": 1, "doubled": 2}),
        (lambda: Grown(1), {"x": 11, "y": 1}),
        (lambda: share({"a": 1}), {"a": 1}),
    ],
)
def test_replicas_are_told_of_it(log, make, expected):
    # WHEN
    made = make()

    # THEN
    assert expected == committed.contents_at(made, committed.version)
    assert expected == told(log)[made._tx_number]
    assert made in [one for one, _ in loads(log.dump())[0]]


def test_an_object_whose_constructor_fails_is_told_of_as_far_as_it_came(log):
    # WHEN
    with pytest.raises(ValueError, match="it fails"):
        Failing(1)

    # THEN
    failed = Failing.last.pop()
    assert {"x": 2} == told(log)[failed._tx_number]
    failed.x = 5
    assert {"x": 5} == told(log)[failed._tx_number]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_one_that_is_made_in_a_transaction_has_its_contents_by_the_commit(make):
    kept: list[Any] = []

    attempted(lambda: kept.append(make()))

    # THEN it was undone
    assert {} == committed.contents_at(kept[0], committed.version)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_another_thread_than_the_owner_may_not_make_any(make, monkeypatch):
    # GIVEN
    monkeypatch.setattr(committed, "owner", threading.get_ident())
    monkeypatch.setattr(store, "recheck", lambda _: None)
    refused = []

    def try_it():
        try:
            make()
        except TxThreadError as error:
            refused.append(error)

    # WHEN
    thread = threading.Thread(target=try_it)
    thread.start()
    thread.join()

    # THEN
    assert 1 == len(refused)


def test_an_object_can_be_initialized_again():
    # GIVEN
    point = Point(1, 2)
    number = point._tx_number

    # WHEN
    point.__init__(3)  # type: ignore[misc] # as any object

    # THEN
    assert (number, 3, 0) == (point._tx_number, point.x, point.y)


def test_a_plain_dict_that_was_given_stays_the_programs_own(log):
    # GIVEN
    given = {"a": 1}
    made = TDict(given)
    other: TDict[str, int] = TDict()
    other.update(given)

    # WHEN
    given["a"] = 2
    made["b"] = 3

    # THEN
    assert ({"a": 1, "b": 3}, {"a": 1}) == (made.copy(), other.copy())
    assert {"a": 2} == given
    assert {"a": 1} == told(log)[other._tx_number]

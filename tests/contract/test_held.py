"""What belongs to the loop thread, held in containers, on every executor."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from typing import Any

import pytest

from tests.engine import on
from txloop import TDict, TList, TObject, TSet, TVar, TxValueError
from txloop.engine.events import Aborted

HERE = {"serial"}  # executors that run calls on the loop thread


class Client:
    """Looks like a handler: equal to itself only, and belongs to a loop."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.lock = threading.Lock()


class Room(TObject, dataclass=False):
    def __init__(self, lock: Any) -> None:
        self.lock = lock


def reasons(engine):
    """Return why attempts were given up, which none is on the loop thread."""
    if engine.executor.name in HERE:
        return None
    return [event.reason for event in engine.events if isinstance(event, Aborted)]


READS = {
    "variable": (TVar, lambda x: x.value),
    "dict": (lambda lock: TDict(a=lock), lambda x: x["a"]),
    "get of a dict": (lambda lock: TDict(a=lock), lambda x: x.get("a")),
    "values of a dict": (lambda lock: TDict(a=lock), lambda x: next(iter(x.values()))),
    "list": (lambda lock: TList([lock]), lambda x: x[0]),
    "slice": (lambda lock: TList([lock]), lambda x: x[0:1][0]),
    "iteration": (lambda lock: TList([lock]), lambda x: next(iter(x))),
    "set": (lambda lock: TSet([lock]), lambda x: next(iter(x))),
    "keys": (lambda lock: TDict({lock: 1}), lambda x: next(iter(x))),
    "object": (Room, lambda x: x.lock),
}


def lock_with(shared, read):
    lock = read(shared)
    with lock:
        return threading.get_ident()


@pytest.mark.parametrize(("make", "read"), READS.values(), ids=READS)
def test_what_is_held_is_used_on_the_loop_thread(engine, make, read):
    # GIVEN
    before = make(threading.Lock())  # while workers have not begun
    warm = engine.run(len, TList([1]))
    after = make(threading.RLock())

    # WHEN
    found = engine.run(lock_with, before, read)
    other = engine.run(lock_with, after, read)

    # THEN
    assert 1 == warm
    assert [threading.get_ident()] * 2 == [found, other]
    for reason in reasons(engine) or ():
        assert "means something on the loop thread only" in reason
    assert reasons(engine) is None or 2 == len(reasons(engine))


def count(shared):
    return len(shared), "a" in shared


def test_who_does_not_look_at_it_runs_anywhere(engine):
    # GIVEN
    shared: TDict[str, Any] = TDict(a=threading.Lock(), b=asyncio.Event())
    engine.run(count, shared)

    # WHEN
    shared["c"] = sqlite3.connect(":memory:")

    # THEN
    assert (3, True) == engine.run(count, shared)
    shared.pop("c").close()


def store(shared, key):
    shared[key] = threading.Lock()
    return threading.get_ident()


def test_what_is_made_in_a_transaction_is_made_on_the_loop_thread(engine):
    # GIVEN
    shared: TDict[str, Any] = TDict()

    # WHEN
    where = engine.run(store, shared, "a")

    # THEN
    assert threading.get_ident() == where
    assert type(threading.Lock()) is type(shared["a"])
    for reason in reasons(engine) or ():
        assert reason.startswith("it stores a lock, which means something")


def test_each_is_a_member_of_its_own(engine):
    # GIVEN
    locks = [threading.Lock() for _ in range(3)]
    members: TSet[Any] = TSet()
    engine.run(len, members)

    # WHEN
    for lock in locks:
        members.add(lock)
    members.remove(locks[1])

    # THEN
    assert 2 == engine.run(len, members)
    assert {locks[0], locks[2]} == members


@on("serial")
def test_only_containers_hold_it(engine):
    with pytest.raises(TxValueError, match="has a part that belongs to the loop"):
        TVar((threading.Lock(), 1))
    with pytest.raises(TxValueError, match="store its parts"):
        TVar(Client())

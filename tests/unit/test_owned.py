"""Attributes of classes that are derived from TDict or TList."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from tests.comparing import attempted
from txloop import TDict, TList


class Session(TDict[str, Any], also=("user", "limit", "rows")):
    limit: int = 3

    def __init__(self, user: str, **named: Any) -> None:
        super().__init__(**named)
        self.user = user
        self.rows: Any = []


class Guest(Session):
    def __init__(self) -> None:
        super().__init__("guest")
        self.limit = 1


class History(TList[int], also=("last",)):
    def add(self, item: int) -> None:
        self.last = item
        self.append(item)


def test_attributes_are_shared():
    session = Session("ann", a=1)

    def body() -> None:
        session.user = "bob"
        session.rows.append(1)

    attempted(body)  # which does not commit

    assert ["ann", [], {"a": 1}] == [session.user, session.rows, session.copy()]
    body()
    assert ["bob", [1], {"a": 1}] == [session.user, session.rows, session.copy()]


def test_a_class_has_what_its_objects_do_not_have():
    session, guest = Session("ann"), Guest()
    session.limit += 1

    assert (4, 1, 3) == (session.limit, guest.limit, Session.limit)


def test_what_is_not_there_is_missing():
    history: Any = History()

    with pytest.raises(AttributeError, match="'History' object has no attribute 'la"):
        _ = history.last
    with pytest.raises(AttributeError, match="last"):
        del history.last
    history.add(3)
    del history.last
    assert not hasattr(history, "last")


def test_others_cannot_be_set():
    guest: Any = Guest()

    with pytest.raises(AttributeError, match="no shared attribute 'other'"):
        guest.other = 1


def test_references_take_them_along():
    session = Session("ann")

    again = pickle.loads(pickle.dumps(session))

    assert again is session
    assert again.user == "ann"


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy])
def test_copies_have_their_own(how):
    guest = Guest()
    history = History([1])
    history.add(2)

    made, other = how(guest), how(history)
    made.limit = other.last = 9

    assert (type(made), type(other)) == (Guest, History)
    assert (guest.limit, history.last, [*other]) == (1, 2, [1, 2])
    assert (made.rows is guest.rows) == (how is copy.copy)

"""What conflicts, decided on a store by hand."""

from __future__ import annotations

import pytest

from txloop.stm.container import Container
from txloop.stm.types import Conflict, Key, Outcome
from txloop.stm.validation import decide


@pytest.fixture
def box(store):
    """A container whose key 'old' changed at version 1 and 'k' at 2."""
    container = Container()
    store.adopt(container)
    store.install([(container, "old", 1)])
    store.open_snapshot()  # as everything that is validated has one
    store.install([(container, "k", 1)])
    return container


def outcome(box, snapshot, values=(), presences=(), writes=("out",), error=None):
    return Outcome(
        snapshot,
        error=error,
        values=frozenset((box._tx_number, key) for key in values),
        presences=frozenset((box._tx_number, key) for key in presences),
        writes=tuple((box, key, 0) for key in writes),
    )


def test_what_ran_at_the_newest_version_commits(store, box):
    found = outcome(box, 2, values=["k"])

    assert decide(found, store, ordered=True) is None


def test_what_read_nothing_that_changed_commits(store, box):
    found = outcome(box, 1, values=["old"], presences=["old", "never"])

    assert decide(found, store, ordered=False) is None


def test_a_value_that_changed_conflicts(store, box):
    found = outcome(box, 1, values=["k"])

    assert Conflict((box._tx_number, "k"), 1, 2) == decide(found, store, ordered=False)


def test_a_key_that_came_conflicts(store, box):
    found = outcome(box, 1, presences=["k"])

    assert Conflict((box._tx_number, "k"), 1, 2) == decide(found, store, ordered=False)


def test_a_key_that_stayed_with_a_new_value_does_not_conflict(store, box):
    # GIVEN
    store.install([(box, "k", 2)])
    found = outcome(box, 2, presences=["k"])

    # THEN
    assert decide(found, store, ordered=False) is None


def test_what_wrote_nothing_commits_at_its_snapshot(store, box):
    found = outcome(box, 1, values=["k"], writes=())

    assert decide(found, store, ordered=False) is None


def test_what_wrote_nothing_must_hold_now_where_an_order_was_asked_for(store, box):
    found = outcome(box, 1, values=[Key.KEYS], writes=())

    expected = Conflict((box._tx_number, Key.KEYS), 1, 2)
    assert expected == decide(found, store, ordered=True)


def test_an_error_must_not_come_from_stale_reads(store, box):
    found = outcome(box, 1, values=["k"], writes=(), error=KeyError("k"))

    assert isinstance(decide(found, store, ordered=False), Conflict)

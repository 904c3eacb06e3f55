"""What a front's thread and the owner's leave for each other."""

from __future__ import annotations

import pytest

from txloop.executors.fronts.box import Box
from txloop.executors.fronts.page import Page


@pytest.fixture
def page():
    page = Page()
    page.version = page.settled = 5
    return page


@pytest.fixture
def rings():
    """Who was woken, in order."""
    return []


@pytest.fixture
def box(page, rings):
    box = Box(page, lambda: rings.append("owner"))
    box.open(lambda: rings.append("front"))
    return box


def settle(page, version):
    page.settled = page.version = version


def test_what_an_attempt_reads_is_needed_until_it_has_ended(page, box):
    needed = [box.give(())]
    box.begin()
    settle(page, 7)
    needed.append(box.give(()))
    box.read()
    needed.append(box.give(()))

    assert [None, 5, None] == needed


def test_what_an_outcome_has_read_is_needed_until_it_is_collected(page, box):
    # GIVEN
    version = box.begin()
    box.post(("answer", 1, 0, None), version)
    box.read()

    # WHEN another attempt begins later
    settle(page, 7)
    box.begin()
    before = box.give(())
    box.collect()

    # THEN
    assert (5, 7) == (before, box.give(()))


def test_the_front_is_woken_once_until_it_takes(box, rings):
    box.give([(1, 0)])
    box.give([(2, 0)], [(("note",), None)])
    taken = box.take()
    box.give([(3, 0)])

    assert ["front", "front"] == rings
    assert ([(1, 0), (2, 0)], [(("note",), None)]) == taken


def test_nothing_wakes_the_front_that_is_not_for_it(box, rings):
    box.give(())

    assert [] == rings


def test_one_that_waits_is_woken_when_all_that_is_known_is_settled(page, box, rings):
    # GIVEN
    page.version = 6
    waits = box.waits()

    # WHEN
    settle(page, 6)
    box.give(())
    box.give(())

    # THEN
    assert waits
    assert ["front"] == rings


def test_none_waits_for_what_is_settled(box):
    assert not box.waits()


def test_what_was_given_before_it_was_opened_wakes_it_then(page, rings):
    box = Box(page, lambda: None)
    box.give([(1, 0)])

    box.open(lambda: rings.append("front"))

    assert ["front"] == rings


def test_after_the_end_nothing_is_taken(box, rings):
    box.give([(1, 0)])
    box.end()

    with pytest.raises(EOFError):
        box.take()
    assert ["front", "front"] == rings


def test_descriptors_that_were_not_taken_are_left(box):
    box.give((), [(("connection",), 7), (("retire",), None)])
    box.post(("note", ("connection",), 8))
    box.post(("note", ("left",), None))
    box.post(("record", None))

    assert [7, 8] == box.left()

"""What is watched is not kept alive where the program would notice that."""

from __future__ import annotations

import gc
import socket
import sys
import tempfile
import weakref
from typing import TYPE_CHECKING

import pytest

from tests.reached import reach_from
from txloop.watch import Watch, limits, roots_of
from txloop.watch.ends import is_missed_anywhere
from txloop.watch.reach import census

if TYPE_CHECKING:
    from txloop.watch.pictures import Thing


class Guest:
    pass


class Lamp:
    def __del__(self):
        ended.append(self)


class House:
    """Has rooms for what is to be let go."""

    visitor: Guest | None

    def __init__(self, *guests):
        self.guests = list(guests)


ended: list[object] = []
house = House(Guest())
noted = weakref.WeakSet[object]()


def count_guests():
    return len(house.guests)


def let_go_of_all():
    house.guests.clear()
    gc.collect()  # for PyPy


@pytest.fixture(autouse=True)
def _nobody_there():
    yield
    noted.clear()
    house.guests[:] = [Guest()]


def test_pictures_of_the_whole_program_prolong_no_life():
    # GIVEN
    watch = Watch(copies=True)
    noted.update(house.guests)
    watch.take_pictures([("house", house)])

    # WHEN
    let_go_of_all()

    # THEN
    assert not noted
    watch.close()


def test_a_function_that_reaches_what_is_weakly_referenced_is_held():
    # GIVEN
    watch = Watch(copies=True)
    noted.update(house.guests)

    # WHEN
    subject = watch.subject(roots_of(count_guests, ()))
    let_go_of_all()

    # THEN
    assert "house.guests[0]" in str(subject.held)
    assert "when its life ends" in str(subject.held)
    assert not noted


def test_it_is_held_when_it_is_weakly_referenced_later():
    # GIVEN
    watch = Watch(copies=True)
    subject = watch.subject(roots_of(count_guests, ()))
    before = subject.held

    # WHEN
    noted.update(house.guests)
    watch.take_pictures()
    let_go_of_all()

    # THEN
    assert before is None
    assert subject.held is not None
    assert watch.look(subject) is None
    assert not noted


def test_what_has_changed_settles_only_without_such_objects():
    # GIVEN
    watch = Watch(copies=True)
    subject = watch.subject(roots_of(count_guests, ()))
    house.guests.append(Guest())
    noted.update(house.guests)

    # WHEN
    watch.hold(subject)

    # THEN
    assert subject.settling is None
    assert not watch.has_settled(subject)


@pytest.mark.parametrize("make", [Guest, House, lambda: House(Guest())])
def test_what_has_no_references_is_not_missed(make):
    assert reach_from(make()).held is None


@pytest.mark.parametrize("held", [Lamp(), [Lamp()], {"lit": Lamp()}])
def test_what_has_a_finalizer_is_missed(held):
    assert reach_from(held).held is not None


def test_an_attribute_that_nothing_names_is_not_kept_alive():
    # GIVEN
    home = House()
    home.visitor = Guest()
    noted.add(home.visitor)
    reach = reach_from(home)
    (picture,) = (one.thing for one in reach.watched if one.thing.object is home)

    # WHEN
    same = picture.difference(None)
    home.visitor = None
    gc.collect()

    # THEN
    assert same is None
    assert not noted
    assert picture.difference(None) == ".visitor"


def _file():
    return tempfile.TemporaryFile("w")


@pytest.mark.parametrize("make", [Lamp, socket.socket, _file])
def test_the_program_notices_the_end_of(make):
    seen = make()
    try:
        assert is_missed_anywhere(seen)
    finally:
        if hasattr(seen, "close"):
            seen.close()


@pytest.mark.parametrize(
    "thing",
    [
        sys.stderr,
        sys.__stdout__,
        weakref.WeakSet(),
        Guest(),
        Guest,
        count_guests,
        gc,
        [1],
        1,
    ],
)
def test_it_does_not_notice_the_end_of(thing):
    assert not is_missed_anywhere(thing)


def test_what_does_not_lead_to_such_objects_is_pictured(monkeypatch):
    # GIVEN
    monkeypatch.setattr(limits, "MOST_PICTURED", 1_000_000)  # of all test modules
    noted.update(house.guests)
    plain = House(Guest())
    street = [plain, house]
    found: dict[object, Thing] = {}

    # WHEN
    module = sys.modules[__name__]
    census([("street", street), ("module", module)], found)

    # THEN
    pictured = {id(one.object) for one in found.values()}
    assert id(plain) in pictured
    assert not {id(street), id(house), id(house.guests)} & pictured
    assert id(module) in pictured

"""Names of cells in the log: found together, remembered, looked for not too often."""

from __future__ import annotations

import gc
import time
from typing import Any

import pytest

from txloop import TDict, TList, TVar
from txloop.stm.cell_names import container_names
from txloop.stm.types import Key
from txloop.stmlog import sides
from txloop.stmlog.sides import CellNames

shelf: dict[str, Any] = {}


class Clock:
    """Time that passes when a test says so, and a count of searches."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        self.searches = 0
        self.finds = True
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(sides, "container_names", self.search)

    def search(self):
        self.searches += 1
        self.now += 0.02
        return container_names() if self.finds else {}


@pytest.fixture
def clock(monkeypatch):
    yield Clock(monkeypatch)
    shelf.clear()


def cell(container, key):
    return container._tx_number, key


def test_one_search_finds_all_names(clock):
    # GIVEN
    known = CellNames()
    shelf["stock"], shelf["rows"] = TDict(), TList([TList([1])])
    row = shelf["rows"][0]

    # WHEN
    found = [known.name(cell(shelf["stock"], "a")), known.name(cell(row, 0))]

    # THEN
    assert ["shelf['stock']['a']", "shelf['rows'][0][0]"] == found
    assert 1 == clock.searches


def test_what_gets_its_name_later_is_found_later(clock):
    # GIVEN a container that nobody can find yet
    known = CellNames()
    new: TDict[str, int] = TDict()
    number = new._tx_number
    assert f"TDict number {number}['a']" == known.name(cell(new, "a"))

    # WHEN it is put where it can be found
    shelf["new"] = new
    soon = known.name(cell(new, "a"))
    clock.now += 10
    later = known.name(cell(new, "a"))

    # THEN
    assert f"TDict number {number}['a']" == soon
    assert "shelf['new']['a']" == later


def test_searches_cost_one_per_cent_of_the_time_at_most(clock):
    # GIVEN
    clock.finds = False
    known, unknown = CellNames(), [TVar(0) for _ in range(500)]
    began = clock.now

    # WHEN there is a conflict on another one every 10 ms
    for variable in unknown:
        known.name(cell(variable, "value"))
        clock.now += 0.01

    # THEN
    assert clock.searches * 0.02 <= 0.011 * (clock.now - began) + 0.02


def test_a_container_that_is_gone_has_no_name(clock):
    # GIVEN
    known = CellNames()
    shelf["stock"] = TDict()
    number = shelf["stock"]._tx_number
    known.name((number, "a"))

    # WHEN
    shelf.clear()
    gc.collect()

    # THEN
    assert "a container that is gone" == known.name((number, "a"))


class Unprintable:
    def __repr__(self):
        raise ValueError("on purpose")


def test_a_key_that_cannot_be_printed_does_no_harm(clock):
    odd: TDict[object, int] = TDict()
    shelf["odd"] = odd

    assert "on purpose" in CellNames().name(cell(odd, Unprintable()))


def test_a_key_that_cannot_be_printed_does_not_stop_the_search(clock):
    # GIVEN
    shelf["odd"] = {Unprintable(): 1}
    shelf["variable"] = variable = TVar(0)

    # THEN
    assert "shelf['variable']" == CellNames().name(cell(variable, Key.VALUE))

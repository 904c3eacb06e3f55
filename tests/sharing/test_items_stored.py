"""Items of a list that are put elsewhere: if they stay the same, the list is left."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import shared

SOURCE = """
moves = []
class Place:
    def __init__(self, row): self.row = row
class Move:
    def __init__(self, to): self.to = to
def post(rows):
    {}
    kept = []
    for i in range(0, len(places)):
        if places[i].row: kept.append(places[i])
    moves.append([Move(one) for one in kept])
    {}
"""

STAYING = {
    "made one by one": "places = [Place(one) for one in rows]",
    "written there": "places = [Place(1), Place(2)]",
    "added": "places = []; places.append(Place(1))",
    "numbers": "places = [1, 2, 3]",
}

CHANGING = {
    "lists": ("places = [list(one) for one in rows]", "places[0].append(1)"),
    "a list is added": (
        "places = [Place(1)]; places.append([])",
        "places[1].append(1)",
    ),
    "what is not known": ("places = make(rows)", "places[0].append(1)"),
    "more by another name": (
        "places = [Place(1)]; more = places; more.append([])",
        "places[1].append(1)",
    ),
    "more by a call": ("places = [Place(1)]; fill(places)", "places[1].append(1)"),
    "more by a function": (
        "places = [Place(1)]; (lambda: places.append([]))()",
        "places[1].append(1)",
    ),
    "another item": ("places = [Place(1)]; places[0] = []", "places[0].append(1)"),
    "more at once": ("places = [Place(1)]; places += [[]]", "places[1].append(1)"),
}


@pytest.mark.parametrize("case", STAYING)
def test_a_list_of_what_stays_the_same_is_left_alone(case):
    text = shared(SOURCE.format(STAYING[case], "return len(places)"), "moves")

    assert "moves = txloop.share([])" in text
    assert STAYING[case] in text


@pytest.mark.parametrize("case", CHANGING)
def test_a_list_whose_items_change_is_a_container_or_told(case):
    before, after = CHANGING[case]

    text = shared(SOURCE.format(before, after), "moves")

    assert before not in text or "moves = []" in text

"""Dataclasses whose fields are described, by `dataclasses.field`."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left, shared

BOARDS = """
from dataclasses import dataclass, field
{}
ROWS = []
def make():
    return ROWS
@dataclass
class Board:
    todo: list = {}
    done: list = field(default_factory=list)
boards = {{}}
def add(k):
    boards[k] = Board()
def put(k):
    board = boards[k]
    board.todo.append(k)
    board.done.append(board.todo.pop(0))
    ROWS.append(k)
"""

FIRST_VALUES = {
    "a list": ("", "field(default_factory=list)"),
    "what a lambda makes": ("", "field(default_factory=lambda: [[]])"),
    "a constant": ("", "field(default=None, repr=False)"),
    "what it is given": ("", "field(repr=False)"),
    "an object of a class": ("class Todo: pass", "field(default_factory=Todo)"),
    "by another name": ("import dataclasses as d", "d.field(default_factory=list)"),
}


@pytest.mark.parametrize("case", FIRST_VALUES)
def test_what_moves_from_field_to_field_may_be_shared(case):
    source = BOARDS.format(*FIRST_VALUES[case])

    assert "\nclass Board(txloop.TObject):" in shared(source, "boards")


OLDER = {
    "what is there already": ("", "field(default_factory=lambda: ROWS)"),
    "what a function has": ("", "field(default_factory=make)"),
    "in its metadata": ("", "field(default_factory=list, metadata={'rows': ROWS})"),
    "of what is not in the text": ("", "field(**{'default_factory': make})"),
    "the program's own": ("def field(**its): return ROWS", "field(init=False)"),
    "a library's": ("from library import field", "field(ROWS)"),
}


@pytest.mark.parametrize("case", OLDER)
def test_what_fields_get_that_is_there_already_stays_what_it_is(case):
    source = BOARDS.format(*OLDER[case])

    assert "\nclass Board:" in shared(source, "boards")
    assert ", which stays plain" in left(source, "boards")


def test_what_a_field_begins_with_is_a_container_where_it_is_kept_elsewhere():
    source = BOARDS.format("", "field(default_factory=make)").replace(
        "    return ROWS", "    rows = []; ROWS.append(rows); return rows"
    )

    assert "rows = txloop.share([]);" in shared(source, "ROWS", "boards")


def test_what_keeps_a_field_of_a_class_that_stays_plain_stays_plain():
    source = BOARDS.format("", "field(default_factory=list)")
    source = source.replace("class Board:", "class Board:\n    __slots__ = ()")
    source += "    table[k] = board.todo\ntable = {}\n"

    assert "table = {}" in shared(source, "boards", "table")
    assert "keeps a part of todo, which stays plain" in left(source, "boards", "table")

"""Dataclasses whose fields are described, and that have properties beside them."""

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


ACCOUNT = """
from dataclasses import dataclass, field
{}
@dataclass
class Account:
    name: str
    _balance: int = 0
    {}
    def balance(self):
        return self._balance
    {}
    def balance(self, value):
        self._balance = value
{}
accounts = {{}}
def put(k, v):
    accounts.setdefault(k, Account(k)).balance += v
"""

SETTER = ("@property", "@balance.setter")


@pytest.mark.parametrize(
    "more", ["", "    @balance.deleter\n    def balance(self): pass"]
)
def test_a_dataclass_with_a_property_that_is_set_becomes_a_shared_one(more):
    after = shared(ACCOUNT.format("", *SETTER, more), "accounts")

    assert "\nclass Account(txloop.TObject):" in after


CALLED = """
from dataclasses import dataclass
{}
@dataclass
class Account:
    name: str
    _balance: int = 0
    def get_balance(self):
        return self._balance
    def set_balance(self, value):
        self._balance = value
    {}
accounts = {{}}
def put(k, v):
    accounts.setdefault(k, Account(k)).balance += v
"""


@pytest.mark.parametrize(
    ("first", "line", "is_shared"),
    [
        ("", "balance = property(get_balance, set_balance)", True),
        ("", "balance = property(get_balance, set_balance, None, 'How much.')", True),
        ("", "balance = property(get_balance)", False),
        ("", "balance = property(get_balance, fset=set_balance)", False),
        ("", "balance = 1; balance = property(get_balance, set_balance)", False),
        ("", "balance = lazy(get_balance, set_balance)", False),
        ("def property(*a): pass", "balance = property(get_balance, put)", False),
    ],
)
def test_a_property_may_be_made_by_a_call(first, line, is_shared):
    after = shared(CALLED.format(first, line), "accounts")

    assert is_shared == ("\nclass Account(txloop.TObject):" in after)


@pytest.mark.parametrize(
    ("first", "marks"),
    [
        ("from library import property", SETTER),
        ("", ("@lazy", "@balance.setter")),
        ("", ("@property", "@checked\n    @balance.setter")),
        ("", ("@property", "def f(self): pass\n    @other.setter")),
    ],
)
def test_a_dataclass_whose_property_may_be_another_thing_is_left_alone(first, marks):
    source = ACCOUNT.format(first, *marks, "")

    assert "\nclass Account:" in shared(source, "accounts")
    assert "a dataclass that does not declare balance" in left(source, "accounts")


@pytest.mark.parametrize(
    "field",
    [
        "balance: int = 0",
        "balance: int",
        "balance: int = field(init=False)",
    ],
)
def test_a_dataclass_with_a_field_that_is_a_property_is_left_alone(field):
    """What stands for the field would be in the place of the property."""
    source = ACCOUNT.format("", *SETTER, "").replace("name: str", f"name: str; {field}")

    assert "\nclass Account:" in shared(source, "accounts")
    assert "field balance is something else, too" in left(source, "accounts")


def test_a_dataclass_derived_from_one_whose_field_is_a_property_there_is_left_alone():
    source = ACCOUNT.format("", *SETTER, "").replace(
        "@dataclass\n",
        "@dataclass\nclass Sum:\n    balance: int\n@dataclass\n",
    )
    source = source.replace("class Account:", "class Account(Sum):")

    assert "\nclass Account(Sum):" in shared(source, "accounts")
    assert "field balance is something else, too" in left(source, "accounts")

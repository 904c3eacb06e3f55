"""Attributes of a name that several classes have."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import shared

APART = {
    "an object's": (
        "class Room:\n    def __init__(self): self.hits = 0\n"
        "    def hit(self):\n        self.hits += 1\n        return self.hits\n",
        "self.hits += 1",
    ),
    "a class's": (
        "class Room:\n    hits = 0\n    def hit(self):\n        Room.hits += 1\n"
        "        return self.hits\n",
        "Room.hits += 1",
    ),
}


@pytest.mark.parametrize("case", APART)
def test_that_of_a_class_is_not_that_of_a_class_apart(case):
    other, line = APART[case]
    source = f"""
class Show(RequestHandler):
    hits = 0
    def get(self):
        Show.hits += 1
        self.write(str(self.hits))
{other}"""
    text = shared(source, "Show.hits")

    assert "class Show(RequestHandler):\n    hits = txloop.TVar(0)" in text
    assert "Show.hits.value += 1" in text
    assert "str(self.hits.value)" in text
    assert line in text
    assert "return self.hits\n" in text


NOT_APART = {
    "an object of both": "class Both(Show, Room): pass",
    "what may be any": "def f(one): one.hits += 1",
    "a class that is not the program's": "other.Base.hits += 1",
}


@pytest.mark.parametrize("case", NOT_APART)
def test_what_may_be_of_both_classes_is_left_alone(case):
    source = f"""
class Show(RequestHandler):
    hits = 0
    def get(self):
        Show.hits += 1
class Room:
    hits = 0
    def hit(self): self.hits = 1
{NOT_APART[case]}
"""
    assert "hits = txloop.TVar" not in shared(source, "Show.hits")

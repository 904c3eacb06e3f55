"""Attributes that are given numbers and texts only, and are parts of nothing."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left

SOURCE = """
items = []
class Store:
    limit = 9
    def __init__(self):
        self.count = 0
        self.rows = []
    def add(self, row):
        self.count += len(row)
        self.rows.append(row)
{0}
class Handler(RequestHandler):
    def prepare(self):
        self.store = Store()
    def post(self):
        self.store.add([])
        row = {{}}
        items.append({1})
"""


@pytest.mark.parametrize("part", ["count", "limit"])
def test_a_number_of_what_changes_is_stored_as_it_is(part):
    assert left(SOURCE.format("", f"self.store.{part}"), "items") == ""


@pytest.mark.parametrize(
    ("line", "stored"),
    [
        ("", "self.store.rows"),
        ("", "self.store.other"),
        ("", "self.store.rows[0]"),
        ("    def f(self, x): self.count = x", "self.store.count"),
        ("    def f(self, x): self.count, self.b = x", "self.store.count"),
        ("    def f(self, x): self.count += x", "self.store.count"),
        ("    def f(self, x):\n        for self.count in x: pass", "self.store.count"),
        ("    def f(self, x):\n        with x as self.count: pass", "self.store.count"),
        ("    def f(self, x): [1 for self.count in x]", "self.store.count"),
        ("    def f(self, x): setattr(self, 'count', x)", "self.store.count"),
        ("    def f(self, x, n): setattr(self, n, x)", "self.store.count"),
        ("    def f(self, x): map(setattr, x)", "self.store.count"),
        ("    def f(self, x): self.__dict__.update(x)", "self.store.count"),
        ("    def f(self, x): vars(self).update(x)", "self.store.count"),
        ("class A:\n    def count(self): pass", "self.store.count"),
        ("class A:\n    count: int = 0", "self.store.count"),
        ("class A:\n    if f(): count = []", "self.store.count"),
        ("class A:\n    count = []", "self.store.count"),
        ("import numpy", "self.store.count"),
    ],
)
def test_what_may_be_a_part_of_what_changes_is_not(line, stored):
    assert "which changes" in left(SOURCE.format(line, stored), "items")

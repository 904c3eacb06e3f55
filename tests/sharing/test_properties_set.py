"""What is given to setters of properties."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left, shared

SETS = """items = []
class A:
    @property
    def last(self): return items[-1]
    @last.setter
    def last(self, x):
        items.append(x)
        x.append(1)
a = A()
"""

SET = {
    "a.last = 1": "items = txloop.share([])",
    "a.last: int = 1": "items = txloop.share([])",
    "a.last = int(y)": "items = txloop.share([])",
    "a.last += 'text'": "items = txloop.share([])",
    "a.last = []": "a.last = txloop.share([])",
    "b = a.last = []": "b = a.last = txloop.share([])",
}


@pytest.mark.parametrize("line", SET)
def test_what_is_assigned_to_a_property_is_given_to_its_setter(line):
    assert SET[line] in shared(f"{SETS}{line}", "items")


@pytest.mark.parametrize(
    "line",
    [
        "pass",
        "def g(y): a.last = y",
        "a.last, b = y",
        "for a.last in y: pass",
        "with y as a.last: pass",
        "[0 for a.last in y]",
        "a.last += y",
        "setattr(a, 'last', {})",
        "A.last.fset(a, {})",
        "A.last.__set__(a, {})",
    ],
)
def test_a_setter_of_which_not_all_is_known_leaves_what_is_stored_there(line):
    source = f"{SETS}a.last = 1\n{line}" if line != "pass" else SETS

    assert "txloop" not in shared(source, "items")
    assert "stores 'x' and goes on with it" in left(source, "items")

"""What is put into sets: it has a hash, and stays the same object."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left, shared

SOURCE = """
{before}
seen = {seen}
items = []
def f(body):
    for x in json.loads(body):
        if x["id"] in {name}:
            continue
        {name}.add(x["id"])
        items.append(x)
{after}
"""

SETS = {
    "made": {"seen": "set()"},
    "written": {"seen": "{1, 2}"},
    "shared already": {"seen": "txloop.share(set())", "before": "import txloop"},
    "of an object": {
        "before": "class C:\n    def __init__(self): self.ids = set()\nc = C()",
        "name": "c.ids",
    },
    "emptied": {"after": "def g():\n    global seen\n    seen = set()"},
    "that gets more": {"after": "def g(ids):\n    global seen\n    seen |= ids"},
    "of a module of the program": {
        "before": "from other import ids",
        "name": "ids",
        "other": "ids = set()",
    },
}

OTHERS = {
    "of a library": {"seen": "External()"},
    "now and then": {"after": "def g():\n    global seen\n    seen = External()"},
    "set by name": {"after": "def g(m):\n    setattr(m, 'seen', External())"},
    "set by a name that is not known": {"after": "def g(m, n): setattr(m, n, 1)"},
    "bound by a loop": {"after": "for seen in External(): pass"},
    "bound by a with": {"after": "with External() as seen: pass"},
    "bound by several": {"after": "seen, n = External()"},
    "imported": {"before": "from library import ids", "name": "ids"},
    "made by a function of that name": {"before": "def set(): return External()"},
}

_DEFAULTS = {"before": "", "seen": "set()", "name": "seen", "after": ""}


def _asked(case):
    parts = {**_DEFAULTS, **case}
    other = parts.pop("other", None)
    return SOURCE.format(**parts), {"other": other} if other else None


@pytest.mark.parametrize("case", SETS.values(), ids=SETS)
def test_a_part_of_something_is_put_into_a_set_as_it_is(case):
    source, others = _asked(case)

    assert "items = txloop.share([])" in shared(source, "items", others=others)


@pytest.mark.parametrize("case", OTHERS.values(), ids=OTHERS)
def test_what_may_be_no_set_may_keep_a_part_that_changes(case):
    source, others = _asked(case)

    assert "and goes on with it" in left(source, "items", others=others)

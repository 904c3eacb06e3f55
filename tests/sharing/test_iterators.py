"""Iterators that a program keeps: what they go over stays plain."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left, shared

KEPT = {
    "a variable": "it = iter(rows)\ndef f(): return next(it)",
    "an attribute": "class B:\n    def __init__(self): self.it = cycle(rows)\nb = B()",
    "an attribute of a class": "class B:\n    it = enumerate(rows)",
    "a part": "its = {}\ndef f(k): its[k] = reversed(rows)",
    "a part that is put": "its = []\ndef f(): its.append(map(str, rows))",
    "a generator expression": "it = (x for x in rows)\ndef f(): return next(it)",
    "a global": "it = None\ndef f():\n    global it\n    it = iter(rows)",
    "an enclosed one": "def f():\n    it = iter(rows)\n    return lambda: next(it)",
    "of another": "it = zip(count(), chain(rows, [1]))\ndef f(): return next(it)",
    "of parts": "d = {0: rows}\nit = iter(d[0])\ndef f(): return next(it)",
    "its own method": "it = rows.__iter__()\ndef f(): return next(it)",
    "a generator": (
        "def g(x):\n    for y in x: yield y\nit = g(rows)\ndef f(): return next(it)"
    ),
    "a generator that goes over it": (
        "def g():\n    yield from rows\nit = g()\ndef f(): return next(it)"
    ),
    "a function that returns one": (
        "def g(): return iter(rows)\nit = g()\ndef f(): return next(it)"
    ),
    "one that an object gets": (
        "class B:\n    def __init__(self, it): self.it = it\nb = B(iter(rows))"
    ),
    "a default": "def f(it=iter(rows)): return next(it)",
    "a list of them": "its = [iter(x) for x in (rows,)]\ndef f(): return next(its[0])",
}

NOT_KEPT = {
    "a loop": "def f(): return [x for x in reversed(rows)]",
    "a list": "pairs = list(zip(rows, rows))\ndef f(): return pairs",
    "a dict": "by = dict(enumerate(rows))\ndef f(): return by",
    "put one by one": "out = []\ndef f(): out.extend(map(str, rows))",
    "a local": "def f():\n    it = iter(rows)\n    return next(it)",
    "of the module only": "it = iter(rows)\nfirst = next(it, None)",
    "an answer": "def f(self): self.write(','.join(str(x) for x in rows))",
    "a handler's own": (
        "class B(RequestHandler):\n    def get(self): self.it = iter(rows)"
    ),
    "a view": "both = {0: 1}\nview = both.items()\ndef f(): return len(view)",
    "a generator in a loop": (
        "def g():\n    for x in rows: yield x\ndef f(): return list(g())"
    ),
}


@pytest.mark.parametrize("case", KEPT)
def test_what_a_kept_iterator_goes_over_stays_plain(case):
    source = f"rows = []\n{KEPT[case]}\ndef put(x): rows.append(x)\n"

    assert "rows = []" in shared(source, "rows")
    assert "keeps an iterator over it" in left(source, "rows")


@pytest.mark.parametrize("case", NOT_KEPT)
def test_others_are_no_reason(case):
    source = f"rows = []\n{NOT_KEPT[case]}\ndef put(x): rows.append(x)\n"

    assert "rows = txloop.share([])" in shared(source, "rows")

"""What assignments to items give to `__setitem__` of the program, which stores it."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left, shared

SOURCE = """
items = {{}}
class Session{0}:
    def __setitem__(self, key, value):
        items[key] = value
        self.newest = value
session = Session()
def f(x):
    {1}
"""


@pytest.mark.parametrize(
    "line",
    [
        "session['a'] = 1",
        "session['a'] = session['b'] = str(x)",
        "session['a'] += 1",
        "session['a']: int = 1",
    ],
)
def test_numbers_and_texts_are_stored_as_they_are(line):
    assert "items = txloop.share({})" in shared(SOURCE.format("", line), "items")


def test_what_changes_after_that_is_a_container_from_the_start():
    text = shared(SOURCE.format("", "y = []; session['a'] = y; y.append(1)"), "items")

    assert "y = txloop.share([])" in text
    assert "items = txloop.share({})" in text


@pytest.mark.parametrize(
    ("base", "line"),
    [
        ("", "session['a'] = x; x.append(1)"),
        ("", "session['a'], y = x"),
        ("", "for session['a'] in x: pass"),
        ("", "session['a'] = 1; session.__setitem__('a', x)"),
        ("", "session['a'] = 1; operator.setitem(session, 'a', x)"),
        ("", "session['a'] = 1; ChainMap(session)['a'] = x"),
        ("", "session['a'] = 1\nclass Other(Session, UserDict): pass"),
        ("", "g(session, x); x.append(1)\ndef g(*a): a[0]['a'] = a[1]"),
        ("", "g(s=session, x=x); x.append(1)\ndef g(**k): k['s']['a'] = k['x']"),
        ("", "map(g, [session], [x])\ndef g(s, x): s['a'] = x"),
        ("(UserDict)", "session['a'] = 1; session.update(a=x)"),
    ],
)
def test_what_is_not_known_is_not_stored(base, line):
    assert "goes on with it" in left(SOURCE.format(base, line), "items")


OF_MAPPINGS = {
    "none": ("class Own:", False),
    "an own base": ("class Base: pass\nclass Own(Base):", False),
    "a library's": ("class Own(UserDict):", True),
    "a base of one": (
        "class Base:\n    pass\nclass Other(Base, UserDict): pass\nclass Own(Base):",
        True,
    ),
    "one with a base": ("class Base(UserDict): pass\nclass Own(Base):", True),
}


@pytest.mark.parametrize("case", OF_MAPPINGS)
def test_defaults_are_set_by_setters_of_mappings_only(case):
    head, may_be = OF_MAPPINGS[case]
    source = f"""
rows = {{}}
{head}
    def __setitem__(self, k, v): kept.append(v)
def put(k):
    rows.setdefault(k, []).append(k)
"""
    assert may_be == ("rows.setdefault(k, txloop.share([]))" in shared(source, "rows"))

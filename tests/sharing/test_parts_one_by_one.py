"""What a constructor takes out of what it is given, part by part, as of JSON."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left, shared

SOURCE = """
users = []
NAMES = ("name", "tags")
class User:
    def __init__(self, **kw):
        {}
def post(self):
    {}
"""

ADD = "users.append(User(**json.loads(self.request.body)))"

ONE_BY_ONE = {
    "keys": ("self.name = kw['name']", "self.tags = kw['tags']"),
    "get": ("self.name = kw.get('name')", "self.tags = kw.get('tags', 0)"),
    "a loop": ("for k in NAMES: setattr(self, k, kw[k])",),
    "a loop with get": ("for k in NAMES: setattr(self, k, kw.get(k))",),
    "a loop that asks": ("for k in NAMES:", "    if k in kw: setattr(self, k, kw[k])"),
    "what is changed before": (
        "for k in NAMES:",
        "    kw[k].append(1); setattr(self, k, kw[k])",
    ),
    "all": ("for k, v in kw.items(): setattr(self, k, v)",),
    "at once": ("self.__dict__.update(kw)",),
}

TWICE = {
    "get": ("self.a = kw.get('tags')", "self.b = kw.get('tags')"),
    "both ways": ("self.a = kw.get('tags')", "self.b = kw['tags']"),
    "changed": ("self.a = kw.get('tags')", "kw.get('tags').append(1)"),
    "in a loop": ("for k in NAMES:", "    self.a = kw[k]; setattr(self, k, kw[k])"),
    "in an outer loop": (
        "for n in 'ab':",
        "    for k in NAMES: setattr(self, k + n, kw[k])",
    ),
    "on several": (
        "for one in users:",
        "    for k in NAMES: setattr(one, k, kw[k])",
    ),
    "with another key": ("for k in NAMES:", "    setattr(self, k, kw['tags'])"),
    "changed in a loop": (
        "for k in NAMES:",
        "    kw['tags'].append(1); setattr(self, k, kw[k])",
    ),
    "changed at any time": (
        "for k in NAMES:",
        "    later(lambda: kw[k].append(1)); setattr(self, k, kw[k])",
    ),
    "a name that is another": (
        "for k in NAMES:",
        "    setattr(self, k, kw[k]); k = 'tags'; setattr(self, k, kw[k])",
    ),
}


def _source(lines, call=ADD):
    return SOURCE.format("\n        ".join(lines), call)


@pytest.mark.parametrize("case", ONE_BY_ONE)
def test_each_part_may_be_stored(case):
    text = shared(_source(ONE_BY_ONE[case]), "users")

    assert "users = txloop.share([])" in text
    assert "class User(txloop." in text


@pytest.mark.parametrize("case", TWICE)
def test_a_part_that_is_in_two_places_or_changes_is_told(case):
    source = _source(TWICE[case])

    assert "class User:" in shared(source, "users")
    assert "stores 'kw' and goes on with it" in left(source, "users")


@pytest.mark.parametrize(
    "method",
    [
        "def __init__(self, a, b): self.a = a; self.b = b",
        "def __init__(self, **kw): self.__dict__.update(kw)",
    ],
)
def test_what_a_call_gives_twice_is_a_container_from_the_start(method):
    source = (
        f"users = []\nclass User:\n    {method}\n"
        "def post(rows):\n    x = make(rows)\n    users.append(User(a=x, b=x))\n"
    )

    assert "x = txloop.share(make(rows))" in shared(source, "users")


GIVEN_TWICE = {
    "a name": 'given = {"a": x, "b": x}; users.append(User(**given))',
    "a call": "given = dict(a=x, b=x); users.append(User(**given))",
    "spread": 'users.append(User(**{"a": x, "b": x}))',
}


@pytest.mark.parametrize("form", GIVEN_TWICE)
@pytest.mark.parametrize(
    "method",
    [
        "for k in 'ab': setattr(self, k, kw[k])",
        "self.a = kw['a']; self.b = kw['b']",
    ],
)
def test_what_a_dict_has_twice_is_a_container_from_the_start(form, method):
    source = (
        f"users = []\nclass User:\n    def __init__(self, **kw):\n        {method}\n"
        f"def post(rows):\n    x = [1]\n    {GIVEN_TWICE[form]}\n"
    )

    assert "x = txloop.share([1])" in shared(source, "users")


def test_what_a_dict_has_twice_may_be_immutable():
    source = (
        "users = []\nclass User:\n    def __init__(self, **kw):\n"
        "        for k in 'ab': setattr(self, k, kw[k])\n"
        'def post(rows):\n    x = "t"\n    users.append(User(**{"a": x, "b": x}))\n'
    )

    assert 'x = "t"' in shared(source, "users")


PUT_TWICE = {
    "a list": "for one in [x, x]: rows.append(one)",
    "a tuple": "for one in (x, x): rows.append(one)",
    "a pair": "p = x, x; rows.append(p[0]); rows.append(p[1])",
    "a sum": "for one in [x] + [x]: rows.append(one)",
    "deeper": "d = [{1: x}, {1: x}]; rows.append(d[0][1]); rows.append(d[1][1])",
    "pairs": "for k, v in dict([(1, x), (2, x)]).items(): rows.append(v)",
    "several": "for one in [x] * 2: rows.append(one)",
    "keys": "for one in dict.fromkeys('ab', x).values(): rows.append(one)",
    "repeated": "for one in itertools.repeat(x, 2): rows.append(one)",
    "a comprehension": "for one in [x for _ in 'ab']: rows.append(one)",
    "one of a dict": "for one in {k: x for k in 'ab'}.values(): rows.append(one)",
    "keywords": "d = {}; d.update(a=x, b=x); rows.append(d['a']); rows.append(d['b'])",
}


@pytest.mark.parametrize("case", PUT_TWICE)
def test_what_is_twice_in_something_is_a_container_from_the_start(case):
    source = f"rows = []\ndef post():\n    x = []\n    {PUT_TWICE[case]}\n"

    assert "x = txloop.share([])" in shared(source, "rows")


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("[[]] * 2", "[txloop.share([])] * 2"),
        ("2 * ([1],)", "2 * (txloop.share([1]),)"),
        ("dict.fromkeys('ab', {}).values()", "fromkeys('ab', txloop.share({}))"),
    ],
)
def test_what_is_made_once_for_several_places_is_a_container(made, expected):
    source = f"rows = []\ndef post():\n    for one in {made}: rows.append(one)\n"

    assert expected in shared(source, "rows")


@pytest.mark.parametrize(
    "line",
    [
        "rows.extend([0] * 2)",
        "rows.extend([one for one in 'ab'])",
        "x = 1; rows.extend([x] * 2)",
        "x = []; self.write('%s %s' % (x, x)); rows.append(1)",
    ],
)
def test_what_stays_the_same_or_is_shown_is_left_alone(line):
    text = shared(f"rows = []\ndef post(self):\n    {line}\n", "rows")

    assert line in text


def test_what_is_twice_in_what_is_pickled_is_no_reason_to_leave_others():
    text = shared(
        "import pickle\nrows = []\n"
        "def post():\n    x = [1]\n    pickle.dumps([x, x])\n    rows.append(1)\n",
        "rows",
    )

    assert "rows = txloop.share([])" in text
    assert "x = [1]" in text

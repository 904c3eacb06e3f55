"""Where a program asks for the exact type of what would be a container."""

from __future__ import annotations

import pytest

from tests.sharing.random_programs import program_of
from tests.sharing.rounds import left, shared
from tests.sharing.test_random_programs import asked_of, check

IMPORTS = "import decimal\nimport typing\nfrom typing import List"

SHOWN = {
    "its name": "type({}).__name__",
    "a text": "str(type({})) + repr(type({}))",
    "a format": "f'{type(@)} {type(@)!r}'.replace('@', '')",
    "an old format": "'%s %r' % (type({}), type({}))",
    "its class": "[{}.__class__.__qualname__, {}.__class__ is list]",
    "another of the type": "type({})([k])",
    "another type": "[type({}) is str, type({}) in (int, type(None))]",
    "one of a library": "type({}) is decimal.Decimal",
    "an alias of what it is not": "isinstance({}, (typing.Sequence, typing.Tuple))",
    "one of its own": "[type({}) is Thing, type({}) == type(Thing(k))]",
    "the type of its keys": "str(type(table.keys())) + type(table.keys()).__name__",
}

ASKED = {
    "its place": "type({}).__qualname__ + type({}).__module__",
    "an entry": "KINDS.get(type({}), 'none')",
    "an item": "KINDS[type({})]",
    "a variable": "[t.__name__ for t in [type({})] if t is list]",
    "an assignment": "[(t := type({})).__name__, t is list]",
    "an instance": "isinstance([], type({}))",
    "a subclass": "issubclass(type({}), list)",
    "another list": "type({}) is type(more)",
    "what is made": "type({}) == type([1])",
    "a method of it": "type({}).append({}, k)",
    "a method of its class": "[{}.__class__.append({}, k)]",
    "a method of it, handed on": "list(map(type({}).pop, [{}]))",
    "an alias": "isinstance({}, List)",
    "one of several aliases": "isinstance({}, (str, typing.Dict, typing.List))",
}


def _of(expression, name):
    return expression.replace("{}", name).replace("@", name)


def _source(expression):
    used = _of(expression, "rows")
    return (
        f"{IMPORTS}\nKINDS = {{list: 'l'}}\ntable = {{}}\nrows = []\n"
        f"class Thing: pass\ndef f(k):\n    more = []\n    return {used}\n"
    )


@pytest.mark.parametrize("case", SHOWN)
def test_what_shows_a_type_may_be_given_a_container(case):
    assert "rows = txloop.share([])" in shared(_source(SHOWN[case]), "rows")


@pytest.mark.parametrize("case", ASKED)
def test_what_asks_for_the_exact_type_leaves_that_alone(case):
    source = _source(ASKED[case])

    assert source == shared(source, "rows")
    assert "asks for the exact type" in left(source, "rows")


@pytest.mark.parametrize(
    "asked",
    ["type(self) is type(other)", "isinstance(other, type(self))", "type(self).made"],
)
def test_the_type_of_an_object_of_its_own_may_be_asked_for(asked):
    source = f"""
rows = []
class Thing:
    made = []
    def __eq__(self, other): return {asked}
    __hash__ = None
def f(k): rows.append(k == k)
"""
    assert "rows = txloop.share([])" in shared(source, "rows")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_types_that_are_asked_for_answer_as_on_stock_tornado():
    bodies, definitions = [], [f"{IMPORTS}\nKINDS = {{list: 'l'}}"]
    for number, expression in enumerate((*SHOWN.values(), *ASKED.values())):
        name = f"r{number}"
        definitions.append(f"{name} = []")
        its = _of(expression, name)
        bodies.append([f"{name}.append(v); more.append({its}); {name}.clear()"])

    said = check(program_of(bodies, definitions), asked_of(len(bodies)), good=1.0)

    assert "app.r0 (app, line" in said
    assert f"app.r{len(SHOWN)} is left as it is: " in said


EQUAL = """
{}
class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __eq__(self, other):
        return isinstance(other, Point) and self.x == other.x
points = []
def add(x, y):
    points.append(Point(x, y))
def has(x, y):
    return Point(x, y) in points
"""


def test_what_is_asked_whether_it_is_of_a_class_is_not_given_to_that():
    after = shared(EQUAL.format(""), "points")

    assert "class Point(txloop.TObject, dataclass=False):" in after
    assert "points = txloop.share([])" in after


@pytest.mark.parametrize(
    "line",
    [
        "def isinstance(one, make): return make(one, 1)",
        "from mine import isinstance",
        "from functools import partial as isinstance",
        "class Kind(type):\n    def __instancecheck__(self, one): pass",
        "class Kind(type):\n    __instancecheck__ = check",
    ],
)
def test_what_is_given_to_what_may_not_be_pythons_may_be_stored(line):
    assert "stores 'other'" in left(EQUAL.format(line), "points")

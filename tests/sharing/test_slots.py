"""Classes whose objects have no other attributes than their slots."""

from __future__ import annotations

import pytest

from tests.sharing.random_programs import program_of
from tests.sharing.rounds import left, shared
from tests.sharing.test_random_programs import asked_of, check

NODES = """
class Base:
    __slots__ = {base}
class Node({bases}):
    __slots__ = {slots}
    def __init__(self, key):
        self.key = key
        self.after = None
    def link(self, other):
        self.after = other
        other.key, self.key = self.key, other.key
nodes = []
def add(key):
    nodes.append(Node(key))
    nodes[0].link(nodes[-1])
{more}
"""


def program(slots="('key', 'after')", *, base="()", bases="", more=""):
    return NODES.format(slots=slots, base=base, bases=bases, more=more)


@pytest.mark.parametrize(
    "source",
    [
        program(),
        program("['key', 'after']"),
        program("'key', 'after'"),
        program("'key', 'after'", more="print(Node.__slots__)"),
        program("'key after'.split()"),
        program("'key,after'.split(',')"),
        program("('key',) + ('after',)"),
        program("{'key': 'its name', 'after': 'the next one'}"),
        program("('key',)"),  # which an own assignment finds out
        program(more="def f(key):\n    nodes[0].size = key"),
        program().replace(
            "def link", "@property\n    def all(self): pass\n    def link"
        ),
    ],
)
def test_a_class_with_slots_becomes_a_shared_one(source):
    after = shared(source, "nodes")

    assert "class Node(txloop.TObject, dataclass=False):" in after
    assert "nodes = txloop.share([])" in after


def test_a_class_whose_base_has_slots_becomes_a_shared_one():
    after = shared(program("'after'", base="'key',", bases="Base"), "nodes")

    assert "class Base(txloop.TObject, dataclass=False):" in after
    assert "class Node(Base):" in after


def test_slots_do_not_matter_where_a_base_has_none():
    source = program(bases="Base", more="def f(key): nodes[0].size = key")
    after = shared(source.replace("__slots__ = ()", "pass"), "nodes")

    assert 'class Base(txloop.TObject, dataclass=False, also=("size",))' in after


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (program("('key', 'after', '__dict__')"), "no plain names"),
        (program("('key', 'after', '__hidden')"), "no plain names"),
        (program("names"), "no plain names"),
        (program("('key', *names)"), "no plain names"),
        (program("'key after __dict__'.split()"), "no plain names"),
        (program("names.split()"), "no plain names"),
        (
            program(
                more="class Other(Node): pass\ndef f(x): nodes[0].size = Other(x).size"
            ),
            "no slot for size",
        ),
        (program(more="def f(): return Node.key"), "asks for"),
        (
            program().replace("    def link", "    __slots__ += ()\n    def link"),
            "no plain",
        ),
        (program(more="def f(): return vars(nodes[0])"), "asks for"),
        (program(more="def f(): return hasattr(nodes[0], '__dict__')"), "asks for"),
        (program(more="def f(): return nodes[0].__dict__"), "asks for"),
        (program(more="def f(): return Node.__mro__"), "asks for"),
        (
            "from dataclasses import dataclass\n"
            + program().replace("class Node", "@dataclass\nclass Node"),
            "it is a dataclass that names its slots",
        ),
    ],
)
def test_what_shows_that_it_has_only_slots_leaves_it_alone(source, reason):
    assert "txloop.TObject" not in shared(source, "nodes")
    assert reason in left(source, "nodes")


ROWS = """
from dataclasses import dataclass
{base}
@dataclass({options})
class Row{bases}:
    key: int
    size: int = 0
    def grow(self):
        self.size += 1
        self.none = 1
rows = []
def add(key):
    rows.append(Row(key))
    rows[0].grow()
{more}
"""


def rows(options="slots=True", *, base="", bases="", more=""):
    return ROWS.format(options=options, base=base, bases=bases, more=more)


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ("slots=True", "slots=True"),
        ("slots=True, kw_only=True", "slots=True, kw_only=True"),
        ("order=True, slots=True", "order=True, slots=True"),
    ],
)
def test_a_dataclass_with_slots_becomes_a_shared_one(options, given):
    after = shared(rows(options, more="def f(x): rows[0].other = x"), "rows")

    assert f"class Row(txloop.TObject, {given}):" in after
    assert "@dataclass" not in after


def test_so_do_those_that_are_derived_from_one():
    base = "@dataclass(slots=True)\nclass Base:\n    name: int = 0"
    after = shared(rows(base=base, bases="(Base)"), "rows")

    assert "class Base(txloop.TObject, slots=True):" in after
    assert "class Row(Base, slots=True):" in after


def test_what_the_class_has_beside_its_slots_may_be_asked_for():
    most = "    most: typing.ClassVar[int] = 9\n    def grow"
    more = "def f(x): return Row.most"
    source = rows(more=more).replace("    def grow", most)

    assert "class Row(txloop.TObject, slots=True):" in shared(source, "rows")


PLAIN_BASE = "@dataclass\nclass Base:\n    name: int = 0"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (rows(base=PLAIN_BASE, bases="(Base)"), "others have none"),
        (rows(more="def f():\n    return rows[0].__slots__"), "asks for"),
        (rows(more="def f(): return getattr(rows[0], '__slots__')"), "asks for"),
        (rows(more="def f(): return Row.size"), "asks for"),
        (rows(more="def f(): return rows[0].__dict__"), "asks for"),
    ],
)
def test_what_shows_the_slots_of_a_dataclass_leaves_it_alone(source, reason):
    assert "txloop.TObject" not in shared(source, "rows")
    assert reason in left(source, "rows")


def test_classes_whose_objects_are_values_or_dicts_are_not_told_of():
    source = """
    from collections import namedtuple
    from typing import NamedTuple, TypedDict
    class Row(TypedDict, total=False):
        size: int
    class Pair(NamedTuple):
        size: int
    class Point(namedtuple("Point", "x y")):
        __slots__ = ()
    rows = []
    def add(x):
        rows.append(Row(size=str(x)))
        rows.append(Pair(str(x)))
        rows.append(Point(str(x), 1))
    """

    assert "rows = txloop.share([])" in shared(source, "rows")
    assert not left(source, "rows")


DEFINED = """
from dataclasses import dataclass
class Node:
    __slots__ = "key after".split()
    limit = 9
    def __init__(self, key):
        self.key, self.after = key, None
    def hide(self):
        self.hidden = 1
    def close(self):
        self.limit = 0
class Leaf(Node):
    __slots__ = ()
@dataclass(slots=True, order=True)
class Row:
    key: int
    name: str = "a"
@dataclass(slots=True)
class Wide(Row):
    width: int = 1
    def widen(self):
        self.width += 1
        self.depth = self.width
def said(do, *given):
    try:
        return do(*given)
    except AttributeError as error:
        return str(error)
def set_size(one):
    one.size = 1
def set_limit(one):
    one.limit = 1
nodes = []
leaves = []
rows = []
wide = []
"""

USED = [
    "nodes.append(Node(k))\nnodes[0].after = v\n"
    "more += [[one.key, one.after, one.limit] for one in nodes]",
    "leaves.append(Leaf(v))\nmore += [said(leaves[-1].hide), said(leaves[0].close)]",
    "nodes.append(Node(v))\nmore += [said(set_size, nodes[0]), said(nodes[0].hide)]",
    "nodes.append(Node(v))\nmore += [said(set_limit, nodes[-1]), hasattr(nodes[0], k)]",
    "rows.append(Row(v, k))\nmore += [repr(max(rows)), said(set_size, rows[0])]",
    "wide.append(Wide(v, k))\nmore += [said(wide[-1].widen), wide[-1].width]",
    "rows.append(Row(v))\nrows[-1].name += k\nmore += [repr(rows), rows[0] == Row(v)]",
]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_classes_with_slots_answer_as_on_stock_tornado():
    source = program_of([[one] for one in USED], [DEFINED])

    told = check(source, asked_of(len(USED)), good=1)

    for name in ("Node", "Row"):
        assert f"class {name} (app, line" in told

"""Classes whose objects have no other attributes than their slots."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left, shared

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


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (program("('key',)"), "it has no slot for after"),
        (program("('key', 'after', '__dict__')"), "no plain names"),
        (program("('key', 'after', '__hidden')"), "no plain names"),
        (program("names"), "no plain names"),
        (program("('key', *names)"), "no plain names"),
        (
            program().replace("    def link", "    __slots__ += ()\n    def link"),
            "no plain",
        ),
        (program(bases="Base").replace("__slots__ = ()", "pass"), "Base has slots"),
        (program(more="def f(key):\n    nodes[0].size = key"), "no slot for size"),
        (program(more="def f(): return vars(nodes[0])"), "asks for"),
        (program(more="def f(): return hasattr(nodes[0], '__dict__')"), "asks for"),
        (program(more="def f(): return nodes[0].__dict__"), "asks for"),
        (program(more="def f(): return Node.__mro__"), "asks for"),
        (
            "from dataclasses import dataclass\n"
            + program().replace("class Node", "@dataclass\nclass Node"),
            "it is a dataclass with slots",
        ),
    ],
)
def test_what_shows_that_it_has_only_slots_leaves_it_alone(source, reason):
    assert "txloop.TObject" not in shared(source, "nodes")
    assert reason in left(source, "nodes")

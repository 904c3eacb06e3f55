"""Dataclasses whose objects become shared ones, and classes that have an order."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left, shared

DATACLASSES = """
import dataclasses
from dataclasses import dataclass
@dataclass
class Base:
    name: str
@dataclasses.dataclass()  # with more
class Thing(Base):
    size: int = 0
    def grow(self):
        self.size += 1
things = []
def add(name):
    things.append(Thing(name))
"""


NOTED = "\n    def f(self): self.note = 2\n"


def test_dataclasses_become_shared_ones_line_by_line():
    after = shared(DATACLASSES, "things")

    assert "\nclass Base(txloop.TObject):\n" in after
    assert "\n  # with more\nclass Thing(Base):\n" in after
    assert "@" not in after
    assert len(DATACLASSES.strip().splitlines()) == len(after.splitlines())


@pytest.mark.parametrize(
    ("line", "by", "reason"),
    [
        ("@dataclasses.dataclass()", "@dataclass(eq=False)", "decorated with @datac"),
        ("@dataclasses.dataclass()", "@dataclass(init=k)", "decorated with @datac"),
        ("@dataclasses.dataclass()", "@dataclass(**k)", "decorated with @datac"),
        ("@dataclasses.dataclass()", "", "it is a dataclass, and Thing is none"),
        ("self.size +=", "self.grow =", "does not declare grow"),
        ("self.size +=", "Thing.__height =", "does not declare __height"),
        ("self.size += 1", "self.height = vars(self)", "does not declare height"),
        ("from dataclasses import", "from attr import", "decorated with @dataclass"),
        ("size: int = 0", "size: InitVar[int] = 0", "it has an InitVar"),
        ("    things.append", "    things[0].grow = 1; things.append", "declare grow"),
        ("self.size += 1", "self.note = 1\n    note = 0", "does not declare note"),
        ("name: str", f"name: str{NOTED}    if k: note = 0", "declare note"),
        ("name: str", f"name: str{NOTED}    note = {{}}", "declare note"),
    ],
)
def test_a_dataclass_that_cannot_be_a_shared_one_is_left_alone(line, by, reason):
    source = DATACLASSES.replace(line, by)
    after = shared(source, "things")

    assert "TObject" not in after
    assert reason in left(source, "things")


@pytest.mark.parametrize(
    ("line", "by", "name"),
    [
        ("self.size += 1", "self.height = 1", "height"),
        ("self.size += 1", "for one in self.name: one.game = None", "game"),
        ("    things.append", "    things[0].note = 1; things.append", "note"),
        ("def add(name):", "def add(name):\n    name.note = 1", "note"),
        ("name: str", f"name: str{NOTED}    note = -1", "note"),
        ("name: str", f"name: str{NOTED}    note: ClassVar[int] = 0", "note"),
    ],
)
def test_a_dataclass_has_what_may_be_set_and_is_not_declared(line, by, name):
    after = shared(DATACLASSES.replace(line, by), "things")

    assert f'class Base(txloop.TObject, also=("{name}",)):' in after
    assert "class Thing(Base):" in after


ORDERED = """
import functools
from functools import total_ordering
{}
{}
class Thing:
    def __init__(self, name):
        self.name = name
    def __lt__(self, other):
        return self.name < other.name
things = []
def add(name):
    things.append(Thing(name))
    things.sort()
"""


@pytest.mark.parametrize("mark", ["@functools.total_ordering", "@total_ordering"])
def test_a_class_that_is_totally_ordered_becomes_a_shared_one(mark):
    after = shared(ORDERED.format("", mark), "things")

    assert f"{mark}\nclass Thing(txloop.TObject, dataclass=False):" in after


@pytest.mark.parametrize("options", ["", "()", "(eq=True)"])
@pytest.mark.parametrize("form", ["@total_ordering\n@{}", "@{}\n@total_ordering"])
def test_a_dataclass_that_is_totally_ordered_becomes_a_shared_one(form, options):
    mark = form.format(f"dataclass{options}")
    after = shared(ORDERED.format("from dataclasses import dataclass", mark), "things")

    assert 'class Thing(txloop.TObject, also=("name",)):' in after
    assert "@dataclass" not in after


@pytest.mark.parametrize(
    ("options", "expected"),
    [("order=True", ", order=True"), ("kw_only=True, eq=True", ", kw_only=True")],
)
def test_options_of_dataclasses_stay(options, expected):
    after = shared(
        DATACLASSES.replace("@dataclasses.dataclass()", f"@dataclass({options})"),
        "things",
    )

    assert "\nclass Base(txloop.TObject):\n" in after
    assert f"class Thing(Base{expected}):\n" in after


def test_a_dataclass_that_compares_by_itself_becomes_a_shared_one():
    source = DATACLASSES.replace(
        "    def grow", "    def __eq__(self, other): return True\n    def grow"
    ).replace("@dataclasses.dataclass()", "@dataclasses.dataclass(eq=False)")

    assert "\nclass Thing(Base):\n" in shared(source, "things")


@pytest.mark.parametrize(
    ("line", "mark"),
    [
        ("def total_ordering(cls): return cls", "@total_ordering"),
        ("from library import total_ordering", "@total_ordering"),
        ("", "@total_ordering\n@marked"),
        ("", "@total_ordering\n@dataclass"),
        ("from dataclasses import dataclass", "@total_ordering\n@dataclass(eq=False)"),
        ("", "@library.total_ordering"),
    ],
)
def test_a_class_that_something_else_decorates_is_left_alone(line, mark):
    source = ORDERED.format(line, mark)

    assert "\nclass Thing:" in shared(source, "things")
    assert "it is decorated with @" in left(source, "things")

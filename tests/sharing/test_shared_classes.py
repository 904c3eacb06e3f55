"""Classes whose objects become shared ones."""

from __future__ import annotations

import pytest

from tests.sharing.commanding import PROGRAM, program, run
from tests.sharing.rounds import left, shared

CLASSES = """
class {} :
    def __init__(self, name):
        self.name = name
things = []
def add(name):
    things.append({}(name))
"""

BASES = {
    "none": ("Thing", "class Thing(txloop.TObject, dataclass=False) :"),
    "empty": ("Thing()", "class Thing(txloop.TObject, dataclass=False) :"),
    "object": ("Thing(object)", "class Thing(txloop.TObject, dataclass=False) :"),
    "Exception": ("Thing(Exception)", "class Thing(Exception) :"),
    "a metaclass": ("Thing(metaclass=Meta)", "class Thing(metaclass=Meta) :"),
}


ABSTRACT = {
    "its base": ("import abc", "Thing(abc.ABC)", "Thing(txloop.TObject, abc.ABC, "),
    "its base, by a name": (
        "from abc import ABC as A",
        "Thing(A)",
        "Thing(txloop.TObject, A, dataclass=False)",
    ),
    "its metaclass": (
        "import abc",
        "Thing(metaclass=abc.ABCMeta)",
        "Thing(txloop.TObject, dataclass=False, metaclass=abc.ABCMeta)",
    ),
    "its base and metaclass": (
        "from abc import ABCMeta",
        "Thing(object, metaclass=ABCMeta)",
        "Thing(txloop.TObject, dataclass=False, metaclass=ABCMeta)",
    ),
    "another module's": ("from library import ABC", "Thing(ABC)", "Thing(ABC)"),
    "a name of both": (
        "from abc import ABC\nfrom library import ABC",
        "Thing(ABC)",
        "Thing(ABC)",
    ),
    "arguments": ("import abc", "Thing(abc.ABC, a=1)", "Thing(abc.ABC, a=1)"),
}


@pytest.mark.parametrize("case", ABSTRACT)
def test_an_abstract_class_becomes_a_shared_one(case):
    line, head, expected = ABSTRACT[case]
    source = f"{line}\n{CLASSES.format(head, 'Thing')}"

    assert f"class {expected}" in shared(source, "things")


TYPED = """
from typing import Generic, Protocol, TypeVar, runtime_checkable
T = TypeVar("T")
{}
things = []
def add(name):
    things.append({}(name))
"""

THING = "class {}:\n    def __init__(self, name): self.name = name"

TYPED_CLASSES = {
    "Generic": (
        THING.format("Thing(Generic[T])"),
        "Thing",
        "class Thing(txloop.TObject, Generic[T], dataclass=False):",
    ),
    "called with types": (
        THING.format("Thing(Generic[T])"),
        "Thing[str]",
        "class Thing(txloop.TObject, Generic[T], dataclass=False):",
    ),
    "derived from one with types": (
        THING.format("Thing(Generic[T])") + "\nclass Note(Thing[str]): pass",
        "Note",
        "class Thing(txloop.TObject, Generic[T], dataclass=False):",
    ),
    "a protocol's": (
        "@runtime_checkable\nclass Named(Protocol[T]):\n    def f(self) -> T: ...\n"
        + THING.format("Thing(Named[str])"),
        "Thing",
        "class Thing(txloop.TObject, Named[str], dataclass=False):",
    ),
    "asked for its types": (
        THING.format("Thing(Generic[T])") + "\nprint(things[0].__orig_class__)",
        "Thing[str]",
        "class Thing(Generic[T]):",
    ),
    "of a library": (
        "from library import Generic\n" + THING.format("Thing(Generic[T])"),
        "Thing",
        "class Thing(Generic[T]):",
    ),
}


@pytest.mark.parametrize("case", TYPED_CLASSES)
def test_a_class_with_types_for_its_parts_becomes_a_shared_one(case):
    lines, called, expected = TYPED_CLASSES[case]

    assert expected in shared(TYPED.format(lines, called), "things")


def test_what_a_class_with_types_is_given_is_followed():
    source = TYPED.format(THING.format("Thing(Generic[T])"), "Thing")
    source += "row = []\nthings.append(Thing[str](row))\nrow.append(1)\n"

    assert "row = txloop.share([])" in shared(source, "things")


ALL_AFTER = "Of 3 verbs, 0 would run in parallel before, 3 after."

GENERIC = PROGRAM.replace("import sys", "import sys, typing").replace(
    "asked = 0",
    """T = typing.TypeVar("T")
class Source(typing.Protocol[T]):
    def draw(self) -> T: ...
class Store(Source[T], typing.Generic[T]):
    def __init__(self, first):
        self.asked = first
    def draw(self):
        self.asked += 1
        return self.asked
store = Store[int](-1)
asked = 0""",
)
GENERIC = GENERIC.replace("asked += 1\n\n", "asked = store.draw()\n\n").replace(
    "        asked += 1\n", "        asked = store.draw()\n"
)


@pytest.mark.slow
def test_verbs_that_share_objects_of_generic_classes_run_in_parallel(tmp_path):
    code, printed, _ = run(program(tmp_path, GENERIC), "share", "app.py")

    assert (
        code,
        "Of 3 verbs, 0 would run in parallel before, 3 after." in printed,
    ) == (
        0,
        True,
    )


@pytest.mark.parametrize("case", BASES)
def test_a_class_whose_objects_are_stored_becomes_a_shared_one(case):
    head, expected = BASES[case]

    assert expected in shared(CLASSES.format(head, "Thing"), "things")


def test_what_a_constructor_gives_may_begin_with_what_the_class_has():
    source = CLASSES.format("Thing", "Thing").replace(
        "        self.name = name\n",
        "        self.notes = [name]\n"
        "    notes = []\n"
        "    kept = {}\n"
        "    def f(self): self.notes += self.kept\n",
    )

    assert "class Thing(txloop.TObject, dataclass=False) :" in shared(source, "things")


@pytest.mark.parametrize(
    "lines",
    [
        "    things[0].note = 1\n",
        "    for one in ['note']: setattr(things[0], one, 1)\n",
    ],
)
def test_attributes_that_other_code_sets_are_named(lines):
    source = CLASSES.format("Thing", "Thing") + lines

    assert 'dataclass=False, also=("note",))' in shared(source, "things")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("    def __setattr__(self, n, v): pass", "it has __setattr__"),
        ("    def __hash__(self): return hash(self.name)", "it has __hash__"),
        (
            "class Special(Thing):\n    def __del__(self): pass",
            "Special, which is derived from it, cannot: it has __del__",
        ),
        (
            "class Special(Thing):\n"
            "    def put(self):\n"
            "        x = [[], []]; y, z = x; self.last = y; y.append(1); z.append(1)",
            "Special, which is derived from it, cannot: app, line ",
        ),
        (
            "class Mixed(Thing, External): pass",
            "Mixed, which is derived from it, cannot: it is derived from External",
        ),
        (
            "class Outer(External): pass\nclass Mixed(Thing, Outer): pass",
            "Mixed, which is derived from it, cannot: it is derived from External",
        ),
        *(
            (line, "its objects begin with what the class has as notes")
            for line in (
                "    notes = []\n    def f(self, n): self.notes += [n]",
                "    notes: list = list()\n    def f(self): self.notes = []",
                "    notes = {}\ndef f(): things[0].notes |= {1: 2}",
                "    notes = []\nclass Special(Thing):\n"
                "    def put(self): self.notes += [1]",
            )
        ),
        ("    def f(self, d): self.__dict__ = d", "sets attributes by name"),
        ("    def f(self, d): self.__dict__ |= d", "sets attributes by name"),
        (
            "    def f(self, n): object.__setattr__(self, n, 1)",
            "sets attributes by name",
        ),
    ],
)
def test_a_class_that_cannot_be_a_shared_one_is_left_alone(line, reason):
    source = CLASSES.format("Thing", "Thing").replace(
        "things = []", f"{line}\nthings = []"
    )

    assert "class Thing :" in shared(source, "things")
    assert reason in left(source, "things")


BY_NAME = {
    "setattr": "def f(self, n): setattr(self, n, 1)",
    "one of several": "def f(self, n):\n        for n in ('a', n): setattr(self, n, 1)",
    "all that is given": (
        "def f(self, **d):\n        for n, v in d.items(): setattr(self, n, v)"
    ),
    "update": "def f(self, d): self.__dict__.update(d)",
    "vars": "def f(self, d): vars(self).update(d)",
    "an item": "def f(self, d): vars(self)['note'] = d",
    "another": "def f(self, other, n): setattr(other, n, 1)",
}


@pytest.mark.parametrize("case", BY_NAME)
def test_a_class_whose_attributes_are_set_by_name_becomes_a_namespace(case):
    source = CLASSES.format("Thing", "Thing").replace(
        "things = []", f"    {BY_NAME[case]}\nthings = []"
    )

    assert "class Thing(txloop.TNamespace) :" in shared(source, "things")


@pytest.mark.parametrize(
    ("head", "reason"),
    [("@dataclass\n", "sets attributes by name"), ("", "sets attributes by name")],
)
def test_attributes_with_names_of_their_own_have_no_place_where_all_are_told(
    head, reason
):
    slots = "" if head else "    __slots__ = ('name',)\n"
    source = (
        f"from dataclasses import dataclass\nthings = []\n{head}class Thing:\n{slots}"
        "    name: str\n    def f(self, n): setattr(self, n, 1)\n"
        "def add(): things.append(Thing())\n"
    )

    assert "class Thing:" in shared(source, "things")
    assert reason in left(source, "things")


NAMESPACES = {
    "a variable": "d = vars(things[0]); d['note'] = 1",
    "one that is updated": "d = things[0].__dict__; d.update({'note': 1})",
    "an operator": "d = vars(things[0]); d |= {'note': 1}",
    "what a function returns": "shown(things[0])['note'] = 1",
    "an argument": "note(vars(things[0]))",
}

USING = """
def shown(one): return one.__dict__
def note(d): d["note"] = 1
def f():
    {}
"""


@pytest.mark.parametrize("case", NAMESPACES)
def test_a_class_whose_objects_get_attributes_by_way_of_others_is_left_alone(case):
    source = CLASSES.format("Thing", "Thing") + USING.format(NAMESPACES[case])

    assert "class Thing :" in shared(source, "things")
    assert "sets attributes by name" in left(source, "things")


@pytest.mark.parametrize(
    "line",
    [
        "return shown(things[0])",
        "d = dict(vars(things[0])); d['note'] = 1",
        "d = {**shown(things[0])}; d.update(note=1)",
        "d = {k: v for k, v in vars(things[0]).items()}; d['note'] = 1",
    ],
)
def test_a_class_whose_objects_only_show_what_they_have_becomes_a_shared_one(line):
    source = CLASSES.format("Thing", "Thing") + USING.format(line)

    assert "class Thing(txloop.TObject, dataclass=False) :" in shared(source, "things")


@pytest.mark.parametrize(
    "method",
    [
        "def f(self, d): self.__dict__ = d",
        "@classmethod\n    def f(cls, k): x = cls(); setattr(x, k, 1); return x",
    ],
)
def test_a_class_that_sets_its_own_attributes_by_name_leaves_others_alone(method):
    other = f"class Other:\n    {method}\n"
    mixed = "class Mixed(Thing, Other): pass\n"
    source = CLASSES.format("Thing", "Thing")

    assert "class Thing(txloop.TObject, " in shared(other + source, "things")
    its = (
        "class Thing :" if "__dict__" in method else "class Thing(txloop.TNamespace) :"
    )
    assert its in shared(other + source + mixed, "things")


@pytest.mark.parametrize("base", ["enum.IntFlag", "Enum", "typing.NamedTuple"])
def test_a_class_of_values_is_not_said_to_hold_anything(base):
    source = CLASSES.format("Thing", "Thing").replace(
        "things = []", f"class Kind({base}):\n    pass\nthings = [Kind(1)]"
    )

    assert left(source, "things") == ""


HAZARD = """
class Thing :
    def __init__(self, name):
        self.name = name
things = []
def add(name):
    thing = Thing(name)
    thing.log = []
    things.append(thing)
def f():
    return {}
"""


def test_what_other_code_sets_is_a_container_only_where_it_may_be_one():
    asked = "type(things[0].log) is list"

    assert "class Thing :" in shared(HAZARD.format(asked), "things")
    assert "class Thing(txloop" in shared(HAZARD.format("things[0].log"), "things")


def test_a_variable_of_a_class_that_is_set_on_an_object_is_one_of_its_attributes():
    source = CLASSES.format("Thing", "Thing").replace(
        "    def __init__", "    note: ClassVar[int] = 0\n    def __init__", 1
    )

    after = shared(source + "    things[0].note = 1\n", "things")

    assert 'class Thing(txloop.TObject, dataclass=False, also=("note",)) :' in after

"""What a program compares by ``is``: values do not keep their identity."""

from __future__ import annotations

import pytest

from tests.sharing.random_programs import program_of
from tests.sharing.rounds import left, shared
from tests.sharing.test_random_programs import asked_of, check

HEAD = """\
import dataclasses, enum
from typing import NamedTuple
@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int
class Pair(NamedTuple):
    a: int
class Colour(enum.Enum):
    RED = 1
class State(enum.Enum):
    OPEN = "open"
    SHUT = ("shut", 2)
class Kind(str, enum.Enum):
    LONG = "long"
class Old:
    PAST = "past"
class Mode: pass
class Names:
    FIRST = ("a", 1)
MISSING = object()
IDLE = "idle"
MANY = 1000
FEW = 3
LETTER = "a"
FIXED = Frozen(1)
FIRST = Pair(1)
JOINED = "".join(["a", "b"])
MODE = Mode()
rows = {}
def put(k, v): rows[k] = v
"""

VALUES = {
    "a text": "rows[k] is IDLE",
    "a text by another name": "Names.FIRST is rows.get(k)",
    "a number": "rows[k] is not MANY",
    "a frozen object": "rows[k] is FIXED",
    "a tuple with names": "rows[k] is FIRST",
    "a text that is made": "rows[k] is JOINED",
    "a variable": "[x for x in rows.values() if x is FIXED]",
    "a literal": "rows[k] is (1, 2)",
    "what a plain class has": "rows[k] is Old.PAST",
}

OTHERS = {
    "None": "rows[k] is None",
    "a constant": "rows[k] is True or rows[k] is not ...",
    "a member": "rows[k] is Colour.RED",
    "a member that has a text": "rows[k] is State.OPEN",
    "one that has a tuple": "State.SHUT is not rows[k]",
    "one that is a text": "rows[k] is Kind.LONG or rows[k] is Kind('long')",
    "a container": "rows[k] is rows",
    "an object": "rows[k] is MODE",
    "a small number": "rows[k] is FEW or rows[k] is LETTER",
    "equality": "rows[k] == FIXED",
    "a class": "type(rows[k]) is Frozen",
}


@pytest.mark.parametrize("case", VALUES)
def test_what_is_compared_with_a_value_by_its_identity_stays_plain(case):
    source = f"{HEAD}def f(k): return {VALUES[case]}\n"

    assert "rows = {}" in shared(source, "rows")
    assert "asks whether" in left(source, "rows")


@pytest.mark.parametrize("case", OTHERS)
def test_other_objects_keep_theirs(case):
    source = f"{HEAD}def f(k): return {OTHERS[case]}\n"

    assert "rows = txloop.share({})" in shared(source, "rows")


def test_a_member_of_an_enumeration_by_an_own_class_of_that_name_is_a_value():
    source = """
    class Enum: pass
    class State(Enum):
        OPEN = "open"
    rows = {}
    def put(k, v): rows[k] = v
    def f(k): return rows[k] is State.OPEN
    """

    assert "asks whether" in left(source, "rows")


def test_a_text_that_has_the_name_of_a_member_is_still_a_value():
    source = HEAD + "OPEN = 'open'\ndef f(k): return rows[k] is OPEN\n"

    assert "asks whether" in left(source, "rows")


STATES = """
import enum
class State(enum.Enum):
    OPEN = "open state"
    SHUT = ("shut", 2)
    AJAR = "open state"
    def next(self):
        return State.SHUT if self is State.OPEN else State.OPEN
class Kind(str, enum.Enum):
    LONG = "long kind"
    @property
    def is_long(self):
        return self is Kind.LONG
class Right(enum.Flag):
    READ = 1
    WRITE = 1024
    BOTH = READ | WRITE
class Door:
    def __init__(self):
        self.state, self.kind, self.right = State.OPEN, Kind("long kind"), Right.READ
    def turn(self):
        self.state = self.state.next()
        self.right |= Right.WRITE
        return self.state is State.SHUT
    def show(self):
        match self.state:
            case State.OPEN: found = "open"
            case State.SHUT: found = "shut"
        return [found, self.state.name, self.kind, self.right is Right.BOTH]
doors = {}
"""

STATES_USED = [
    "doors.setdefault(k, Door())\nmore += [doors[k].turn(), doors[k].show()]",
    "one = doors.setdefault(k, Door())\none.state = State('open state')\n"
    "more += [one.state is State.AJAR, one.state in (State.SHUT, State.OPEN)]",
    "one = doors.setdefault(k, Door())\none.right = Right.READ | Right.WRITE\n"
    "more += [one.right is Right.BOTH, one.kind is Kind.LONG, one.kind.is_long]",
    "more += [[k, d.state is not State.OPEN, d.show()] for k, d in doors.items()]",
]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_members_answer_as_on_stock_tornado():
    source = program_of([[one] for one in STATES_USED], [STATES])

    told = check(source, asked_of(len(STATES_USED)), good=1)

    assert "class Door (app, line" in told
    assert "asks whether" not in told

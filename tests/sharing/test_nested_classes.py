"""Classes inside of classes, whose objects are shared."""

from __future__ import annotations

import pytest

from tests.sharing.random_programs import program_of
from tests.sharing.rounds import left, shared
from tests.sharing.test_random_programs import asked_of, check

ROOMS = """
from dataclasses import dataclass
class Room:
    {}
    def __init__(self):
        self.members = {{}}
    def join(self, name):
        self.members[name] = {}(name)
        self.members[name].seen += 1
rooms = {{"a": Room()}}
def join(name):
    rooms["a"].join(name)
"""

MEMBER = (
    "class Member:\n        def __init__(self, name): self.name, self.seen = name, 0"
)

INSIDE = {
    "by its class": (MEMBER, "Room.Member"),
    "by an object": (MEMBER, "self.Member"),
    "a dataclass": (
        "@dataclass\n    class Member:\n        name: str; seen: int = 0",
        "Room.Member",
    ),
    "further inside": (
        "class In:\n        " + MEMBER.replace("\n", "\n    "),
        "self.In.Member",
    ),
}


@pytest.mark.parametrize("case", INSIDE)
def test_a_class_inside_of_a_class_becomes_a_shared_one(case):
    after = shared(ROOMS.format(*INSIDE[case]), "rooms")

    assert "class Member(txloop.TObject" in after
    assert "class Room(txloop.TObject, dataclass=False):" in after


def test_a_class_derived_from_one_inside_of_a_class_becomes_a_shared_one():
    derived = f"{MEMBER}\n    class Guest(Member): pass"
    after = shared(ROOMS.format(derived, "Room.Guest"), "rooms")

    assert "class Member(txloop.TObject, dataclass=False):" in after
    assert "class Guest(Member): pass" in after


@pytest.mark.parametrize(
    ("inside", "line", "reason"),
    [
        (MEMBER, "Room.Member = Other", "an attribute of its name is set"),
        (MEMBER, "setattr(Room, 'Member', Other)", "an attribute of its name is set"),
        (MEMBER, "class Other:\n    class Member: pass", "2 classes of that name"),
        (
            f"if True:\n        {MEMBER}".replace("\n        def", "\n            def"),
            "",
            "it is defined inside of something",
        ),
    ],
)
def test_a_class_that_its_name_may_not_find_stays_what_it_is(inside, line, reason):
    source = ROOMS.format(inside, "self.Member") + line

    assert "class Member(" not in shared(source, "rooms")
    assert reason in left(source, "rooms")


DEFINED = """
import dataclasses
class Room:
    class Member:
        def __init__(self, name):
            self.name, self.seen = name, 0
        def __eq__(self, other):
            return isinstance(other, Room.Member) and self.name == other.name
    @dataclasses.dataclass
    class Note:
        text: str
        _likes: int = 0
        new: list = dataclasses.field(default_factory=list)
        old: list = dataclasses.field(default_factory=list)
        @property
        def likes(self):
            return self._likes
        @likes.setter
        def likes(self, number):
            self._likes = min(number, 2)
    def __init__(self):
        self.members, self.notes = [], []
    def join(self, name):
        if self.Member(name) not in self.members:
            self.members.append(self.Member(name))
room = Room()
"""

USED = [
    "room.join(k)\nmore.append([one.name for one in room.members])",
    "for one in room.members: one.seen += v\nmore.append(room.members[0].seen)",
    "room.notes.append(Room.Note(k))\nroom.notes[-1].new.append(v)",
    "for one in room.notes: one.likes += 1\nmore.append([n.likes for n in room.notes])",
    "x = room.notes[0]\nx.old.append(x.new.pop())\nmore.append(x.old)",
    "more.append([vars(one) for one in [*room.members, *room.notes]])",
]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_uses_objects_of_such_classes_answers_as_on_stock_tornado():
    source = program_of([[one] for one in USED], [DEFINED])

    said = check(source, asked_of(len(USED)), good=0.8)

    assert "class Member" in said
    assert "class Note" in said

"""TObject(dataclass=False): an existing class, which stays what it is."""

from __future__ import annotations

import copy
import functools
import operator
import pickle
from abc import ABC, ABCMeta, abstractmethod
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from tests.comparing import RUNS, attempted
from txloop import TDict, TList, TObject, TVar, TxValueError, plain
from txloop.stm.store import committed

T = TypeVar("T")


class Named:
    """A plain base class, with a constructor."""

    kind = "thing"

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def title(self) -> str:
        return self.name.title()

    @title.setter
    def title(self, title: str) -> None:
        self.name = title.lower()


class Room(TObject, Named, dataclass=False):
    limit = 9
    count: ClassVar[int] = 0
    topic: str

    def __init__(self, name: str, *people: str) -> None:
        super().__init__(name)
        self.people = list(people)

    def close(self) -> None:
        self.limit = 0

    def first(self) -> str:
        return self.people[0]

    @functools.cached_property
    def size(self) -> int:
        return len(self.people)

    @functools.cached_property
    def seats(self) -> list[str]:
        return [*self.people]

    @classmethod
    def open(cls, name: str) -> Room:
        return cls(name, "ann")


class Hall(Room):
    limit = 99

    def enter(self, name: str) -> None:
        def enter() -> None:
            self.last = name

        self.people.append(name)
        enter()


class Inherits(TObject, Named, dataclass=False):
    pass


class Slotted(TObject, dataclass=False):
    __slots__ = ("x", "y")

    def __init__(self, x: int) -> None:
        self.x = x


class Equal(TObject, dataclass=False):
    def __init__(self, x: int) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Equal) and self.x == other.x

    def __hash__(self) -> int:  # type: ignore[override] # others have none
        return hash(self.x)

    def __repr__(self) -> str:
        return f"<{self.x}>"

    def __reduce__(self) -> Any:
        return Equal, (self.x,)


class Abstract(TObject, ABC, Generic[T], dataclass=False):
    def __init__(self, value: T) -> None:
        self.value = value

    @abstractmethod
    def show(self) -> str: ...


class Concrete(Abstract[int]):
    def show(self) -> str:
        return str(self.value)


class AbstractAlone(TObject, dataclass=False, metaclass=ABCMeta):
    def __init__(self, value: int) -> None:
        self.value = value

    @abstractmethod
    def show(self) -> str: ...


class ConcreteAlone(AbstractAlone):
    def show(self) -> str:
        return str(self.value)


class Own(TObject, dataclass=False):
    def __init__(self) -> None:
        self.calls = 0

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> str:
        return f"no {name}"


class Early(TObject, dataclass=False):
    ready = False

    def __new__(cls, *names: str) -> Any:
        made: Any = super().__new__(cls)
        made.found = [made.ready, hasattr(made, "names")]
        made.names = list(names)
        del made.found[0]
        return made


class Only(TObject, dataclass=False):
    one: ClassVar[Any] = None

    def __new__(cls, *items: str) -> Any:
        if cls.one is None:
            cls.one = super().__new__(cls)
            cls.one.items = list(items)
        return cls.one


@pytest.mark.parametrize("run", RUNS)
def test_what_new_gives_it_before_its_constructor_stays(run):
    # WHEN
    made: Any = run(Early, "ann", "bob")

    # THEN
    assert {"found": [False], "names": ["ann", "bob"]} == vars(made)
    assert {*vars(made)} == {*committed.contents_at(made, committed.version)}
    assert vars(made) == vars(copy.copy(made))


def test_what_new_stores_may_be_found_at_once():
    """Another thread may, before the constructor is called."""

    class Kept(TObject, dataclass=False):
        def __new__(cls) -> Any:
            made: Any = super().__new__(cls)
            kept.value = made
            several.append(made)
            found.append(number_of(made))
            return made

    # GIVEN
    number_of = operator.attrgetter("_tx_number")
    kept, several, found = TVar[Any](None), TList[Any](), list[int]()

    # WHEN
    made = Kept()

    # THEN
    assert [number_of(made)] == found
    assert made is kept.value is several[0]


def test_copies_are_what_new_returns():
    # GIVEN
    only: Any = Only("a")
    items = only.items

    # THEN
    assert only is Only("b")
    assert only is copy.copy(only)
    assert items is only.items
    assert only is copy.deepcopy(only)
    assert (["a"], False) == (only.items, items is only.items)


@pytest.mark.parametrize("run", RUNS)
def test_its_constructor_makes_it(run):
    # WHEN
    hall: Any = run(Hall, "hall", "ann")

    # THEN
    assert ("hall", ["ann"], 99) == (hall.name, hall.people, hall.limit)
    assert isinstance(hall.people, TList)
    assert {"name": "hall", "people": ["ann"]} == vars(hall)
    assert isinstance(hall, Room)
    assert isinstance(hall, Named)
    assert "hall" == Inherits("hall").name
    assert ["ann"] == Room.open("x").people
    with pytest.raises(TypeError):
        Inherits()  # type: ignore[call-arg] # that is the point


def test_without_a_constructor_it_refuses_arguments_in_the_same_words():
    # GIVEN
    class Shared(TObject, dataclass=False):
        size = 0

    class Plain:
        size = 0

    # WHEN
    said = []
    for kind in (Shared, Plain):
        with pytest.raises(TypeError) as refused:
            kind(1)  # type: ignore[call-arg] # that is the point
        said.append(str(refused.value).replace(kind.__name__, "Kind"))

    # THEN
    assert said[0] == said[1]


def test_methods_properties_and_class_attributes_work():
    # GIVEN
    room, hall = Room("room", "ann"), Hall("hall")

    # WHEN
    room.close()
    hall.enter("bob")
    hall.title = "Great Hall"

    # THEN
    assert ("Room", "great hall", "bob") == (room.title, hall.name, hall.last)
    assert (0, 9, 99, 99) == (room.limit, Room.limit, Hall.limit, hall.limit)
    assert ("thing", "thing", 0) == (Room.kind, room.kind, room.count)
    del room.limit
    assert 9 == room.limit
    assert "ann" == room.first()


def test_what_is_cached_is_shared_as_well():
    # GIVEN
    room = Room("room", "ann")

    # WHEN
    size = room.size
    room.people.append("bob")

    # THEN
    assert (1, 1) == (size, room.size)
    assert 1 == vars(room)["size"]
    del room.size
    assert 2 == room.size


def test_what_is_cached_is_one_object_from_the_first_time():
    room = Room("room", "ann")

    room.seats.append("bob")

    assert ["ann", "bob"] == [*room.seats]


def test_it_is_equal_to_itself_only_unless_it_says_otherwise():
    # GIVEN
    room = Room("a")

    # THEN
    assert room == room
    assert room != Room("a")
    assert {room: 1} == {room: 1}
    assert 1 == len({room, room})
    assert repr(room).startswith("<tests.unit.test_tobject_ordinary.Room object at ")
    assert Equal(1) == Equal(1)
    assert 1 == len({Equal(1), Equal(1)})
    assert "<1>" == repr(Equal(1))
    assert 1 == TDict({room: 1})[room]


def test_slots_are_shared():
    # GIVEN
    slotted: Any = Slotted(1)

    def body() -> None:
        slotted.x = 5
        slotted.y = 6

    # WHEN
    attempted(body)  # which does not commit

    # THEN
    assert {"x": 1} == vars(slotted)
    assert not hasattr(slotted, "y")
    body()
    assert {"x": 5, "y": 6} == vars(slotted)


class PlainSlotted:
    __slots__ = ("x", "y")
    limit = 9


class LimitedSlotted(TObject, dataclass=False):
    __slots__ = ("x", "y")
    limit = 9


@pytest.mark.parametrize("name", ["z", "limit"])
def test_what_has_no_slot_is_refused_as_by_python(name):
    with pytest.raises(AttributeError) as of_python:
        setattr(PlainSlotted(), name, 1)
    with pytest.raises(AttributeError) as ours:
        setattr(LimitedSlotted(), name, 1)

    expected = str(of_python.value).replace("PlainSlotted", "LimitedSlotted")
    assert expected == str(ours.value)


@pytest.mark.parametrize(
    ("abstract", "concrete"),
    [(Abstract, Concrete), (AbstractAlone, ConcreteAlone)],
)
def test_abstract_and_generic_classes_may_be_made_so(abstract, concrete):
    assert "3" == concrete(3).show()
    with pytest.raises(TypeError, match="abstract"):
        abstract(1)


def test_its_own_access_to_attributes_stays():
    # GIVEN
    own = Own()

    # WHEN
    own.calls += 1

    # THEN
    assert (1, "no other") == (own.calls, own.other)


def test_its_dict_can_be_changed():
    # GIVEN
    room = Room("a")

    # WHEN
    vars(room).update(name="b", topic="news")
    vars(room)["limit"] = 3
    vars(room).pop("people")
    vars(room).setdefault("people", ["x"])
    fields = vars(room)
    fields |= {"name": "c"}

    # THEN
    assert ("c", "news", 3, ["x"]) == (room.name, room.topic, room.limit, room.people)
    assert fields == {**vars(room)}
    assert {**vars(room)} == {
        "name": "c",
        "topic": "news",
        "limit": 3,
        "people": ["x"],
    }
    room.__dict__ = {"name": "d"}
    assert {"name": "d"} == vars(room)
    assert 5 == vars(room).pop("none", 5)
    with pytest.raises(KeyError):
        vars(room).pop("none")
    with pytest.raises(KeyError):
        del vars(room)["none"]
    vars(room).clear()
    assert {} == vars(room)
    with pytest.raises(AttributeError, match="no shared attribute 'hat'"):
        vars(room)["hat"] = 1


def test_what_nobody_assigns_is_refused_with_advice():
    # GIVEN
    room: Any = Room("a")

    # THEN
    with pytest.raises(AttributeError, match=r"declare it in the class.*`hat: str`"):
        room.hat = "red"
    with pytest.raises(TxValueError, match="store bytes"):
        room.topic = bytearray(b"x")
    with pytest.raises(AttributeError, match="'Room' object has no attribute 't"):
        _ = room.topic
    with pytest.raises(AttributeError, match="'Room' object has no attribute 't"):
        del room.topic


def test_copies_are_objects_of_their_own_and_pickles_references():
    # GIVEN
    hall: Any = Hall.open("hall")
    hall.enter("bob")

    # WHEN
    shallow, deep = copy.copy(hall), copy.deepcopy(hall)
    hall.enter("cyd")

    # THEN
    assert (Hall, "bob") == (type(shallow), shallow.last)
    assert shallow.people is hall.people
    assert ["ann", "bob"] == deep.people
    assert hall is pickle.loads(pickle.dumps(hall))
    equal = Equal(1)
    assert equal is pickle.loads(pickle.dumps(equal))
    assert {"name": "x", "people": []} == plain(Room("x"))


def test_dataclasses_show_their_fields_and_defaults():
    class Player(TObject):
        name: str
        score: int = 0

    # GIVEN
    ann = Player("ann")

    # WHEN
    vars(ann)["score"] = 5

    # THEN
    assert {"name": "ann", "score": 5} == vars(ann) == ann.__dict__
    assert 0 == Player.score
    assert not hasattr(Player, "name")


@pytest.mark.parametrize("run", RUNS)
def test_whatever_has_a_value_is_there(run):
    # WHEN
    room: Any = run(Room, "a")

    # THEN
    assert {"name", "people"} == {*committed.contents_at(room, committed.version)}

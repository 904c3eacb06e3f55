"""TObject without a loop: declared as a dataclass, and shared."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import operator
import pickle
from typing import Any, ClassVar

import pytest

from tests.comparing import RUNS, attempted
from txloop import TDict, TList, TObject, TxValueError, plain
from txloop.cells.tobject import contents_of
from txloop.stm.store import committed


class Player(TObject):
    """One who plays."""

    count: ClassVar[int] = 0
    name: str
    score: int = 0
    items: TList[str] = dataclasses.field(default_factory=TList)
    note: str = dataclasses.field(default="", repr=False, compare=False)
    level: int = dataclasses.field(default=1, init=False)

    @property
    def rank(self) -> str:
        return f"{self.name}: {self.score}"

    @rank.setter
    def rank(self, rank: str) -> None:
        self.name, _, score = rank.partition(": ")
        self.score = int(score)

    def win(self) -> None:
        self.score += 1


class Captain(Player, kw_only=True):
    team: str
    mates: TDict[str, Player] = dataclasses.field(default_factory=TDict)

    def win(self) -> None:
        super().win()
        self.items.append("cup")


class Timed(TObject):
    start: int
    end: int
    length: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.length = self.end - self.start


class Own(TObject):
    x: int

    def __init__(self, text: str) -> None:
        self.x = int(text)


class Nothing(TObject):
    pass


class One(TObject):
    x: object


class Two(TObject):
    x: object
    y: object = 0


class Preset(TObject):
    x: object
    y: int = dataclasses.field(default=3, init=False)
    z: list[int] = dataclasses.field(default_factory=list, init=False)


class Unset(TObject):
    x: object
    y: int = dataclasses.field(init=False)


class Unequal:
    """Like an array: nobody may ask whether it equals something."""

    def __eq__(self, other: object) -> bool:
        raise ValueError

    def __hash__(self) -> int:
        return 1

    def __reduce__(self) -> str:
        return "UNEQUAL"


UNEQUAL = Unequal()


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Nothing, {}),
        (One, {"x": 1}),
        (Two, {"x": 1, "y": 0}),
        (Preset, {"x": 1, "y": 3, "z": []}),
        (Unset, {"x": 1}),
    ],
)
def test_whatever_has_a_value_is_there(kind, expected, run):
    # WHEN
    made: Any = run(kind, *[1] * bool(expected))

    # THEN
    assert expected == contents_of(made)
    assert len(expected) == made._tx_size
    assert [*expected] == [*committed.contents_at(made, committed.version)]


@pytest.mark.parametrize("run", RUNS)
def test_values_are_not_compared_while_it_is_made(run, monkeypatch):
    # GIVEN
    monkeypatch.setattr("txloop.cells.tobject.shareable", lambda value: value)

    # THEN
    for kind in (One, Two, Preset, Unset):
        assert run(kind, UNEQUAL).x is UNEQUAL


def test_it_is_made_as_a_dataclass_is():
    ann = Player("ann", 3)
    bob = Captain("bob", team="red")

    assert [] == ann.items
    assert ("ann", 3, "", 1) == (
        ann.name,
        ann.score,
        ann.note,
        ann.level,
    )
    assert "Player(name='ann', score=3, items=TList([]), level=1)" == repr(ann)
    assert ("bob", "red", 1) == (bob.name, bob.team, bob.level)
    assert {} == bob.mates
    assert [5, 2] == [Timed(2, 7).length, Own("2").x]
    assert "Nothing()" == repr(Nothing())
    assert ann.items is not bob.items


@pytest.mark.parametrize(
    ("arguments", "names"),
    [((), {}), (("a", 1, TList(), "", 5), {}), (("a",), {"level": 2})],
)
def test_wrong_arguments_are_refused(arguments, names):
    with pytest.raises(TypeError):
        Player(*arguments, **names)


def test_its_signature_is_that_of_the_dataclass():
    found = inspect.signature(Captain)

    assert ["name", "score", "items", "note", "team", "mates"] == list(found.parameters)
    assert "One who plays." == Player.__doc__
    assert ["start", "end", "length"] == [one.name for one in dataclasses.fields(Timed)]


def test_methods_properties_and_inheritance_work():
    # GIVEN
    bob = Captain("bob", team="red")

    # WHEN
    bob.win()
    bob.rank = "rob: " + str(bob.score + 1)

    # THEN
    assert ("rob", 2, "rob: 2") == (bob.name, bob.score, bob.rank)
    assert ["cup"] == bob.items


def test_what_is_not_declared_cannot_be_set():
    # GIVEN
    ann = Player("ann")

    # THEN
    with pytest.raises(AttributeError, match=r"declare it in the class.*`hat: str`"):
        ann.hat = "red"  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="no shared attribute 'count'"):
        ann.count = 1  # type: ignore[misc]
    with pytest.raises(TxValueError, match=r"^bytearray .* store bytes$"):
        ann.name = bytearray(b"x")  # type: ignore[assignment]
    assert "ann" == ann.name


def test_plain_parts_become_containers():
    ann = Player("ann", items=["hat"])  # type: ignore[arg-type]

    assert isinstance(ann.items, TList)
    assert {
        "name": "ann",
        "score": 0,
        "items": ["hat"],
        "note": "",
        "level": 1,
    } == plain(ann)


def test_objects_of_one_class_compare_by_what_is_to_be_compared():
    # GIVEN
    ann = Player("ann", 3, note="x")

    # THEN
    assert ann == Player("ann", 3, note="y")
    assert ann != Player("ann", 4, note="x")
    assert Player("ann") != Captain("ann", team="red")
    assert ann != "ann"
    assert NotImplemented is ann.__eq__("ann")
    with pytest.raises(TypeError, match="unhashable"):
        hash(ann)


class Task(TObject, order=True):
    level: int
    name: str = dataclasses.field(default="", compare=False)


class Subtask(Task):
    late: int = 0


@dataclasses.dataclass(order=True)
class PlainTask:
    level: int
    name: str = dataclasses.field(default="", compare=False)


@pytest.mark.parametrize("order", [operator.lt, operator.le, operator.gt, operator.ge])
def test_objects_of_an_ordered_class_compare_as_dataclasses_do(order):
    for one, other in [(1, 2), (2, 1), (1, 1)]:
        expected = order(PlainTask(one, "x"), PlainTask(other, "a"))
        assert expected == order(Task(one, "x"), Task(other, "a"))

    assert order(Subtask(1, late=2), Subtask(1, late=1)) == order(1, 1)
    others: list[Any] = [Subtask(1), 1]
    for wrong in others:
        with pytest.raises(TypeError, match="not supported between instances of"):
            order(Task(1), wrong)


def test_an_ordered_class_has_no_order_of_its_own():
    with pytest.raises(TypeError) as caught:

        class Own(TObject, order=True):
            level: int

            def __le__(self, other: object) -> bool:  # type: ignore[misc] # this too
                return True

    assert "__le__ in class Own. Consider using functools" in str(caught.value)


def test_a_deleted_attribute_leaves_the_default_of_the_class():
    # GIVEN
    ann = Player("ann", 3)

    # WHEN
    del ann.score

    # THEN
    assert 0 == Player.score == ann.score
    with pytest.raises(AttributeError):
        del ann.score
    ann.score += 1
    assert 1 == ann.score


def test_a_missing_attribute_is_an_error_as_for_any_object():
    # GIVEN
    timed = Timed(1, 2)
    del timed.length

    # THEN
    with pytest.raises(
        AttributeError, match="'Timed' object has no attribute 'length'"
    ):
        _ = timed.length
    with pytest.raises(AttributeError, match="'Timed' object has no attribute 'l"):
        del timed.length
    with pytest.raises(AttributeError, match="type object 'Timed' has no attribute"):
        _ = Timed.length
    assert "Timed(start=1, end=2, length='?')" == repr(timed)
    assert not hasattr(Timed, "length")


def test_copies_are_objects_of_their_own_and_pickles_references():
    # GIVEN
    bob: Any = Captain("bob", team="red")
    bob.mates["me"] = bob

    # WHEN
    shallow, deep = copy.copy(bob), copy.deepcopy(bob)
    bob.win()

    # THEN
    assert (["cup"], 0) == (shallow.items, shallow.score)
    assert ([], 0) == (deep.items, deep.score)
    assert deep.mates["me"] is deep
    assert (Captain, Captain) == (type(shallow), type(deep))
    assert bob is pickle.loads(pickle.dumps(bob))
    assert 9 == dataclasses.replace(bob, score=9).score


def test_what_contains_itself_can_be_shown():
    # GIVEN
    bob = Captain("bob", team="red")

    # WHEN
    bob.mates["me"] = bob

    # THEN
    assert repr(bob).endswith("mates=TDict({'me': ...}))")


def test_an_undone_transaction_leaves_it_as_it_was():
    # GIVEN
    ann = Player("ann")

    def body() -> None:
        ann.win()
        ann.items.append("hat")
        made.append(Player("new"))
        raise KeyError

    # WHEN
    made: list[Player] = []
    attempted(body)

    # THEN
    assert Player("ann") == ann
    with pytest.raises(AttributeError):
        _ = made[0].name


class Piece(TObject, also=("square", "owner")):
    kind: str


class Pawn(Piece):
    steps: int = 0


@pytest.mark.parametrize("run", RUNS)
def test_a_dataclass_has_more_than_its_fields(run):
    def body():
        piece: Any = Piece("rook")
        pawn: Any = Pawn("pawn", 2)
        before = hasattr(pawn, "square"), repr(pawn), pawn == Pawn("pawn", 2)
        pawn.square, piece.owner = "a2", pawn
        del piece.owner
        pawn.owner = "ann"
        its = vars(copy.copy(pawn)), hasattr(piece, "owner")
        return before, its, pawn == Pawn("pawn", 2), dataclasses.astuple(pawn)

    before = (False, "Pawn(kind='pawn', steps=2)", True)
    its = {"kind": "pawn", "steps": 2, "square": "a2", "owner": "ann"}
    assert (before, (its, False), True, ("pawn", 2)) == run(body)


class Seat(TObject, also=("wake",)):
    name: str
    wake = -1


class Last(Seat):
    row: int = 9


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("kind", [Seat, Last])
def test_a_dataclass_has_what_its_class_has_until_it_is_set(kind, run):
    def body():
        seat: Any = kind("ann")
        before = seat.wake, dict(vars(seat))
        seat.wake = 3
        return before, seat.wake, kind.wake, kind("bob").wake, vars(seat)["wake"]

    its = {"name": "ann"} | ({"row": 9} if kind is Last else {})
    assert ((-1, its), 3, -1, -1, 3) == run(body)

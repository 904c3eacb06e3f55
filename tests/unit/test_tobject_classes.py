"""What class statements of shared objects say: names, bases and attributes."""

from __future__ import annotations

import inspect
import typing
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from txloop import TObject, TxConfigurationError
from txloop.cells.assigned import assigned_names

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("dataclass", [False, True])
def test_what_shared_objects_need_has_names_that_programs_do_not_give(dataclass):
    class Empty(TObject, dataclass=dataclass):
        pass

    names = {name for kind in Empty.__mro__ for name in vars(kind)}

    assert "_tx_row" in names
    assert not [one for one in names if not one.startswith(("__", "_tx_"))]


def test_names_that_a_board_has_are_no_others():
    class Piece(TObject, dataclass=False):
        def __init__(self, row: int) -> None:
            self._row, self._size, self._names = row, 1, ["pawn"]

        def _start(self) -> list[object]:
            return [self._row, self._size, *self._names]

    piece = Piece(3)
    piece._row += 1

    assert [4, 1, "pawn"] == piece._start()


def test_names_that_shared_objects_need_are_refused():
    with pytest.raises(TxConfigurationError, match=r"uses the name '_tx_size'.*rename"):

        class Sized(TObject, dataclass=False):
            def __init__(self) -> None:
                self._tx_size = 1

    with pytest.raises(TxConfigurationError, match=r"uses the name '_tx_like'"):

        class Liked(TObject):
            def _tx_like(self) -> None:  # type: ignore[override] # that is the point
                pass


def test_what_is_assigned_on_a_class_is_seen_by_derived_classes():
    # GIVEN
    class Ticket(TObject, dataclass=False):
        sold = 0

        def __init__(self) -> None:
            type(self).sold += 1
            self.number = self.sold

    class Return(Ticket):
        pass

    # WHEN
    numbers = [kind().number for kind in (Ticket, Return, Return, Ticket)]

    # THEN
    assert [1, 2, 3, 2] == numbers
    assert (2, 3) == (Ticket.sold, Return.sold)


def test_its_own_bases_say_what_it_is_equal_to():
    class Sized:
        def __eq__(self, other: object) -> bool:
            return isinstance(other, Sized)

        def __hash__(self) -> int:
            return 5

    class Box(TObject, Sized, dataclass=False):  # type: ignore[misc] # has a hash
        pass

    # THEN
    assert Box() == Box()
    assert 5 == hash(Box())
    with pytest.raises(TxConfigurationError, match=r"name TObject first"):

        class Other(Sized, TObject, dataclass=False):  # type: ignore[misc] # likewise
            pass


def test_an_attribute_that_its_class_has_lost_is_not_shown():
    class Pair(TObject):
        first: int = 1
        second: int = 2

    pair = Pair()
    del Pair.second

    assert {"first": 1} == vars(pair)


def test_what_a_class_declares_as_its_own_is_no_attribute_of_objects():
    """Annotations are texts, or what they name."""

    class Declared:
        __annotations__ = {  # as Python makes them
            "own": int,
            "limit": ClassVar[int],
            "bare": ClassVar,
            "text": "int",
            "short": "ClassVar[int]",
            "long": "typing.ClassVar[int]",
        }

    assert ["own", "text"] == assigned_names(Declared)


class Loud(TObject, dataclass=False):
    volume = 1

    def shout(self):
        self.volume += 1
        return self.volume


class Shape(TObject, dataclass=False):
    def __init__(self, size, shared=None):
        self.size = size


class LoudShape(Loud, Shape):
    pass


class Signed(Loud, Shape):
    def __init__(self, name):
        super().__init__(3)
        self.name = name


class Quiet(Loud):
    pass


def test_a_base_without_a_constructor_leaves_it_to_the_next_one():
    both, named = LoudShape(size=3, shared="kept"), Signed("n")

    assert (3, 2) == (both.size, both.shout())
    assert (3, 2, "n") == (named.size, named.shout(), named.name)


@pytest.mark.parametrize("cls", [Loud, Quiet])
def test_where_there_is_none_no_arguments_are_taken(cls):
    assert 2 == cls().shout()
    with pytest.raises(TypeError, match=rf"{cls.__name__}\(\) takes no arguments"):
        cls(1)


class Told:
    size: int = 3

    def __init__(self, name: str, tags: tuple[str, ...] = (), *, big: bool = False):
        self.name, self.tags, self.big = name, tags, big

    def add(self, tag: str) -> None:
        self.tags += (tag,)


Plain = Told


class Told(TObject, dataclass=False):  # type: ignore[no-redef] # the same, but shared
    size: int = 3

    def __init__(self, name: str, tags: tuple[str, ...] = (), *, big: bool = False):
        self.name, self.tags, self.big = name, tags, big

    def add(self, tag: str) -> None:
        self.tags += (tag,)


TOLD: dict[str, Callable[[Any], object]] = {
    "the signature of the class": inspect.signature,
    "that of its constructor": lambda cls: inspect.signature(cls.__init__),
    "the arguments": lambda cls: inspect.getfullargspec(cls.__init__),
    "types of attributes": typing.get_type_hints,
    "types of arguments": lambda cls: typing.get_type_hints(cls.__init__),
    "names": lambda cls: _names(cls.__init__),
}


def _names(constructor):
    return constructor.__name__, constructor.__qualname__, constructor.__module__


@pytest.mark.parametrize("case", TOLD)
def test_tools_are_told_of_a_class_what_its_text_says(case):
    told = TOLD[case]

    assert told(Plain) == told(Told)

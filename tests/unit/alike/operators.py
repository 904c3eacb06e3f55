"""Puts every operator between containers and operands of many types."""

from __future__ import annotations

import operator
from collections import (
    ChainMap,
    Counter,
    OrderedDict,
    UserDict,
    UserList,
    defaultdict,
    deque,
)
from collections.abc import Callable, Iterator, Mapping, Set
from functools import partial
from typing import Any

import txloop
from tests.unit.alike.objects import PYPY, Differences

BINARY: tuple[str, ...] = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "lshift",
)
BINARY += ("rshift", "and", "or", "xor")
COMPARING = ("eq", "ne", "lt", "le", "gt", "ge")
CHANGING = ("add", "sub", "mul", "and", "or", "xor")


def kind_of(name: str, answer: Callable[[str, Any], Any], base: type = object) -> type:
    """Return a class with all methods of operators, those of the right side too."""
    members: dict[str, Any] = {
        "__hash__": lambda self: 1,
        "__repr__": lambda self: f"{name}()",
    }
    for operator_name in BINARY:
        members[f"__r{operator_name}__"] = _method(operator_name, answer)
    for operator_name in COMPARING:
        members[f"__{operator_name}__"] = _method(operator_name, answer)
    return type(name, (base,), members)


def _method(name: str, answer: Callable[[str, Any], Any]) -> Any:
    return lambda self, other: answer(name, other)


def told(name: str, left: Any) -> Any:
    return name, repr(left)


def refused(name: str, left: Any) -> Any:
    return NotImplemented


def raised(name: str, left: Any) -> Any:
    raise LookupError(name)


Told = kind_of("Told", told)
Index = kind_of("Index", told)
Index.__index__ = lambda self: 2  # type: ignore[attr-defined] # of a class made here


class Parts(Told):  # type: ignore[misc,valid-type] # a class made here
    def __iter__(self) -> Iterator[Any]:
        return iter([("a", 1), ("b", 2)])


class OnlyIndex:
    def __index__(self) -> int:
        return 2


class OwnList(list[Any]):
    pass


class OwnSet(set[Any]):
    pass


class OwnFrozen(frozenset[Any]):
    pass


class OwnDict(dict[Any, Any]):
    pass


class OnlyKeys:
    def keys(self) -> list[str]:
        return ["a", "z"]

    def __getitem__(self, key: str) -> int:
        return {"a": 5, "z": 5}[key]


class AbstractSet(Set[int]):
    def __init__(self, parts: Any = (1,)) -> None:
        self.parts = list(parts)

    def __contains__(self, part: object) -> bool:
        return part in self.parts

    def __iter__(self) -> Iterator[int]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __repr__(self) -> str:
        return f"AbstractSet({self.parts})"


class AbstractMapping(Mapping[str, int]):
    def __getitem__(self, key: str) -> int:
        return {"a": 9}[key]

    def __iter__(self) -> Iterator[str]:
        return iter("a")

    def __len__(self) -> int:
        return 1

    def __repr__(self) -> str:
        return "AbstractMapping()"


class Without:
    __radd__ = __rmul__ = __ror__ = None


OTHERS: dict[str, Callable[[], Any]] = {
    "what answers": Told,
    "what refuses": kind_of("Refused", refused),
    "what raises": kind_of("Raised", raised),
    "what answers and has parts": Parts,
    "what answers and has an index": Index,
    "what has an index": OnlyIndex,
    "a list that answers": kind_of("ToldList", told, list),
    "a dict that answers": kind_of("ToldDict", told, dict),
    "a set that answers": kind_of("ToldSet", told, set),
    "a deque that answers": kind_of("ToldDeque", told, deque),
    "an int that answers": kind_of("ToldInt", told, int),
    "a list of its own class": lambda: OwnList([1]),
    "a set of its own class": lambda: OwnSet({1}),
    "a frozenset of its own class": lambda: OwnFrozen({1, 7}),
    "a dict of its own class": lambda: OwnDict(a=3),
    "what has keys": OnlyKeys,
    "an abstract set": AbstractSet,
    "an abstract mapping": AbstractMapping,
    "what has no operators": Without,
    "what is no operand": object,
    "keys": {"a": 1}.keys,
    "items": {"a": 1}.items,
    "values": {"a": 1}.values,
    "an iterator": lambda: iter([1]),
    "a class": lambda: int,
}
for _one in (2, True, 0, -1, None, 1.5, "ab", b"ab", (1,), range(2), frozenset({1})):
    OTHERS[repr(_one)] = lambda one=_one: one  # type: ignore[misc] # bound in the loop

PLAIN: dict[str, Callable[[], Any]] = {
    "list": lambda: [1, "a"],
    "dict": lambda: {"a": 1},
    "set": lambda: {1, 2},
    "deque": lambda: deque([1]),
    "short deque": lambda: deque([1], 2),
    "defaultdict": lambda: defaultdict(int, a=1),
    "OrderedDict": lambda: OrderedDict(a=1, b=2),
    "Counter": lambda: Counter("aab"),
    "UserList": lambda: UserList([1]),
    "UserDict": lambda: UserDict(a=1),
    "ChainMap": lambda: ChainMap({"a": 1}),
    "bytearray": lambda: bytearray(b"a"),
}
KINDS = list(PLAIN)[:8]

BETWEEN = [getattr(operator, name + "_" * (name in ("and", "or"))) for name in BINARY]
BETWEEN += [getattr(operator, name) for name in COMPARING]
IN_PLACE = [getattr(operator, f"i{name}") for name in CHANGING]


def is_known(kind: str, other: str, how: Callable[..., Any], side: str) -> bool:
    """Tell whether it is known not to be alike.

    What stands on the left decides about these before a container is asked, in C: a
    list or a deque with an operator of its own, `%` of text, and `*=`, which does not
    find there that a sequence is on the right. A Counter keeps what `&=` did before it
    failed. An OrderedDict names what is wrong in a word of its own, which an iterator
    tells once, and PyPy's in others again.
    """
    if side == "left":
        formats = other in ("'ab'", "b'ab'", "bytearray") and how is operator.mod
        on_list = other == "a list that answers" and how is operator.add
        on_deque = PYPY and "deque" in other and "deque" in kind and how is operator.add
        ordered = PYPY and other == kind == "OrderedDict"
        return formats or on_list or on_deque or ordered
    if PYPY and "deque" in kind and how in (operator.add, operator.mul):
        # Those of PyPy ask no other operand, as those of CPython and shared ones do.
        return any(one in other for one in ("answer", "raises", "ab'", "UserList"))
    if side == "both" and how is operator.imul:
        return kind not in ("list", "deque", "short deque")
    if how is operator.iand and kind == "Counter":
        return True
    return kind == "OrderedDict" and how is operator.ior and (PYPY or "iter" in other)


def main() -> None:
    """Compare, and print what differs."""
    differences = Differences()
    for kind in KINDS:
        for other, make in (OTHERS | PLAIN).items():
            for how in (*BETWEEN, *IN_PLACE):
                where = f"{how.__name__}: {kind} and {other}"
                if not is_known(kind, other, how, "right"):
                    differences.compare(where, PLAIN[kind], partial(right, how, make))
            for how in BETWEEN:
                if not is_known(kind, other, how, "left"):
                    differences.compare(
                        f"{how.__name__}: {other} and {kind}",
                        PLAIN[kind],
                        partial(left, how, make),
                    )
        for other in KINDS:
            for how in (*BETWEEN, *IN_PLACE):
                if not is_known(kind, other, how, "both"):
                    differences.compare(
                        f"{how.__name__}: {kind} and {other}, both shared",
                        PLAIN[kind],
                        partial(both, how, other),
                    )


def right(how: Callable[..., Any], make: Callable[[], Any], one: Any) -> Any:
    return how(one, make())


def left(how: Callable[..., Any], make: Callable[[], Any], one: Any) -> Any:
    return how(make(), one)


def both(how: Callable[..., Any], kind: str, one: Any) -> Any:
    return how(one, like(one, kind))


def like(one: Any, kind: str) -> Any:
    """Return another object, which is shared if this one is."""
    made = PLAIN[kind]()
    return made if type(one) is one.__class__ else txloop.share(made)


if __name__ == "__main__":
    txloop.like_plain()
    main()

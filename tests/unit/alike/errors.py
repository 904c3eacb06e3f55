"""Calls every method of the plain types and of their containers with what is wrong."""

from __future__ import annotations

import operator
from collections import deque
from functools import partial
from typing import Any

import txloop
from tests.unit.alike.objects import MAKERS, PYPY, Differences, copied

FAR = 10**30


class Own:
    def __repr__(self) -> str:
        return "Own()"


class Odd:
    def __index__(self) -> int:
        raise ZeroDivisionError("no index")

    def __repr__(self) -> str:
        return "Odd()"


class Endless:
    def __iter__(self) -> Any:
        raise LookupError("no parts")

    def __repr__(self) -> str:
        return "Endless()"


VALUES: list[Any] = [1, "a", "b", "abc", None, 1.5, True, b"ab", 99, -99, FAR, -FAR]
VALUES += [[], {}, (), [1], {"a": 5}, {1, 2}, frozenset({1}), range(2), (1,), int]
VALUES += [([1, 2, 3],), [(1, 2, 3)], [1, (2, 3)], ["ab", "c"], ["abc"], [5, [1]]]
VALUES += [Own(), Odd(), Endless(), deque([1])]

PAIRS: list[tuple[Any, ...]] = [("a", "b"), ("a", 1), (0, []), (1, 2), (1, "a")]
PAIRS += [(1, None), (1, 1.5), (1, FAR), (99, 1), (FAR, 1), (-FAR, 1), ([], [])]
PAIRS += [(None, 1), ([1], None), ({1: 2}, {3: []}), (Own(), 1), (Odd(), 1)]
PAIRS += [(1, 0, 1), (1, 0, "a"), ("a", 1, 2), (1, 2, 3), ([1], [2], 5), (1, 2, 3, 4)]

KEYWORDS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {"key": "a"}),
    ((), {"key": 5}),
    ((), {"key": None, "reverse": True}),
    ((), {"reverse": []}),
    ((), {"value": 1}),
    (("a",), {"value": 1}),
    ((), {"index": 0}),
    ((), {"n": 1}),
    ((), {"iterable": [1]}),
    (("a",), {"default": 1}),
    (("a",), {"last": False}),
    ((), {"last": False}),
    ((1,), {"other": 1}),
    ((), {"self": 1}),
]

INDEXES: list[Any] = [*VALUES, slice(0, 1), slice(0, "a"), slice(None, None, 2)]
INDEXES += [slice(None, None, 0), slice(1.5, None)]

ON_PYPY = ("empty set.remove", "empty set.discard", "list.sort", "empty list.sort")
"""What asks for no hash where a set is empty, and takes more than it should."""


def is_known(kind: str, name: str, given: tuple[Any, ...]) -> bool:
    """Tell whether it is known not to be alike.

    An OrderedDict keeps the key that was there, where an equal one of another type is
    moved; a Counter keeps what it has counted before the element that is wrong.
    """
    if name == "move_to_end":
        return given[:1] == (True,)
    return "Counter" in kind and name in ("update", "subtract") and [5, [1]] in given


def call_one(
    differences: Differences,
    where: str,
    make: Any,
    given: tuple[Any, ...],
    named: dict[str, Any],
) -> None:
    """Compare a call of a method.

    How many arguments it takes, and which, is said in words of the interpreter that
    are others for functions in C; so only the type of such an error counts.
    """
    name = where.rpartition(".")[2]

    def act(one: Any) -> Any:
        return getattr(one, name)(*copied(given), **copied(named))

    counted = bool(named) or not accepts(act, make)
    if counted and PYPY:
        return  # its own functions take more than they should
    differences.compare(f"{where} {given} {named}", make, act, words=not counted)


def put(index: Any, value: Any, one: Any) -> None:
    one[index] = copied(value)


def asked(how: Any, index: Any, one: Any) -> Any:
    return how(one, copied(index))


def accepts(act: Any, make: Any) -> bool:
    """Tell whether a plain one takes that many arguments."""
    try:
        act(make())
    except TypeError as error:
        return not any(
            word in str(error) for word in ("argument", "expected ", "takes")
        )
    except Exception:
        return True
    return True


def main() -> None:
    """Compare, and print what differs."""
    differences = Differences()
    for kind, make in MAKERS.items():
        for name in sorted(set(dir(make()))):
            if name.startswith("_"):
                continue
            where = f"{kind}.{name}"
            if PYPY and where in ON_PYPY:
                continue
            calls = [((one,), {}) for one in VALUES] + [(two, {}) for two in PAIRS]
            for given, named in [((), {}), *calls, *KEYWORDS]:
                if not is_known(kind, name, given):
                    call_one(differences, where, make, given, named)
        for index in INDEXES:
            for value in (1, [1, 2], Own()):
                differences.compare(
                    f"{kind}[{index!r}] = {value!r}",
                    make,
                    partial(put, index, value),
                )
            for how in (operator.getitem, operator.delitem, operator.contains):
                differences.compare(
                    f"{how.__name__} {kind} {index!r}",
                    make,
                    partial(asked, how, index),
                )
        differences.compare(f"hash {kind}", make, hash)
        differences.compare(f"call {kind}", make, lambda one: one())
        differences.compare(f"attribute {kind}", make, lambda one: one.missing)


if __name__ == "__main__":
    txloop.like_plain()
    main()

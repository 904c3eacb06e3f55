"""Goes over sets that were made and changed in many ways, prints and empties them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import txloop
from tests.unit.alike.objects import PYPY

if TYPE_CHECKING:
    from collections.abc import Callable

_chance = random.Random(7)

MADE: dict[str, Callable[[list[int]], set[int]]] = {
    "one by one": lambda numbers: {number for number in numbers},  # noqa: C416 # so
    "of a list": set,
    "of a display": lambda numbers: eval(f"{{{', '.join(map(str, numbers))}}}"),  # so
    "of two": lambda numbers: set(numbers[::2]) | set(numbers[1::2]),
}


def add(one: Any, numbers: list[int]) -> None:
    for number in numbers:
        one.add(number)


def discard(one: Any, numbers: list[int]) -> None:
    for number in numbers[: len(numbers) // 2]:
        one.discard(number)


def take_turns(one: Any, numbers: list[int]) -> None:
    for number in numbers[::2]:
        one.discard(number)
        one.add(number + 1)
        one.discard(one.pop())


def update(one: Any, numbers: list[int]) -> None:
    one.update({number + 3 for number in numbers})
    one -= {*numbers[::3]}


CHANGES: dict[str, Callable[[Any, list[int]], None]] = {
    "nothing": lambda one, numbers: None,
    "discard": discard,
}
if PYPY:
    CHANGES |= {"add": add, "take turns": take_turns, "update": update}


def compare(what: str, plain: Any, shared: Any, emptied: bool = True) -> None:
    """Print what differs between two sets, and between what they pop."""
    wanted: list[Any] = [list(plain), repr(plain)]
    found: list[Any] = [list(shared), repr(shared)]
    if emptied or PYPY:
        wanted.append([plain.pop() for _ in wanted[0]])
        found.append([shared.pop() for _ in found[0]])
    if wanted != found:
        print(what, wanted, found, sep="\n")


def main() -> None:
    """Compare, and print what differs."""
    for how, made in MADE.items():
        for change, do in CHANGES.items():
            for _ in range(20):
                # Without two that want the same slot, or any in the order they came.
                numbers = _chance.sample(range(8), 6)
                if change == "nothing" or PYPY:
                    numbers = wide(_chance.randrange(1, 60))
                plain = made(numbers)
                shared = txloop.share(plain)
                do(plain, numbers)
                do(shared, numbers)
                compare(
                    f"{how}, {change}: {numbers}", plain, shared, change != "nothing"
                )
    for count in range(1, 200):
        plain, shared = set(range(count)), txloop.share(set(range(count)))
        compare(f"{count} numbers", plain, shared)
        begun: list[set[int]] = [set(), set(range(count))]
        for plain, numbers in zip(
            begun, [wide(count), [*range(count * 3)]], strict=True
        ):
            shared = txloop.share(plain)
            add(plain, numbers)
            add(shared, numbers)
            compare(f"{numbers} added", plain, shared, emptied=False)


def wide(count: int) -> list[int]:
    """Return numbers of which many want the same slots."""
    return _chance.sample(range(10**6), count)


if __name__ == "__main__":
    txloop.like_plain()
    main()

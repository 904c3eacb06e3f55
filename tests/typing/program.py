"""A program as a user writes it: checked with `mypy --strict`, and run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, assert_type

import txloop
from txloop import TCount, TCounter, TDict, TList, TObject, TSet, TVar


class Player(TObject):
    """A player of the game."""

    name: str
    score: int = 0
    items: TList[str] = field(default_factory=TList)
    friends: TSet[str] = field(default_factory=TSet)

    @property
    def rank(self) -> str:
        return f"{self.name}: {self.score}"

    def win(self, points: int = 1) -> None:
        self.score += points


class Captain(Player, kw_only=True):
    """A player who leads a team."""

    team: str
    mates: TDict[str, Player] = field(default_factory=TDict)


@dataclass
class Stop:
    name: str
    lines: list[int]


# Containers

stock: TDict[str, int] = TDict()
stock["apples"] = 3
stock["apples"] -= 1
apples: int = stock["apples"]
prices = TDict({"apples": 1.5}, pears=2.0)
assert_type(prices["apples"], float)
assert_type(stock.get("pears"), int | None)
assert_type(stock.copy(), dict[str, int])
named = TDict(a=1)
assert_type(named, TDict[str, int])
by_place = TDict({(1, 2): "x"})
assert_type(by_place, TDict[tuple[int, int], str])
pairs: list[tuple[str, int]] = list(stock.items())
merged: dict[str, int] = stock | {"pears": 1}
stock |= {"pears": 1}

grid: TList[TList[int]] = TList(TList([0] * 3) for _ in range(2))
grid[1][2] = 1
grid[0].append(5)
cell: int = grid[1][2]
row: list[int] = grid[0][0:2]
rows: list[TList[int]] = grid.copy()
best: int = max(max(line) for line in grid)
grid[0].sort(key=lambda value: -value, reverse=True)
words = TList(["b", "a"], whole=True)
words.sort()
words += ["c"]
longer: list[str] = words + list("d")
assert_type(words.pop(), str)
assert_type(words[-1], str)

seen: TSet[str] = TSet("ab")
seen.add("c")
seen |= {"d"}
both: set[str] = seen & {"a"}
either: set[str | int] = seen | {1}
is_there: bool = "a" in seen and seen >= {"a"}

ids = TCount(1)
new_id: int = next(ids)

hits = TCounter()
hits.add()
hits += 2
total: int = hits.value
weight = TCounter(1.5)
weight.add(0.5)
assert_type(weight.value, float)
enough: bool = hits > 2

newest: TVar[str | None] = TVar(None)
newest.set("a")
newest.value = "b"
text: str | None = newest.get()

# Objects

ann = Player("ann", score=3)
bob = Captain("bob", 1, team="red")
ann.win(2)
bob.items.append("hat")
bob.mates["ann"] = ann
names: list[str] = [mate.name for mate in bob.mates.values()]
assert_type(ann.rank, str)
assert_type(bob.friends, TSet[str])

# Transactions


@txloop.transactional
def pick(name: str) -> int:
    if name not in stock:
        txloop.retry(timeout=0.0)
        return 0
    stock[name] -= 1
    return stock[name]


def pick_any() -> int | str:
    found = txloop.or_else(lambda: pick("apples"), lambda: "nothing")
    assert_type(found, int | str)
    return found


async def handle() -> None:
    left: int = await txloop.atomically(pick, "apples")
    other: int | str = await txloop.atomically(pick_any)
    txloop.on_commit(ann.win, points=2)
    assert (left, other) == (1, 0)


# Structures

board = txloop.share([[0, 0], [0, 0]])
assert_type(board, TList[Any])
assert_type(txloop.share({"a": 1}), TDict[str, Any])
assert_type(txloop.share({1, 2}), TSet[int])
board[1][0] = 1
stop = txloop.share(Stop("a", [1]))
stop.lines.append(2)
copied: object = txloop.plain(stop)

assert (apples, row, best, is_there, total, enough) == (2, [0, 0], 5, True, 3, True)
assert (merged, pairs) == ({"apples": 2, "pears": 1}, [("apples", 2)])
assert (both, either) == ({"a"}, {"a", "b", "c", "d", 1})
assert (longer, text, names, cell) == (["a", "b", "c", "d"], "b", ["ann"], 1)
assert stock == {"apples": 2, "pears": 1}
assert grid == [[0, 0, 0, 5], [0, 0, 1]]
assert seen == {"a", "b", "c", "d"}
assert board == [[0, 0], [1, 0]]
assert copied == Stop("a", [1, 2])

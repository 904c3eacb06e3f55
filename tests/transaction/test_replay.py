"""Random pieces, replayed one after another on plain objects in the order of commit.

The journal that each piece writes to tells that order. Pieces read, write, add others,
and some wait until the journal is long enough; whatever travels together or runs again,
the replay must come to the same.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import txloop

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping

    from txloop.transaction import TransactionQueue

pytestmark = pytest.mark.slow

PIECES = 120
KEYS = "abcdef"


def step(values: MutableMapping[str, int], seed: int) -> int:
    """Change the values as the seed says; return what was seen."""
    chance = Random(seed)
    seen = 0
    for _ in range(chance.randrange(1, 4)):
        source, target = chance.choice(KEYS), chance.choice(KEYS)
        seen = seen * 31 + values[source]
        values[target] = (values[source] * 7 + seed) % 1_000_003
    return seen


def play(
    queue: TransactionQueue,
    values: txloop.TDict[str, int],
    journal: txloop.TList[tuple[int, int]],
    seed: int,
) -> None:
    chance = Random(seed + 1)
    if chance.random() < 0.1 and len(journal) < PIECES // 3:
        txloop.retry()
    if chance.random() < 0.3:
        queue.add(play, queue, values, journal, seed + 1_000_000)
    journal.append((seed, step(values, seed)))


def play_to(
    queue: TransactionQueue,
    last: int,
    journal: Any,
    play: Callable[..., None],
    *args: Any,
) -> None:
    """Play, but raise once the journal is long enough."""
    play(queue, *args)
    if len(journal) >= last:
        raise StopAsyncIteration(last)


def replay(journal: txloop.TList[tuple[int, int]]) -> dict[str, int]:
    values = dict.fromkeys(KEYS, 1)
    for seed, seen in journal:
        assert seen == step(values, seed)
    return values


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_commits_explains_everything(
    queue: TransactionQueue, seed: int
) -> None:
    values = txloop.TDict(dict.fromkeys(KEYS, 1))
    journal: txloop.TList[tuple[int, int]] = txloop.TList()
    for number in range(PIECES):
        queue.add(play, queue, values, journal, seed * 1000 + number)

    queue.run()

    assert replay(journal) == values
    assert len(journal) == queue.number_of_transactions_executed()
    assert len({piece for piece, _ in journal}) == len(journal) >= PIECES


@pytest.mark.parametrize("seed", range(3))
def test_so_it_does_up_to_an_exception(queue: TransactionQueue, seed: int) -> None:
    values = txloop.TDict(dict.fromkeys(KEYS, 1))
    journal: txloop.TList[tuple[int, int]] = txloop.TList()
    last = PIECES // 2
    for number in range(PIECES):
        args = (play, values, journal, seed * 1000 + number)
        queue.add(play_to, queue, last, journal, *args)

    with pytest.raises(StopAsyncIteration, match=str(last)):
        queue.run()

    assert last <= len(journal) == queue.number_of_transactions_executed()
    assert replay(journal) == values

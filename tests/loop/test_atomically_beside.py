"""Short transactions of coroutines, and the code that is not marked beside them."""

from __future__ import annotations

import asyncio

import pytest

from txloop import TDict, TVar, atomically

counter = TVar(0)
shared = TDict[int, int]()


@pytest.fixture(autouse=True)
def _clean():
    counter.set(0)
    shared.clear()


@pytest.fixture(params=["serial", "rehearsal", "processes", "stock"])
def kind(request):
    """Here the stock loop counts as one that runs transactions."""
    return request.param


def short_by_now(loop):
    """Let it be known that `get_away` and the counter's `get` are short."""

    async def often():
        for number in range(30):
            shared[number] = number
            await atomically(get_away, number)
            await atomically(counter.get)

    loop.run_sync(often)


def get_away(number):
    del shared[number]


def test_none_runs_in_the_middle_of_code_that_is_not_marked(loop):
    # GIVEN
    async def change():
        counter.set(1)
        seen = atomically(counter.get)
        counter.set(2)
        left = [atomically(get_away, number) for number in shared]
        late = len(shared)
        await asyncio.gather(*left)
        return await seen, late, len(shared)

    short_by_now(loop)
    shared.update({number: number for number in range(5)})

    # WHEN
    found = loop.run_sync(change)

    # THEN
    assert (2, 5, 0) == found


def test_one_that_was_cancelled_before_it_began_does_not_run(loop):
    async def cancel():
        shared.update({1: 1, 2: 2})
        first, second = (atomically(get_away, number) for number in (1, 2))
        first.cancel()
        await second
        return set(shared)

    short_by_now(loop)

    assert {1} == loop.run_sync(cancel)


def test_who_awaits_short_ones_in_a_circle_lets_others_run(loop):
    others: list[str] = []

    async def wait():
        while not others:
            await atomically(counter.get)

    async def both():
        asyncio.get_running_loop().call_later(0.01, others.append, "ran")
        await wait()

    short_by_now(loop)

    loop.run_sync(both, timeout=40)

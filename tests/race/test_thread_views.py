"""Threads that look at one version while the loop thread makes the next ones.

Keys come and go, lists are replaced, and sets hold one element at any time: whatever a
thread sees must be of one moment. What one thread has read of a list is no answer to
another one.
"""

from __future__ import annotations

import random
import threading

import pytest

from tests.engine import Gate, running
from txloop import TDict, TList, TSet, TVar, inevitable
from txloop.stm.store import committed
from txloop.stm.types import MISSING

TOTAL = 1000
KEYS = range(20)
LENGTH = 600  # several chunks


def look(accounts, row, members, seed):
    """Return what does not fit together, or None."""
    choices = random.Random(seed)
    for _ in range(5):
        total, size, keys = sum(accounts.values()), len(accounts), list(accounts)
        if (total, size) != (TOTAL, len(set(keys))):
            return f"{total} in {size} accounts: {keys}"
        if keys != [key for key, _ in accounts.items()]:
            return "the order changes"
        key = choices.choice(KEYS)
        if (key in accounts) != (key in keys):
            return f"{key} comes or goes"
        items = [row[0], row[-1], *row[300:302], *row]
        if len(set(items)) != 1 or len(items) != LENGTH + 4:
            return "items differ"
        if not len(members) == len(list(members)) == 1:
            return "members come or go"
    return None


def change(accounts, row, members, choices):
    """Move an account into another one or out of it, and replace the rest."""
    source, target = choices.sample(KEYS, 2)
    mine, other = accounts.get(source), accounts.get(target)
    writes = []
    if other is not None and mine is not None:
        writes = [(accounts, source, MISSING), (accounts, target, mine + other)]
    elif other is not None:
        writes = [
            (accounts, source, other // 2),
            (accounts, target, other - other // 2),
        ]
    (member,) = members
    committed.install(
        [*writes, (members, member, MISSING), (members, member + 1, True)]
    )
    row[:] = [choices.random()] * LENGTH


@pytest.mark.slow
def test_threads_see_one_version_while_others_are_made():
    # GIVEN
    accounts = TDict(dict.fromkeys(KEYS, TOTAL // len(KEYS)))
    row, members, choices = TList([0.0] * LENGTH), TSet([0]), random.Random(1)
    with running("threads", 3) as engine:
        short = engine.short()

        # WHEN
        results = []
        for number in range(150):
            results.append(
                engine.submit(
                    look, accounts, row, members, number, profile=short, watched=False
                )
            )
            engine.turn()
            for _ in range(8):
                change(accounts, row, members, choices)
        engine.wait(*results)

    # THEN
    assert {None} == {result.value for result in results}


def test_what_the_loop_thread_has_read_is_no_answer_to_a_thread(tmp_path):
    # GIVEN
    items, marker = TList([0]), TVar(0)
    started, go, found = (Gate(tmp_path / name) for name in ("started", "go", "found"))

    def look_late():
        before = marker.value
        started.open()
        go.wait()
        seen = before, list(items)
        found.open()
        return seen

    def look_meanwhile():
        inevitable()
        seen = list(items)
        go.open()
        found.wait()
        return seen

    with running("threads", 2) as engine:
        # WHEN
        late = engine.submit(look_late)
        engine.until(lambda: started.is_open)
        items[0] = marker.value = 1
        here = engine.submit(look_meanwhile)
        engine.wait(late, here)

    # THEN
    assert [1] == here.value
    assert (0, [0]) == late.value


def test_what_another_thread_has_read_is_no_answer_to_the_loop_thread():
    # GIVEN
    own, foreign = TList([0]), TList([0])

    def read_often(items):
        assert {0} == {items[0] for _ in range(100)}

    # WHEN
    read_often(own)
    thread = threading.Thread(target=read_often, args=(foreign,))
    thread.start()
    thread.join()

    # THEN
    assert own._tx_view is not None, "reading often does not lead to a view"
    assert foreign._tx_view is None

"""Containers that are changed while they are gone over; a process for each program."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

HEAD = """
import asyncio, json, sys
import txloop

txloop.like_plain(live=True)
txloop.install("serial")

ACTIONS = {
    "remove this": lambda rows, one: rows.remove(one) if one in rows else None,
    "remove first": lambda rows, one: rows and rows.remove(rows[0]),
    "append": lambda rows, one: rows.append(one + 100),
    "insert": lambda rows, one: rows.insert(0, one + 100),
    "pop": lambda rows, one: rows and rows.pop(),
    "replace": lambda rows, one: rows and rows.__setitem__(-1, one + 100),
    "set all": lambda rows, one: rows.__setitem__(slice(None), [7, 8, 9]),
    "sort": lambda rows, one: rows.sort(),
    "nothing": lambda rows, one: None,
}


def go_over(rows, script, way=enumerate):
    script, seen = list(script), []
    for place, one in way(rows):
        seen.append([place, one])
        if not script:
            break
        ACTIONS[script.pop()](rows, one)
        if len(seen) % 3 == 0:
            for inner in rows:
                seen.append(inner)
                if script:
                    ACTIONS[script.pop()](rows, inner)
    return seen, list(rows)
"""

SAME_AS_PLAIN = """
def backwards(rows):
    return ((0, one) for one in reversed(rows))

async def main():
    for size, script in json.loads(sys.argv[1]):
        for way in (enumerate, backwards):
            expected = go_over(list(range(size)), script, way)
            found = go_over(txloop.TList(range(size)), script, way)
            assert expected == found, (size, script, way)
            shared = txloop.TList(range(size))
            found = await txloop.atomically(go_over, shared, script, way)
            assert expected == found, (size, script, way)
            assert expected[1] == shared
asyncio.run(main())
"""

FAILS_AS_PLAIN = """
from collections import Counter, OrderedDict, defaultdict, deque

CHANGES = {
    "dict": [lambda d: d.pop(1), lambda d: d.update({5: 5}), lambda d: d.clear(),
             lambda d: d.update({1: 7}), lambda d: d.setdefault(9, 1),
             lambda d: d.update({2: 8, 3: 9}), lambda d: d.popitem(),
             lambda d: [d.pop(2), d.setdefault(2, 5)]],
    "set": [lambda s: s.discard(1), lambda s: s.add(9), lambda s: s.add(2),
            lambda s: s.clear(), lambda s: s.update({7, 8})],
    "deque": [lambda d: d.append(4), lambda d: d.popleft(), lambda d: d.rotate(1),
              lambda d: d.__setitem__(0, 8), lambda d: d.remove(2)],
}
CHANGES["OrderedDict"] = [
    *CHANGES["dict"],
    lambda d: d.move_to_end(1), lambda d: d.move_to_end(3),
    lambda d: d.move_to_end(1, last=False), lambda d: d.move_to_end(2, last=False),
]
KINDS = [dict, defaultdict, OrderedDict, Counter, set, deque]


def go_over(parts, change, made, at):
    seen = []
    if at == 0:
        change(made)
    try:
        for one in parts:
            seen.append(one)
            if len(seen) == at:
                change(made)
    except RuntimeError as error:
        # An OrderedDict has two words for it.
        return seen, str(error).replace("mutated", "changed size")
    return seen, made.copy()


def ways(made):
    if isinstance(made, dict):
        views = [made.keys(), made.values(), made.items()]
        return [made, *views, *map(reversed, [made, *views])]
    return [made, reversed(made)] if isinstance(made, deque) else [made]


def make(kind):
    if kind is defaultdict:
        return defaultdict(list, {1: 1, 2: 2, 3: 3})
    pairs = isinstance(kind, type) and issubclass(kind, dict)
    return kind({1: 1, 2: 2, 3: 3} if pairs else [1, 2, 3])


def short(parts=()):
    return deque(parts, 3)


KINDS.append(short)


def cases():
    for kind in KINDS:
        plain = type(make(kind))
        name = plain.__name__ if plain.__name__ in CHANGES else "dict"
        for number, change in enumerate(CHANGES[name]):
            for way in range(len(ways(make(kind)))):
                for at in (0, 1, 3):
                    yield kind, number, change, way, at


def go_over_all():
    for kind, number, change, way, at in cases():
        plain = make(kind)
        shared = txloop.share(make(kind))
        expected = go_over(ways(plain)[way], change, plain, at)
        found = go_over(ways(shared)[way], change, shared, at)
        assert expected == found, (kind, number, way, at, expected, found)


async def main():
    go_over_all()
    await txloop.atomically(go_over_all)
asyncio.run(main())
"""

SEES_OTHERS = """
async def other(shared):
    await txloop.atomically(shared.append, 5)

async def main():
    shared, seen = txloop.TList([1, 2]), []
    for one in shared:
        seen.append(one)
        if one == 1:
            await other(shared)
            await txloop.atomically(shared.append, 6)
    assert [1, 2, 5, 6] == seen and [1, 2, 5, 6] == shared
    for one in shared:
        shared.remove(one)
    assert [2, 6] == shared
asyncio.run(main())
"""

SEES_OTHERS_FAIL = (
    FAILS_AS_PLAIN[: FAILS_AS_PLAIN.index("def go_over_all")]
    + """
async def waiting(parts, change, made, at, do):
    seen = []
    if at == 0:
        await do(change, made)
    try:
        for one in parts:
            seen.append(one)
            if len(seen) == at:
                await do(change, made)
    except RuntimeError as error:
        return seen, str(error).replace("mutated", "changed size")
    return seen, made.copy()

async def at_once(function, *arguments):
    function(*arguments)

if sys.implementation.name == "pypy":
    # What an iterator there gives after that is told by no order, but by the table.
    del CHANGES["OrderedDict"][-2:]

async def main():
    for kind, number, change, way, at in cases():
        plain = make(kind)
        shared = txloop.share(make(kind))
        expected = await waiting(
            ways(plain)[way], change, plain, at, at_once
        )
        found = await waiting(
            ways(shared)[way], change, shared, at, txloop.atomically
        )
        assert expected == found, (kind, number, way, at, expected, found)
asyncio.run(main())
"""
)


def run(program, *arguments):
    return subprocess.run(
        [sys.executable, "-c", HEAD + program, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stderr


@pytest.mark.slow
def test_a_loop_sees_what_its_body_does_as_over_a_plain_list():
    chance = random.Random(7)
    names = [
        *("append", "insert", "nothing", "pop", "remove first", "remove this"),
        *("replace", "set all", "sort"),
    ]
    scripts = [
        (chance.randrange(9), chance.choices(names, k=chance.randrange(9)))
        for _ in range(2000)
    ]

    assert "" == run(SAME_AS_PLAIN, json.dumps(scripts))


@pytest.mark.slow
def test_a_loop_over_another_fails_as_over_a_plain_one():
    assert "" == run(FAILS_AS_PLAIN)


@pytest.mark.slow
def test_a_loop_sees_what_others_commit_while_it_waits():
    assert "" == run(SEES_OTHERS)


@pytest.mark.slow
def test_it_fails_then_as_one_over_a_plain_one():
    assert "" == run(SEES_OTHERS_FAIL)

"""Fronts commit by themselves while the owner sleeps: it, and all others, see it."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter

import pytest

from tests.fronts.serving import FORKED, served, until
from tests.processes import children_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FORKED, reason="threads share what the owner has"),
]

CELLS = 20
PROGRAM = """
from txloop import TList
from txloop.executors.fronts.desk import Desk
from txloop.web.fronts.repertoire import Repertoire

alone = asked = aborted = 0
note_written, decide = Repertoire.note_written, Desk._decide
note_conflict = Repertoire.note_conflict

def counted(self, kind, number, *rest):
    global alone
    alone += number
    note_written(self, kind, number, *rest)

def counted_too(self, *args):
    global asked
    asked += 1
    decide(self, *args)

def counted_as_well(self, *args):
    global aborted
    aborted += 1
    note_conflict(self, *args)

Repertoire.note_written, Desk._decide = counted, counted_too
Repertoire.note_conflict = counted_as_well

cells = TDict({number: (0, 100) for number in range(20)})
names, hits = TList(), TCounter()

class Base(Tells):
    def move(self, one, other, amount):
        (first, here), (second, there) = cells[int(one)], cells[int(other)]
        cells[int(one)] = first + 1, here - int(amount)
        cells[int(other)] = second + 1, there + int(amount)
        self.write(f"{one} {first + 1} {other} {second + 1}")

@transactional
class Move(Base):
    def get(self, *args):
        self.move(*args)

@transactional
class Note(Base):
    def get(self, name, *args):
        names.append(name)
        hits.add()
        self.move(*args)

class Unmarked(Base):
    def get(self, name, *args):
        names.append(name)
        hits.add()
        self.move(*args)

@transactional
class Slow(Unmarked):
    def get(self, name, *args):
        time.sleep(0.02)
        super().get(name, *args)

@transactional
class Read(Tells):
    def get(self):
        self.write(" ".join(f"{cells[n][0]}:{cells[n][1]}" for n in range(20)))

class All(Tells):
    def get(self):
        self.write({
            "cells": [cells[number] for number in range(20)],
            "names": list(names),
            "hits": hits.value,
            "alone": alone,
            "asked": asked,
            "aborted": aborted,
            "aborts": txloop.stats().aborts,
        })

handlers += [
    (r"/move/(\\d+)/(\\d+)/(\\d+)", Move),
    (r"/note/(.+)/(\\d+)/(\\d+)/(\\d+)", Note),
    (r"/slow/(.+)/(\\d+)/(\\d+)/(\\d+)", Slow),
    (r"/unmarked/(.+)/(\\d+)/(\\d+)/(\\d+)", Unmarked),
    ("/read", Read),
    ("/all", All),
]
"""
WARM = ("GET", "/move/0/1/0", b""), ("GET", "/note/x/0/1/0", b""), ("GET", "/read", b"")


def two_fronts(program):
    """Return a connection of each front, where everything may run that is short."""
    program.warm(*WARM)
    first, one = program.on_front()
    second, _ = program.on_front((one,))
    return first, second


def commit_alone(program, client, path):
    """Ask until a front has committed this by itself; return the last answer."""
    answers = []

    def committed():
        before = program.json("/all")["alone"]
        answers.append(client.ask(path))
        return program.json("/all")["alone"] > before

    until(committed)
    return answers[-1]


def test_all_see_at_once_what_a_front_has_committed(tmp_path):
    with served(tmp_path, PROGRAM) as program:
        first, second = two_fronts(program)

        for number in range(100):
            before = program.json("/all")
            answer = first.ask(f"/move/{number % 7}/9/1").body.decode().split()
            seen = [one.split(":") for one in second.text("/read").split()]
            owner = program.json("/all")

            # THEN
            cell = number % 7
            assert [before["cells"][cell][0] + 1] == [int(answer[1])]
            assert int(answer[1]) == int(seen[cell][0]) == owner["cells"][cell][0]
        assert owner["alone"]


def test_an_append_and_a_count_need_no_owner(tmp_path):
    with served(tmp_path, PROGRAM) as program:
        first, _ = two_fronts(program)
        commit_alone(program, first, "/note/a/1/2/3")
        known = program.json("/all")

        assert "a" == known["names"][-1]
        assert len(known["names"]) == known["hits"]


def test_a_program_with_a_thread_of_its_own_commits_at_the_owner(tmp_path):
    threaded = (
        PROGRAM
        + "threading.Thread(target=time.sleep, args=(1e6,), daemon=True).start()"
    )
    with served(tmp_path, threaded) as program:
        first, _ = two_fronts(program)
        for _ in range(100):
            assert 200 == first.ask("/move/1/2/3").status

        known = program.json("/all")
        assert 0 == known["alone"]
        assert known["asked"] >= 100


CHANGES = """
from pathlib import Path
state = {"mode": "first"}

async def change():
    while not Path("change").exists():
        await asyncio.sleep(0.005)
    getattr(state, "up" + "date")({"mode": "second"})  # the scan does not see it

async def begin():
    asyncio.ensure_future(change())

class Begin(Tells):
    async def get(self):
        await begin()

@transactional
class Writes(Tells):
    def get(self):
        first, amount = cells[5]
        cells[5] = first + 1, amount
        self.write(state["mode"])

handlers += [("/begin", Begin), ("/writes", Writes)]
"""


def test_plain_objects_that_a_task_changes_are_not_read_in_fronts_for_long(tmp_path):
    with served(tmp_path, PROGRAM + CHANGES) as program:
        program.ask("/begin")
        program.warm(("GET", "/writes", b""))
        first, _ = program.on_front()
        assert b"first" == commit_alone(program, first, "/writes").body

        # WHEN nothing else runs at the owner's
        (tmp_path / "change").touch()
        end = time.monotonic() + 0.1
        while time.monotonic() < end:
            first.ask("/writes")

        # THEN
        assert b"second" == first.ask("/writes").body


class Load:
    """Clients that move amounts at the same time, and what they were answered."""

    def __init__(self, program, paths, count, seed=1):
        self.moves, self.lost, self.torn = [], [], []
        self._program, self._paths, self._count = program, paths, count
        self._threads = [
            threading.Thread(
                target=self._run, args=(number, random.Random(seed + number))
            )
            for number in range(8)
        ]

    def start(self):
        """Begin."""
        for thread in self._threads:
            thread.start()

    def join(self):
        """Wait until all have asked for everything."""
        for thread in self._threads:
            thread.join()

    def _run(self, number, dice):
        client = self._program.connect()
        for turn in range(self._count):
            one, other = dice.sample(range(CELLS), 2)
            path = dice.choice(self._paths)
            name = f"{path}{number}-{turn}"
            named = f"{name}/" if path in ("note", "slow", "unmarked") else ""
            try:
                if path == "read":
                    self._check(client.text("/read"))
                    continue
                answer = client.ask(f"/{path}/{named}{one}/{other}/{dice.randrange(5)}")
                assert answer.status == 200, answer
                self.moves.append((name, *map(int, answer.body.split())))
            except (OSError, EOFError):  # its front was killed
                self.lost.append(name)
                client = self._program.connect()

    def _check(self, text):
        amounts = [int(one.split(":")[1]) for one in text.split()]
        if sum(amounts) != 100 * CELLS:
            self.torn.append(text)


def check(known, load, before):
    """Check that each answered move was made once, and nothing else was."""
    assert not load.torn
    assert 100 * CELLS == sum(amount for _, amount in known["cells"])
    made: Counter[tuple[int, int]] = Counter()
    for _, one, first, other, second in load.moves:
        made[one, first] += 1
        made[other, second] += 1
    assert {1} == set(made.values())
    unknown = 0
    for cell, (last, _) in enumerate(known["cells"]):
        numbers = {number for one, number in made if one == cell}
        first = before["cells"][cell][0]
        assert numbers <= set(range(first + 1, last + 1))
        unknown += last - first - len(numbers)
    assert unknown <= 2 * len(load.lost)
    names = known["names"]
    assert len(names) == len(set(names)) + names.count("x") - ("x" in names)
    assert len(names) == known["hits"]
    noted = {name for name, *_ in load.moves if not name.startswith("move")}
    assert noted <= set(names)


@pytest.mark.parametrize("besides", ["", "unmarked", "slow"])
def test_what_runs_at_once_is_committed_once_in_one_order(tmp_path, besides):
    with served(tmp_path, PROGRAM) as program:
        two_fronts(program)
        before = program.json("/all")
        paths = [
            "move",
            "move",
            "move",
            "note",
            "read",
            *([besides] if besides else []),
        ]
        load = Load(program, paths, 150)
        load.start()
        load.join()
        known = program.json("/all")

        assert not load.lost
        check(known, load, before)
        assert known["alone"] > before["alone"]
        # There were conflicts, and where only fronts were busy they have settled some.
        aborts, alone = (known[one] - before[one] for one in ("aborts", "aborted"))
        assert aborts >= alone
        assert aborts if besides else alone


def test_killed_fronts_lose_and_repeat_nothing(tmp_path):
    with served(tmp_path, PROGRAM) as program:
        two_fronts(program)
        before = program.json("/all")
        load = Load(program, ["move", "move", "note", "read"], 300)
        load.start()
        dice = random.Random(1)
        killed = 0
        while any(thread.is_alive() for thread in load._threads) and killed < 6:
            pids = [
                pid
                for spawner in children_of(program.owner)
                for pid in children_of(spawner)
                if program.is_front(pid)
            ]
            if pids:
                stop = killed % 2
                os.kill(dice.choice(pids), signal.SIGSTOP if stop else signal.SIGKILL)
                killed += 1
            threading.Event().wait(0.1)
        load.join()

        assert killed > 1
        check(program.json("/all"), load, before)

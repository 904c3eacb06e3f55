"""What a front makes and commits by itself is there everywhere, and goes everywhere."""

from __future__ import annotations

import json
import random

import pytest

from tests.fronts.serving import FORKED, served, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FORKED, reason="threads share what the owner has"),
]

PROGRAM = """
import datetime, gc
from txloop import TList, TObject, share
from txloop.web.fronts.repertoire import Repertoire

alone = 0
note_written = Repertoire.note_written

def counted(self, kind, number, *rest):
    global alone
    alone += number
    note_written(self, kind, number, *rest)

Repertoire.note_written = counted

class Person(TObject):
    name: str
    seen: datetime.datetime | None = None

posts = TList()

class Base(Tells):
    def post(self, name):
        when = datetime.datetime(2026, 1, 1)
        posts.append({"name": name, "likes": 0, "tags": ["new"], "by": Person(name)})
        posts[-1]["by"].seen = when

    def like(self, name):
        for post in posts:
            if post["name"] == name:
                post["likes"] += 1
                post["tags"].append("liked")

    def drop(self, name):
        posts[:] = [post for post in posts if post["name"] != name]

    def shown(self, name):
        shown = []
        for post in posts:
            person = post["by"]
            parts = post["name"], post["likes"], len(post["tags"]), person.name
            shown.append([*parts, str(person.seen)])
        self.write({"posts": shown})

    def get(self, what, name):
        getattr(self, what)(name)

@transactional
class Short(Base):
    pass

@transactional
class Slow(Base):
    def get(self, what, name):
        time.sleep(0.02)
        super().get(what, name)

class Unmarked(Base):
    pass

class Alone(Tells):
    def get(self):
        self.write(str(alone))

@transactional
class Kept(Tells):
    def get(self):
        here = sys.modules["txloop.stm.store"].committed
        self.write(str(len(here.kept or ())))

handlers += [
    (r"/short/(.+)/(.+)", Short),
    (r"/slow/(.+)/(.+)", Slow),
    (r"/unmarked/(.+)/(.+)", Unmarked),
    ("/alone", Alone),
    ("/kept", Kept),
]
"""
WARM = [("GET", f"/short/{what}/x", b"") for what in ("post", "like", "shown", "drop")]


def change(model, what, name):
    """Do to plain rows what a verb does."""
    if what == "post":
        model.append([name, 0, 1, name, "2026-01-01 00:00:00"])
    elif what == "drop":
        model[:] = [one for one in model if one[0] != name]
    for one in model:
        if what == "like" and one[0] == name:
            one[1] += 1
            one[2] += 1


@pytest.fixture
def program(tmp_path):
    with served(tmp_path, PROGRAM) as program:
        program.warm(*WARM, ("GET", "/kept", b""))
        yield program


@pytest.fixture
def fronts(program):
    first, one = program.on_front()
    second, _ = program.on_front((one,))
    return first, second


def alone(program):
    return program.json("/alone")


def shown(ask):
    return json.loads(ask("shown/x").body)["posts"]


@pytest.mark.parametrize("seed", range(3))
def test_all_have_what_any_has_made(program, fronts, seed):
    dice = random.Random(seed)
    model: list[list[object]] = []
    program.ask("/unmarked/drop/x")
    asks = [
        *(
            lambda path, front=front: front.ask(f"/short/{path}")
            for front in fronts * 3
        ),
        lambda path: program.ask(f"/slow/{path}"),
        lambda path: program.ask(f"/unmarked/{path}"),
    ]
    for turn in range(200):
        what = dice.choice(["post", "post", "like", "like", "drop"])
        name = dice.choice("abcdefgh")

        # WHEN
        assert 200 == dice.choice(asks)(f"{what}/{name}").status
        change(model, what, name)

        # THEN
        where = dice.choice(asks)
        assert model == shown(where), (turn, what, name)
    assert [model] * len(asks) == [*map(shown, asks)]
    assert alone(program)


def test_what_is_dropped_is_kept_nowhere(program, fronts):
    first, second = fronts

    def turn(name):
        first.ask(f"/short/post/{name}")
        second.ask(f"/short/like/{name}")
        first.ask(f"/short/drop/{name}")

    turn("x")
    before = [int(front.text("/kept")) for front in fronts]
    committed_before = alone(program)
    for _ in range(100):
        turn("x")

    # THEN, once each was told
    def has_gone():
        program.ask("/unmarked/post/x")
        program.ask("/unmarked/drop/x")
        found = [int(front.text("/kept")) for front in fronts]
        return all(now <= then + 20 for now, then in zip(found, before, strict=True))

    until(has_gone)
    assert alone(program) > committed_before

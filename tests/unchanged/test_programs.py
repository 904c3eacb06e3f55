"""Small programs of the kind that people write, with the loop swapped under them.

`python -m txloop --transactional '*'` gives the answers of stock Tornado, in any order
of requests, and loses nothing when they come at once; so do `--auto` and `--share`.
"""

from __future__ import annotations

import functools
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.serving import THREADS
from tests.unchanged.running import OPTIONS, Asked, running

if TYPE_CHECKING:
    from tests.unchanged.running import Program

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent / "programs"
ORDERS = 3


@dataclass(frozen=True)
class Script:
    """What a program is asked.

    Attributes:
        session: Requests that are asked one after another, in several orders.
        burst: Requests that come at once; their order changes no sorted answer.
        after: What tells their result.
    """

    session: tuple[Asked, ...]
    burst: tuple[Asked, ...]
    after: tuple[Asked, ...]


def get(*paths: str) -> tuple[Asked, ...]:
    return tuple(Asked("GET", path) for path in paths)


def send(method: str, path: str, **data: object) -> Asked:
    return Asked(method, path, json.dumps(data))


SCRIPTS = {
    "todo": Script(
        (
            *get("/items", "/items?done=True", "/items/1", "/items/2", "/items/9"),
            *(send("POST", "/items", name=name) for name in ("a", "b", "c")),
            send("POST", "/items"),
            send("PUT", "/items/1", name="better"),
            send("PUT", "/items/7", name="none"),
            *(Asked("DELETE", f"/items/{number}") for number in (1, 2)),
            Asked("DELETE", "/items"),
        ),
        (send("POST", "/items", name="x"),) * 40,
        get("/items"),
    ),
    "duel": Script(
        (
            *get("/new/ann/bob", "/new/bob/eve", "/summary", "/take/none/ann/0/1"),
            *get(*(f"/take/g1/ann/{heap}/1" for heap in range(4))),
            *get(*(f"/take/g1/bob/{heap}/2" for heap in range(4))),
            *get("/take/g2/bob/0/3", "/take/g2/eve/1/4", "/take/g2/bob/2/5"),
        ),
        get(*["/new/ann/bob"] * 40),
        get("/summary"),
    ),
    "votes": Script(
        get("/", "/?name=ann", "/?name=bob", "/?name=ann", "/results", "/?name=eve"),
        get(*["/?name=ann"] * 120, *["/?name=bob"] * 80),
        get("/results"),
    ),
    "chat": Script(
        (
            *get("/messages", "/messages?since=2", "/authors", "/waiting?since=-1"),
            *(Asked("POST", f"/messages?author=a{n % 2}&body=b{n}") for n in range(6)),
        ),
        (Asked("POST", "/messages?author=c&body=x"),) * 40,
        get("/authors", "/messages"),
    ),
    "users": Script(
        (
            *(send("POST", "/register", name=n, password=f"{n}!") for n in "abca"),
            send("POST", "/register", name="d"),
            *(send("POST", "/login", name=n, password=f"{n}!") for n in "abz"),
            *(send("POST", "/login", name=n, password="wrong") for n in "ab"),
            *get("/register", "/profile", "/profile?token=nobody"),
        ),
        tuple(send("POST", "/register", name=f"u{n}", password="p") for n in range(40)),
        (send("POST", "/register", name="last", password="p"),),
    ),
    "desk": Script(
        (
            *get("/tickets", "/tickets/1", "/tickets/3", "/tickets/9"),
            *(send("POST", "/tickets", author=a, title=f"{a}!") for a in "abc"),
            send("POST", "/tickets", author="d", title="tagged", tags=["x", "y"]),
            send("POST", "/tickets", title="nobody's"),
            *(Asked("PUT", f"/tickets/{n}?tag={t}") for n in (1, 2, 8) for t in "pq"),
            *(Asked("DELETE", f"/tickets/{number}") for number in (2, 3, 7)),
        ),
        (send("POST", "/tickets", author="e", title="at once"),) * 40,
        get("/tickets"),
    ),
    "series": Script(
        get("/series/5", "/series/90", "/series/7", "/series/40", "/stats"),
        get(*(f"/series/{count}" for count in range(100, 140))),
        get("/stats", "/series/3"),
    ),
}
"""By the name of the program's folder."""

AWAY = {"TXLOOP_FAULTS": "away=1"}
SHARED = ("--auto", "--share", "--workers", "2")

VARIANTS = {
    "serial": ("serial", {}, OPTIONS),
    "processes": ("processes", {}, OPTIONS),
    "away": ("processes", AWAY, OPTIONS),
    **({"threads": ("threads", {}, OPTIONS)} if THREADS else {}),
    "shared": ("processes", {}, SHARED),
    "shared away": ("processes", AWAY, ("--share", *OPTIONS)),
}


def in_orders(script: Script) -> list[Asked]:
    """Return a session as it stands, and then in other orders."""
    chance = random.Random(f"{script.session}")
    requests = list(script.session)
    asked = []
    for _ in range(ORDERS):
        # Nothing may wait for a message that comes after it.
        asked += sorted(requests, key=lambda one: one.path.startswith("/waiting"))
        chance.shuffle(requests)
    return asked


def talk(program: Program, script: Script) -> list[list[tuple[int, str]]]:
    """Return all answers: in order, at once, and what is left in the end."""
    return [
        program.ask(in_orders(script)),
        program.ask_together(script.burst),
        program.ask(script.after),
    ]


@functools.cache
def stock(name: str, folder: Path) -> list[list[tuple[int, str]]]:
    with running(FOLDER / name, folder, None) as program:
        return talk(program, SCRIPTS[name])


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_program_answers_as_on_stock_tornado(variant, name, tmp_path_factory):
    # GIVEN
    executor, environment, options = VARIANTS[variant]
    folder = tmp_path_factory.getbasetemp()
    expected = stock(name, folder)

    # WHEN
    with running(
        FOLDER / name,
        tmp_path_factory.mktemp(variant.replace(" ", "-")),
        executor,
        environment,
        options=options,
    ) as program:
        answers = talk(program, SCRIPTS[name])

        # THEN, of hundreds, those that differ
        for wanted, given in zip(expected, answers, strict=True):
            pairs = enumerate(zip(wanted, given, strict=True))
            assert [] == [(number, *both) for number, both in pairs if len({*both}) > 1]

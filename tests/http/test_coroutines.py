"""Coroutine verbs that never suspend run in attempts; those that do, as in stock."""

from __future__ import annotations

import asyncio

import pytest
from tornado.web import Application

from tests.http.coroutines import (
    ERRORS,
    NEVER,
    SOMETIMES,
    Base,
    clear,
    effects,
    log,
    make_application,
    places,
    seen,
)
from tests.logs import expect_log
from tests.messages import Request
from tests.serving import FORKED, serving
from txloop import transactional
from txloop.engine.marks import Mark


@pytest.fixture(autouse=True)
def fresh():
    clear()


def ask(path, method="GET", times=3):
    """Return what asks several times, one after another, and what is left then."""

    def talk(server):
        answers = [server.fetch(method, path, body=b"" if method == "POST" else None)]
        answers += [server.get(path) for _ in range(times - 1) if method == "GET"]
        return answers, seen.value, list(log), list(effects)

    return talk


ASKED = [
    *((path, "GET") for path in NEVER),
    ("/guarded?user=me", "GET"),
    ("/awaits", "POST"),
    ("/generated", "POST"),
]


@pytest.mark.parametrize(("path", "method"), ASKED)
def test_one_that_never_waits_runs_in_attempts(pair, path, method):
    # GIVEN
    answers, _, _, _ = pair.same(ask(path, method), before=clear)

    # THEN
    assert all(answer.status < 500 for answer in answers)
    found = [one for kept in places.values() for one in kept]
    copied = pair.server.loop.dispatcher.executor.forks
    here = "attempt" if copied else "stock"
    wanted = 0 if path in ("/fails", "/guarded") else len(answers)
    assert [here] * wanted == found
    assert pair.server.sent_away()


@pytest.mark.parametrize("path", SOMETIMES)
def test_one_that_waits_runs_as_in_stock(pair, path):
    # WHEN
    answers, _, paths, _ = pair.same(ask(path), before=clear)

    # THEN
    assert {200 if path != "/later" else 409} == {one.status for one in answers}
    assert "attempt" not in [one for kept in places.values() for one in kept]
    assert [path] * 3 == [one for one in paths if one != "finally"]


@pytest.mark.parametrize("path", ERRORS)
def test_what_belongs_to_transactions_fails_as_in_stock(pair, path):
    with expect_log("tornado", "", count=None):
        answers, _, paths, _ = pair.same(ask(path), before=clear)

    assert [500] * 3 == [one.status for one in answers]
    assert [path] * 3 == paths


def test_one_that_waits_is_tried_once(kind):
    with serving(kind, make_application) as server:
        # GIVEN
        server.get("/sleeps")
        before = server.stats().attempts

        # WHEN
        for _ in range(3):
            server.get("/sleeps")

        # THEN
        assert before == server.stats().attempts


AWAY = ("processes", "threads", "fronts")

counts = {"file": 0}


def grown(path):
    with open(path, "a+") as file:
        file.write("x")
        file.seek(0)
        return file.read()


class Writes(Base):
    """Changes the world before it waits, and is not vouched for."""

    async def get(self):
        self.write(grown(self.settings["file"]))
        await asyncio.sleep(0)


class Prints(Base):
    """Changes plain state of which the scan finds that it is shared."""

    async def get(self):
        counts["file"] += 1
        self.write(f"{counts['file']}")


def test_what_acts_outside_has_acted_once(kind, tmp_path):
    # GIVEN
    Writes.get.__txloop_mark__ = Mark("commit", trust=True, vouched=False)  # type: ignore[attr-defined] # as a pattern does
    path = str(tmp_path / "file")

    # WHEN
    logs = expect_log("txloop", "^GET Writes runs on .* writes /", kind in FORKED)
    application = Application([("/", Writes)], file=path)
    with logs, serving(kind, lambda: application) as server:
        found = [server.get("/").body for _ in range(3)]

    # THEN
    assert [b"x", b"xx", b"xxx"] == found


@pytest.mark.at_owner("what code shares is known before it runs")
def test_shared_plain_state_keeps_it_on_the_loop_thread(kind):
    # GIVEN
    counts["file"] = 0
    transactional(Prints)

    # WHEN
    logs = expect_log("txloop", "^GET Prints runs on the loop thread", kind in AWAY)
    with logs, serving(kind, lambda: Application([("/", Prints)])) as server:
        found = [server.get("/").body for _ in range(3)]

    # THEN
    assert [b"1", b"2", b"3"] == found


def test_in_conflict_it_runs_again(pair):
    # WHEN
    requests = [Request("GET", "/never") for _ in range(20)]
    answers = pair.server.fetch_together(requests)

    # THEN
    assert 20 == seen.value
    assert 20 == len(effects)
    assert {200} == {answer.status for answer in answers}
    assert [*range(1, 21)] == sorted(int(one.body.split()[0]) for one in answers)

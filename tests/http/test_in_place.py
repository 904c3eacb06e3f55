"""A guarded attempt in a thread that acts outside goes on in place, and runs once.

What it has done to plain objects before that would be done twice if it ran again.
"""

from __future__ import annotations

import asyncio
import decimal
import gc
import threading
from contextlib import contextmanager

import pytest
from tornado.ioloop import IOLoop
from tornado.web import Application, RequestHandler

from tests.logs import expect_log
from tests.messages import Request
from tests.serving import serving
from txloop import TVar, inevitable
from txloop.engine.marks import Mark
from txloop.executors import plea
from txloop.executors.worker_protocol import Assignment
from txloop.stm.attempt import Attempt
from txloop.stm.threads import gil_enabled

UNVOUCHED = Mark("commit", trust=True, vouched=False)  # nothing is scanned or watched
SAYS = r"^GET \S+ runs on the loop thread: .*: \w+\(\) writes .*done"

runs: list[int] = []
number: TVar[int] = TVar(0)


class Acts(RequestHandler):
    """Counts its run in a plain list, and writes a file; more by its subclasses."""

    def note(self):
        runs.append(threading.get_ident())

    def act(self):
        with open(self.settings["place"], "a") as file:
            file.write("done\n")

    def get(self):
        self.note()
        self.act()
        self.go_on()

    def go_on(self):
        self.write("done")


class UsesTheLoop(Acts):
    def go_on(self):
        IOLoop.current().add_callback(self.settings["hear"], "callback")
        asyncio.get_running_loop().call_soon(self.settings["hear"], "soon")
        self.write("done")


class AskedForTheLoop(Acts):
    def get(self):
        loop = asyncio.get_running_loop()
        self.note()
        self.act()
        loop.call_soon(self.settings["hear"], "soon")
        self.write("done")


class AnswersLater(Acts):
    def go_on(self):
        self._auto_finish = False
        IOLoop.current().call_later(0, self.finish, "done")


class Waits(Acts):
    def go_on(self):
        pass

    def get(self):
        super().get()
        return self.later()

    async def later(self):
        await asyncio.sleep(0)
        self.write("done")


class UsesItsConnection(Acts):
    def go_on(self):
        connection = self.request.connection
        assert connection is not None
        connection.context.hits = "do"  # type: ignore[attr-defined] # there is one
        assert vars(self.request.server_connection)
        assert connection.stream.socket.fileno() > 0  # type: ignore[attr-defined]
        self.write(f"{connection.context.hits}ne")  # type: ignore[attr-defined]


class Detaches(Acts):
    def go_on(self):
        stream = self.detach()
        stream.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")
        stream.close()


class Inevitable(Acts):
    def go_on(self):
        inevitable()
        self.write("done")


class ActsAgain(Acts):
    def go_on(self):
        with open(f"{self.settings['place']}.more", "w") as file:
            file.write("more")
        self.write("done")


class Computes(Acts):
    def get(self):
        self.note()
        decimal.getcontext().prec = 9
        self.act()
        self.write("done")


class ChangesContainers(Acts):
    def go_on(self):
        number.set(number.get() + 1)
        self.write("done")


@contextmanager
def served(handler_class, tmp_path):
    """Serve a handler class, the calls of which are all sent to threads."""
    verb = handler_class.get
    verb.__txloop_mark__ = UNVOUCHED
    runs.clear()
    heard: list[str] = []
    place = tmp_path / "done"

    def make():
        return Application([("/", handler_class)], place=str(place), hear=heard.append)

    with serving("threads", make) as server:
        yield server, place, heard


KINDS = {
    Acts: [],
    UsesTheLoop: ["callback", "soon"],
    AskedForTheLoop: ["soon"],
    AnswersLater: [],
    Waits: [],
    UsesItsConnection: [],
    Detaches: [],
    Inevitable: [],
    ActsAgain: [],
    Computes: [],
    ChangesContainers: [],
}


@pytest.mark.parametrize("handler_class", KINDS, ids=lambda kind: kind.__name__)
def test_it_runs_once_whatever_it_does_then(handler_class, tmp_path):
    # GIVEN
    with served(handler_class, tmp_path) as (server, place, heard):
        # WHEN
        with expect_log("txloop", SAYS):
            first = server.get("/")
        second = server.get("/")
        server.run(server.pause)

        # THEN
        assert [(200, b"done")] * 2 == [(a.status, a.body) for a in (first, second)]
        assert ["done"] * 2 == place.read_text().split()
        away, here = runs
        assert away != here == threading.get_ident()
        assert KINDS[handler_class] * 2 == heard
        (figures,) = server.stats().labels
        assert (2, 1, 2) == (figures.attempts, figures.inline, figures.commits)


def test_what_it_sets_of_decimal_is_set_for_all(tmp_path):
    with decimal.localcontext() as shared:
        # GIVEN
        shared.prec = 20
        # WHEN
        with (
            served(Computes, tmp_path) as (server, *_),
            expect_log("txloop", SAYS),
        ):
            server.get("/")

        # THEN
        assert shared.prec == 9


def test_many_at_once_run_once_each(tmp_path):
    with served(Acts, tmp_path) as (server, place, _), expect_log("txloop", SAYS):
        # WHEN
        answers = server.fetch_together([Request("GET", "/")] * 50)

    # THEN
    assert [200] * 50 == [answer.status for answer in answers]
    assert (50, 50) == (len(runs), len(place.read_text().split()))


entered, changed = threading.Event(), threading.Event()


class ReadsBefore(Acts):
    def note(self):
        super().note()
        self.found = number.get()
        entered.set()
        changed.wait(10)

    def go_on(self):
        self.write(f"{self.found} {number.get()}")


class ReadsAfter(ReadsBefore):
    def note(self):
        Acts.note(self)
        self.found = 1
        entered.set()
        changed.wait(10)


@pytest.mark.parametrize(
    ("handler_class", "expected_runs"), [(ReadsBefore, 2), (ReadsAfter, 1)]
)
def test_it_goes_on_with_the_newest_version_or_starts_anew(
    handler_class, expected_runs, tmp_path
):
    """What it has read has changed, or has not."""
    # GIVEN
    number.set(0)
    entered.clear()
    changed.clear()

    async def talk(server):
        async with server.connection() as (reader, writer):
            writer.write(Request("GET", "/").encoded())
            while not entered.is_set():  # noqa: ASYNC110 # of another thread
                await asyncio.sleep(0.001)
            # WHEN unmarked code changes it while the attempt runs
            number.set(1)
            changed.set()
            return await server.read(reader)

    with served(handler_class, tmp_path) as (server, place, _):
        with expect_log("txloop", SAYS):
            answer = server.run(lambda: talk(server))

        # THEN
        assert b"1 1" == answer.body
        assert expected_runs == len(runs)
        assert ["done"] == place.read_text().split()


class HoldsLock(Acts):
    """Acts while it holds a lock for which the loop thread waits."""

    lock = threading.Lock()

    def get(self):
        self.note()
        with self.lock:
            entered.set()
            changed.wait(10)
            self.act()
        self.write("done")


def test_the_loop_thread_may_wait_for_it_meanwhile(tmp_path, monkeypatch):
    # GIVEN
    monkeypatch.setattr(plea, "PATIENCE_SECONDS", 0.05)
    entered.clear()
    changed.clear()

    async def talk(server):
        async with server.connection() as (reader, writer):
            writer.write(Request("GET", "/").encoded())
            while not entered.is_set():  # noqa: ASYNC110 # of another thread
                await asyncio.sleep(0.001)
            changed.set()
            # WHEN the loop thread wants what the attempt has
            with HoldsLock.lock:
                pass
            return await server.read(reader)

    with served(HoldsLock, tmp_path) as (server, place, _):
        with expect_log("txloop", SAYS):
            answer = server.run(lambda: talk(server))

        # THEN the attempt has given up, and runs again
        assert (200, 2) == (answer.status, len(runs))
        assert ["done"] == place.read_text().split()


@pytest.mark.skipif(not gil_enabled(), reason="references are counted later there")
def test_it_leaves_no_cyclic_garbage(tmp_path):
    # GIVEN
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        # WHEN
        with served(Acts, tmp_path) as (server, *_), expect_log("txloop", SAYS):
            server.get("/")
        gc.collect()
        found = [type(one) for one in gc.garbage]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()

    # THEN
    assert not {plea.Plea, Attempt, Assignment}.intersection(found)

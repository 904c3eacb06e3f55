"""What needs no attempt on the loop thread runs there as in stock Tornado."""

from __future__ import annotations

import asyncio
import sys
import traceback
from pathlib import Path
from types import ModuleType

import pytest
from tornado.web import Application, Finish, HTTPError, RequestHandler

from tests.engine import Gate, Tally
from tests.logs import expect_log
from tests.messages import Request
from tests.serving import EXECUTORS, FRONTS, THREADS, serving
from txloop import TDict, TVar, transactional
from txloop.engine import machine, profile
from txloop.engine.marks import Mark
from txloop.loop.ioloop import TransactionIOLoop
from txloop.stm.attempt import current
from txloop.stm.store import committed
from txloop.stm.threads import gil_enabled
from txloop.web import as_stock, delegate

WAY_SECONDS = 3600.0  # to a worker, where nothing shall go there

cells = TDict[str, int]()
shared = TVar(0)


def by_pattern(cls):
    """Mark a class as ``--transactional`` does."""
    cls.__txloop_mark__ = Mark("commit", vouched=False)
    return cls


class Telling(RequestHandler):
    """Says whether it runs in an attempt, and at how many commits."""

    def get(self, *_):
        before = committed.version
        cells["a"] = cells.get("a", 0) + 1
        cells["b"] = cells.get("b", 0) + 1
        self.write(f"{current() is None} {committed.version > before}")


@by_pattern
class Pattern(Telling):
    pass


@transactional(on_error="commit")
class Keeping(Telling):
    pass


@transactional
class Marked(Telling):
    pass


@by_pattern
class Failing(RequestHandler):
    def initialize(self, how):
        self.how = how

    def get(self):
        shared.value += 1
        self.write("written")
        {"error": self.error, "http": self.http, "finish": self.end}[self.how]()

    def error(self):
        raise ValueError("after it has written")

    def http(self):
        raise HTTPError(403)

    def end(self):
        raise Finish


@by_pattern
class Listing(RequestHandler):
    """Fails in what is patched, and shows the files that its error has gone through."""

    def get(self):
        self.write([1])  # type: ignore[arg-type] # on purpose

    def log_exception(self, *_):
        pass

    def write_error(self, status_code, **kwargs):
        frames = traceback.extract_tb(kwargs["exc_info"][2])
        self.finish(" ".join(Path(frame.filename).name for frame in frames))


@by_pattern
class Unmade(RequestHandler):
    def initialize(self):
        raise ValueError("cannot be made")

    def get(self):
        self.write("made")


@by_pattern
class Later(RequestHandler):
    """Is answered when it has waited, though it is no coroutine."""

    def get(self):
        return self.end()

    async def end(self):
        await asyncio.sleep(0.001)
        shared.value += 1
        self.write("later")


@by_pattern
class Apart(RequestHandler):
    def get(self):
        self._auto_finish = False
        asyncio.get_running_loop().call_later(0.001, self.finish, "apart")


@transactional
class Slow(RequestHandler):
    def get(self, folder):
        Tally(Path("/", folder) / "runs").mark()
        found = shared.value
        Gate(Path("/", folder) / "read").open()
        Gate(Path("/", folder) / "gate").wait()
        shared.value = found + 10
        self.write(f"{found}")


@transactional
class Stubborn(RequestHandler):
    """Reads, and then waits: at the gate "1" in its first run, at "2" in the second."""

    def get(self, folder):
        found = shared.value
        run = 2 - Tally(Path("/", folder) / "runs").is_first("run")
        Gate(Path("/", folder) / f"read {run}").open()
        Gate(Path("/", folder) / f"{run}").wait()
        shared.value = found + 10
        self.write(f"{found}")


@by_pattern
class Quick(RequestHandler):
    def get(self):
        shared.value += 1
        self.write(f"{current() is None}")


def make_application():
    return Application(
        [
            ("/pattern", Pattern),
            ("/keeping", Keeping),
            ("/marked", Marked),
            *((f"/{how}", Failing, {"how": how}) for how in HOWS),
            ("/listing", Listing),
            ("/unmade", Unmade),
            ("/later", Later),
            ("/apart", Apart),
            ("/slow/(.*)", Slow),
            ("/stubborn/(.*)", Stubborn),
            ("/quick", Quick),
        ]
    )


HOWS = ("error", "http", "finish")


@pytest.fixture(autouse=True)
def _afresh(monkeypatch):
    """Begin with nothing written; this module asks for attempts, and is no program."""
    monkeypatch.setattr(delegate, "asks_for_attempts", lambda: False)
    monkeypatch.setattr(profile, "_MOST_WORTH", WAY_SECONDS)  # however busy it is here
    cells.clear()
    shared.value = 0


@pytest.fixture(params=EXECUTORS)
def server(request):
    with serving(request.param, make_application) as server:
        stay(server)
        yield server


def stay(server, *, stays=True):
    """Have everything run where it arrives that may; or nothing."""
    assert isinstance(server.loop, TransactionIOLoop)
    server.loop.dispatcher.executor.transport_seconds = WAY_SECONDS if stays else 0.0


def third_answer(server, path):
    """Ask three times: what never ran may be long, and is sent away."""
    return [server.fetch("GET", path).body.decode() for _ in range(3)][-1]


@pytest.mark.parametrize("name", ["Pattern", "Keeping"])
def test_it_writes_without_an_attempt(name, server):
    # In an attempt, nothing is committed before it ends.
    assert "True True" == third_answer(server, f"/{name.lower()}")
    assert {"a": 3, "b": 3} == dict(cells)
    assert 3 == server.stats_of(f"GET {name}").commits


def test_what_an_error_undoes_runs_in_attempts(server):
    assert "False False" == third_answer(server, "/marked")


def test_what_asks_for_attempts_gets_them(server, monkeypatch):
    monkeypatch.setattr(delegate, "asks_for_attempts", lambda: True)

    assert "False False" == third_answer(server, "/pattern")


STATUS = {"error": 500, "http": 403, "finish": 200}
LOGGED = {"error": "GET /error", "http": "403 GET /http", "finish": "200 GET /finish"}


@pytest.mark.parametrize("how", HOWS)
def test_what_it_wrote_before_an_error_stays(how, server):
    # WHEN
    with expect_log("tornado", LOGGED[how], None):
        answers = [server.fetch("GET", f"/{how}") for _ in range(3)]

    # THEN
    assert [STATUS[how]] * 3 == [one.status for one in answers]
    assert 3 == shared.value
    assert (0 if how == "finish" else 3) == server.stats_of("GET Failing").errors


def test_its_errors_show_nothing_of_what_is_patched(server):
    with expect_log("tornado.access", "500 GET /listing", 3):
        files = third_answer(server, "/listing")

    assert "web.py test_as_stock.py web.py" == files


def test_a_handler_that_cannot_be_made_closes_the_connection(server):
    with expect_log("tornado.application", "Uncaught exception"):
        assert b"" == server.exchange(Request("GET", "/unmade").encoded())


@pytest.mark.parametrize("name", ["later", "apart"])
def test_it_may_be_answered_later(name, server):
    assert name == third_answer(server, f"/{name}")
    assert shared.value == (3 if name == "later" else 0)


def test_many_at_once_are_answered_in_order(server):
    requests = [Request("GET", "/quick")] * 20

    answers = server.fetch_in_turn(requests, pipelined=True)

    assert [200] * 20 == [one.status for one in answers]
    assert 20 == shared.value


@pytest.mark.parametrize("kind", ["processes", *(["threads"] * THREADS)])
def test_attempts_elsewhere_conflict_with_it(kind, tmp_path):
    with serving(kind, make_application, early=True) as server:
        # GIVEN one that has read in a worker
        stay(server)
        for _ in range(2):  # whatever never ran may be long
            server.fetch("GET", "/quick")
        stay(server, stays=False)

        async def both():
            async with server.connection() as (reader, writer):
                writer.write(Request("GET", f"/slow{tmp_path}").encoded())
                await come(tmp_path / "read")
                stay(server)
                quick = await quickly()

                # WHEN it goes on, when what it has read was changed
                Gate(tmp_path / "gate").open()
                slow = await server.read(reader)
                return quick, slow.body.decode()

        async def quickly():
            async with server.connection() as (reader, writer):
                writer.write(Request("GET", "/quick").encoded())
                return (await server.read(reader)).body.decode()

        quick, slow = server.run(both)

        # THEN
        # ... beside which a thread would see what there is between two writes.
        assert (f"{kind == 'processes'}", "3") == (quick, slow)
        assert 13 == shared.value
        assert 1 == server.stats().aborts
    assert 2 == len((tmp_path / "runs").read_text().splitlines())


@pytest.mark.parametrize(("path", "answer"), [("quick", "True"), ("later", "later")])
def test_what_was_held_back_needs_no_attempt_either(
    path, answer, tmp_path, monkeypatch
):
    """It waits while another one is inevitable, and runs here when that has ended."""
    monkeypatch.setattr(machine, "MOST_CONFLICTS", 1)
    with serving("processes", make_application, early=True) as server:
        # GIVEN one that runs in a worker with other commits held back
        stay(server)
        for _ in range(2):  # whatever never ran may be long
            server.fetch("GET", f"/{path}")
        shared.value = 0
        stay(server, stays=False)
        loop = server.loop
        assert isinstance(loop, TransactionIOLoop)

        async def ask():
            async with (
                server.connection() as (reader, writer),
                server.connection() as (its_reader, its_writer),
            ):
                writer.write(Request("GET", f"/stubborn{tmp_path}").encoded())
                await come(tmp_path / "read 1")
                loop.add_callback(shared.__setattr__, "value", 1)
                Gate(tmp_path / "1").open()
                await come(tmp_path / "read 2")
                stay(server)
                its_writer.write(Request("GET", f"/{path}").encoded())
                while loop.dispatcher.pending < 2:  # noqa: ASYNC110 # no event
                    await asyncio.sleep(0.001)

                # WHEN
                Gate(tmp_path / "2").open()
                stubborn, quick = (
                    await server.read(reader),
                    await server.read(its_reader),
                )
                return stubborn.body.decode(), quick.body.decode()

        with expect_log("txloop", "conflicted 1 times"):
            assert ("1", answer) == server.run(ask)

        # THEN
        assert 12 == shared.value
        assert 3 == server.stats_of(f"GET {path.capitalize()}").commits


async def come(path):
    """Wait until a gate is open."""
    while not Gate(path).is_open:  # noqa: ASYNC110 # another process opens it
        await asyncio.sleep(0.001)


@pytest.mark.skipif(not FRONTS or gil_enabled(), reason="fronts are processes here")
def test_beside_fronts_that_are_threads_there_are_attempts():
    with serving("fronts", make_application) as server:
        stay(server)

        assert "False False" == third_answer(server, "/pattern")


def test_workers_know_what_it_has_written(tmp_path):
    with serving("processes", make_application, early=True) as server:
        Gate(tmp_path / "gate").open()
        path = f"/slow{tmp_path}"
        for number in range(5):
            stay(server)
            assert 200 == server.fetch("GET", "/quick").status
            stay(server, stays=False)
            assert f"{number * 11 + 1}" == server.fetch("GET", path).body.decode()


ASKING = {
    "from txloop import retry\n": True,
    "import txloop\ndef f(): txloop.or_else(a, b)\n": True,
    "def f():\n    import txloop as t\n    t.on_commit(print)\n": True,
    "import txloop\ntxloop.share([])\n": False,
    "def retry(): pass\n": False,
    "": False,
    "x = 1\n": False,
}


@pytest.mark.parametrize("text", ASKING)
@pytest.mark.parametrize("later", [False, True])
def test_a_module_that_waits_or_has_effects_asks_for_attempts(
    text, later, tmp_path, monkeypatch
):
    # GIVEN
    monkeypatch.setattr(as_stock, "_looked_at", dict.fromkeys(sys.modules, False))
    monkeypatch.setattr(as_stock, "_asking", False)
    if later:
        assert not as_stock.asks_for_attempts()
    module = ModuleType("own_module")
    module.__file__ = str(tmp_path / "own_module.py")
    Path(module.__file__).write_text(text)

    # WHEN
    monkeypatch.setitem(sys.modules, "own_module", module)

    # THEN
    assert ASKING[text] == as_stock.asks_for_attempts()


@pytest.mark.parametrize("knows", [False, True])
def test_a_library_is_looked_at_if_it_knows_txloop(knows, tmp_path, monkeypatch):
    # GIVEN
    monkeypatch.setattr(as_stock, "_looked_at", dict.fromkeys(sys.modules, False))
    monkeypatch.setattr(as_stock, "_asking", False)
    folder = tmp_path / "site-packages"
    folder.mkdir()
    module = ModuleType("a_library")
    module.__file__ = str(folder / "a_library.py")
    Path(module.__file__).write_text("import txloop\ndef f(): txloop.retry()\n")
    if knows:
        vars(module)["txloop"] = sys.modules["txloop"]

    # WHEN
    monkeypatch.setitem(sys.modules, "a_library", module)

    # THEN
    assert knows == as_stock.asks_for_attempts()


def test_a_module_whose_text_nobody_finds_may_ask(monkeypatch):
    monkeypatch.setattr(as_stock, "_looked_at", dict.fromkeys(sys.modules, False))
    monkeypatch.setattr(as_stock, "_asking", False)
    module = ModuleType("nowhere_module")
    module.__file__ = "/nowhere/nowhere_module.py"
    monkeypatch.setitem(sys.modules, "nowhere_module", module)

    assert as_stock.asks_for_attempts()

"""Fronts that are threads: how they begin and end, and what they must not run."""

from __future__ import annotations

import pytest

from tests.fronts.serving import niceness, served, until
from tests.processes import gone

pytestmark = pytest.mark.slow

HANDLERS = """
logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s")

@transactional(timeout=5)
class Limited(Tells):
    def get(self):
        self.write("limited")

@transactional
class Exits(Tells):
    def get(self):
        if self.get_argument("how", ""):
            getattr(sys, "ex" + "it")(3)
        self.write("harmless")

@transactional
class Stuck(Tells):
    def get(self):
        if self.get_argument("stuck", ""):
            until = time.monotonic() + 3
            while time.monotonic() < until:
                time.sleep(0.01)
        self.write("done")

class Threads(RequestHandler):
    def get(self):
        self.write({
            "names": [one.name for one in threading.enumerate()],
            "runs": [one.label for one in txloop.stats().processes],
        })

class Ends(RequestHandler):
    def get(self):
        self.write("ends")
        self.finish()
        ended.set()

ended = asyncio.Event()
handlers += [
    ("/limited", Limited), ("/exits", Exits), ("/stuck", Stuck), ("/threads", Threads),
    ("/ends", Ends),
]
"""

BY_ITSELF = """

async def main():
    application = Application(handlers, **settings)
    server = HTTPServer(application, **options)
    sockets = bind_sockets(0, "127.0.0.1")
    server.add_sockets(sockets)
    print("port", sockets[0].getsockname()[1], flush=True)
    await ended.wait()

asyncio.run(main())
left = [one.name for one in threading.enumerate() if one.name.startswith("txloop")]
print("left", left, flush=True)
"""

WITHOUT_CLOSING = """

class Stops(RequestHandler):
    def get(self):
        self.finish("stops")
        IOLoop.current().stop()

# asyncio.run closes loops; this does not
handlers.append(("/stops", Stops))
server = HTTPServer(Application(handlers))
sockets = bind_sockets(0, "127.0.0.1")
server.add_sockets(sockets)
print("port", sockets[0].getsockname()[1], flush=True)
IOLoop.current().start()
"""

NOISE = ("INFO ", "DEBUG ")


def said(errors):
    """Return what a program has said that is more than information."""
    return [line for line in errors.splitlines() if not line.startswith(NOISE)]


def test_there_is_a_thread_for_each_and_no_process(tmp_path):
    with served(tmp_path, HANDLERS) as program:
        fronts = program.fronts()
        names = program.json("/threads")["names"]

        assert {"txloop front 1", "txloop front 2"} <= set(names)
        assert {niceness(program.owner)} == {niceness(front) for front in fronts}


@pytest.mark.parametrize("text", [HANDLERS + BY_ITSELF, HANDLERS + WITHOUT_CLOSING])
def test_a_program_that_ends_by_itself_leaves_nothing_behind(tmp_path, text):
    with served(tmp_path, text) as program:
        # GIVEN connections of both fronts that are open
        fronts = program.fronts()
        clients = [program.on_front()[0] for _ in range(5)]

        # WHEN
        program.ask("/ends" if text.endswith(BY_ITSELF) else "/stops")
        ended = program.running.wait()

        # THEN
        assert [b""] * 5 == [client.rest() for client in clients]
        assert (0, []) == (ended.exit_code, said(ended.errors))
        assert all(map(gone, fronts))
        if text.endswith(BY_ITSELF):
            assert "left []" == ended.lines[-1]


def test_a_call_that_does_not_end_is_named_and_has_no_effect(tmp_path):
    with served(tmp_path, HANDLERS + BY_ITSELF) as program:
        # GIVEN
        program.warm(("GET", "/stuck", b""))
        client, _ = program.on_front()
        other, _ = program.on_front()

        # WHEN
        client.send(b"GET /stuck?stuck=1 HTTP/1.1\r\nHost: here\r\n\r\n")
        until(lambda: "GET Stuck" in other.text("/threads"))
        until(lambda: "ends" in other.text("/ends"))
        ended = program.running.wait()

        # THEN
        assert ended.exit_code == 0
        assert [
            "WARNING txloop a thread cannot be ended: when the loop was closed, calls "
            "went on in fronts of GET Stuck; they have no effect"
        ] == said(ended.errors)


def test_what_has_a_timeout_runs_in_workers(tmp_path):
    with served(tmp_path, HANDLERS) as program:
        client = program.connect()

        answers = [client.ask("/limited") for _ in range(100)]

        assert {b"limited"} == {one.body for one in answers}
        assert not any(program.is_front(one.pid) for one in answers)


def test_a_handler_that_exits_does_not_end_its_front(tmp_path):
    with served(tmp_path, HANDLERS) as program:
        # GIVEN
        program.warm(("GET", "/exits", b""))
        fronts = program.fronts()
        client, _ = program.on_front()

        # WHEN
        client.send(b"GET /exits?how=1 HTTP/1.1\r\nHost: here\r\n\r\n")

        # THEN
        assert client.answer().status == 500
        assert fronts == program.fronts()

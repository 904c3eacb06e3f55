"""``python -m txloop check``: the verdicts of run time, without running."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.http.checking import (
    ALL,
    Checked,
    names,
)

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow

# Where a program starts its loop

STARTS = {
    "a loop": """
        from made import make
        from tornado.ioloop import IOLoop
        if __name__ == "__main__":
            make().listen(80)
            IOLoop.current().start()
            raise AssertionError
    """,
    "a coroutine": """
        import asyncio
        from made import make
        async def main():
            await asyncio.sleep(0)
            make().listen(80)
            await asyncio.Event().wait()
            raise AssertionError
        asyncio.run(main())
    """,
    "a coroutine that is cleaned up after": """
        import asyncio
        from made import make
        async def main():
            try:
                make().listen(80)
                await asyncio.sleep(3600)
            finally:
                raise AssertionError
        try:
            asyncio.run(main())
        except BaseException:
            raise AssertionError
    """,
    "run_sync before": """
        from made import make
        from tornado.ioloop import IOLoop
        async def prepare():
            return make()
        app = IOLoop.current().run_sync(prepare)
        app.listen(80)
        IOLoop.current().start()
    """,
    "a callback that makes the application": """
        from made import make
        from tornado.ioloop import IOLoop
        async def main():
            make().listen(80)
        IOLoop.current().spawn_callback(main)
        IOLoop.current().start()
    """,
    "a server for several processes": """
        import os
        from made import make
        from tornado.httpserver import HTTPServer
        from tornado.ioloop import IOLoop
        process = os.getpid()
        server = HTTPServer(make())
        server.bind(80)
        server.start(0)
        assert process == os.getpid()
        IOLoop.current().start()
    """,
    "sockets of its own": """
        import socket
        from made import make
        from tornado.httpserver import HTTPServer
        from tornado.ioloop import IOLoop
        from tornado.netutil import bind_sockets, bind_unix_socket
        from tornado.process import fork_processes
        sockets = [*bind_sockets(80), bind_unix_socket("/nowhere/at/all")]
        plain = socket.socket()
        plain.bind(("127.0.0.1", 80))
        plain.listen()
        fork_processes(4)
        server = HTTPServer(make())
        server.add_sockets([*sockets, plain])
        IOLoop.current().start()
    """,
    "a server of asyncio beside it": """
        import asyncio
        from made import make
        async def main():
            server = await asyncio.start_server(print, "127.0.0.1", 80)
            make().listen(81)
            async with server:
                await server.serve_forever()
        asyncio.run(main())
    """,
    "debug mode": """
        from made import make
        import tornado.autoreload
        from tornado.ioloop import IOLoop
        tornado.autoreload.start()
        make().listen(80)
        IOLoop.current().start()
    """,
    "a thread": """
        import threading
        from made import make
        from tornado.ioloop import IOLoop
        def serve():
            loop = IOLoop()
            make().listen(80)
            loop.start()
        thread = threading.Thread(target=serve)
        thread.start()
        thread.join()
    """,
    "txloop itself": """
        import asyncio
        import txloop
        from made import make
        async def main():
            app = make()
            txloop.start_workers()
            assert await txloop.atomically(len, "abc") == 3
            app.listen(80)
            await asyncio.Event().wait()
        txloop.install("processes", workers=2)
        asyncio.run(main())
    """,
}


@pytest.mark.parametrize("source", STARTS.values(), ids=STARTS)
def test_a_program_is_judged_where_its_loop_would_start(
    source: str, check: Callable[..., Checked]
) -> None:
    checked = check(source, options=("--transactional", "*"))

    assert (1, "", ALL) == (checked.returncode, checked.stderr, names(checked))


def test_a_program_has_its_arguments_and_its_name(
    check: Callable[..., Checked],
) -> None:
    checked = check(
        """
        import os, sys
        from made import make
        from tornado.ioloop import IOLoop
        from tornado.options import define, options, parse_command_line
        define("port", type=int)
        parse_command_line()
        assert options.port == 81
        assert sys.argv == ["app.py", "--port=81"]
        assert os.path.isabs(__file__) and __name__ == "__main__"
        assert sys.modules["__main__"].make is make
        app = make()
        IOLoop.current().start()
        """,
        "--port=81",
        options=("--transactional", "*", "--executor", "serial", "--workers", "3"),
    )

    assert (1, "", ALL) == (checked.returncode, checked.stderr, names(checked))


# What ends before

ENDS = {
    "import sys; sys.exit(3)": "app.py ended before it started a loop, with "
    "sys.exit(3)",
    "pass": "app.py ended without starting a loop",
    "1 / 0": "app.py failed before it started a loop, with ZeroDivisionError: "
    "division by zero",
}


@pytest.mark.parametrize(("statement", "message"), ENDS.items())
def test_a_program_without_a_loop_is_judged_by_what_is_there(
    statement: str, message: str, check: Callable[..., Checked]
) -> None:
    source = f"from made import make\napp = make()\n{statement}"

    checked = check(source, options=("--transactional", "*"))

    assert (1, ALL) == (checked.returncode, names(checked))
    assert f"txloop: {message}" == checked.stderr.splitlines()[-1]
    assert "rehearsal.py" not in checked.stderr


@pytest.mark.parametrize("json_too", [(), ("--json",)])
def test_a_program_without_handlers(
    json_too: tuple[str, ...], check: Callable[..., Checked]
) -> None:
    checked = check("print('hello')", options=json_too)

    assert 2 == checked.returncode
    assert ['{"verbs": [], "objects": []}'] * len(json_too) == [
        json.dumps(json.loads(checked.stdout)) for _ in json_too
    ]
    assert checked.stderr.splitlines() == [
        "hello",
        "txloop: app.py ended without starting a loop",
        "txloop: there is no application with handlers of the program, and nothing is "
        "marked",
    ]


def test_what_a_common_base_keeps_is_followed_in_each_handler(
    check: Callable[..., Checked],
) -> None:
    """A walk through one handler's `initialize` tells nothing of another's."""
    done = check(
        """
        from tornado.ioloop import IOLoop
        from tornado.web import Application, RequestHandler
        class Store:
            def __init__(self):
                self.rows = {}
            def count(self):
                return len(self.rows)
            def add(self, name):
                self.rows[name] = 1
        class Base(RequestHandler):
            def initialize(self):
                self.store = self.settings["store"]
        class Count(Base):
            def get(self):
                self.write(str(self.store.count()))
        class Add(Base):
            def post(self):
                self.store.add("a")
        Application([("/", Count), ("/add", Add)], store=Store()).listen(8888)
        IOLoop.current().start()
        """,
        options=("--auto",),
    )

    assert "GET Count  as in stock Tornado" in done.stdout

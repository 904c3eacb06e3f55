"""``python -m txloop check``: the verdicts of run time, without running."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests import warm
from tests.http.check_programs import PROGRAMS, REQUESTS
from tests.where_it_ran import why_on_loop
from txloop.executors.protocol import resolve_name

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "programs"

APPLICATION = """
import tornado.web
rows = []
class Main(tornado.web.RequestHandler):
    def get(self):
        self.write(str(rows))
    def post(self):
        rows.append(1)
class Calm(tornado.web.RequestHandler):
    def get(self):
        self.write("calm")
def make():
    return tornado.web.Application([("/", Main), ("/calm", Calm)])
"""

ALL = ["GET Main", "POST Main", "GET Calm"]

Checked = subprocess.CompletedProcess[str]


@pytest.fixture
def check(tmp_path: Path) -> Callable[..., Checked]:
    """Give a function that checks a program, which may import `make` from `made`."""
    (tmp_path / "made.py").write_text(APPLICATION)

    def run(source: str, *arguments: str, options: tuple[str, ...] = ()) -> Checked:
        (tmp_path / "app.py").write_text(textwrap.dedent(source))
        return run_check(tmp_path, *options, "app.py", *arguments)

    return run


def run_check(folder: Path, *arguments: str) -> Checked:
    """Run the command in the folder."""
    return warm.run(
        [sys.executable, "-m", "txloop", "check", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=40,
    )


def names(checked: Checked) -> list[str]:
    """Return the names of the verbs in a report for people."""
    return re.findall(r"^([A-Z]+ \w+)  ", checked.stdout, re.MULTILINE)


def told(checked: Checked) -> dict[str, Any]:
    """Return a report for programs."""
    assert checked.stdout, checked.stderr
    found: dict[str, Any] = json.loads(checked.stdout)
    return found


def on_loop(report: dict[str, Any]) -> dict[str, str]:
    """Return why each verb will run on the loop thread, "" if it will not."""
    return {
        one["name"]: one["reasons"][0] if one["runs"] == "on the loop thread" else ""
        for one in report["verbs"]
        if one["runs"] != "as in stock Tornado" and one["verb"]
    }


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


# What is said

SERVED = """
import os, sys
from made import make
from tornado.ioloop import IOLoop
print("listening")
os.write(1, b"to the descriptor\\n")
make().listen(80)
IOLoop.current().start()
"""


def test_what_the_program_prints_does_not_spoil_the_report(
    check: Callable[..., Checked],
) -> None:
    checked = check(SERVED, options=("--json", "--transactional", "*"))

    report = told(checked)
    assert ["to the descriptor", "listening"] == sorted(
        checked.stderr.splitlines(), reverse=True
    )
    assert {"verbs", "objects"} == set(report)
    assert [("GET Main", "Main", "GET", "on the loop thread")] == [
        (one["name"], one["handler"], one["verb"], one["runs"])
        for one in report["verbs"][:1]
    ]


def test_findings_are_grouped_by_object(check: Callable[..., Checked]) -> None:
    report = told(check(SERVED, options=("--json", "--transactional", "*")))

    (shared,) = report["objects"]
    assert ("made.rows", "list", ["GET Main", "POST Main"]) == (
        shared["name"],
        shared["type"],
        shared["verbs"],
    )
    assert [
        "made.py:6: Main.get() reads what other code writes, made.rows",
        "made.py:8: Main.post() writes it",
        "made.py:8: Main.post() changes the module-level made.rows",
    ] == shared["lines"]
    assert shared["remedy"].startswith("make this list a txloop container")


def test_one_remedy_stands_below_each_object(check: Callable[..., Checked]) -> None:
    checked = check(SERVED, options=("--transactional", "*"))

    assert 1 == checked.stdout.count("make this list a txloop container")
    assert "made.rows (list) keeps 2 verbs from running in parallel:" in checked.stdout


def test_classes_of_what_an_object_holds_are_named(
    check: Callable[..., Checked],
) -> None:
    source = textwrap.dedent(PROGRAMS["objects on the application"])

    report = told(check(source, options=("--json", "--transactional", "*")))

    (shared,) = report["objects"]
    assert shared["remedy"].startswith("make this dict a txloop.TDict")
    assert (
        "the class app.Game, whose objects it holds, a txloop.TObject"
        in (shared["remedy"])
    )


def test_without_marks_it_says_what_would_run_in_parallel(
    check: Callable[..., Checked],
) -> None:
    checked = check(SERVED)

    assert 0 == checked.returncode
    assert "GET Calm   not marked; would run in parallel" in checked.stdout
    assert "POST Main  not marked; would run on the loop thread: made.rows" in (
        checked.stdout
    )
    report = told(check(SERVED, options=("--json",)))
    assert {"as in stock Tornado"} == {one["runs"] for one in report["verbs"]}
    assert (
        "it is not marked; if it were, it would run in parallel"
        == (report["verbs"][-1]["reasons"][0])
    )


def test_with_auto_it_names_what_could_not_be_followed(
    check: Callable[..., Checked],
) -> None:
    checked = check(
        """
        from tornado.ioloop import IOLoop
        from made import Main, make
        class Lost(Main):
            def get(self):
                getattr(self, self.get_argument("what"))()
        application = make()
        application.add_handlers(".*", [("/lost", Lost)])
        IOLoop.current().start()
        """,
        options=("--auto",),
    )

    assert 0 == checked.returncode, checked.stderr
    lines = checked.stdout.splitlines()
    assert "GET Calm   in parallel" in lines
    assert "GET Main   as in stock Tornado: made.rows" in lines
    assert "GET Lost   as in stock Tornado: it uses what cannot be followed" in lines
    assert "uses what cannot be followed: getattr(self, " in checked.stdout


def test_all_that_is_marked_runs_in_parallel(check: Callable[..., Checked]) -> None:
    checked = check(SERVED, options=("--transactional", "Calm"))

    assert 0 == checked.returncode
    assert "GET Calm   in parallel" in checked.stdout


def test_kinds_of_verbs(check: Callable[..., Checked]) -> None:
    source = textwrap.dedent(PROGRAMS["kinds of verbs"])

    report = told(check(source, options=("--json", "--transactional", "*")))

    assert {
        "GET Mine": "on the loop thread",
        "HEAD Mine": "in parallel",
        "POST Mine": "in parallel",
        "GET Trusted": "in parallel",
        "HEAD Trusted": "in parallel",
        "GET Socket": "as in stock Tornado",
        "on_message Socket": "as in stock Tornado",
        "note": "on the loop thread",
        "count": "in parallel",
    } == {one["name"]: one["runs"] for one in report["verbs"]}


CHAT = """\
from tornado.ioloop import IOLoop
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler

class Socket(WebSocketHandler):
    def on_message(self, text):
        self.write_message(text)

class Say(RequestHandler):
    def post(self):
        self.write("said")

application = Application([("/socket", Socket), ("/say", Say)])
IOLoop.current().start()
"""


def test_messages_are_not_proved(check: Callable[..., Checked]) -> None:
    checked = check(CHAT, options=("--auto",))

    assert (
        "on_message Socket  as in stock Tornado: messages are transactions only where "
        "they are marked"
    ) in checked.stdout
    assert "POST Say           in parallel" in checked.stdout


def test_what_cannot_be_copied(check: Callable[..., Checked]) -> None:
    source = textwrap.dedent(PROGRAMS["what cannot be copied"])
    trusted = source.replace(
        "class Locked", "import txloop\n@txloop.transactional(trust=True)\nclass Locked"
    )

    report = told(check(source, options=("--json", "--transactional", "*")))
    unmarked = check(source)
    after = told(check(trusted, options=("--json", "--transactional", "*")))

    runs = {one["name"]: one["runs"] for one in report["verbs"]}
    assert {
        "GET Locked": "on the loop thread",
        "GET Rows": "on the loop thread",
        "HEAD Rows": "in parallel",
        "GET Numbers": "on the loop thread",
    } == runs
    assert {
        "app.lock": ("lock", ["GET Locked"]),
        "application.base": ("Connection", ["GET Rows"]),
        "initialize(numbers)": ("range_iterator", ["GET Numbers"]),
    } == {one["name"]: (one["type"], one["verbs"]) for one in report["objects"]}
    reasons = {one["name"]: one["reasons"] for one in report["verbs"]}
    assert [
        "app.py:11: Locked.get() reaches app.lock; it is a _thread.lock, of which a "
        "copy in another process is of no use; mark with @transactional(trust=True) "
        "if that does no harm"
    ] == reasons["GET Locked"]
    assert "GET Locked   not marked; would run on the loop thread: app.lock" in (
        unmarked.stdout
    )
    assert (
        "in parallel"
        == {one["name"]: one["runs"] for one in after["verbs"]}["GET Locked"]
    )


def test_the_world_outside(check: Callable[..., Checked]) -> None:
    """Only the author of a handler can tell whether it may happen more than once."""
    source = """
    import asyncio
    import txloop
    from tornado.web import Application, RequestHandler
    class Main(RequestHandler):
        def get(self):
            with open("votes.txt", "w") as file:
                file.write("1")
    @txloop.transactional
    class Mine(Main):
        pass
    async def main():
        Application([("/", Main), ("/mine", Mine)]).listen(8888)
        await asyncio.Event().wait()
    asyncio.run(main())
    """

    checked = check(source, options=("--transactional", "*"))

    assert [
        "GET Main  on the loop thread: it writes votes.txt",
        "GET Mine  in parallel",
        "          note: app.py:7: Main.get() writes votes.txt; it may happen more "
        "than once",
    ] == checked.stdout.splitlines()


def test_a_package_that_is_installed(tmp_path: Path) -> None:
    """The program is the package that holds the main script, wherever it is."""
    package = tmp_path / "site-packages" / "pkg"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "made.py").write_text(APPLICATION)
    (package / "__main__.py").write_text(SERVED.replace("made", "pkg.made"))

    checked = run_check(tmp_path / "site-packages", "--transactional", "*", "-m", "pkg")

    assert (1, ALL) == (checked.returncode, names(checked))


def test_help_has_the_exit_codes() -> None:
    checked = run_check(Path.cwd(), "--help")

    text = " ".join(checked.stdout.split())
    assert "check ends with 0 if all that is marked runs in parallel, 1 if" in text
    assert "--json" in text


def test_json_is_for_check_only(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("")

    ended = subprocess.run(
        [sys.executable, "-m", "txloop", "--json", "app.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=40,
    )

    assert (2, "txloop: --json is an option of check (--help lists the options)\n") == (
        ended.returncode,
        ended.stderr,
    )


# What happens


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


needs_workers = pytest.mark.skipif(
    resolve_name("auto") == "serial", reason="there is no parallel executor here"
)


@needs_workers
@pytest.mark.parametrize("order", [1, -1], ids=["forward", "backward"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_check_and_run_time_say_the_same(name: str, order: int, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(textwrap.dedent(PROGRAMS[name]))
    requests = [each.split() for each in REQUESTS[name]][::order]

    ran = why_on_loop(tmp_path, [(verb, path, None, {}) for verb, path in requests])

    said = on_loop(
        told(run_check(tmp_path, "--json", "--transactional", "*", "app.py"))
    )
    assert said == ran


@needs_workers
@pytest.mark.skipif(not CORPUS.is_dir(), reason="there is no corpus beside this clone")
@pytest.mark.parametrize(
    "program", sorted(CORPUS.glob("*")), ids=lambda program: program.name
)
def test_existing_programs(program: Path, tmp_path: Path) -> None:
    for needed in ("numpy", "sklearn", "PIL", "jwt"):
        pytest.importorskip(needed)
    folder = tmp_path / "program"
    shutil.copytree(program, folder)
    spec = json.loads((folder / "requests.json").read_text())

    ran = why_on_loop(
        folder,
        [
            (one["method"], one["path"], (one["body"] or "").encode(), one["headers"])
            for one in spec["requests"]
        ],
        *spec["args"],
    )

    arguments = ["--json", "--transactional", "*", "app.py", *spec["args"]]
    said = on_loop(told(run_check(folder, *arguments)))
    assert ran
    assert ran == {name: why for name, why in said.items() if name in ran}

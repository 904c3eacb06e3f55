"""What ``python -m txloop check`` says, to people and to programs."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.http.check_programs import PROGRAMS
from tests.http.checking import (
    ALL,
    APPLICATION,
    Checked,
    names,
    run_check,
    told,
)

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow

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

"""``python -m txloop share`` and ``--share``, as commands."""

from __future__ import annotations

import pathlib
import re
import subprocess
import textwrap

import pytest

from tests.sharing.commanding import PROGRAM, git, program, run
from tests.unchanged.running import Asked, running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture
def committed(tmp_path):
    program(tmp_path)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "app.py")
    git(tmp_path, "commit", "-qm", "it")
    return tmp_path


def test_it_prints_a_diff_that_applies_why_and_how_many(tmp_path):
    program(tmp_path)

    code, printed, _ = run(tmp_path, "share", "app.py")
    patched = subprocess.run(
        ["patch", "-p1"], cwd=tmp_path, input=printed, text=True, check=False
    )

    assert 0 == code
    assert "-names = []  # in the order" in printed
    assert "+names = txloop.share([])  # in the order" in printed
    assert "app.asked (app, line 8) becomes a TVar: its name is bound again." in printed
    assert "    app.py:14: Names.get() assigns the module-level app.asked" in printed
    assert "Of 3 verbs, 0 would run in parallel before, 3 after." in printed
    assert 0 == patched.returncode
    assert "in parallel" in run(tmp_path, "check", "--auto", "app.py")[1]


def test_it_says_what_runs_on_the_loop_thread_all_the_same(tmp_path):
    vote = (
        "from collections import UserDict\nclass Vote(UserDict): pass\n\nclass Names("
    )
    source = PROGRAM.replace("class Names(", vote, 1)
    source = source.replace("names.append(", "names.append(Vote(a=1)); names.append(")
    program(tmp_path, source)

    code, printed, _ = run(tmp_path, "share", "app.py")

    assert 0 == code
    assert "class Vote is left as it is: it is derived from UserDict" in printed
    assert "What meets an object of Vote runs on the loop thread then." in printed


def test_where_an_attribute_gets_several_first_values_is_told(tmp_path):
    counted = """class Order:
    number = 0
    def __init__(self):
        Order.number += 1
        self.number = Order.number

class Names("""
    source = PROGRAM.replace("class Names(", counted, 1)
    program(tmp_path, source.replace("names.append(", "Order(); names.append("))

    _, printed, _ = run(tmp_path, "share", "app.py")

    reason = "it gets its first value in several places: app, line 12; app, line 15."
    assert f"app.Order.number is left as it is: {reason}" in printed


def test_files_are_written_only_if_git_says_that_they_are_clean(committed):
    before = (committed / "app.py").read_text()
    (committed / "app.py").write_text(before + "# changed\n")

    code, _, errors = run(committed, "share", "--write", "app.py")

    assert 2 == code
    assert "app.py is not committed to git" in errors
    assert before + "# changed\n" == (committed / "app.py").read_text()


def test_without_git_they_are_written_by_force(tmp_path):
    program(tmp_path)

    refused = run(tmp_path, "share", "--write", "app.py")
    forced = run(tmp_path, "share", "--write", "--force", "app.py")

    assert (2, 0) == (refused[0], forced[0])
    assert "asked = txloop.TVar(0)" in (tmp_path / "app.py").read_text()


def test_a_second_time_there_is_nothing_to_do(committed):
    run(committed, "share", "--write", "--marks", "app.py")
    once = (committed / "app.py").read_text()

    code, printed, _ = run(
        committed, "share", "--write", "--force", "--marks", "app.py"
    )

    assert once == (committed / "app.py").read_text()
    assert 0 == code
    assert "There is nothing to share.\nOf 3 verbs, 3 would" in printed


def test_marks_are_those_of_stock_tornados_semantics(committed):
    run(committed, "share", "--write", "--marks", "app.py")
    written = (committed / "app.py").read_text()

    code, printed, _ = run(committed, "check", "app.py")

    mark = '    @txloop.transactional(on_error="commit")\n    def get(self):\n'
    assert 2 == written.count(mark)
    assert 0 == code
    assert "GET Names   in parallel" in printed


def test_a_program_that_does_not_get_to_its_loop_is_refused(tmp_path):
    program(tmp_path, "raise SystemExit(3)\n")

    code, printed, errors = run(tmp_path, "share", "app.py")

    assert 2 == code
    assert "" == printed
    assert "app.py ended before it started a loop" in errors


def test_a_program_that_exits_with_an_application_is_looked_at(tmp_path):
    start = "tornado.ioloop.IOLoop.current().start()"
    program(tmp_path, PROGRAM.replace(start, "sys.exit('nothing failed')"))

    code, printed, _ = run(tmp_path, "share", "app.py")

    assert 0 == code
    assert "+names = txloop.share([])  # in the order" in printed


def test_in_memory_no_file_changes_and_tracebacks_have_the_files_lines(tmp_path):
    (tmp_path / "program").mkdir()
    source = program(tmp_path / "program")
    asked = [Asked("POST", "/?name=ann"), Asked("GET", "/"), Asked("GET", "/fails")]

    with running(source, tmp_path, None, options=()) as stock:
        expected = stock.ask(asked)
    with running(
        source, tmp_path, "processes", options=("--auto", "--share")
    ) as shared:
        answers = shared.ask(asked)
        written = (shared.folder / "app.py").read_text()

    assert "line 25, in get" in expected[2][1]
    assert "line 25, in get" in answers[2][1]
    assert expected[:2] == answers[:2]
    assert PROGRAM == written


IMPORTS_WHAT_IS_RUN = """
import tornado.web

class Page(tornado.web.RequestHandler):
    def get(self):
        {}
        self.write(str(app.asked))
"""


@pytest.mark.parametrize(
    ("folder", "file", "statement", "command"),
    [
        (".", "app.py", "import app", ["app.py"]),
        ("shop", "app.py", "from . import app", ["-m", "shop.app"]),
        ("shop", "__main__.py", "from . import __main__ as app", ["-m", "shop"]),
    ],
)
def test_what_is_run_may_be_imported_by_its_name(
    folder, file, statement, command, tmp_path
):
    """Another module is made of it then, which has a variable of its own."""
    (tmp_path / folder).mkdir(exist_ok=True)
    views = "import views" if folder == "." else "from . import views"
    routes = '("/page", views.Page), ("/fails"'
    source = PROGRAM.replace("import sys", f"import sys\n{views}")
    (tmp_path / folder / file).write_text(source.replace('("/fails"', routes))
    page = IMPORTS_WHAT_IS_RUN.format(statement)
    (tmp_path / folder / "views.py").write_text(page)

    _, printed, _ = run(tmp_path, "share", *command)

    assert "+        self.write(str(app.asked.value))" in printed


def test_a_module_is_shared_too(tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").write_text("stock = {}\n")
    (tmp_path / "shop" / "__main__.py").write_text(
        textwrap.dedent(
            """
            import tornado.ioloop
            import tornado.web
            from shop import stock

            class Stock(tornado.web.RequestHandler):
                def get(self, item):
                    stock[item] = stock.get(item, 0) + 1
                    self.write(stock)

            tornado.web.Application([("/(.*)", Stock)]).listen(0, "127.0.0.1")
            tornado.ioloop.IOLoop.current().start()
            """
        )
    )

    code, printed, _ = run(tmp_path, "share", "-m", "shop")

    assert 0 == code
    assert "+++ b/shop/__init__.py" in printed
    assert "+stock = txloop.share({})" in printed


def test_a_long_look_is_told(tmp_path):
    # GIVEN
    program(tmp_path, f"import time\ntime.sleep(2.1)\n{PROGRAM}")

    # WHEN
    code, _, said = run(tmp_path, "share", "app.py")

    # THEN
    told = "looking for what can be shared in 1 module; the first look took"
    assert (0, True) == (code, told in said), said


def test_an_option_of_share_after_the_program_is_told(tmp_path):
    program(tmp_path)
    before = (tmp_path / "app.py").read_text()

    _, _, errors = run(tmp_path, "share", "app.py", "--write")

    assert "--write goes to app.py; options of share stand before that" in errors
    assert before == (tmp_path / "app.py").read_text()


@pytest.mark.parametrize("option", ["--write", "--force", "--marks"])
def test_options_of_share_are_refused_elsewhere(option, tmp_path):
    program(tmp_path)

    code, _, errors = run(tmp_path, option, "app.py")

    assert 2 == code
    assert f"{option} is an option of share" in errors


STARTS_A_PROCESS = (
    """
import multiprocessing, os, pathlib, sys, time

def wait():
    print("child", os.getpid(), file=sys.stderr, flush=True)
    pathlib.Path("begun").touch()
    time.sleep(600)

child = multiprocessing.get_context("fork").Process(target=wait)
child.start()
while not pathlib.Path("begun").exists():
    time.sleep(0.01)
"""
    + PROGRAM
)


@pytest.mark.parametrize("command", ["share", "check"])
def test_processes_that_the_program_starts_end_with_the_look_at_it(command, tmp_path):
    program(tmp_path, STARTS_A_PROCESS)

    _, _, errors = run(tmp_path, command, "app.py")
    children = re.findall(r"^child (\d+)$", errors, re.MULTILINE)

    assert children
    assert not any(pathlib.Path("/proc", child).exists() for child in children)


SAVES = (
    """
import os, sys

if os.path.exists("app.pid"):
    sys.exit("it runs already")
open("app.pid", "w").close()
open("starts.txt", "a").write("start\\n")
"""
    + PROGRAM
)


@pytest.mark.parametrize("command", ["share", "check"])
def test_a_look_leaves_files_as_they_are(command, tmp_path):
    """A program is looked at several times, and has to start afterwards."""
    program(tmp_path, SAVES)
    (tmp_path / "starts.txt").write_text("start\n")

    _, printed, errors = run(tmp_path, command, "app.py")

    assert "app.names" in printed
    assert "it runs already" not in errors
    assert {"app.py", "starts.txt"} == {one.name for one in tmp_path.iterdir()}
    assert "start\n" == (tmp_path / "starts.txt").read_text()

"""``python -m txloop share`` and ``--share``, as commands."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import textwrap

import pytest

from tests.unchanged.running import Asked, inherited_environment, running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

PROGRAM = '''\
"""A list, and how often it was asked for."""
import sys

import tornado.ioloop
import tornado.web

names = []  # in the order of arrival
asked = 0


class Names(tornado.web.RequestHandler):
    def get(self):
        global asked
        asked += 1
        self.write("%d: %s" % (asked, names))

    def post(self):
        names.append(self.get_argument("name"))
        self.set_status(201)


class Fails(tornado.web.RequestHandler):
    def get(self):
        self.write(str(asked))
        raise KeyError(names)  # line 25


def listen(routes):
    server = tornado.httpserver.HTTPServer(tornado.web.Application(routes, debug=True))
    sockets = tornado.netutil.bind_sockets(int((sys.argv[1:] or [0])[0]), "127.0.0.1")
    server.add_sockets(sockets)
    print("port", sockets[0].getsockname()[1], flush=True)


if __name__ == "__main__":
    listen([("/", Names), ("/fails", Fails)])
    tornado.ioloop.IOLoop.current().start()
'''


def program(folder, source=PROGRAM):
    (folder / "app.py").write_text(source)
    return folder


def run(folder, *arguments):
    """Run the command line in a folder; return its exit code, output and errors."""
    ended = subprocess.run(
        [sys.executable, "-m", "txloop", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=inherited_environment(),
    )
    return ended.returncode, ended.stdout, ended.stderr


def git(folder, *arguments):
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
    )


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
    vote = "class Vote(dict): pass\n\nclass Names("
    source = PROGRAM.replace("class Names(", vote, 1)
    source = source.replace("names.append(", "names.append(Vote(a=1)); names.append(")
    program(tmp_path, source)

    code, printed, _ = run(tmp_path, "share", "app.py")

    assert 0 == code
    assert "class Vote is left as it is: it is derived from dict" in printed
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


SET_UP = """
import tornado.ioloop
import tornado.web

class Visits(tornado.web.RequestHandler):
    def get(self):
        self.application.count += 1
        self.application.names.append("x")
        self.write(str(self.application.last))
    def post(self):
        self.application.last = {{}}

def make():
    app = tornado.web.Application([("/", Visits)])
    app.names = []
    app.last = {{}}
    return app

{0}def main():
    app = make()
    app.count = 0
    {1}

main()
"""

SETS = """
class Sets:
    def __init__(self, app):
        app.names = []
"""

WAYS_TO_SET_UP = {
    "after run_sync": SET_UP.format(
        "async def prepare():\n    pass\n\n", "tornado.ioloop.IOLoop.current().start()"
    ).replace(
        "    app.count = 0\n",
        "    tornado.ioloop.IOLoop.current().run_sync(prepare)\n    app.count = 0\n",
    ),
    "a call": SET_UP.format("", "tornado.ioloop.IOLoop.current().start()"),
    "a coroutine": "import asyncio"
    + SET_UP.format("async ", "await asyncio.Event().wait()").replace(
        "\nmain()", "\nasyncio.run(main())"
    ),
}


@pytest.mark.parametrize("way", WAYS_TO_SET_UP)
def test_what_is_set_while_the_program_is_set_up_is_not_set_again(way, tmp_path):
    program(tmp_path, WAYS_TO_SET_UP[way])

    code, printed, _ = run(tmp_path, "share", "app.py")

    assert 0 == code
    assert "+    app.names = txloop.share([])\n" in printed
    assert "+    app.count = txloop.TVar(0)\n" in printed
    assert "+    app.last = txloop.TVar({})\n" in printed  # it is set again
    assert "+        self.application.count.value += 1\n" in printed
    assert "Of 2 verbs, 0 would run in parallel before, 2 after." in printed


@pytest.mark.parametrize("given", ["self.application", "self.application if 1 else 2"])
def test_a_variable_may_mean_the_application(given, tmp_path):
    source = SET_UP.format("", "tornado.ioloop.IOLoop.current().start()")
    source = source.replace(
        "        self.application.count += 1\n",
        f"        app = {given}\n        app.count += 1\n",
    )
    program(tmp_path, source)

    printed = run(tmp_path, "share", "app.py")[1]

    if given == "self.application":
        assert "+        app.count.value += 1\n" in printed
    else:
        at = "application.count is left as it is: app, line 8, may mean"
        assert f"{at} another's attribute." in printed


HELD = """
import tornado.ioloop
import tornado.web

class Account:
    def __init__(self):
        self.balance = 0

accounts = {0}

class Pay(tornado.web.RequestHandler):
    def post(self):
        accounts[0].balance += 1

app = tornado.web.Application([("/", Pay)])
tornado.ioloop.IOLoop.current().start()
"""


@pytest.mark.parametrize(
    "held", ["[Account()]", "{0: Account()}", "('', Account())[1:]"]
)
def test_objects_are_shared_whatever_plain_object_holds_them(held, tmp_path):
    program(tmp_path, HELD.replace("{0}", held))

    printed = run(tmp_path, "share", "app.py")[1]

    assert "class Account (app, line 5) becomes a TObject" in printed
    assert "Of 1 verb, 0 would run in parallel before, 1 after." in printed


FROM_ITS_CLASS = """
import tornado.ioloop
import tornado.web

class Counter:
    count = 10
    def add(self):
        self.count += 1

class Add(tornado.web.RequestHandler):
    def post(self):
        self.application.counter.add()

class Show(tornado.web.RequestHandler):
    def get(self):
        self.write(str(self.application.counter.count))

app = tornado.web.Application([("/add", Add), ("/", Show)])
app.counter = Counter()
tornado.ioloop.IOLoop.current().start()
"""


def test_an_object_that_assigns_what_its_class_gives_it_is_shared(tmp_path):
    program(tmp_path, FROM_ITS_CLASS)

    printed = run(tmp_path, "share", "app.py")[1]

    assert "class Counter (app, line 5) becomes a TObject" in printed
    assert "Of 2 verbs, 0 would run in parallel before, 2 after." in printed


PAID = """
import json
import tornado.ioloop
import tornado.web

class Book:
    def __init__(self):
        self.balances = {}
        self.log = []
    def pay(self, who):
        self.log.append(who)
        self.enter(who)
        more = [who]
    def enter(self, name):
        {0}

class Other:
    def {1}(self, name):
        print(name)

book = Book()

class Pay(tornado.web.RequestHandler):
    def post(self):
        book.pay(json.loads(self.request.body)["who"])

app = tornado.web.Application([("/", Pay)])
tornado.ioloop.IOLoop.current().start()
"""


@pytest.mark.parametrize(
    ("use", "other", "taken"),
    [
        ("self.balances[name] = 1", "leave", True),
        ("self.balances[name] = 1", "enter", False),  # which may be meant
        ("self.balances[1] = name", "leave", False),
    ],
    ids=["a key", "a key of another's", "no key"],
)
def test_what_is_used_as_a_key_is_no_container(use, other, taken, tmp_path):
    program(tmp_path, PAID.replace("{0}", use).replace("{1}", other))

    printed = run(tmp_path, "share", "app.py")[1]

    left = "log is left as it is: app, line 11, stores 'who' and goes on with it"
    assert taken != (left in printed)
    assert taken == ("Of 1 verb, 0 would run in parallel before, 1 after." in printed)


def test_what_is_set_by_a_request_has_no_first_value(tmp_path):
    late = SET_UP.format("", "tornado.ioloop.IOLoop.current().start()")
    late = late.replace("    app.count = 0\n", "")
    late = late.replace(
        "    def post(self):\n", "    def post(self):\n        make()\n"
    )
    program(tmp_path, late)

    printed = run(tmp_path, "share", "app.py")[1]

    assert "application.names is left as it is: no line is known" in printed


def test_what_a_constructor_sets_of_others_may_be_set_at_any_time(tmp_path):
    late = SET_UP.format("", "tornado.ioloop.IOLoop.current().start()")
    late = late.replace(
        "def make",
        "class Sets:\n    def __init__(self, app):\n        app.names = []\n\ndef make",
    )
    late = late.replace(
        "    app.names = []\n    app.last", "    Sets(app)\n    app.last"
    )
    late = late.replace(
        "    def post(self):\n", "    def post(self):\n        Sets(self.application)\n"
    )
    program(tmp_path, late)

    printed = run(tmp_path, "share", "app.py")[1]

    assert "application.names is left as it is: no line is known" in printed


def test_objects_that_refuse_to_be_compared_do_no_harm(tmp_path):
    odd = """asked = 0
class Odd:
    def __eq__(self, other): raise ValueError
Odd.__module__ = "json"  # a library's
odd = [Odd()]
"""
    program(tmp_path, PROGRAM.replace("asked = 0\n", odd))

    code, printed, _ = run(tmp_path, "share", "app.py")

    assert 0 == code
    assert "Of 3 verbs, 0 would run in parallel before, 3 after." in printed


def test_what_keeps_the_program_from_starting_is_not_done(tmp_path):
    exact = "asked = 0\nassert type(names).__len__ is list.__len__  # no TList's\n"
    program(tmp_path, PROGRAM.replace("asked = 0\n", exact))

    code, printed, _ = run(tmp_path, "share", "app.py")

    assert 0 == code
    assert (
        "app.names is left as it is: the program did not start with a container in "
        "its place." in printed
    )
    assert "+asked = txloop.TVar(0)" in printed


def test_what_is_stored_and_keeps_the_program_from_starting_is_left_alone(tmp_path):
    fill = (
        "asked = 0\nrows = []\ndef fill():\n    row = {}\n    rows.append(row)\n"
        "    row['a'] = 1\n    type.__new__(type, 'K', (), row)  # dicts only\nfill()\n"
    )
    source = PROGRAM.replace("asked = 0\n", fill)
    add = "names.append("
    program(tmp_path, source.replace(add, f"rows.append(1); {add}", 1))

    code, printed, _ = run(tmp_path, "share", "app.py")

    assert 0 == code
    assert "app.rows is left as it is: the program did not start with" in printed
    assert "+names = txloop.share([])" in printed
    assert "+asked = txloop.TVar(0)" in printed


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


@pytest.mark.parametrize(
    ("template", "is_shared"), [("{{ hits }}", True), ("{{ handler.hits }}", False)]
)
def test_what_a_template_names_is_left_alone(template, is_shared, tmp_path):
    source = PROGRAM.replace("    def get", "    hits = 0\n\n    def get", 1)
    source = source.replace(
        "        global", "        Names.hits += 1\n        global", 1
    )
    program(tmp_path, source)
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "page.html").write_text(template)

    _, printed, _ = run(tmp_path, "share", "app.py")

    assert is_shared == ("+    hits = txloop.TVar(0)" in printed)
    assert is_shared != ("Names.hits is left as it is: a template may" in printed)


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


COUNTS = """
import functools
import itertools
from itertools import count as numbers

ids = itertools.count(1)
new_id = numbers(2, 3).__next__
draw = functools.partial(next, itertools.count(4))
known = itertools.count(6)
copied = itertools.count(7)

class Room:
    made = itertools.count(8)

def fresh(_ids=itertools.count(9)):
    return next(_ids)

class Draws(tornado.web.RequestHandler):
    def get(self):
        self.write(repr([next(ids), new_id(), draw(), next(Room.made), fresh()]))
    def post(self):
        self.write(str(type(known) is itertools.count) + str(next(known)))
    def put(self):
        self.write(str(next(itertools.tee(copied)[0])))
"""


def test_counts_become_containers_of_which_nothing_asks_what_they_are_not(tmp_path):
    source = PROGRAM.replace("names = []", f"{COUNTS}\nnames = []")
    program(tmp_path, source.replace('("/", Names)', '("/", Draws)'))

    run(tmp_path, "share", "--write", "--force", "app.py")
    written = (tmp_path / "app.py").read_text()
    _, told, _ = run(tmp_path, "check", "--auto", "app.py")

    assert 5 == written.count("txloop.TCount(")
    assert "itertools.count(6)" in written
    assert "itertools.count(7)" in written
    verbs = dict(re.findall(r"(\w+) Draws +(in parallel|as in stock)", told))
    assert {"GET": "in parallel", "POST": "as in stock", "PUT": "as in stock"} == verbs

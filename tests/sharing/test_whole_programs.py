"""What becomes a container in whole programs, whatever way it is set up or held."""

from __future__ import annotations

import re

import pytest

from tests.sharing.commanding import PROGRAM, program, run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


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
import ast
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
        book.pay(ast.literal_eval(self.get_argument("pay"))["who"])

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
    exact = "asked = 0\nassert '<list ' in object.__repr__(names)  # no TList\n"
    program(tmp_path, PROGRAM.replace("asked = 0\n", exact))

    code, printed, _ = run(tmp_path, "share", "app.py")

    assert 0 == code
    assert (
        "app.names is left as it is: the program did not start with a container in "
        "its place." in printed
    )
    assert "+asked = txloop.TVar(0)" in printed


def test_what_is_stored_in_what_stays_plain_is_no_container(tmp_path):
    fill = (
        "asked = 0\nrows = []\ndef fill(given):\n    row = {'of': given}\n"
        "    rows.append(row)\n    row['a'] = 1\n    return row\n"
    )
    use = "x = [[], []]; y, z = x; fill(y); rows.append(y); y.append(1); z.append(1)"
    source = PROGRAM.replace("asked = 0\n", fill)
    program(tmp_path, source.replace("names.append(", f"{use}; names.append(", 1))

    code, printed, _ = run(tmp_path, "share", "app.py")

    assert 0 == code
    assert "app.rows is left as it is" in printed
    assert "row = txloop.share(" not in printed


@pytest.mark.parametrize("first", ["0", "'a'", "{}"])
def test_what_a_number_or_a_text_becomes_may_be_plain(first, tmp_path):
    held = (
        f"asked = 0\nrows = []\nclass Last:\n    seen = {first}\n"
        "    def __del__(self): pass\n    def note(self, x): self.seen = x\n"
        "last = Last()\n"
    )
    use = "x = [1]; last.note(x); rows.append(last.seen); last.seen.append(2)"
    source = PROGRAM.replace("asked = 0\n", held)
    program(tmp_path, source.replace("names.append(", f"{use}; names.append(", 1))

    code, printed, _ = run(tmp_path, "share", "app.py")

    assert 0 == code
    assert "rows is left as it is: app, line " in printed
    assert "keeps a part of seen, which stays plain" in printed


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


def test_what_is_stored_in_something_plain_too_is_one_object(tmp_path):
    source = PROGRAM.replace(
        "asked = 0\n", "asked = 0\nlast = {}\nadd = names.append\n"
    )
    stores = "row = []\n        names.append(row)\n        last['row'] = row"
    program(tmp_path, source.replace('names.append(self.get_argument("name"))', stores))

    _, printed, _ = run(tmp_path, "share", "app.py")

    assert "app.names is left as it is" in printed
    assert "+        row = txloop.share([])\n" in printed
    assert "+last = txloop.share({})\n" in printed

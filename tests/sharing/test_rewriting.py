"""What becomes of a text, and what is left alone."""

from __future__ import annotations

import ast
import textwrap

import pytest

import txloop
from tests.sharing.rounds import left, module, shared
from txloop.sharing.command import as_written
from txloop.sharing.hook import compiled
from txloop.sharing.loops import changes_in_loops

WRAPPED = {
    "a display": ("items = []", "items = txloop.share([])"),
    "with a comment": (
        "items = [1,  # one\n  2]",
        "items = txloop.share([1,  # one\n  2])",
    ),
    "of a call": ("items = dict(a=1)", "items = txloop.share(dict(a=1))"),
    "that code calls global and does not bind": (
        "items = []\ndef f(x):\n    global items\n    items.append(x)\n",
        "items = txloop.share([])\ndef f(x):\n    global items\n    items.append(x)\n",
    ),
    "behind an annotation": ("items: dict = {}", "items: dict = txloop.share({})"),
    "after wide characters": (
        '"é"; items = {"ä": 1}',
        '"é"; items = txloop.share({"ä": 1})',
    ),
    "with the file's line ends": (
        "a = 1\r\nitems = []\r\n",
        "a = 1\r\nitems = txloop.share([])\r\n",
    ),
}


@pytest.mark.parametrize("case", WRAPPED)
def test_a_display_is_put_into_share(case):
    before, after = WRAPPED[case]

    assert after == shared(before, "items")


def test_what_is_shared_already_stays():
    once = shared("items = []\nother = 1\n", "items")

    assert once == shared(once)


REBOUND = """
count = 0
{}
def add():
    global count
    count += 1
    return count
"""


def rebound(line):
    return textwrap.dedent(REBOUND.format(line)).lstrip()


FOLLOWED = {
    "a function's own": ("def f(count): return count", "def f(count): return count"),
    "a default": ("def f(x=count): return x", "def f(x=count.value): return x"),
    "a lambda's": ("f = lambda count: count", "f = lambda count: count"),
    "a lambda": ("f = lambda: count", "f = lambda: count.value"),
    "a comprehension's own": (
        "x = [count for count in range(count)]",
        "x = [count for count in range(count.value)]",
    ),
    "in a comprehension": ("x = [count for y in x2]", "x = [count.value for y in x2]"),
    "a class's own": (
        "class A:\n    count = 1\n    b = count\n    def f(self): return count",
        "class A:\n    count = 1\n    b = count\n    def f(self): return count.value",
    ),
    "a class": ("class A:\n    b = count", "class A:\n    b = count.value"),
    "an attribute": ("def f(x): return x.count", "def f(x): return x.count"),
    "a keyword": (
        "def f(x): return x(count=count)",
        "def f(x): return x(count=count.value)",
    ),
    "a local": ("def f():\n    count = 2\n    return count", None),
    "an inner function": (
        "def f():\n    def g(): return count\n    return g",
        "def f():\n    def g(): return count.value\n    return g",
    ),
    "in a tuple": (
        "def f():\n    global count\n    count, x = 1, count\n    return x",
        "def f():\n    global count\n    count.value, x = 1, count.value\n    return x",
    ),
    "a walrus of a function": ("def f():\n    return (count := 3)", None),
    "caught": ("def f():\n    try: pass\n    except E as count: return count", None),
}


@pytest.mark.parametrize("case", FOLLOWED)
def test_a_name_that_is_bound_again_becomes_a_variable_where_it_is_meant(case):
    before, after = FOLLOWED[case]
    expected = rebound(after or before)
    expected = expected.replace("count = 0", "count = txloop.TVar(0)", 1)
    expected = expected.replace(
        "count += 1\n    return count", "count.value += 1\n    return count.value"
    )

    assert expected == shared(rebound(before), "count")


TUPLES = {
    "count, size = 0, 9": "count, size = txloop.TVar(0), 9",
    "(size, [count, x]) = 9, ((0), 1)": "(size, [count, x]) = 9, ((txloop.TVar(0)), 1)",
    "size, *count = 9, 0": None,
    "count, size = 0, *more": None,
    "count, size = both()": None,
}


@pytest.mark.parametrize("line", TUPLES)
def test_a_part_of_an_assignment_becomes_a_variable(line):
    source = rebound("").replace("count = 0", line, 1)
    expected = source.replace(line, TUPLES[line] or line)
    if TUPLES[line]:
        expected = expected.replace(
            "count += 1\n    return count", "count.value += 1\n    return count.value"
        )

    assert expected == shared(source, "count")
    assert TUPLES[line] or "no value by a simple" in left(source, "count")


NOT_FOLLOWED = {
    "deleted": ("def f():\n    global count\n    del count", "deletes"),
    "a loop": ("def f():\n    global count\n    for count in x: pass", "otherwise"),
    "an import": ("def f():\n    global count\n    import count", "otherwise"),
    "a definition": ("def count(): pass", "otherwise"),
    "by its name": ("def f(x): return getattr(x, 'count')", "in a text"),
    "one of several": ("def f(x): return attrgetter('count', 'x')(x)", "in a text"),
    "behind a dot": ("def f(x): return attrgetter('x.count')(x)", "in a text"),
    "of a call": ("def f(x): return methodcaller('count')(x)", "in a text"),
    "of all names": ("def f(): return globals()", "globals"),
}


@pytest.mark.parametrize("case", NOT_FOLLOWED)
def test_a_name_with_a_use_that_cannot_be_followed_is_left_alone(case):
    line, reason = NOT_FOLLOWED[case]
    source = rebound(line)

    assert source == shared(source, "count")
    assert reason in left(source, "count")


OTHERS = {
    "import app": ("import app\nx = app.count\n", "import app\nx = app.count.value\n"),
    "a template's own": (
        'page = "{% import y %}{{ y.count }}"\n',
        'page = "{% import y %}{{ y.count }}"\n',
    ),
    "another name": (
        "import app as a\na.count = 2\n",
        "import app as a\na.count.value = 2\n",
    ),
    "as it is run": (
        "import __main__\nx = __main__.count\n",
        "import __main__\nx = __main__.count.value\n",
    ),
    "of another": ("import app\nx = y.count\n", "import app\nx = y.count\n"),
    "by way of a third": (
        "import c\nx = c.a.count\n",
        "import c\nx = c.a.count.value\n",
    ),
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_modules_use_the_variable(case):
    before, after = OTHERS[case]

    others = {"c": "import app as a\n", "b": before}

    assert shared(rebound(""), "count", others=others).endswith(after)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("from app import count\n", "imports a copy"),
        ("from app import *\n", "imports all names"),
        ("from __main__ import count\n", "imports a copy"),
        ('page = "{% import app %}{{ app.count }}"\n', "in a template"),
        ("import app\nrender(app)\n", "passes the module on"),
    ],
)
def test_a_copy_of_a_name_elsewhere_leaves_it_alone(line, reason):
    assert reason in left(rebound(""), "count", others={"b": line})


HAZARDS = {
    "exact types": ("x = type(items) is list", "exact type"),
    "threads": ("import threading\nthreading.Thread(target=f).start()", "threads"),
    "an executor": ("loop.run_in_executor(None, f)", "threads"),
    "pickle": ("import pickle\npickle.dumps(items)", "pickle.dumps"),
    "pickle's function": ("from pickle import dumps\ndumps(items)", "pickle.dumps"),
    "an iterator": ("import itertools\nx = itertools.tee(items)", "itertools.tee"),
    "a function of heapq": (
        "from heapq import heappush\npush = functools.partial(heappush, items)",
        "passes heapq.heappush on",
    ),
    "weak references": ("import weakref\nx = weakref.WeakSet()", "weakref.WeakSet"),
    "identities": ("def f(x): return id(x)", "id(x)"),
    "keys that count how often they are looked for": (
        "class Key:\n    n = 0\n    def __hash__(self):\n        Key.n += 1\n"
        "        return 1",
        "Key.__hash__() changes something",
    ),
    "keys that note with what they are compared": (
        "def note(x):\n    seen.append(x)\n    return x\n"
        "class Key:\n    def __eq__(self, other): return note(other) is self\n"
        "    def __hash__(self): return 1",
        "Key.__eq__() changes something",
    ),
    "an object's own identity": (
        "class Cache:\n    def get(self, k): return id(self)",
        "id(self)",
    ),
    "a method of list in a table": ("x = {'a': list.append}", "hands list.append on"),
    "a method of list, given": ("run(list.append, x)", "hands list.append on"),
    "a package": ("import pandas\nx = pandas.DataFrame(items)", "gives it to pandas"),
    "a package by another name": (
        "import pandas\ndef f():\n    rows = items[1:]\n    return pandas.f(rows)",
        "gives it to pandas",
    ),
}


@pytest.mark.parametrize("case", HAZARDS)
def test_what_containers_do_otherwise_leaves_the_program_alone(case):
    line, reason = HAZARDS[case]
    source = f"items = []\n{line}\n"

    assert source == shared(source, "items")
    assert reason in left(source, "items")


LIMITED = {
    "tee": "from itertools import tee\ndef f(): return tee(rows)",
    "tee of a part": "from itertools import tee\ndef f(k): return tee(rows[k])",
    "tee of a variable": "from itertools import tee\ndef f():\n    x = rows; tee(x)",
    "tee of an argument": "from itertools import tee\ndef f(x): tee(x)\nf(rows)",
    "tee of a result": "from itertools import tee\ndef g(): return rows\ntee(g())",
    "what is kept in it": "from itertools import tee\nh = []\ntee(h)\nh.append(rows)",
    "a method of list": "def f(): list.append(rows, 1)",
    "a method of list, applied": "def f(): map(list.append, [rows], [1])",
    "a method of list, of a variable": "def f():\n    x = rows\n    list.sort(x)",
    "pickle": "import pickle\ndef f(): pickle.dump({'r': rows}, open('f', 'wb'))",
    "an identity": "def f(): return id(rows)",
    "a class made of it": "def f(): return type('X', (), rows)",
    "a table of characters": "def f(): return str.maketrans(rows)",
    "an array": "import array\ndef f(): array.array('i').fromlist(rows)",
    "lists that operator adds": "import operator\ndef f(): operator.concat([], rows)",
    "attributes of XML": (
        "import xml.etree.ElementTree\n"
        "def f(): xml.etree.ElementTree.Element('a', rows)"
    ),
    "attributes of XML below": (
        "from xml.etree import ElementTree as ET\n"
        "def f(x): ET.SubElement(x, 'a', attrib=rows)"
    ),
    "values of a statement": ("import sqlite3\ndef f(db): db.execute('insert', rows)"),
    "a part, as values of a statement": (
        "import sqlite3\ndef f(db):\n    for one in rows: db.execute('insert', one)"
    ),
    "values of many statements": (
        "import sqlite3\ndef f(db): db.executemany('x', [one for one in rows if one])"
    ),
    "an exact type": "def f(): return type(rows) is list",
    "a thread": (
        "import threading\ndef f(): rows.append(1)\n"
        "threading.Thread(target=f, daemon=True).start()"
    ),
    "what a thread calls": (
        "from threading import Thread\ndef g(): return rows\ndef f(): g()\n"
        "Thread(target=f).start()"
    ),
    "a thread's argument": (
        "from threading import Thread as T\ndef f(x): x.append(1)\n"
        "T(target=f, args=(rows,)).start()"
    ),
    "a lambda": "def f(): loop.run_in_executor(None, lambda: rows.append(1))",
    "anyio's function": (
        "from anyio.to_thread import run_sync\ndef g(): rows.append(1)\n"
        "async def f(): await run_sync(g)"
    ),
    "a class": (
        "import threading\nclass A(threading.Thread):\n    def run(self): rows.pop()"
    ),
    "a pool": (
        "from concurrent.futures import ThreadPoolExecutor as P\np = P(2)\n"
        "def f(x): rows.append(x)\ndef g(): p.submit(f, 1)"
    ),
    "a partial": (
        "import functools\ndef f(x): rows.append(x)\n"
        "def g(): loop.run_in_executor(None, functools.partial(f, 1))"
    ),
    "a function that passes it on": (
        "def away(g, *more): return loop.run_in_executor(None, g, *more)\n"
        "def f(x): rows.append(x)\ndef h(): away(f, 1)"
    ),
    "an object whose end is noticed": (
        "class Thing:\n    def __del__(self): items.append(1)\n"
        "class Special(Thing): pass\nclass Box:\n    def __init__(self, thing): "
        "self.thing = thing\ndef f(): rows.append(Box(Special()))"
    ),
    "a library's function": (
        "import shutil\ndef f(): loop.run_in_executor(None, shutil.copy, rows[0])"
    ),
}


@pytest.mark.parametrize("case", LIMITED)
def test_what_wants_plain_objects_leaves_those_alone(case):
    source = f"items = []\nrows = []\n{LIMITED[case]}\n"
    after = shared(source, "items", "rows")

    assert "items = txloop.share([])" in after
    assert "rows = []" in after


STILL_SHARED = {
    "a tuple of values": "db.execute('insert', (rows[0], len(rows)))",
    "a dict of values": "db.execute('insert', {'n': rows[0]})",
    "a copy": "db.execute('insert', dict(rows))",
    "tuples of values": "db.executemany('insert', [(one,) for one in rows])",
    "a call's own": "(lambda *values: db.execute('insert', values))(rows[0])",
    "attributes of XML": "ET.Element('a', {'n': rows[0]}, **rows)",
    "a class": "type(rows[0]).__name__",
    "characters": "str.maketrans('a', rows[0])",
}


@pytest.mark.parametrize("case", STILL_SHARED)
def test_what_is_made_for_a_call_leaves_the_rest_shared(case):
    head = "import sqlite3\nimport xml.etree.ElementTree as ET\n"
    source = f"{head}rows = []\ndef f(db): return {STILL_SHARED[case]}\n"

    assert "rows = txloop.share([])" in shared(source, "rows")


def test_what_has_to_be_plain_is_not_put_into_a_container():
    source = """
import itertools
items = []
table = {}
def f(k):
    h = []
    table[k] = h
    itertools.tee(h)
"""
    after = shared(source, "items", "table")

    assert "items = txloop.share([])" in after
    assert "table = {}" in after
    assert "h = []" in after


def test_the_get_of_a_dict_is_not_that_of_a_handler():
    source = """
from tornado.web import RequestHandler
rows = [[]]
table = {}
class Rows(RequestHandler):
    def get(self, key):
        rows[0].append(key)
        return rows[0]
    def post(self):
        table["a"] = self.request.headers.get("A", "")
"""
    assert "table = txloop.share({})" in shared(source, "table")
    own = source.replace("self.request.headers", "self")
    assert "table = {}" in shared(own, "table")


def test_what_an_inner_function_changes_on_a_thread_stays_plain():
    source = """
from threading import Thread
items = []
def make():
    rows = []
    def add(): rows.append(1)
    return add
add = make()
def f(): Thread(target=add).start()
"""
    after = shared(source, "items", "rows")

    assert "items = txloop.share([])" in after
    assert "rows = []" in after


UNKNOWN = {
    "any function": (
        "from threading import Thread\ndef run(f): Thread(target=f).start()\n"
        "table = {'run': run}"
    ),
    "a function by name": (
        "from threading import Thread\ndef f(n): getattr(app, n)()\n"
        "Thread(target=f, args=('x',)).start()"
    ),
    "a function in a dict": (
        "from threading import Thread\ndef f(): JOBS['a']()\nThread(target=f).start()"
    ),
    "a function that is given": (
        "from threading import Thread\ndef f(g): g()\nThread(target=f, args=(h,))"
    ),
    "a parameter of what is kept": (
        "import itertools\ndef f(x): itertools.tee(x)\nJOBS = {'f': f}"
    ),
    "a decorator": (
        "def away(g):\n    def inner(*a): return loop.run_in_executor(None, g, *a)\n"
        "    return inner\n@away\ndef f(x): items.append(x)"
    ),
    "an object's hash": "class A: pass\ndef f(): return hash(A())",
    "a method of a pool": (
        "from concurrent.futures import ThreadPoolExecutor as P\nrun = P(1).submit"
    ),
    "a class that is passed on": "import threading\nkinds = [threading.Thread]",
    "a function in an object": (
        "from threading import Thread\nclass A:\n    run: object\n"
        "def f(job): job.run()\nThread(target=f, args=(A(),)).start()"
    ),
    "a pickler": "import pickle\ndef f(file): return pickle.Pickler(file)",
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_where_it_is_not_known_which_are_wanted_all_are_left_alone(case):
    source = f"items = []\n{UNKNOWN[case]}\n"

    assert source == shared(source, "items")


HARMLESS = {
    "a heap of its own": (
        "import heapq\ndef f():\n    x = []\n    heapq.heappush(x, 1)\n    return x[0]"
    ),
    "the largest": "import heapq\ndef f(): return heapq.nlargest(2, items)",
    "a hash": "def f(): return hash(tuple(items))",
    "a key that is compared by the `get` of a dict": (
        "class Key:\n    def __eq__(self, other): return self.row.get(1) == other\n"
        "    def __hash__(self): return 1\n"
        "class H(RequestHandler):\n    def get(self): items.append(1)"
    ),
    "a handler's own identity": (
        "class Chat(WebSocketHandler):\n    def open(self): return id(self)"
    ),
    "the hash of a text": "def f(x): return hash(x)\nf('a')",
    "a thread's text": (
        "import threading\nclass A(RequestHandler):\n    def get(self, name):\n"
        "        threading.Timer(1, print, args=[name]).start()"
    ),
    "its own class": (
        "class Thread:\n    def __init__(self, target): self.target = target\n"
        "def f(): items.pop()\nThread(target=f)"
    ),
    "another's class": ("from .board import Timer\ndef f(): items.pop()\nTimer(1, f)"),
    "the loop itself": (
        "import tornado\nasync def f(): items.append(1)\n"
        "tornado.ioloop.IOLoop.current().run_sync(f)"
    ),
    "back on the loop": (
        "import threading\ndef f(): loop.add_callback(lambda: items.append(1))\n"
        "threading.Thread(target=f).start()"
    ),
    "a library's function elsewhere": (
        "import bcrypt\ndef f(word): loop.run_in_executor(None, bcrypt.hashpw, word)"
        "\nf('a')"
    ),
    "a loop that ends": "for x in items:\n    items.remove(x)\n    break",
    "a copy": "for x in list(items): items.remove(x)",
    "loading": "import pickle\nx = pickle.loads(b'')",
    "locks": "import threading\nlock = threading.Lock()",
    "isinstance": "x = isinstance(items, list)",
    "another's type": "x = type(items) is int",
    "a module beside it": "from .blocks import Block\nx = Block(items)",
    "the package itself": "from . import blocks\nx = blocks.Block(items)",
    "a library": "import statistics\nx = statistics.mean(items)",
    "a loop over a copy": (
        "def drop(x): items.remove(x)\nfor x in list(items): drop(x)"
    ),
    "a loop that calls what asks a dict": (
        "class Main(RequestHandler):\n    def get(self): items.append(1)\n"
        "def named(x): return x.get('name')\nfor x in items: named(x)"
    ),
}


@pytest.mark.parametrize("case", HARMLESS)
def test_what_containers_do_as_well_is_no_reason(case):
    assert "items = txloop.share([])" in shared(
        f"items = []\n{HARMLESS[case]}\n", "items"
    )


ALIASES = {
    "changed later": (
        "def f(v):\n    x = {}\n    items.append(x)\n    x['v'] = v\n",
        "x = txloop.share({})",
    ),
    "stored twice": (
        "def f(v):\n    x = g()\n    items.append(x)\n    table[v] = x\n",
        "x = txloop.share(g())",
    ),
    "returned": (
        "def f():\n    x = []\n    items.append(x)\n    return x\n",
        "x = txloop.share([])",
    ),
    "a part of it": (
        "def f():\n    y = []\n    x = {'y': y}\n"
        "    items.append(x)\n    y.append(1)\n",
        "y = txloop.share([])",
    ),
    "by another name": (
        "def f():\n    x = []\n    y = x\n    items.append(x)\n    y.append(1)\n",
        "x = txloop.share([])",
    ),
    "in a loop": (
        "def f():\n    x = []\n    for n in (1, 2):\n"
        "        x.append(n)\n        items.append(x)\n",
        "x = txloop.share([])",
    ),
    "in two attributes": (
        "class A:\n    def f(self):\n        self.a = self.b = []\n",
        "self.a = self.b = txloop.share([])",
    ),
    "by a function": (
        "def keep(one):\n    items.append(one)\ndef f():\n"
        "    x = {}\n    keep(x)\n    x['a'] = 1\n",
        "x = txloop.share({})",
    ),
    "a default": (
        "class A:\n    def __init__(self, name, tags=[], *, more={}):\n"
        "        self.tags = tags or []\n",
        "tags=txloop.share([]), *, more={}",
    ),
    "a default of a named tuple": (
        "class A(NamedTuple):\n    x: int = 0\n    y: list = []\n",
        "    x: int = 0\n    y: list = txloop.share([])\n",
    ),
}


@pytest.mark.parametrize("case", ALIASES)
def test_what_is_stored_and_used_on_is_a_container_from_the_start(case):
    source, expected = ALIASES[case]

    assert expected in shared(f"items = []\ntable = {{}}\n{source}", "items", "table")


SAID = """
class Room:
    def say(self, text):
        items.append(text)
        show(text)
{}
class Chat({}):
    def on_message(self, message):
        room.say(message)
    def on_close(self):
        room.say({})
"""


@pytest.mark.parametrize(
    ("line", "base", "said", "is_shared"),
    [
        ("", "WebSocketHandler", "'bye'", True),
        ("", "WebSocketHandler", "self.name + ' left'", True),
        ("", "WebSocketHandler", "f'{self.name} ' + self.name", True),
        ("", "WebSocketHandler", "self.name + ' left %s' % self.age", True),
        ("", "WebSocketHandler", "'(' + self.name + self.reason", True),
        ("", "WebSocketHandler", "1 - self.age", True),
        ("", "WebSocketHandler", "self.names + self.more", False),
        ("", "WebSocketHandler", "self.names + [1]", False),
        ("", "WebSocketHandler", "self.data + b'left'", False),
        ("import numpy", "WebSocketHandler", "self.name + 1", False),
        ("def __add__(self, x): return [x]", "WebSocketHandler", "a.b + 1", False),
        ("bus.subscribe(chat.on_message)", "WebSocketHandler", "'bye'", False),
        ("", "RequestHandler", "'bye'", False),
    ],
)
def test_texts_are_stored_as_they_are(line, base, said, is_shared):
    """What is said is a text, where Tornado or an operator says so."""
    source = f"items = []{SAID.format(line, base, said)}"

    assert is_shared == ("items = txloop.share([])" in shared(source, "items"))


IN_HANDLERS = """
items = []
class User:
    pass
class Handler(RequestHandler):
    def prepare(self):
        self.body = json.loads(self.request.body)
    def post(self):
        {}
"""


def test_what_a_handler_puts_into_its_argument_is_a_container():
    use = "x = {}\n        self.shelf.append(x)\n        x['a'] = 1"

    assert "x = txloop.share({})" in shared(IN_HANDLERS.format(use), "items")


@pytest.mark.parametrize(
    ("use", "is_left"),
    [
        ("items.append(self.body); self.body['n'] = 1", True),
        ("items.append(self.body); self.write(self.body)", False),
        ("self.other = self.body; self.body['n'] = 1", False),
        ("self.u = User(); items.append(self.u); self.u.n = 1", False),
        ("self.u = User(); items.append(self.u.all); self.u.n = 1", True),
        ("self.u = {}; self.u = User(); items.append(self.u); self.u.n = 1", True),
        ("for self.u in x(): items.append(self.u); self.u.n = 1", True),
    ],
)
def test_what_a_handler_keeps_and_changes_is_not_stored(use, is_left):
    source = IN_HANDLERS.format(use)

    assert is_left == ("which changes" in left(source, "items"))


ONE_COPY = {
    "read only": (
        "def f(self):\n    x = {}\n    x['a'] = 1\n"
        "    items.append(x)\n    self.write(x)\n"
    ),
    "a number": (
        "def f():\n    x = len(items)\n    items.append(x)\n    x += 1\n    return x\n"
    ),
    "made anew": (
        "def f():\n    for n in (1, 2):\n        x = [n]\n        items.append(x)\n"
    ),
}


@pytest.mark.parametrize("case", ONE_COPY)
def test_what_is_only_stored_stays_plain(case):
    assert 1 == shared(f"items = []\n{ONE_COPY[case]}", "items").count("txloop.share")


STORED_AND_CHANGED = {
    "a part": "items[k], n = x, 1\n    x.append(k)",
    "a part of a list": "[items[k], n] = [x, 1]\n    x.append(k)",
    "a part of what is not known": "y = x, 1\n    items[k], n = y\n    x.append(k)",
    "added to": "items[k] = x\n    x += [k]",
    "added to by another name": "y = x\n    items[k] = x\n    y += [k]",
    "added to in a loop": "items[k] = x\n    for n in k: x += [n]",
    "added to in a function": (
        "items[k] = x\n    def g():\n        nonlocal x\n        x += [k]\n    g()"
    ),
}


@pytest.mark.parametrize("case", STORED_AND_CHANGED)
def test_what_is_stored_and_changed_is_shared_from_the_start(case):
    source = f"items = {{}}\ndef f(k):\n    x = []\n    {STORED_AND_CHANGED[case]}\n"

    assert "x = txloop.share([])" in shared(source, "items")


def test_a_variable_of_a_comprehension_is_another_one():
    source = (
        "items = []\ndef f(k, v):\n    x = [k]\n    y = {'x': x}\n"
        "    items.append(y)\n    y['z'] = v\n    return [y.bump(v) for y in x]\n"
    )
    after = shared(source, "items")

    assert after.endswith("return [y.bump(v) for y in x]\n")


STORES = """
items = []
table = {}
def f(x):
    table[0] = x
    items.append(x)
"""

CONSTRUCTS = """
items = []
table = {}
class A:
    def __init__(self, x):
        table[0] = x
        items.append(x)
class B(A):
    pass
class C(A):
"""

CALLS = {
    "f({})": "f(txloop.share({}))",
    "f(1)\nf(x=[])": "f(x=txloop.share([]))",
    "f({} if a else None)": "f(txloop.share({}) if a else None)",
    "def g():\n    y = json.loads(a)\n    f(y)\n    return y": "y = txloop.share(json",
    "f((1, 'a'))\nf({})": "f((1, 'a'))\nf(txloop.share({}))",
    "def g(a):\n    y = make(a)\n    z = y['z']\n    f(z)": "y = txloop.share(make(a))",
    "def g(a):\n    f = a.f(json.loads(a))": "a.f(txloop.share(json.loads(a)))",
    "def g(y): f(y)\ng({})": "g(txloop.share({}))",
    "class ASocket(WebSocketHandler):\n    def on_message(self, y):\n"
    "        y = json.loads(y)\n        f(y)\n": "y = txloop.share(json.loads(y))",
}


@pytest.mark.parametrize(
    ("library", "taken"),
    [("json", True), ("numpy.linalg", False)],
)
@pytest.mark.parametrize("statement", ["import {} as lib", "from {} import one"])
def test_what_is_a_key_is_no_list_but_for_arrays(statement, library, taken):
    text = (
        f"{statement.format(library)}\nitems = []\ntable = {{}}\n"
        "def f(x):\n    items.append(x)\n    print(table[x])\n    x.append(1)\n"
    )

    assert taken == ("items = txloop.share([])" in shared(text, "items"))


CONSTRUCTIONS = {
    "    pass\nA({})": "A(txloop.share({}))",
    "    pass\nB({})": "B(txloop.share({}))",
    "    pass\nKINDS['a']({})": "KINDS['a'](txloop.share({}))",
    "    def g(kind): return kind({})": "return kind(txloop.share({}))",
    "    pass\na.make = A\na.make({})": "a.make(txloop.share({}))",
    "    def __init__(self): super().__init__({})": "__init__(txloop.share({}))",
    "    def __init__(self): A.__init__(self, {})": "__init__(self, txloop.share({}))",
    "    def twin(self): return type(self)({})": "(self)(txloop.share({}))",
}


@pytest.mark.parametrize(
    ("before", "call", "expected"),
    [
        *((STORES, *one) for one in CALLS.items()),
        *((CONSTRUCTS, *one) for one in CONSTRUCTIONS.items()),
    ],
)
def test_what_callers_make_for_a_parameter_that_is_stored_is_a_container(
    before, call, expected
):
    assert expected in shared(f"{before}{call}", "items", "table")


def test_an_object_of_a_class_that_gives_itself_is_stored_as_it_is():
    call = "class A:\n    def g(self): f(self)"

    assert "items = txloop.share([])" in shared(f"{STORES}{call}", "items")


@pytest.mark.parametrize(
    "call",
    [
        "def g(y): f(y)",
        "f(*rows)",
        "def g():\n    for y in make(): f(y)",
        "each(f, [{}])",
        "partial(f, {})",
    ],
)
def test_a_parameter_of_which_not_all_is_known_leaves_what_it_is_stored_in(call):
    source = f"{STORES}{call}"

    assert "txloop" not in shared(source, "items", "table")
    assert "stores 'x' and goes on with it" in left(source, "items")


PUT_INTO_ROWS = {
    "itself": ("", "rows.append(x)"),
    "by a key": ('d = {"a": rows}', 'd["a"].append(x)'),
    "by an index": ("d = [rows]", "d[0].append(x)"),
    "deeper": ('d = {"a": {"b": rows}}', 'd["a"]["b"].append(x)'),
    "stored later": ('d = {}\nd["a"] = rows', 'd["a"].append(x)'),
    "by get": ('d = {"a": rows}', 'd.get("a", []).append(x)'),
    "by setdefault": ('d = {"a": rows}', 'd.setdefault("a", []).append(x)'),
    "by a variable": ('d = {"a": rows}', 'r = d["a"]; r.append(x)'),
    "in a loop": ('d = {"a": rows}', "for r in d.values(): r.append(x)"),
    "by a setting": ("", 'app.settings["rows"].append(x)'),
    "by a setting's get": ("", 'r = app.settings.get("rows"); r.append(x)'),
    "by a parameter": ("def put(rs, y): rs.append(y)", "put(rows, x)"),
    "by an addition": ("d = [rows]", "d[0] += [x]"),
    "by a variable's addition": ("", "r = rows; r += [x]"),
    "by a local dict": ("", 'h = {"a": rows}; h["a"].append(x)'),
    "by a local list": ("", "h = [1, rows]; h[1].append(x)"),
    "by a table": (
        'def place(rs, y): rs.append(y)\nD = {"p": place}',
        'D["p"](rows, x)',
    ),
    "by a star": ("", "*y, z = 1, x; rows.append(z)"),
    "by a pattern": ("", 'match {"q": x}:\n        case {"q": z}: rows.append(z)'),
}


@pytest.mark.parametrize("case", PUT_INTO_ROWS)
def test_what_is_put_into_something_by_any_way_and_used_on_leaves_that(case):
    setup, put = PUT_INTO_ROWS[case]
    source = f"""
rows = []
other = []
{setup}
app = Application([], rows=rows)
def keep(**x):
    {put}
    x["late"] = 1
"""
    after = shared(source, "rows", "other")

    assert "rows = []\nother = txloop.share([])" in after


KEPT_ELSEWHERE = {
    "a tuple's part": """
Pair = collections.namedtuple("Pair", "one, two")
def keep():
    x = Pair([1], 1).one
    rows.append(x)
    other.append(x)
    x.append(2)
""",
    "an exception's arguments": """
class Thing(External):
    last = None
thing = Thing()
def keep():
    try:
        raise ValueError([1])
    except ValueError as error:
        x = error.args[0]
    rows.append(x)
    thing.last = x
    x.append(2)
""",
    "what a table's function keeps": """
def put(to, key, y):
    to[key] = y
TABLE = {"put": put}
class Thing(External):
    def __init__(self):
        self.parts = []
thing = Thing()
def keep():
    x = thing.parts
    TABLE["put"](rows, 0, x)
    x.append(2)
""",
}


@pytest.mark.parametrize("case", KEPT_ELSEWHERE)
def test_what_is_elsewhere_as_a_plain_object_leaves_where_it_is_stored(case):
    after = shared(f"rows = []\nother = []\n{KEPT_ELSEWHERE[case]}", "rows")

    made = "x = txloop.share(Pair([1], 1).one)"  # then it is one from the start
    assert "rows = []" in after or made in after


def test_what_has_to_be_plain_is_made_a_part_of_nothing_that_is_shared():
    source = """
rows = []
other = []
def keep():
    x = json.loads("[[1]]")[0]
    rows.append(x)
    list.append(x, 1)
"""
    after = shared(source, "rows", "other")

    assert "    x = json.loads" in after
    assert "rows = []\nother = txloop.share([])" in after


def test_what_a_function_returns_has_the_name_of_what_calls_that():
    source = """
def closed():
    inner = []
    return (lambda: inner), 1
get_inner, number = closed()
def place(to, y):
    to.append(y)
def keep(**x):
    place(get_inner(), x)
    x["late"] = 1
"""
    assert "inner = []" in shared(source, "inner")


@pytest.mark.parametrize("call", ["self.keep(x)", "super().keep(x)", "K.keep(self, x)"])
def test_what_a_method_stores_that_is_used_on_leaves_where_it_is_stored(call):
    source = f"""
items = []
other = []
class B:
    def keep(self, x): items.append(x)
class K(B):
    def outer(self, x): {call}; x.append("late")
k = K()
def f():
    for y in make(): k.outer(y)
def g(n): other.append(n); return n + 1
"""
    after = shared(source, "items", "other")

    assert "items = []\nother = txloop.share([])" in after


def test_what_a_class_gives_for_a_subscript_is_kept_twice():
    source = """
table = {}
nested = {"rows": []}
class A:
    def __getitem__(self, n): return nested["rows"]
a = A()
def change(): nested["rows"].append(1)
def f(k): table[k] = a[k]
"""
    assert source.lstrip() == shared(source, "table")


KEPT_TWICE = {
    "itself": "table[k] = nested",
    "a part": "table[k] = nested['rows']",
    "inside of something new": "table[k] = dict(k=k, rows=nested['rows'])",
    "a variable": "x = nested['rows']\n    table[k] = x",
    "one of several": "x, y = nested['rows'], k\n    table[y] = x",
    "a loop's variable": "for x in nested['rows']: table[k] = x",
    "a comprehension": "table[k] = [x for x in nested['rows']]",
    "a copy": "table[k] = list(nested['rows'])",
    "a sum": "table[k] = nested['rows'] + [k]",
    "a choice": "table[k] = nested['rows'] or []",
    "put into something new": "x = []\n    x.append(nested)\n    table[k] = x",
    "update": "table.update({k: nested})",
    "setdefault": "table.setdefault(k, nested)",
    "a function's result": "table[k] = rows()",
    "a function's argument": "keep(nested['rows'])",
    "through a third": "other.append(nested)\n    table[k] = other[0]",
    "by name": "table[k] = vars(nested)",
    "by a setting's name": "s = app.settings\n    s['table'][k] = nested",
    "a method that is passed on": "each(table.setdefault, nested)",
    "a function without a name": "table[k] = (lambda x: x)(nested)",
}


KEYS_KEPT = {
    "of items": "for x, y in nested.items(): table[k] = x",
    "in a tuple": "for (x, z), y in nested.items(): table[k] = x",
    "alone": "for x in nested.keys(): table[k] = x",
    "all of them": "table[k] = list(nested.keys())",
    "numbers": "for x, y in enumerate(nested): table[k] = x",
    "in a comprehension": "table[k] = [x for x, y in nested.items()]",
}


@pytest.mark.parametrize("case", KEYS_KEPT)
def test_what_keeps_keys_of_something_plain_becomes_a_container(case):
    source = f"""
table = {{}}
nested = {{"rows": []}}
def change(): nested["rows"].append(1)
def f(k):
    {KEYS_KEPT[case]}
"""
    own = "class C:\n    def items(self): ...\n"  # may yield lists for keys

    assert "table = txloop.share({})" in shared(source, "table")
    if ".items()" in source:
        assert "txloop" not in shared(own + source, "table")


@pytest.mark.parametrize("case", KEPT_TWICE)
def test_what_keeps_a_part_of_something_plain_stays_plain(case):
    source = f"""
table = {{}}
nested = {{"rows": []}}
other = []
def rows(): return nested["rows"]
def keep(it): table["it"] = it
def change(): nested["rows"].append(1)
def f(k):
    {KEPT_TWICE[case]}
"""
    assert source.lstrip() == shared(source, "table")
    assert "which stays plain" in left(source, "table")


CALLED = {
    "by another name": "other = keep\ndef f(): other(table, nested['rows'])",
    "by a variable": "def f():\n    way = keep\n    way(table, nested['rows'])",
    "as it is imported": "from app import keep as k\ndef f(): k(table, nested['rows'])",
    "as an attribute": "def f(x):\n    x.way = keep\n    x.way(table, nested['rows'])",
    "as an argument": "def g(w, *a): w(*a)\ndef f(): g(keep, table, nested['rows'])",
}


@pytest.mark.parametrize("case", CALLED)
def test_a_function_keeps_what_it_is_given_however_it_is_called(case):
    source = f"""
table = {{}}
nested = {{"rows": []}}
def keep(of, part): of["x"] = part
def change(): nested["rows"].append(1)
{CALLED[case]}
"""
    assert source.lstrip() == shared(source, "table")
    assert "which stays plain" in left(source, "table")


@pytest.mark.parametrize(
    "call",
    [
        "Tool.made(table, nested['rows'])",
        "Tool(table, nested['rows']).again(table, nested['rows'])",
        "assigned(table, nested['rows'])",
        "Tool.fixed(table, nested['rows'])",
        "Tool.keep(Tool(), table, nested['rows'])",
        "Tool().keep(table, nested['rows'])",
        "Derived(table, nested['rows'])",
    ],
)
def test_a_method_keeps_what_it_is_given_however_it_is_called(call):
    source = f"""
table = {{}}
nested = {{"rows": []}}
class Tool:
    def __init__(self, of, part): of["x"] = part
    def keep(self, of, part): of["x"] = part
    def again(self, of, part): return type(self)(of, part)
    @staticmethod
    def fixed(of, part): of["x"] = part
    @classmethod
    def made(cls, of, part): return cls(of, part)
assigned = lambda of, part: of.update(x=part)
class Derived(Tool):
    def __init__(self, of, part): Tool.__init__(self, of, part)
def change(): nested["rows"].append(1)
def f():
    {call}
"""
    assert source.lstrip() == shared(source, "table")
    assert "which stays plain" in left(source, "table")


CHANGED = {
    "in place": "nested['rows'].append(k)",
    "through what keeps it": "table[k].append(1)",
    "through a part of that": "for x in table.values(): x.clear()",
    "through a third": "other.append(nested['rows'])\n    other[0].sort()",
    "through an attribute": "k.rows = nested['rows']\n    k.rows += [1]",
    "by a function": "add(nested['rows'])",
    "by one of a library": "random.shuffle(nested['rows'])",
    "by one that is not known": "nested['rows'].resize(3)",
    "by one that is passed on": "each(nested['rows'].append)",
    "by one that is named": "getattr(nested['rows'], k)()",
    "by an operator": "nested['rows'] += k",
    "by a factor": "nested['rows'] *= 2",
    "by a slice": "nested['rows'][:] = k",
    "inside of something": "x = [nested]\n    x[0]['rows'][0] = 1",
    "through an operator": "own['rows'].append(k)",
    "by an operand": "own[k] = nested['rows']",
    "deleted": "del nested['rows'][0]",
    "asked for": "print(table[k] is nested['rows'])",
}
OWN = """
class Own:
    def __getitem__(self, k): return nested[k]
    def __setitem__(self, k, x): x.append(k)
own = Own()
"""
UNCHANGED = {
    "nothing": "pass",
    "another part": "nested['rest'] = k",
    "a number": "self.rows = 1\n    self.rows += 1",
    "read": "print(nested['rows'], len(nested), sorted(nested['rows'])[0] is None)",
    "put deeper": "grid[k][0] = nested['rows']",
    "a new one": "x = [*nested['rows']]\n    x.append(k)",
    "a copy": "x = list(nested['rows'])\n    x.append(k)",
}


@pytest.mark.parametrize("case", [*CHANGED, *UNCHANGED])
def test_what_is_never_changed_may_be_kept_twice(case):
    source = f"""
table = {{}}
nested = {{"rows": []}}
other = []
grid = {{}}
def add(it): it.append(1)
{OWN if "oper" in case else ""}
def f(self, k):
    table[k] = nested["rows"]
    {(CHANGED | UNCHANGED)[case]}
"""
    assert ("table = txloop.share({})" in shared(source, "table")) == (
        case in UNCHANGED
    )


@pytest.mark.parametrize(
    "case",
    sorted(
        {*KEPT_TWICE} - {"by name", "through a third", "a method that is passed on"}
    ),
)
def test_what_keeps_a_part_of_a_container_is_one(case):
    source = f"""
table = {{}}
nested = {{"rows": []}}
def rows(): return nested["rows"]
def keep(it): table["it"] = it
def f(k):
    {KEPT_TWICE[case]}
"""
    after = shared(source, "table", "nested")

    assert "table = txloop.share({})" in after
    assert 'nested = txloop.share({"rows": []})' in after


@pytest.mark.parametrize(
    "line",
    [
        "table[k] = NAMES[0]",
        "table[k] = len(nested)",
        "table[k] = json.dumps(nested)",
        "table[k] = copy.deepcopy(nested)",
        "table[k] = table.get(k)",
        "nested['t'] = table",
        "x = json.loads(k); x['table'].append(nested)",
        "x = json.loads(k); x.get('table').append(nested)",
        "x = []; x.append(vars(k)); x = sorted(x, key=lambda y: y['table'])",
    ],
)
def test_what_keeps_only_values_of_something_plain_is_a_container(line):
    source = f"""
table = {{}}
nested = {{"rows": []}}
NAMES = ["a", "b"]
def f(k): {line}
"""
    assert "table = txloop.share({})" in shared(source, "table")


@pytest.mark.parametrize(
    "line",
    [
        "one = {'n': 1}; items.append(one)",
        "for n in range(3):\n    one = {}\n    one['n'] = n\n    items.append(one)",
        "while one := make(): items.append(one)",
        "for n in range(3): one = dict(n=n); items.insert(0, one)",
        "one = {}; items.append(one)\ndef g(): one = 1; return one",
    ],
)
def test_what_a_variable_leaves_that_only_its_module_uses_is_no_reason(line):
    source = f"items = []\n{line}\ndef f(k): items[k]['n'] += 1\n"

    assert "items = txloop.share([])" in shared(source, "items")


@pytest.mark.parametrize(
    "line",
    [
        "def g(): show(one)",
        "def g():\n    global one\n    one = 2",
        "class C: two = one",
        "show(globals())",
        "__all__ = ['one']",
        "show(app.one)",
        "show(getattr(app, name))",
        "page = '{% import app %}{{ app.one }}'",
        "show(one)",
    ],
)
def test_what_a_variable_leaves_that_more_than_its_module_may_use_is_shared(line):
    source = "items = []\none = make(); items.append(one)\n"
    source += f"{line}\ndef f(k): items[k]['n'] += 1\n"

    if "one = txloop.share(make())" not in shared(source, "items"):
        assert "keeps a part of one, which stays plain" in left(source, "items")


@pytest.mark.parametrize("line", ["from app import one", "import app; show(app.one)"])
def test_another_module_may_use_what_a_variable_leaves(line):
    source = "items = []\none = make(); items.append(one)\n"
    source += "def f(k): items[k]['n'] += 1\n"

    assert "txloop" in shared(source, "items")
    assert "which stays plain" in left(source, "items", others={"other": line})


@pytest.mark.parametrize(
    ("fill", "is_shared"),
    [
        ("table['a'] = []", True),
        ("table.update({'a': [], 'b': {1}})", True),
        ("table = table or {}; table.setdefault('a', []).append([])", False),
        ("table = other; table['a'] = []", False),
        ("table['a'] = other", False),
        ("table['a'] = other['a']", False),
    ],
)
def test_what_a_function_fills_and_returns_is_a_container_with_all_in_it(
    fill, is_shared
):
    source = f"""
other = {{"a": []}}
def new():
    table = {{}}
    {fill}
    return table
state = new()
def start(app): app.table = state
def f(app):
    app.table["a"].append(1)
    other["a"].append(1)
"""
    assert is_shared == ("table = txloop.share({})" in shared(source, "table"))


def test_a_key_may_be_an_attribute_where_a_class_gives_its_items_as_such():
    source = "table = {}\nnested = {}\ndef f(x): x['table'].append(nested)\n"
    own = "class D(dict):\n    def __getattr__(self, name): return self[name]\n"

    assert "table = txloop.share({})" in shared(source, "table")
    assert "table = {}" in shared(own + source, "table")


HEAPS = {
    "all": ("from heapq import *", "from txloop.cells.heaps import *", "heappush"),
    "a module": (
        "import heapq",
        "import txloop.cells.heaps as heapq",
        "heapq.heappush",
    ),
    "another name": (
        "import os, heapq as q",
        "import os, txloop.cells.heaps as q",
        "q.heappush",
    ),
    "a function": (
        "from heapq import heappush as push",
        "from txloop.cells.heaps import heappush as push",
        "push",
    ),
}


@pytest.mark.parametrize("case", HEAPS)
def test_a_heap_is_a_container_and_stores_what_is_pushed(case):
    before, after, push = HEAPS[case]
    source = f"""
{before}
heap = []
def f():
    x = [1]
    {push}(heap, x)
    x.append(2)
"""
    text = shared(source, "heap")

    assert f"{after}\nheap = txloop.share([])" in text
    assert "x = txloop.share([1])" in text


MAKERS = {
    "a builtin class": ("", "set", "txloop.share(dd(set))"),
    "one of the standard library": ("", "deque", "txloop.share(dd(deque))"),
    "one that is called otherwise": ("", "dd", "txloop.share(dd(dd))"),
    "what the program calls so": ("def set(): return nested", "set", "dd(set)"),
    "what a module of it has": ("from mine import *", "set", "dd(set)"),
}


@pytest.mark.parametrize("case", MAKERS)
def test_what_python_makes_of_plain_objects_has_no_part_in_what_else_it_makes(case):
    line, maker, expected = MAKERS[case]
    source = f"""
from collections import deque, defaultdict as dd
{line}
nested = json.load(file)
table = dd({maker})
def f(k): return table[k]
def g():
    seen = {maker}(nested)
    seen.add(nested["rows"])
    return len(seen)
"""
    assert f"table = {expected}" in shared(source, "table")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = [k]; newest = x; x.append(1)", "x = txloop.share([k]); newest"),
        (
            "newest = 1; x = [k]; items += [x]; x.append(1)",
            "x = txloop.share([k]); items",
        ),
    ],
)
def test_what_a_variable_of_the_module_keeps_is_a_container(line, expected):
    source = f"items = []\ndef f(k):\n    global items, newest\n    {line}\n"

    assert expected in shared(f"newest = None\n{source}", "items", "newest")


CLASSES = """
class {} :
    def __init__(self, name):
        self.name = name
things = []
def add(name):
    things.append({}(name))
"""

BASES = {
    "none": ("Thing", "class Thing(txloop.TObject, dataclass=False) :"),
    "empty": ("Thing()", "class Thing(txloop.TObject, dataclass=False) :"),
    "object": ("Thing(object)", "class Thing(txloop.TObject, dataclass=False) :"),
    "Exception": ("Thing(Exception)", "class Thing(Exception) :"),
    "a metaclass": ("Thing(metaclass=Meta)", "class Thing(metaclass=Meta) :"),
}


@pytest.mark.parametrize("case", BASES)
def test_a_class_whose_objects_are_stored_becomes_a_shared_one(case):
    head, expected = BASES[case]

    assert expected in shared(CLASSES.format(head, "Thing"), "things")


@pytest.mark.parametrize(
    "lines",
    [
        "    things[0].note = 1\n",
        "    for one in ['note']: setattr(things[0], one, 1)\n",
    ],
)
def test_attributes_that_other_code_sets_are_named(lines):
    source = CLASSES.format("Thing", "Thing") + lines

    assert 'dataclass=False, also=("note",))' in shared(source, "things")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("    def __setattr__(self, n, v): pass", "it has __setattr__"),
        ("    def __hash__(self): return hash(self.name)", "it has __hash__"),
        (
            "class Special(Thing):\n    def __del__(self): pass",
            "Special, which is derived from it, cannot: it has __del__",
        ),
        ("    def f(self, n): setattr(self, n, 1)", "sets attributes by name"),
        (
            "    def f(self, n):\n        for n in ('a', n): setattr(self, n, 1)",
            "sets attributes by name",
        ),
        ("    def f(self, d): self.__dict__.update(d)", "sets attributes by name"),
        ("    def f(self, d): self.__dict__ = d", "sets attributes by name"),
        ("    def f(self, d): vars(self)['note'] = d", "sets attributes by name"),
    ],
)
def test_a_class_that_cannot_be_a_shared_one_is_left_alone(line, reason):
    source = CLASSES.format("Thing", "Thing").replace(
        "things = []", f"{line}\nthings = []"
    )

    assert "class Thing :" in shared(source, "things")
    assert reason in left(source, "things")


@pytest.mark.parametrize(
    "method",
    [
        "def f(self, d): self.__dict__ = d",
        "@classmethod\n    def f(cls, k): x = cls(); setattr(x, k, 1); return x",
    ],
)
def test_a_class_that_sets_its_own_attributes_by_name_leaves_others_alone(method):
    other = f"class Other:\n    {method}\n"
    mixed = "class Mixed(Thing, Other): pass\n"
    source = CLASSES.format("Thing", "Thing")

    assert "class Thing(txloop.TObject, " in shared(other + source, "things")
    assert "class Thing :" in shared(other + source + mixed, "things")


@pytest.mark.parametrize("base", ["enum.IntFlag", "Enum", "typing.NamedTuple"])
def test_a_class_of_values_is_not_said_to_hold_anything(base):
    source = CLASSES.format("Thing", "Thing").replace(
        "things = []", f"class Kind({base}):\n    pass\nthings = [Kind(1)]"
    )

    assert left(source, "things") == ""


DATACLASSES = """
import dataclasses
from dataclasses import dataclass
@dataclass
class Base:
    name: str
@dataclasses.dataclass()  # with more
class Thing(Base):
    size: int = 0
    def grow(self):
        self.size += 1
things = []
def add(name):
    things.append(Thing(name))
"""


def test_dataclasses_become_shared_ones_line_by_line():
    after = shared(DATACLASSES, "things")

    assert "\nclass Base(txloop.TObject):\n" in after
    assert "\n  # with more\nclass Thing(Base):\n" in after
    assert "@" not in after
    assert len(DATACLASSES.strip().splitlines()) == len(after.splitlines())


@pytest.mark.parametrize(
    ("line", "by", "reason"),
    [
        ("@dataclasses.dataclass()", "@dataclass(order=True)", "decorated with @datac"),
        ("@dataclasses.dataclass()", "", "it is a dataclass, and Thing is none"),
        ("self.size +=", "self.height +=", "does not declare height"),
        ("from dataclasses import", "from attr import", "decorated with @dataclass"),
        ("size: int = 0", "size: InitVar[int] = 0", "it has an InitVar"),
        ("    things.append", "    things[0].note = 1; things.append", "declare note"),
    ],
)
def test_a_dataclass_that_cannot_be_a_shared_one_is_left_alone(line, by, reason):
    source = DATACLASSES.replace(line, by)
    after = shared(source, "things")

    assert "TObject" not in after
    assert reason in left(source, "things")


COUNTS = """
class Page:
    hits = 0
    def get(self):
        {} += 1
        return Page.hits
"""


@pytest.mark.parametrize(
    "target",
    [
        "Page.hits",
        "type(self).hits",
        "page = Page\n        page.hits",
        "cls = type(self)\n        cls.hits",
    ],
)
def test_a_class_attribute_that_is_assigned_again_becomes_a_variable(target):
    after = shared(COUNTS.format(target), "Page.hits")

    assert "hits = txloop.TVar(0)" in after
    assert f"{target}.value += 1" in after
    assert "return Page.hits.value" in after


@pytest.mark.parametrize("text", ["{{ hits }}", "page.hits", "{hits} {0}"])
def test_what_a_text_calls_like_it_is_another(text):
    source = f"{COUNTS.format('Page.hits')}x = {text!r}\n"

    assert "hits = txloop.TVar(0)" in shared(source, "Page.hits")


def test_a_class_attribute_of_several_becomes_a_variable():
    source = COUNTS.replace("hits = 0", "size, hits = 9, 0").format("Page.hits")

    assert "size, hits = 9, txloop.TVar(0)" in shared(source, "Page.hits")


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("class Other(Page): pass", "type(self).hits"),
        ("def f(x): return x.hits", "Page.hits"),
        ("", "self.hits"),
        ("", "page = Page\n        page = other(page)\n        page.hits"),
        ("class Other(Page): pass", "page = type(self)\n        page.hits"),
        ("def f(x): return getattr(x, 'hits')", "Page.hits"),
        ("page = '<b>{{ handler.hits }}</b>'", "Page.hits"),
        ("page = '{0.hits} and {page.hits!r}'.format", "Page.hits"),
    ],
)
def test_a_class_attribute_that_may_be_anothers_is_left_alone(line, target):
    source = f"{COUNTS.format(target)}{line}\n"

    assert textwrap.dedent(source).lstrip() == shared(source, "Page.hits")


LOOPS = {
    "for x in items: items.remove(x)": True,
    "for i, x in enumerate(items): del items[i]": True,
    "for i, x in enumerate(reversed(items)): items[i] = x": True,
    "for k, v in items.items(): items[k] = v": True,
    "for x in items: items += [x]": True,
    "def drop(x): items.remove(x)\nfor x in items: drop(x)": True,
    "class Main(RequestHandler):\n    def get(self): items.append(1)\n"
    "    def again(self): self.get()\n"
    "    def post(self):\n        for x in items: self.again()": True,
    "def f(room):\n    rows = room.rows\n    for x in rows: rows.pop()": True,
    "it = iter(items)\nitems.append(1)": True,
    "it = (x + 1 for x in items)\nitems.append(1)": True,
    "def f(rows):\n    it = zip(rows, rows)\n    rows.pop()\n    return it": True,
    "def f(rows):\n    for x in rows: yield x\nfor x in f(items): rows.pop()": True,
    "class A:\n    def __iter__(self): return iter(self.parts)\n"
    "    def drop(self, x): self.parts.remove(x)\nfor x in a: a.drop(x)": True,
    "class A:\n    def __iter__(self): yield from self.parts\n"
    "    def drop(self, x): self.parts.remove(x)\n"
    "    def f(self):\n        for x in self.parts: print(x)": False,
    "it = iter([*items])\nitems.append(1)": False,
    "for x in items:\n    if x:\n        items.remove(x)\n        break": False,
    "for x in list(items): items.remove(x)": False,
    "for x in items[:]: items.remove(x)": False,
    "for x in items.copy(): items.remove(x)": False,
    "def f():\n    rows = []\n    for x in rows: rows.remove(x)": False,
    "def drop(x): items.remove(x)\nfor x in list(items): drop(x)": False,
    "for x in items: print(x)": False,
    "for x in range(3): items.append(x)": False,
}


@pytest.mark.parametrize("loop", LOOPS)
def test_loops_that_change_what_they_go_over_are_found(loop):
    assert LOOPS[loop] == changes_in_loops([module(f"items = []\n{loop}\n")])


HEADERS = {
    "nothing": ("items = txloop.share([])\n", 1),
    "a docstring": ('"""Doc."""\nitems = txloop.share([])\n', 3),
    "the future": ("from __future__ import annotations\nimport os\nx = 1\n", 3),
    "a comment": ("#!/usr/bin/env python\n# coding: utf-8\nimport os\n\nx = 1\n", 4),
    "no line end": ("import os", 2),
}


@pytest.mark.parametrize("case", HEADERS)
def test_a_written_text_imports_txloop_once(case):
    source, line = HEADERS[case]
    once = as_written(module(source), source)

    assert "import txloop" == once.splitlines()[line - 1]
    assert once == as_written(module(once), once)
    assert [one for one in source.splitlines() if one] == [
        one
        for one in once.splitlines()
        if one and one not in ("import txloop", "txloop.like_plain()")
    ]
    compile(once, "app.py", "exec")


def test_a_written_text_says_that_loops_are_live():
    source = "import txloop\nitems = []\n"
    once = as_written(module(source), source, live=True)

    assert ["import txloop", "txloop.like_plain(live=True)"] == once.splitlines()[:2]
    assert once == as_written(module(once), once, live=True)


def test_a_compiled_text_has_the_lines_of_its_file(monkeypatch):
    monkeypatch.setattr(txloop, "like_plain", lambda: None)
    source = '"""Doc."""\n\nfrom __future__ import annotations\n\nx = [\n    1 / 0]\n'
    namespace: dict[str, object] = {}

    with pytest.raises(ZeroDivisionError) as raised:
        exec(compiled(ast.parse(source), "app.py"), namespace)

    assert 6 == raised.traceback[-1].lineno + 1

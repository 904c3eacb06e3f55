"""What has to be plain, and what is no reason for that."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left, shared

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
    "a method that stores, by its name": (
        "import operator\nput = operator.attrgetter('rows.append')",
        "operator.attrgetter",
    ),
    "a call of a method that stores": (
        "from operator import methodcaller\nput = methodcaller('update', x)",
        "operator.methodcaller",
    ),
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
    "a namespace": "class B:\n    def __init__(self): self.__dict__ = rows",
    "one that is set": "def f(x): object.__setattr__(x, '__dict__', rows)",
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
    "a table by any text": "def f(): return ''.maketrans(rows)",
    "variables of a text": "def f(): return eval('1', rows)",
    "variables that a text sets": "def f(): exec('a = 1', rows, {})",
    "digits": "def f(): return decimal.Decimal((0, rows, 0))",
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


READ_AND_ACTED = {
    "read before": ("print(x['a'])\n    total.n += 1", False),
    "read for it": ("total.n += len(x)", False),
    "read before it is asked": ("if x == k:\n        total.n += 1", False),
    "read in each turn": ("for y in k:\n        print(x)\n    total.n += 1", False),
    "read after": ("total.n += 1\n    print(x['a'])", True),
    "read after, in a block": ("if k: total.n += 1\n    print(x)", True),
    "read in the same loop": (
        "for y in k:\n        print(x)\n        total.n += 1",
        True,
    ),
    "asked in each turn": ("while x != k:\n        total.n += 1", True),
    "read by what is called later": (
        "def g(): return x['a']\n    total.n += 1\n    g()",
        True,
    ),
    "changed by a call": ("act(k)\n    print(x)", True),
    "changed by what is asked first": ("print(x['a'] if act(k) else 1)", True),
    "changed by what is gone over": ("print([x['a'] for _ in act(k)])", True),
    "read in a lambda": ("g = lambda: (x.b, act(k), x.a)", True),
    "changed by an item": ("total[x['a']] = act(k)", True),
}


@pytest.mark.parametrize(
    ("line", "is_seen"), READ_AND_ACTED.values(), ids=READ_AND_ACTED
)
def test_what_is_read_before_anything_changes_is_the_same_as_what_is_stored(
    line, is_seen
):
    source = (
        "items = []\ndef act(k): total.n = k\n"
        f"def f(x, k):\n    items.append(x)\n    {line}\n"
    )

    assert is_seen == ("stores 'x' and goes on with it" in left(source, "items"))


DECODED = {
    "what pickle makes of bytes": ("pickle.loads(items[k])", "", True),
    "what json makes of a text": ("json.loads(items[k])", "", True),
    "what json makes of a file": ("json.load(items[k])", "", True),
    "what pickle makes of a file": ("pickle.load(items[k])", "", True),
    "what Tornado makes of it": ("escape.json_decode(items[k])", "", True),
    "what a hook makes": ("json.loads(items[k], object_hook=f)", "", False),
    "what has a name of its own": ("items[k]", "", False),
    "what the program's own function makes": (
        "loads(items[k])",
        "def loads(x): return x",
        False,
    ),
    "what has the name of the module": ("pickle.loads(items[k])", "pickle = x", False),
    "what is registered for a class makes": (
        "pickle.loads(items[k])",
        "import copyreg\ncopyreg.pickle(A, f)",
        False,
    ),
    "what its class makes": (
        "pickle.loads(items[k])",
        "class A:\n    def __reduce__(self): return find, ()",
        False,
    ),
}


@pytest.mark.parametrize("case", DECODED)
def test_what_is_made_of_a_text_may_be_pickled(case):
    made, other, is_shared = DECODED[case]
    source = f"""
import json
import pickle
from tornado import escape
items = {{}}
{other}
def f(k):
    one = {made}
    one["n"] += 1
    items[k] = pickle.dumps(one)
"""
    assert is_shared == ("items = txloop.share({})" in shared(source, "items"))


SETS = """
{}
index = {{}}
def add(word, number):
    index.setdefault(word, set()).add(number)
def found(words):
    return {}
"""


@pytest.mark.parametrize("name", ["intersection", "union", "difference", "issubset"])
def test_a_method_of_set_itself_is_called_with_sets_that_are_shared(name):
    call = f"set.{name}(*(index[word] for word in words))"
    after = shared(SETS.format("", call), "index")

    assert "index = txloop.share({})" in after
    assert f"return txloop.cells.sets.{name}(*(index[word] for" in after


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("from library import *", "set.union(*index.values())"),
        ("def set(): pass", "set.union(*index.values())"),
        ("builtins.set = Set", "set.union(*index.values())"),
        ("setattr(builtins, 'set', Set)", "set.union(*index.values())"),
        ("", "reduce(set.union, index.values())"),
        ("", "set.update(*index.values())"),
        ("", "set.pop(index[1])"),
        ("", "list.copy(index[1])"),
    ],
)
def test_another_method_of_a_class_itself_is_given_what_is_plain(line, call):
    source = SETS.format(line, call)

    assert "txloop" not in shared(source, "index")

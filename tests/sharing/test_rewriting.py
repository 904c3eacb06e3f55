"""What becomes of a text, and what is left alone."""

from __future__ import annotations

import ast
import textwrap

import pytest

import txloop
from tests.sharing.rounds import left, module, shared
from txloop.sharing.hook import compiled
from txloop.sharing.written import as_written

WRAPPED = {
    "a display": ("items = []", "items = txloop.share([])"),
    "with a comment": (
        "items = [1,  # one\n  2]",
        "items = txloop.share([1,  # one\n  2])",
    ),
    "of a call": ("items = dict(a=1)", "items = txloop.share(dict(a=1))"),
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


NOT_FOLLOWED = {
    "deleted": ("def f():\n    global count\n    del count", "deletes"),
    "a loop": ("def f():\n    global count\n    for count in x: pass", "otherwise"),
    "an import": ("def f():\n    global count\n    import count", "otherwise"),
    "a definition": ("def count(): pass", "otherwise"),
    "by its name": ("def f(x): return getattr(x, 'count')", "in a text"),
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
    "another name": (
        "import app as a\na.count = 2\n",
        "import app as a\na.count.value = 2\n",
    ),
    "of another": ("import app\nx = y.count\n", "import app\nx = y.count\n"),
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_modules_use_the_variable(case):
    before, after = OTHERS[case]

    assert shared(rebound(""), "count", others={"b": before}).endswith(after)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("from app import count\n", "imports a copy"),
        ("from app import *\n", "imports all names"),
        ("import app\nrender(app)\n", "passes the module on"),
    ],
)
def test_a_copy_of_a_name_elsewhere_leaves_it_alone(line, reason):
    assert reason in left(rebound(""), "count", others={"b": line})


HAZARDS = {
    "exact types": ("x = type(items) is list", "exact type"),
    "patterns": ("match items:\n    case list(): pass", "matches a list"),
    "threads": ("import threading\nthreading.Thread(target=f).start()", "threads"),
    "an executor": ("loop.run_in_executor(None, f)", "threads"),
    "pickle": ("import pickle\npickle.dumps(items)", "pickle.dumps"),
    "pickle's function": ("from pickle import dumps\ndumps(items)", "pickle.dumps"),
    "heapq": ("import heapq\nheapq.heappush(items, 1)", "heapq.heappush"),
    "weak references": ("import weakref\nx = weakref.WeakSet()", "weakref.WeakSet"),
    "identities": ("def f(x): return id(x)", "id(x)"),
    "a loop": ("for x in items: items.remove(x)", "while it is gone over"),
    "a loop that calls": (
        "def drop(x): items.remove(x)\nfor x in items: drop(x)",
        "calls drop(), which changes items",
    ),
    "a loop that calls a method": (
        "class Main(RequestHandler):\n    def get(self): items.append(1)\n"
        "    def again(self): self.get()\n"
        "    def post(self):\n        for x in items: self.again()",
        "calls again(), which changes items",
    ),
    "a package": ("import pandas\nx = pandas.DataFrame(items)", "gives it to pandas"),
    "a package by another name": (
        "import pandas\ndef f():\n    rows = items[1:]\n    return pandas.f(rows)",
        "gives it to pandas",
    ),
    "a loop with numbers": ("for i, x in enumerate(items): del items[i]", "gone over"),
}


@pytest.mark.parametrize("case", HAZARDS)
def test_what_containers_do_otherwise_leaves_the_program_alone(case):
    line, reason = HAZARDS[case]
    source = f"items = []\n{line}\n"

    assert source == shared(source, "items")
    assert reason in left(source, "items")


HARMLESS = {
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
}


@pytest.mark.parametrize("case", ALIASES)
def test_what_is_stored_and_used_on_is_a_container_from_the_start(case):
    source, expected = ALIASES[case]

    assert expected in shared(f"items = []\ntable = {{}}\n{source}", "items", "table")


IN_HANDLERS = """
items = []
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
    ],
)
def test_what_a_handler_keeps_and_changes_is_not_stored(use, is_left):
    source = IN_HANDLERS.format(use)

    assert is_left == ("stores self.body, which changes" in left(source, "items"))


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


def test_a_parameter_that_is_stored_and_changed_leaves_what_it_is_stored_in():
    source = "items = []\ndef f(x):\n    items.append(x)\n    x['a'] = 1\nf(dict())\n"

    assert source == shared(source, "items")
    assert "stores 'x' and goes on with it" in left(source, "items")


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


def test_attributes_that_other_code_sets_are_named():
    source = CLASSES.format("Thing", "Thing") + "    things[0].note = 1\n"

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
        ("    def f(self, d): self.__dict__.update(d)", "sets attributes by name"),
    ],
)
def test_a_class_that_cannot_be_a_shared_one_is_left_alone(line, reason):
    source = CLASSES.format("Thing", "Thing").replace(
        "things = []", f"{line}\nthings = []"
    )

    assert "class Thing :" in shared(source, "things")
    assert reason in left(source, "things")


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


@pytest.mark.parametrize("target", ["Page.hits", "type(self).hits"])
def test_a_class_attribute_that_is_assigned_again_becomes_a_variable(target):
    after = shared(COUNTS.format(target), "Page.hits")

    assert "hits = txloop.TVar(0)" in after
    assert f"{target}.value += 1" in after
    assert "return Page.hits.value" in after


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("class Other(Page): pass", "type(self).hits"),
        ("def f(x): return x.hits", "Page.hits"),
        ("", "self.hits"),
        ("def f(x): return getattr(x, 'hits')", "Page.hits"),
    ],
)
def test_a_class_attribute_that_may_be_anothers_is_left_alone(line, target):
    source = f"{COUNTS.format(target)}{line}\n"

    assert textwrap.dedent(source).lstrip() == shared(source, "Page.hits")


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


def test_a_compiled_text_has_the_lines_of_its_file(monkeypatch):
    monkeypatch.setattr(txloop, "like_plain", lambda: None)
    source = '"""Doc."""\n\nfrom __future__ import annotations\n\nx = [\n    1 / 0]\n'
    namespace: dict[str, object] = {}

    with pytest.raises(ZeroDivisionError) as raised:
        exec(compiled(ast.parse(source), "app.py"), namespace)

    assert 6 == raised.traceback[-1].lineno + 1

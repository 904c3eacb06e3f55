"""What becomes of a text: displays, names that are bound again, what is written."""

from __future__ import annotations

import ast
import textwrap

import pytest

import txloop
from tests.sharing.rounds import changes_in_loops, left, module, shared
from txloop.sharing.command import as_written
from txloop.sharing.hook import compiled

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
    "an object's": ("def f(x): return getattr(x, 'count')", None),
    "one of an object's": ("def f(x): return attrgetter('count', 'x')(x)", None),
    "a method's": ("def f(x): return methodcaller('count')(x)", None),
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
    "by its name": ("getattr(sys.modules['app'], 'count')", "in a text"),
    "a found module's": ("x = import_module('app')\ngetattr(x, 'count')", "in a text"),
    "one of several": ("attrgetter('count', 'x')(sys.modules['app'])", "in a text"),
    "behind a dot": ("attrgetter('x.count')(sys.modules)", "in a text"),
    "of a call": ("methodcaller('count')(sys.modules['app'])", "in a text"),
    "of a module": ("import library\ngetattr(library.app, 'count')", "in a text"),
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
        ("from app import count as c\n", "imports a copy"),
        ("if 1:\n    from app import *\n", "imports all names"),
        ("if 1:\n    from __main__ import count\n", "imports a copy"),
        ('page = "{% import app %}{{ app.count }}"\n', "in a template"),
        ("import app\nrender(app)\n", "passes the module on"),
    ],
)
def test_a_copy_of_a_name_elsewhere_leaves_it_alone(line, reason):
    assert reason in left(rebound(""), "count", others={"b": line})


ALL_NAMES = "from app import *\n"


def test_what_imports_all_names_gets_the_value_of_then():
    text = shared(rebound(""), "count", others={"b": f"{ALL_NAMES}x = count\n"})

    assert text.endswith("from app import *; count = count.value\nx = count\n")


@pytest.mark.parametrize(
    "line",
    [
        "import b",
        "from b import x",
        "def f():\n    import b",
        "__all__ = ['count']",
        "__all__ = []\n__all__ += other",
    ],
)
def test_what_may_not_get_a_variable_with_all_names_leaves_it_alone(line):
    why = left(rebound("") + line, "count", others={"b": ALL_NAMES})

    assert "imports all names" in why


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
    "def f(rows):\n    for x in rows: yield x\nfor x in f(items): items.pop()": True,
    "class A:\n    def __iter__(self): return iter(self.parts)\n"
    "    def drop(self, x): self.parts.remove(x)\nfor x in a: a.drop(x)": True,
    "class A:\n    def __iter__(self): yield from self.parts\n"
    "    def drop(self, x): self.parts.remove(x)\n"
    "    def f(self):\n        for x in self.parts: print(x)": False,
    "for x in (y for y in items): items.append(x)": True,
    "for x, y in zip(items, items): items.remove(x)": True,
    "for x in filter(None, items or []): items[x] = 1": True,
    "[items.remove(x) for x in items]": True,
    "any(map(items.remove, items))": True,
    "def drop(x): items.remove(x)\nfor x in map(drop, items): print(x)": True,
    "max(items, key=lambda x: items.pop())": True,
    "def f():\n    rows = items\n    for x in rows: items.remove(x)": True,
    "def f(rows):\n    for x in rows: items.remove(x)\nf(items)": True,
    "class A:\n    def __init__(self): self.rows = items\n"
    "    def f(self):\n        for x in self.rows: items.remove(x)": True,
    "class A:\n    @property\n    def rows(self): return (x for x in items)\n"
    "    def f(self):\n        for x in self.rows: items.remove(x)": True,
    "def f():\n    for x in items[0]: items[0].append(x)": True,
    "@functools.total_ordering\nclass A:\n    def __lt__(self, x): items.pop()\n"
    "a = A()\nfor x in items: a >= x": True,
    "class A:\n    def __lt__(self, x): items.pop()\n"
    "a = A()\nfor x in items: a <= x": False,
    "from heapq import heappush\nfor x in items: heappush(items, x)": True,
    "for x in items: items[x].append(1)  # of a defaultdict": True,
    "for x in items: items[x].append(1)": False,
    "for row in items:\n    for x in row['a']: row['n'] += x": False,
    "def f():\n    found = []\n    for x in items: found.append(x)": False,
    "def f():\n    rows = list(items)\n    for x in rows: items.remove(x)": False,
    "def rows(): return items\ndef f():\n    its = rows()\n    its.append(1)": False,
    "it = iter([*items])\nitems.append(1)": False,
    "for x in items:\n    if x:\n        items.remove(x)\n        break": False,
    "for x in list(items): items.remove(x)": False,
    "for x in items[:]: items.remove(x)": False,
    "for x in items.copy(): items.remove(x)": False,
    "def f():\n    rows = []\n    for x in rows: rows.remove(x)": False,
    "def drop(x): items.remove(x)\nfor x in list(items): drop(x)": False,
    "for x in items: print(x)": False,
    "for x in range(3): items.append(x)": False,
    "def put(): items.append(1)\nasync def f():\n    for x in items: await g(x)": True,
    "def put(): items.append(1)\nasync def f():\n    [await g(x) for x in items]": True,
    "def put(): items.append(1)\n@gen.coroutine\ndef f():\n"
    "    for i, x in enumerate(items): yield g(x)": True,
    "def put(): items.append(1)\nasync def f():\n    for x in items: yield x": True,
    "def put(): items.append(1)\nasync def f():\n    it = iter(items)\n"
    "    while True: await g(next(it))": True,
    "def put(): items.append(1)\nasync def f():\n"
    "    for x in list(items): await g(x)": False,
    "def put(): items.append(1)\nasync def f():\n"
    "    for x in items: g(x)\n    await g(x)": False,
    "async def f():\n    for x in items: await g(x)": False,
}


@pytest.mark.parametrize("loop", LOOPS)
def test_loops_that_change_what_they_go_over_are_found(loop):
    assert LOOPS[loop] == changes_in_loops(
        f"items = []\ndef use(): return items\n{loop}\n"
    )


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

"""What is stored, and used on after that."""

from __future__ import annotations

from textwrap import indent

import pytest

from tests.sharing.random_programs import program_of
from tests.sharing.rounds import left, shared
from tests.sharing.test_random_programs import asked_of, check

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
    "a part of it, twice": (
        "def f(v):\n    x = g()\n    items.append(x['a'])\n    table[v] = x['a']\n",
        "x = txloop.share(g())",
    ),
    "a part of it, and a part of that": (
        "def f(v):\n    x = g()\n    items.append(x['a'][v])\n"
        "    table[v] = x['a']['b']\n",
        "x = txloop.share(g())",
    ),
    "a part of it, in something else": (
        "def f(v):\n    x = g()\n    table[v] = {'a': x['a']}\n"
        "    items[v] = dict(a=x['a'])\n",
        "x = txloop.share(g())",
    ),
    "a part of it, by a method": (
        "def f(v):\n    x = g()\n    table.update({v: x['a']})\n"
        "    items[v] += [x['a']]\n",
        "x = txloop.share(g())",
    ),
    "by one statement": (
        "def f(v):\n    x = g()\n    table[v], items[v] = x, x\n",
        "x = txloop.share(g())",
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
    "by a dict of its keys": (
        "def f():\n    x = []\n    y = dict.fromkeys('ab', x)\n"
        "    table.update(y)\n    x.append(1)\n",
        "x = txloop.share([])",
    ),
    "lists that are added up": (
        "def f(v):\n    x = sum(([n] for n in v), [])\n"
        "    items.append(x)\n    x.append(1)\n",
        "x = txloop.share(sum(([n] for n in v), []))",
    ),
    "what is decoded with more than an encoding": (
        "def f(v):\n    x = jwt.decode(v, KEY)\n    items.append(x)\n    x['a'] = 1\n",
        "x = txloop.share(jwt.decode(v, KEY))",
    ),
    "what a method gives that is named as a function of Python's": (
        "def f():\n    x = query.all()\n    items.append(x)\n    x.append(1)\n",
        "x = txloop.share(query.all())",
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


@pytest.mark.parametrize("value", ["v.decode('utf8')", "sum(v)", "all(v)", "str(v)"])
def test_numbers_and_texts_need_no_container(value):
    source = f"items = []\ndef f(v):\n    x = {value}\n    items.append(x); g(x)\n"

    assert f"x = {value}" in shared(source, "items")


def test_two_parts_may_be_stored_in_two_places():
    source = "def f(v):\n    x = g()\n    items.append(x['a'])\n    table[v] = x['b']\n"

    assert "x = g()" in shared(f"items = []\ntable = {{}}\n{source}", "items", "table")


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
        ("", "WebSocketHandler", "time.time() - self.age", True),
        ("", "WebSocketHandler", "self.age - self.more / self.days", True),
        ("", "WebSocketHandler", "len(self.names) * 2", True),
        ("", "WebSocketHandler", "self.names * 2", False),
        ("", "WebSocketHandler", "sum(self.names, []) + self.more", False),
        ("def __truediv__(self, x): return [x]", "WebSocketHandler", "a.b / 2", False),
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


MEASURED = """
class Room:
    def say(self, value):
        items.append(value)
        show(value)
class Handler(RequestHandler):
    def get(self):
        {0}
        room.say({1})
"""


@pytest.mark.parametrize(
    ("lines", "said", "is_shared"),
    [
        ("now = time.time()", "now - self.begun", True),
        ("now = 0\n        now += self.more", "self.begun - now", True),
        ("now = time.time()\n        took = now - self.begun", "took * 1000", True),
        ("now = after - 1\n        after = now - 1", "now - self.begun", True),
        ("now = after - then\n        after = now - then", "now - after", False),
        ("now = self.now", "now - self.begun", False),
        ("now = 1\n        now = self.now", "now - self.begun", False),
        ("now = 1\n        for now in self.sets: f()", "now - self.begun", False),
        ("global now\n        now = 1\n        f()", "now - self.begun", False),
    ],
)
def test_what_is_reckoned_with_a_number_is_stored_as_it_is(lines, said, is_shared):
    source = f"items = []{MEASURED.format(lines, said)}"

    assert is_shared == ("txloop" in shared(source, "items"))


@pytest.mark.parametrize(
    ("stored", "also", "is_shared"),
    [
        ("n + 1, until", "", True),
        ("n - 1, until", "", True),
        ("n / m, until", "", True),
        ("f'{n}', until", "", True),
        ("{'n': n + 0.5, 'until': until}", "", True),
        ("n + m, until", "", False),
        ("n, until", "", False),
        ("n + [1], until", "", False),
        ("n + 1, until", "class A:\n    def __add__(self, x): return self.x", False),
    ],
)
def test_what_is_counted_is_no_part_that_is_stored_twice(stored, also, is_shared):
    """A pair in a table gets another number, and keeps its other part."""
    source = f"""
table = {{}}
{also}
def f(k, m):
    n, until = table[k]
    table[k] = {stored}
"""
    assert is_shared == ("table = txloop.share({})" in shared(source, "table"))


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


IN_ROUNDS = {
    "gone over again": (
        "x = [[k], []]\nfor y in x: items.append(y)\nfor y in x: y.append(v)",
        "x = txloop.share([[k], []])",
    ),
    "gone over again, by another way": (
        "x = {'a': [k]}\nfor y in x.values(): items.append(y)\n"
        "for n, y in x.items(): y.append(v)",
        "x = txloop.share({'a': [k]})",
    ),
    "shown with the others": (
        "x = json.loads('[[1], [2]]')\nfor y in x:\n    items.append(y)\n"
        "    y.append(v)\nmore += [str(x)]",
        "x = txloop.share(json.loads('[[1], [2]]'))",
    ),
    "gone over in each round": (
        "x = [[k], []]\nfor n in (0, 1):\n    for y in x:\n"
        "        if n: y.append(v)\n        else: items.append(y)",
        "x = txloop.share([[k], []])",
    ),
    "gone over in each round, as long as": (
        "x, n = [[k], []], 0\nwhile n < 2:\n    for y in x:\n"
        "        if n: y.append(v)\n        items.append(y)\n    n += 1",
        "x, n = txloop.share([[k], []]), 0",
    ),
    "taken in each round": (
        "x = [[k], []]\nfor n in (0, 1):\n    y = x[0]\n"
        "    if n: y.append(v)\n    else: items.append(y)",
        "x = txloop.share([[k], []])",
    ),
    "bound in some rounds": (
        "x = [k]\nfor n in (0, 1):\n    if n == 7: x = []\n"
        "    if n: x.append(v)\n    else: items.append(x)",
        "x = txloop.share([k])",
    ),
    "used before it is bound": (
        "x = [k]\nfor n in (0, 1):\n    x.append(v)\n    x = [n]\n    items.append(x)",
        "x = txloop.share([n])",
    ),
    "used before a loop binds it": (
        "x = [k]\nfor n in (0, 1):\n    x.append(v)\n    for _ in (0, 1):\n"
        "        x = [n]\n        items.append(x)",
        "x = txloop.share([n])",
    ),
    "held by another name for a round": (
        "x = [k]\nfor y in [[1], [2]]:\n    x.append(v)\n    x = y\n"
        "    items.append(y)",
        "[txloop.share([1]), txloop.share([2])]",
    ),
}


@pytest.mark.parametrize("case", IN_ROUNDS)
def test_what_further_rounds_change_is_a_container_from_the_start(case):
    lines, expected = IN_ROUNDS[case]
    body = indent(f"k, v, more = 'a', 1, []\n{lines}", "    ")
    source = f"import json\nitems = []\ndef f():\n{body}\n"

    assert expected in shared(source, "items")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_further_rounds_change_answers_as_on_stock_tornado():
    bodies = [[f"{lines}\nmore += items[-9:]"] for lines, _ in IN_ROUNDS.values()]

    check(program_of(bodies), asked_of(len(bodies)), good=1)


@pytest.mark.parametrize(
    "maker",
    [
        "(n for n in k)",
        "iter(k['a'])",
        "map(g, k)",
        "zip(k, k)",
        "csv.reader(k)",
        "g(k)",
    ],
)
def test_what_an_iterator_gives_leaves_what_it_is_stored_in(maker):
    source = (
        "items = []\ndef g(k):\n    yield from k\ndef f(k):\n"
        f"    x = {maker}\n    for y in x:\n        items.append(y)\n"
        "        y.append(1)\n"
    )

    assert "txloop" not in shared(source, "items")
    assert "stores 'y' and goes on with it" in left(source, "items")


@pytest.mark.parametrize(
    "maker", ["[[]]", "json.loads(k)", "sorted(k)", "[n for n in k if n]", "g(k)"]
)
def test_what_is_no_iterator_is_a_container_from_the_start(maker):
    source = (
        "items = []\ndef g(k):\n    return [k]\ndef f(k):\n"
        f"    x = {maker}\n    for y in x:\n        items.append(y)\n"
        "        y.append(1)\n"
    )

    assert "for y in txloop.share(x)" in shared(source, "items")


APART = {
    "in two branches": "x = g()\n    if v: items.append(x)\n    else: table[v] = x",
    "in two cases": (
        "x = g()\n    match v:\n        case 1: items.append(x)\n"
        "        case _: table[v] = x"
    ),
    "in two branches of a loop": (
        "for x in g():\n        if v: items.append(x)\n        else: table[v] = x"
    ),
    "bound before that in each round": (
        "for n in v:\n        x = g()\n        x.append(1)\n        items.append(x)"
    ),
    "bound in both branches in each round": (
        "for n in v:\n        if n: x = g()\n        else: x = h()\n"
        "        x.append(1)\n        items.append(x)"
    ),
    "bound as long as there is one": (
        "while x := g():\n        x.append(1)\n        items.append(x)"
    ),
}


@pytest.mark.parametrize("case", APART)
def test_what_is_not_used_on_in_the_same_round_stays_plain(case):
    source = f"items = []\ntable = {{}}\ndef f(v):\n    {APART[case]}\n"

    assert 2 == shared(source, "items", "table").count("txloop.share")


HELD_PARTS = {
    "in a display": ("", False),
    "read later, with what was changed": ("    self.write(x)\n", True),
    "changed later": ("    x['a'].append(1)\n", True),
    "taken out later, and changed": ("    z = x['a']\n    z.append(1)\n", True),
    "stored again later": ("    items.append(x['a'])\n", True),
    "put into the same later": ("    y['b'] = x['a']\n", True),
}


@pytest.mark.parametrize("case", HELD_PARTS)
def test_parts_are_copied_that_only_what_is_stored_has_later(case):
    later, is_shared = HELD_PARTS[case]
    source = (
        "items = []\ndef f(self):\n    x = g()\n    y = {'a': x['a']}\n"
        f"    items.append(y)\n    y['n'] = 1\n    y['a'].append(2)\n{later}"
    )
    text = shared(source, "items")

    assert "y = txloop.share({'a': x['a']})" in text
    assert is_shared == ("x = txloop.share(g())" in text)


@pytest.mark.parametrize("pattern", ["P(a=x)", "P(x)", "P(a={'b': x})", "P(a=[x, *_])"])
def test_what_a_pattern_takes_out_of_an_object_may_be_elsewhere(pattern):
    source = f"""
items = []
class P(External):
    pass
def f():
    p = P([1])
    match p:
        case {pattern}: items.append(x); x.append(1)
"""
    assert "txloop" not in shared(source, "items")
    assert "stores 'x' and goes on with it" in left(source, "items")


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


METHODS = {
    "of a variable": ("", "add = items.append; add(x)"),
    "of the module's": ("add = items.append", "add(x)"),
    "of a third": ("add = items.append\nmore = add", "more(x)"),
    "with a type": ("add: object = items.append", "add(x)"),
    "with parts": ("add = items.extend", "add([x])"),
    "applied": ("", "list(map(items.append, [x]))"),
    "applied by its name": ("add = items.append", "list(map(add, [x]))"),
    "applied to keys": ("", "sorted([x], key=items.append)"),
}


@pytest.mark.parametrize("case", METHODS)
def test_what_a_method_with_another_name_stores_is_stored(case):
    before, line = METHODS[case]

    text = shared(
        f"items = []\nlast = {{}}\n{before}\n"
        f"def f():\n    x = []\n    {line}\n    last['x'] = x\n",
        "last",
    )

    assert "x = txloop.share([])" in text


def test_a_variable_of_a_comprehension_is_another_one():
    source = (
        "items = []\ndef f(k, v):\n    x = [k]\n    y = {'x': x}\n"
        "    items.append(y)\n    y['z'] = v\n    return [y.bump(v) for y in x]\n"
    )
    after = shared(source, "items")

    assert after.endswith("return [y.bump(v) for y in x]\n")


TREE = """
items = {{}}
class Node:
    def __init__(self): self.below = {{}}
    def put(self, keys, value):
        items.setdefault({}).put(keys[1:], value)
def f(x): Node().put(x, 1)
{}
"""

OWN = "class Items:\n    def setdefault(self, x, y): items.append(x)"


@pytest.mark.parametrize(
    ("given", "own", "is_shared"),
    [
        ("keys[0], Node()", "", True),
        ("Node(), keys", "", False),
        ("*keys", "", False),
        ("keys[0], Node()", OWN, False),
    ],
)
def test_a_key_whose_whole_goes_on_is_stored_as_it_is(given, own, is_shared):
    after = shared(TREE.format(given, own), "items")

    assert ("items = txloop.share({})" in after) is is_shared

"""What is stored that no variable, and no attribute that a line sets, leads to."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left, shared

SHOWN = {
    "an argument of a namespace": "o = SimpleNamespace(x=made)\n    rows.append(o.x)",
    "of one for `getattr`": "o = Namespace(x=made)\n    rows.append(getattr(o, 'x'))",
    "an argument of an exception": "o = KeyError(made)\n    rows.append(o.args[0])",
    "the value of an exception": "o = StopIteration(made)\n    rows.append(o.value)",
    "what a lambda returns": "rows.extend(map(lambda n: made, 'a'))",
    "what a function returns": (
        "def back(n): return made\n    rows.extend(starmap(back, [(1,)]))"
    ),
    "what folds": "rows.append(functools.reduce(lambda a, b: made, 'ab'))",
    "what a partial returns": "f = partial(lambda n: made, 1)\n    rows.append(f())",
    "what another function makes": "f = maker(made)\n    rows.append(f())",
    "what a dict has": "f = {'a': lambda: made}\n    rows.append(f['a']())",
    "an argument of a library": "rows.append(heapq.merge([made], []))",
    "what is sent": "g = gen()\n    rows.append(g.send(made))",
    "what a queue gives": "q = SimpleQueue()\n    q.put(made)\n"
    "    rows.append(q.get_nowait())",
    "a part of a dict of its own class": "o = Default(x=made)\n    rows.append(o['y'])",
    "what `__new__` returns": "rows.append(Same(made))",
    "what a metaclass returns": "rows.append(Made(made))",
    "what is awaited together": (
        "ys = await asyncio.gather(*map(give, [made]))\n    rows.append(ys[0])"
    ),
    "what is waited for": (
        "y = await asyncio.wait_for(give(made), 5)\n    rows.append(y)"
    ),
    "what `gen.Return` returns": "y = await old(made)\n    rows.append(y)",
    "in a variable": "o = SimpleNamespace(x=made)\n    y = o.x\n    rows.append(y)",
    "by a function": "o = SimpleNamespace(x=made)\n    keep(o.x)",
    "in a list": "o = SimpleNamespace(x=made)\n    y = [o.x]\n    rows.append(y)",
}

PROGRAM = """
rows = []
def keep(row): rows.append(row)
def maker(x):
    def inner(): return x
    return inner
class Default(dict):
    def __missing__(self, key): return self["x"]
class Same:
    def __new__(cls, x): return x
class Meta(type):
    def __call__(cls, x): return x
class Made(metaclass=Meta): pass
async def give(x): return x
@gen.coroutine
def old(x): raise gen.Return(x)
async def f():
    made = [1]
    {}
    made.append(2)
"""


@pytest.mark.parametrize("case", SHOWN)
def test_what_is_stored_by_another_way_is_a_container_from_the_start(case):
    source = PROGRAM.format(SHOWN[case])

    assert "made = txloop.share([1])" in shared(source, "rows")


FRESH = {
    "of a display": "rows.extend(map(lambda n: [n], 'ab'))",
    "of an expression": "rows.append(json.loads(text))",
    "of a function": "rows.append(fresh(1))",
    "of numbers": "rows.append(functools.reduce(lambda a, b: a + b, 'ab'))",
}


@pytest.mark.parametrize("case", FRESH)
def test_what_is_made_where_it_is_stored_stays_plain_until_then(case):
    source = PROGRAM.format(FRESH[case]) + "def fresh(n): return [n]\n"

    assert shared(source, "rows").count("txloop.share(") == 1


IMMUTABLE_PARTS = [
    "uuid.uuid4().hex",
    "uid.hex",
    "datetime.datetime.now().date().day",
    "time.localtime().tm_year",
    "urllib.parse.urlparse(url).netloc",
    "match.string",
]


@pytest.mark.parametrize("part", IMMUTABLE_PARTS)
@pytest.mark.parametrize(
    "change",
    [
        "row = rows[0]; row['id'] = 1",
        "row = rows.get(0); row['id'] = 1",
        "for row in rows: row['id'] = 1",
        "for n, row in enumerate(rows): row['id'] = n",
        "for row in rows.values(): row['id'] = 1",
        "for key, row in rows.items(): row['id'] = key",
    ],
)
def test_what_no_line_changes_may_be_stored(part, change):
    source = (
        "import datetime, json, re, time, urllib.parse, uuid\nrows = []\n"
        "def f(url):\n    uid, match = uuid.uuid4(), re.match('a', url)\n"
        f"    rows.append({{'id': {part}}})\n"
        f"def g():\n    {change}\n"
    )

    assert "rows = txloop.share([])" in shared(source, "rows")


DEEPER = [
    "row = rows[0]['o']; row.append(1)",
    "row = rows[0]; row['o'].append(1)",
    "for row in rows: row['o'].append(1)",
    "for row in rows:\n        row = row['o']; row.append(1)",
    "for a, b in rows: b.append(1)",
    "for key, row in rows.items(): row['o'].append(1)",
    "for n, (key, row) in enumerate(rows.items()): row['o'].append(1)",
    "one, two = rows[0]; two.append(1)",
    "row = rows; row = rows[0]['o']; row.append(1)",
]


@pytest.mark.parametrize("change", DEEPER)
def test_what_a_deeper_line_changes_may_not(change):
    source = (
        "import json\nrows = []\n"
        "def f(text):\n    o = json.loads(text, object_hook=hook)\n"
        "    rows.append({'o': o.x})\n    json.dump(o.x)\n"
        f"def g():\n    {change}\n"
    )

    assert "txloop" not in shared(source, "rows")


LEFT = {
    "sent to a generator": (
        "def g():\n    while True:\n        x = yield\n        rows.append(x)\n",
        "stores 'x' and goes on with it",
    ),
    "set in a namespace": (
        "class R:\n    def __init__(self, **kw): self.__dict__.update(kw)\n"
        "def f():\n    r = R(x=[])\n    rows.append(r.x)\n    r.x.append(1)\n",
        "stores it by another way",
    ),
    "made the namespace": (
        "class R:\n    def __init__(self, text): self.__dict__ = json.loads(text)\n"
        "def f():\n    r = R('')\n    rows.append(r.x)\n    r.x.append(1)\n",
        "stores it by another way",
    ),
    "set by a name made later": (
        "class R:\n    def __init__(self, **kw):\n"
        "        for name in kw: object.__setattr__(self, name, kw[name])\n"
        "def f():\n    r = R(x=[])\n    rows.append(r.x)\n    r.x.append(1)\n",
        "stores it by another way",
    ),
    "of what a library has made": (
        "def f(text):\n    o = json.loads(text, object_hook=hook)\n"
        "    rows.append(o.x)\n    o.x.append(1)\n",
        "stores it by another way",
    ),
    "raised": (
        "def f():\n    x = []\n    try: raise ValueError(x)\n"
        "    except ValueError as error: rows.append(error.args[0])\n"
        "    x.append(1)\n",
        "keeps a part of args",
    ),
    "the result of one of several": (
        "async def f():\n    done, _ = await asyncio.wait(tasks)\n"
        "    for t in done:\n        rows.append(t.result())\n"
        "        t.result().append(1)\n",
        "stores 't' and goes on with it",
    ),
    "of a context": (
        "import contextvars\ndef f():\n"
        "    rows.append(contextvars.copy_context()[variable])\n",
        "calls contextvars.copy_context",
    ),
}


@pytest.mark.parametrize("case", LEFT)
def test_what_cannot_be_told_leaves_what_it_is_stored_in(case):
    source, reason = LEFT[case]

    assert reason in left(f"rows = []\n{source}", "rows")


BY_NAME = """
rows = []
class Loaded:
    def __init__(self, given):
        for name, value in given.items(): setattr(self, name, value)
class Room:
    def __init__(self): self.seats = []
room = Room()
def f(given):
    Loaded({"x": []})
    rows.append(room.seats)
    room.seats.append(1)
"""


def test_attributes_that_are_set_by_names_are_those_of_their_classes():
    assert "rows = txloop.share([])" in shared(BY_NAME, "rows", "room")


LOGGED = """
import logging
rows = []
class Memory({}):
    def emit(self, record): rows.append(record.getMessage())
"""


def test_what_logging_changes_after_commits_stays_plain():
    found = left(LOGGED.format("logging.Handler"), "rows")

    assert "is called by logging, after commits (Memory)" in found


def test_other_handlers_are_not_called_by_logging():
    found = shared(LOGGED.format("tornado.web.RequestHandler"), "rows")

    assert "rows = txloop.share([])" in found


NAMED = """
{line}
class Session:
    def __init__(self):
        self.steps = []
    def __exit__(self, *exc):
        self.steps.append(exc[0].{name})
        self.steps = self.steps[-3:]
def change(one): one.{name}.append(1)
sessions = []
def add():
    sessions.append(Session())
"""


@pytest.mark.parametrize("name", ["__name__", "__qualname__", "__module__"])
def test_the_name_of_a_class_is_a_text(name):
    after = shared(NAMED.format(line="", name=name), "sessions")

    assert "class Session(txloop.TObject, dataclass=False):" in after


@pytest.mark.parametrize(
    "line",
    [
        "class Row: __name__ = []",
        "class Row:\n    def __getattr__(self, name): return []",
        "def give(row): row.__name__ = []",
        "row = Row(__name__=[])",
        "row = SimpleNamespace(**read())",
        "from types import SimpleNamespace as Row",
        "def give(row, name): setattr(row, name, [])",
        "row = Row(**{'__name__': []})",
        "def give(row): row.__dict__.update(read())",
    ],
)
def test_an_attribute_that_is_called_like_the_name_of_a_class_may_be_anything(line):
    after = shared(NAMED.format(line=line, name="__name__"), "sessions")

    assert "class Session:" in after


def test_another_attribute_of_what_is_not_known_may_be_anything():
    after = shared(NAMED.format(line="", name="args"), "sessions")

    assert "class Session:" in after

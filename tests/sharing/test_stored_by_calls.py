"""What functions are given and store, and what they return that is stored."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left, shared

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
    "def g():\n    y = json.loads(a)\n    z = y[0]\n    f(z)": "y = txloop.share(json",
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
        "f(*[{}])",
        "def g():\n    for y in make(): f(y)",
        "each(f, [{}])",
        "partial(f, {})",
    ],
)
def test_a_parameter_of_which_not_all_is_known_leaves_what_it_is_stored_in(call):
    source = f"{STORES}{call}"

    assert "txloop" not in shared(source, "items", "table")
    assert "stores 'x' and goes on with it" in left(source, "items")


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


AWAITED = """
rows = {{}}
found = []
{0}
async def take(key):
    return {1}
async def f(key):
    left = await {2}
    rows[key] = left
    found.append(("a", left))
    left.sort()
    return left
"""


@pytest.mark.parametrize("result", ["1", "rows[key]", "rows.get(key)", "len(rows)"])
def test_what_a_coroutine_returns_is_stored_as_what_a_function_returns(result):
    after = shared(AWAITED.format("", result, "take(key)"), "found", "rows")

    assert "found = txloop.share([])" in after


@pytest.mark.parametrize(
    ("line", "result", "call"),
    [
        ("", "[key]", "take(key)"),
        ("", "key", "take(key)"),
        ("", "rows.get(key, [])", "take(key)"),
        ("@marked", "1", "take(key)"),
        ("", "1", "other.take(key)"),
        ("", "1", "asyncio.wait_for(take(key), 1)"),
        ("def take(key): return future", "1", "take(key)"),
        ("def put(): module.take = library.take", "1", "take(key)"),
        ("def put(): setattr(module, 'take', other)", "1", "take(key)"),
        (
            "async def g(take): left = await take(1); found.append(left); left.n = 1",
            "1",
            "2",
        ),
        ("from library import *", "1", "take(key)"),
        ("from library import take", "1", "take(key)"),
        ("def give(take): return take", "1", "give(take(key))"),
    ],
)
def test_what_is_awaited_otherwise_may_be_another_object(line, result, call):
    source = AWAITED.format(line, result, call)

    assert "found = []" in shared(source, "found", "rows")


INTO_WHAT_STAYS = """
class Room:
    def __init__(self): self.names = []
rooms = {{}}
def put(k, x):
    room = rooms[k]
    {}
    return room
def verb(k):
    put(k, make())
"""


@pytest.mark.parametrize(
    ("line", "is_used_on"),
    [
        ("room.names.append(x)", False),
        ("room.names[0] = x", False),
        ("room['names'] = x", False),
        ("room.names.append(x); x.append(1)", True),
    ],
)
def test_what_is_put_into_what_stays_is_not_used_on_with_that(line, is_used_on):
    source = INTO_WHAT_STAYS.format(line)

    assert is_used_on == ("put(k, txloop.share(make()))" in shared(source, "rooms"))

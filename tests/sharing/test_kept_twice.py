"""What is kept in two places, one of which is a container, and one may be plain."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left, shared
from txloop.sharing import origins

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
    "an operator's function": "operator.setitem(table, k, nested)",
    "a method by its name": "getattr(table, 'update')({k: nested})",
    "an addition": "x = table\n    x |= {k: nested}",
    "what is entered": "with Entered() as x: table[k] = x",
    "what is gone over": "for x in Entered(): table[k] = x",
    "what an own operator returns": "table[k] = Entered() | k",
    "what an operator of one returns": "table[k] = -Entered()",
    "what an object that is called returns": "x = Entered()\n    table[k] = x(1)",
    "what a decorator's function returns": "table[k] = decorated()",
    "what a class has by a key": "table[k] = Entered[k]",
}


OTHER_NAMES = {
    "an argument": "Service(table)",
    "a part": "Service(tables['a'])",
    "by a third": "other = Service(table)\nService(other.store)",
    "by a default": "Service()",
}


@pytest.mark.parametrize("case", OTHER_NAMES)
def test_what_has_another_name_where_plain_parts_are_put_into_it_stays_plain(case):
    source = f"""
table = {{}}
tables = {{"a": {{}}}}
class Service:
    def __init__(self, store=table):
        self.store = store
        self.rows = []
    def save(self, k): self.store[k] = self.rows
    def change(self): self.rows.append(1)
{OTHER_NAMES[case]}
"""
    name = "tables" if "tables" in OTHER_NAMES[case] else "table"

    assert source.lstrip() == shared(source, name)
    assert "which stays plain" in left(source, name)


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
class Entered:
    def __enter__(self): return nested["rows"]
    def __iter__(self): return iter(nested["rows"])
    def __or__(self, k): return nested["rows"]
    def __neg__(self): return nested["rows"]
    def __call__(self, k): return nested["rows"]
    def __class_getitem__(cls, k): return nested["rows"]
def decorate(f):
    def inner(): return nested["rows"]
    return inner
@decorate
def decorated(): return 1
def change(): nested["rows"].append(1)
def f(k):
    {KEPT_TWICE[case]}
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
        {*KEPT_TWICE}
        - {
            *("by name", "through a third", "a method that is passed on"),
            "a method by its name",
        }
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
        "nested['rows'].append(k); table[k] = [None] * nested['n']",
        "nested['rows'].append(k); table[k] = nested['n'] * [n for n in NAMES]",
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
    source = """
table = {}
nested = {}
def f(x):
    nested["k"] = 1
    x["table"].append(nested)
"""
    own = "class D(dict):\n    def __getattr__(self, name): return self[name]\n"

    assert "table = txloop.share({})" in shared(source, "table")
    assert "table = {}" in shared(own + source, "table")


@pytest.mark.parametrize(
    ("line", "is_shared"),
    [
        ("user = users[k]", True),
        ("user = users.get(k) or users[1]", True),
        ("user = self.body", False),
        ("user = [PLAIN][k]", False),
    ],
)
def test_what_is_put_into_what_is_in_a_container_is_in_it(line, is_shared):
    source = f"""
users = {{}}
tokens = {{}}
PLAIN = {{"rows": []}}
class Handler(tornado.web.RequestHandler):
    def prepare(self):
        self.body = {{"rows": []}}
    def get_current_user(self, k):
        {line}
        user.update({{"id": tokens[k]}})
        return user
    def get(self, k):
        tokens[k] = self.current_user["rows"]
        self.current_user["rows"].append(k)
        users[k] = {{"rows": []}}
"""
    assert is_shared == (
        "tokens = txloop.share({})" in shared(source, "tokens", "users")
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = [1]; newest = x; x.append(k)", "x = txloop.share([1]); newest"),
        (
            "newest = 1; x = [1]; items += [x]; x.append(k)",
            "x = txloop.share([1]); items",
        ),
    ],
)
def test_what_a_variable_of_the_module_keeps_is_a_container(line, expected):
    source = f"items = []\ndef f(k):\n    global items, newest\n    {line}\n"

    assert expected in shared(f"newest = None\n{source}", "items", "newest")


def test_what_may_be_one_of_too_many_counts_as_anything(monkeypatch):
    source = """
    items = []

    def put(x):
        items.append(x)

    def put_lists():
        put([1])
        put([2])
        put([3])
        rows = items[-1]
        rows.append(4)
    """
    assert "items = txloop.share([])" in shared(source, "items")

    monkeypatch.setattr(origins, "_MOST", 2)

    assert "keeps a part of what it does not know" in left(source, "items")
    assert "txloop" not in shared(source, "items")


@pytest.mark.parametrize(
    ("stored", "also", "is_shared"),
    [
        ("int(time.time()) + nested['rows']", "", True),
        ("nested['rows'] - 1", "", True),
        ("time.time() - nested['rows']", "", True),
        ("nested['rows'] + k", "", False),
        ("rows(k) + nested['rows']", "", False),
        ("time() + nested['rows']", "def time(): return []", False),
        ("k[0] + 1", "class A:\n    def __add__(s, x): return nested['rows']", False),
    ],
)
def test_what_is_added_to_a_number_is_one(stored, also, is_shared):
    source = f"""
table = {{}}
nested = {{"rows": []}}
{also}
def change(): nested["rows"].append(1)
def f(k):
    table[k] = {stored}
"""
    assert is_shared == ("table = txloop.share({})" in shared(source, "table"))

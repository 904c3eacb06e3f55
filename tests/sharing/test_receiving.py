"""What methods such as `append` keep of plain objects, and do not change."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left, module, shared

KEPT = {
    "update of a part": "table['a'].update({'id': nested[k]['price']})",
    "update by keyword": "table['a'].update(id=nested[k]['price'])",
    "update of what get returns": "x = table.get(k, {})\n    x.update(id=nested[k])",
    "what setdefault returns": "table.setdefault(k, {})['id'] = nested[k]['price']",
    "append to what it returns": "table.setdefault(k, []).append(nested[k]['tags'])",
    "append to a loop's variable": "for x in table.values(): x.append(nested[k])",
    "append to an attribute's part": "box.rows[k].append(nested[k])",
}
CHANGED = {
    "update": "table['a'].update(id=nested[k])\n    table['a']['id']['tags'] = k",
    "its source": "table['a'].update(id=nested[k])\n    nested[k]['tags'] = k",
    "setdefault": "table.setdefault(k, {})['id'] = nested[k]\n"
    "    table[k]['id']['tags'] = k",
    "a default": "table.get(k, table['a']['b']).setdefault('c', {})['d'] = nested[k]\n"
    "    table['a']['b']['c']['d']['tags'] = 1",
    "a loop's variable": "for x in table.values(): x.append(nested[k])\n"
    "    for x in table.values(): x[0]['tags'] = k",
    "no variable's part": "x = [[]]\n    x[0].append(nested[k])\n"
    "    x[0][0]['tags'] = 1\n    table[k] = nested[k]",
    "another name's part": "box.rows[k].append(nested[k])\n"
    "    box.rows[k][0]['tags'] = 1\n    table[k] = nested[k]",
}


@pytest.mark.parametrize("case", [*KEPT, *CHANGED])
def test_what_a_method_keeps_and_the_program_never_changes_may_be_kept_twice(case):
    source = f"""
table = {{"a": {{}}}}
nested = {{"a": {{"tags": []}}}}
class Box:
    def __init__(self): self.rows = {{}}
box = Box()
def f(k):
    {(KEPT | CHANGED)[case]}
"""
    assert ("table = txloop.share(" in shared(source, "table")) == (case in KEPT)


TRIMMED = {
    "to the last": "rows = rows[-5:]",
    "to the first": "rows = rows[:k]",
    "from its beginning": "rows = list()",
    "to what another has": "rows = other.rows[1:]",
}


@pytest.mark.parametrize("case", TRIMMED)
def test_a_list_that_is_trimmed_is_one_beside_objects_of_any_package(case):
    source = f"""
import elsewhere
rows = []
nested = {{"a": {{"tags": []}}}}
def f(k, other):
    global rows
    rows.append(nested[k])
    {TRIMMED[case]}
"""
    after = shared(source, "rows")

    assert ("txloop.TVar([])" in after) == ("= rows[" in TRIMMED[case])


@pytest.mark.parametrize("line", ["pass", "other.value = k", "rows = other"])
def test_a_tvar_of_a_list_has_one_unless_it_may_be_given_something_else(line):
    source = f"""
import elsewhere, txloop
number = txloop.TVar(0)
rows = txloop.TVar(txloop.share([]))
table = {{}}
nested = {{"a": {{"tags": []}}}}
def f(k, other):
    global rows
    rows.value.append(nested[k])
    rows.value = rows.value[-5:]
    number.value += 1
    table[k] = nested[k]
    {line}
"""
    assert ("table = txloop.share({})" in shared(source, "table")) == (line == "pass")


UNKNOWN = {
    "a package": "from elsewhere import session",
    "a package in a function": "def g():\n    import elsewhere.part",
    "an import by name": "import importlib",
    "what pickles bring": "from pickle import loads",
    "what runs text": "def g(k): exec(k)",
    "an own method of a library's class": "class D(UserDict):\n"
    "    def __setitem__(self, k, x): pass",
    "one that is mixed in": "class M:\n    def insert(self, k, x): pass\n"
    "class D(M, MutableSequence): pass",
    "one that is derived": "class B(UserDict): pass\nclass D(B):\n    add = print",
    "one of a class that is made": "class D(made()):\n    def add(self, x): pass",
    "one that is set": "D.update = print",
    "one that is set by name": "setattr(D, '__setitem__', print)",
    "one of a class that a call makes": "D = type('D', (UserDict,), {})",
}
KNOWN = {
    "Tornado and Python": "import json, tornado.web\nfrom collections import UserDict",
    "the program": "import other\nfrom .another import y",
    "an own class": "class D:\n    def add(self, x): pass\nclass E(D, object): pass",
    "a handler": "class H(RequestHandler):\n    def add(self, x): pass",
    "a class without such methods": "class E(Enum):\n    x = 1",
}


@pytest.mark.parametrize("case", [*UNKNOWN, *KNOWN])
def test_objects_of_other_packages_may_change_what_they_are_given(case):
    source = f"""
table = {{"a": {{}}}}
nested = {{"a": {{"tags": []}}}}
{(UNKNOWN | KNOWN)[case]}
def f(k):
    table["a"].append(nested[k]["tags"])
"""
    others = {"other": "z = 1\n"}

    assert ("txloop.share(" in shared(source, "table", others=others)) == (
        case in KNOWN
    )
    if case in UNKNOWN:
        assert "keeps a part of nested" in left(source, "table", others=others)


def test_a_user_that_is_parsed_is_kept_in_a_list_that_is_trimmed():
    source = """
import tornado.escape
class Buffer:
    rows = []
    def new(self, row):
        self.rows.append(row)
class H(RequestHandler):
    def get_current_user(self):
        return tornado.escape.json_decode(self.get_secure_cookie("user"))
    def post(self, k):
        Buffer.rows.extend([{"id": k, "from": self.current_user["name"]}])
        Buffer.rows = Buffer.rows[-5:]
"""
    changed = source + "        self.current_user['name'].append(k)\n"

    assert "rows = txloop.share([])" in shared(source, "Buffer.rows")
    assert module(source).source != shared(source, "Buffer.rows")
    assert "current_user" in left(changed, "Buffer.rows")

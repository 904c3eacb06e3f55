"""What is kept in two places by what is called, by its name or without one."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left, shared

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


OWN_METHODS = {
    "__setitem__": "own[k] = nested",
    "__iadd__": "x = own\n    x += nested",
    "__lshift__": "own << nested",
    "__call__": "own(nested)",
    "__setattr__": "own.any = nested",
}


@pytest.mark.parametrize("method", OWN_METHODS)
def test_what_keeps_what_a_method_is_given_without_its_name_stays_plain(method):
    source = f"""
table = {{}}
nested = {{"rows": []}}
class Own:
    def {method}(self, *of): table.update(x=of)
own = Own()
def change(): nested["rows"].append(1)
def f(k):
    {OWN_METHODS[method]}
"""
    assert source.lstrip() == shared(source, "table")
    assert "which stays plain" in left(source, "table")


@pytest.mark.parametrize(
    "line", ["own.part = nested", "setattr(own, 'part', nested)", "own.other = nested"]
)
def test_what_keeps_what_a_property_is_given_stays_plain(line):
    source = f"""
table = {{}}
nested = {{"rows": []}}
class Own:
    @property
    def part(self): return None
    @part.setter
    def part(self, of): table["x"] = of
    def keep(self, of): table["x"] = of
    other = property(None, keep)
own = Own()
def change(): nested["rows"].append(1)
def f(k):
    {line}
"""
    assert source.lstrip() == shared(source, "table")
    assert "which stays plain" in left(source, "table")


def test_a_function_out_of_a_table_that_has_a_name_keeps_what_it_is_given():
    source = """
table = {}
nested = {"rows": []}
def keep(of, part): of["x"] = part
WAYS = {"keep": keep}
def change(): nested["rows"].append(1)
def f(k):
    way = WAYS[k]
    way(table, nested)
"""
    assert source.lstrip() == shared(source, "table")
    assert "which stays plain" in left(source, "table")


def test_what_keeps_something_plain_of_the_same_name_stays_plain():
    source = """
rows = []
class Data(External):
    def __init__(self):
        self.rows = []
data = Data()
def f():
    x = data.rows
    rows.append(x)
    x.append(2)
"""
    assert source.lstrip() == shared(source, "rows")
    assert "keeps a part of rows, which stays plain" in left(source, "rows")


SUBCLASSING = {
    "a keyword": "class A(Base, rows=here): pass",
    "a keyword's part": "class A(Base, rows=[here]): pass",
    "all keywords": "class A(Base, **{'rows': here}): pass",
    "a call": "type('A', (Base,), {}, rows=here)",
    "a metaclass": "class A(metaclass=Meta, rows=here): pass",
    "a metaclass that is inherited": "class A(Made, rows=here): pass",
}


@pytest.mark.parametrize("case", SUBCLASSING)
def test_what_a_class_statement_gives_may_be_kept(case):
    keeping = "__init__" if "metaclass" in case else "__init_subclass__"
    source = f"""
table = {{}}
class Base:
    def {keeping}(cls, *a, rows=None, **k): table["x"] = rows
class Meta(type):
    def {keeping}(cls, *a, rows=None, **k): table["x"] = rows
class Made(metaclass=Meta): pass
def f():
    here = []
    {SUBCLASSING[case]}
    here.append(1)
"""
    assert "    here = txloop.share([])" in shared(source, "table")

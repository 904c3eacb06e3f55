"""Classes and functions that are found in a table: ``KINDS[kind](name)``."""

from __future__ import annotations

import pytest

from tests.sharing.random_programs import program_of
from tests.sharing.rounds import left, shared
from tests.sharing.test_random_programs import asked_of, check

MAKING = """
import sys
class Thing:
    def __init__(self, name): self.name = name
class Square(Thing): sides = 4
class Circle(Thing): sides = 0
{}
things = {{}}
def put(k):
    one = {}
    things[k] = one
    one.name += "!"
    {}
"""

DISPLAY = "KINDS = {'square': Square, 'circle': Circle}"

FOUND = {
    "an item": (DISPLAY, "KINDS[k](k)", ""),
    "with a type": ("KINDS: dict = {'square': Square}", "KINDS[k](k)", ""),
    "of a list": ("KINDS = [Square, Circle]", "KINDS[len(k)](k)", ""),
    "what get returns": (DISPLAY, "KINDS.get(k)(k)", ""),
    "with a default": (DISPLAY, "KINDS.get(k, Square)(k)", ""),
    "with another": (DISPLAY, "(KINDS.get(k) or Thing)(k)", ""),
    "a variable": (DISPLAY, "None; kind = KINDS.get(k); one = kind(k)", ""),
    "one of two": ("", "(Square if k else Circle)(k)", ""),
    "a variable of two": ("", "0; x = Square if k else Circle; one = x(k)", ""),
    "a variable and itself": (DISPLAY, "0; x = None; x = x or Square; one = x(k)", ""),
    "one of a class": (f"class All:\n    {DISPLAY}", "All.KINDS[k](k)", ""),
    "it is shown": (DISPLAY, "KINDS[k](k)", "return [*KINDS.items()]"),
    "it is asked": (DISPLAY, "KINDS[k](k)", "if k in KINDS: return list(KINDS)"),
    "objects are shown": (DISPLAY, "KINDS[k](k)", "return vars(one)"),
}


@pytest.mark.parametrize("case", FOUND)
def test_an_object_of_a_class_in_a_table_stays_what_it_is(case):
    assert "things = txloop.share({})" in shared(MAKING.format(*FOUND[case]), "things")


OTHERS = {
    "one is none": ("KINDS = {'square': Square, 'rows': list}", "KINDS[k](k)", ""),
    "a default is none": (DISPLAY, "KINDS.get(k, list)(k)", ""),
    "another is none": (DISPLAY, "(KINDS.get(k) or list)(k)", ""),
    "one is put in": (DISPLAY, "KINDS[k](k)", "KINDS['rows'] = list"),
    "more are put in": (DISPLAY, "KINDS[k](k)", "KINDS.update(rows=list)"),
    "it is handed on": (DISPLAY, "KINDS[k](k)", "change(KINDS)"),
    "it has another name": (DISPLAY, "KINDS[k](k)", "x = KINDS; x['rows'] = list"),
    "another table": (DISPLAY, "KINDS[k](k)", "global KINDS; KINDS = {}"),
    "a parameter": (DISPLAY, "KINDS[k](k)", "\ndef f(KINDS): pass"),
    "an attribute": (DISPLAY, "KINDS[k](k)", "sys.KINDS = {'rows': list}"),
    "by its name": (DISPLAY, "KINDS[k](k)", "setattr(sys, 'KINDS', {})"),
    "by any name": (DISPLAY, "KINDS[k](k)", "globals()[k] = {}"),
    "by an import": (DISPLAY, "KINDS[k](k)", "\nfrom library import KINDS"),
    "by any import": (DISPLAY, "KINDS[k](k)", "\nfrom library import *"),
    "a variable of a list, too": (DISPLAY, "0; x = KINDS[k]; x = list; one = x(k)", ""),
    "an attribute by any name": (
        f"class All:\n    {DISPLAY}",
        "All.KINDS[k](k)",
        "setattr(All, k, {})",
    ),
    "one is a library's": (
        "from library import make\nclass Own:\n    def make(self): return 1\n"
        "KINDS = {'rows': make}",
        "KINDS[k](k)",
        "",
    ),
    "one is decorated": (
        "@functools.cache\ndef make(k): return [k]\nKINDS = {'rows': make}",
        "KINDS[k](k)",
        "",
    ),
    "a default is a parameter's": (
        DISPLAY,
        "KINDS.get(k, put)(k)",
        "\ndef f(put): pass",
    ),
    "what makes what it likes": (
        "class Own:\n    def __new__(cls, x): return x\nKINDS = {'own': Own}",
        "KINDS[k](k)",
        "",
    ),
}


@pytest.mark.parametrize("case", OTHERS)
def test_a_table_that_may_have_something_else_is_not_followed(case):
    source = MAKING.format(*OTHERS[case])

    assert "stores 'one' and goes on with it" in left(source, "things")


FUNCTIONS = """
rows = []
def put(x): rows.append(x)
def put_twice(x): rows.extend([x, x])
ACTS = {"put": put, "twice": put_twice}
def act(k):
    x = [k]
    ACTS[k](x)
    x.append(1)
"""


def test_what_functions_of_a_table_store_is_followed():
    assert "x = txloop.share([k])" in shared(FUNCTIONS, "rows")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_tables_have_answers_as_on_stock_tornado():
    definitions, bodies = [], []
    for number, (table, made, _) in enumerate(FOUND.values()):
        text = MAKING.format(table.replace("square", "a"), "0", "pass")
        text = text.partition("things = ")[0].replace("import sys\n", "")
        for name in ("Thing", "Square", "Circle", "KINDS", "All"):
            text = text.replace(name, f"{name}{number}")
            made = made.replace(name, f"{name}{number}")
        definitions += [text, f"things{number} = {{}}"]
        body = f"things{number}[k] = one\none.name += '!'\nmore.append(one.name)"
        made = f"k = 'a'\none = {made.replace('; ', chr(10))}\n"
        bodies.append([f"{made}{body}\nmore.append(things{number}[k].sides)"])
    lines = FUNCTIONS.replace('"put"', '"a"').replace('"twice"', '"b"')
    lines = lines.replace("rows", "kept").replace("act(", "do_act(")
    definitions.append(lines)
    bodies.append(["do_act('a')\ndo_act('b')\nmore.append(kept)"])

    said = check(program_of(bodies, definitions), asked_of(len(bodies)), good=0.9)

    assert " becomes " in said

"""What modules of a program import from each other, by whatever name and where."""

from __future__ import annotations

import pytest

from tests.sharing.commanding import PROGRAM, program, run
from tests.sharing.rounds import left, shared
from tests.unchanged.running import Asked, running

HOME = """
import functools
rows = []
kept = {}
class Keep:
    def take(self, one):
        rows.append(one)
keep = Keep()
def put(one):
    rows.append(one)
class Setting:
    def __setattr__(self, name, one):
        rows.append(one)
setting = Setting()
@functools.cache
def made():
    return [1]
"""

STORED = {
    "a variable": ("from app import rows as r", "r.append(y)"),
    "a function": ("from app import put as p", "p(y)"),
    "a class": ("from app import Keep as K, keep", "K.take(keep, y)"),
    "a module": ("import app as a", "a.rows.append(y)"),
    "what another module imports": ("from db import table as t", "t.append(y)"),
    "all of another module": ("from db.all import table as t", "t.append(y)"),
    "an object with a setter": ("from app import setting as s", "s.x = y"),
    "a module's object": ("import app as a", "a.setting.x = y"),
    "by a name of its own": ("from app import rows as kept", "kept.append(y)"),
}
OTHERS = {
    "db": "from app import rows as table\nfrom app import put as store",
    "db.all": "from db import *",
}

MODULES = "{imports}\ndef f(x):\n    y = [1]\n    {use}\n    y.append(x)\n"
FUNCTIONS = "def f(x):\n    {imports}\n    y = [1]\n    {use}\n    y.append(x)\n"
BESIDE = f"{FUNCTIONS}def g():\n    t = r = p = K = a = s = kept = 1\n    return t\n"
"""Elsewhere in the module, the same names mean something else."""


@pytest.mark.parametrize("where", [MODULES, FUNCTIONS, BESIDE])
@pytest.mark.parametrize("case", STORED)
def test_what_is_stored_under_another_name_is_a_container_from_the_start(case, where):
    imports, use = STORED[case]
    others = {**OTHERS, "web": where.format(imports=imports, use=use)}

    assert "    y = txloop.share([1])\n" in shared(HOME, "rows", others=others)


CHANGED = {
    "a variable": (
        "from app import plain as p",
        "rows.append(p[0])\n    p[0].append(x)",
    ),
    "what is cached": (
        "from app import made as m",
        "z = m()\n    rows.append(z)\n    z.append(x)",
    ),
    "a cache": ("from app import made as m", "rows.append(m())\n    m().append(x)"),
    "a library": ("import random", "rows.append(y)\n    random.choice([y]).append(x)"),
}


@pytest.mark.parametrize("case", CHANGED)
def test_what_a_function_imports_is_no_variable_of_it(case):
    imports, use = CHANGED[case]
    source = (
        f"def f(x):\n    {imports}\n    from app import rows\n    y = [x]\n    {use}\n"
    )
    home = f"{HOME}plain = ([0],)\n"

    after = shared(home, "rows", others={"web": source})

    assert "rows = []" in after or "txloop.share([1])" in after or "share([x])" in after


def test_the_text_of_what_is_imported_stays():
    web = "def f():\n    from app import rows as r\n    return r\n"

    after = shared("rows = []\n", "rows", others={"web": web})

    assert f"rows = txloop.share([])\n\n{web}" == after


@pytest.mark.parametrize("name", ["count", "c"])
def test_a_name_that_is_bound_again_may_be_copied_by_any_import(name):
    home = "count = 0\ndef f():\n    global count\n    count += 1\n"
    web = f"def g():\n    from app import count as {name}\n    return {name}\n"

    assert "imports a copy of its value" in left(home, "count", others={"web": web})


@pytest.mark.parametrize(
    ("imported", "expected"),
    [
        ("from app import count", "from app import count; count = count.value"),
        (
            "from app import f, count, total  # both",
            "from app import f, count, total; count = count.value; "
            "total = total.value  # both",
        ),
        (
            "from app import (\n    f,\n    count,\n)",
            "from app import (\n    f,\n    count,\n); count = count.value",
        ),
    ],
)
def test_a_module_imports_the_value_that_a_name_has_then(imported, expected):
    home = (
        "count = 0\ntotal = 0\n"
        "def f():\n    global count, total\n    count += 1\n    total += 1\n"
    )
    web = f"{imported}\ndef g():\n    return count\n"

    after = shared(home, "count", "total", others={"web": web})

    assert f"{expected}\ndef g():\n    return count\n" in after
    assert "count = txloop.TVar(0)" in after


def test_a_name_that_stands_for_one_that_is_bound_again_leaves_it_alone():
    home = "count = 0\ndef f():\n    global count\n    count += 1\n"
    web = "from app import count as c\ndef g():\n    return c\n"

    assert "imports" in left(home, "count", others={"web": web})


@pytest.mark.parametrize("template", ["{{ app.put(x) }}", "{% import app %}{{ x }}"])
def test_what_a_template_has_stored_may_change_there(template):
    others = {"page": f"page = {template!r}\n"}

    reason = left(HOME, "rows", others=others)

    assert ("stores what a template gives it" in reason) == ("put" in template)


@pytest.mark.parametrize(
    ("web", "is_left"),
    [
        ("import db\ndef f():\n    db.made()\n", False),
        ("def f():\n    import db as d\n    d.made()\n", False),
        ("import db\ndef f(db):\n    db.made()\n", True),
        ("import db\ndef f(x):\n    x.db.made()\n", True),
    ],
)
def test_what_a_module_has_is_no_attribute_of_a_class(web, is_left):
    home = "class Thing:\n    made = 0\n    def add(self):\n        Thing.made += 1\n"
    others = {"db": "def made():\n    return 1\n", "web": web}

    reason = left(home, "Thing.made", others=others)

    assert is_left == ("may mean another's attribute" in reason)


STATE = """
asked = 0
last = None
names = []
def add(name):
    global asked, last
    asked, last = asked + 1, name
    names.append(name)
"""


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_what_is_imported_with_all_names_answers_as_on_stock_tornado(tmp_path):
    # GIVEN
    (tmp_path / "program").mkdir()
    source = PROGRAM.replace("names = []  # in the order of arrival\n", "")
    source = source.replace("asked = 0\n", "import state\nfrom state import *  # all\n")
    source = source.replace("        global asked\n        asked += 1\n", "")
    source = source.replace("names.append(", "add(")
    source = source.replace("% (asked, names)", "% (asked, [state.asked, last, names])")
    home = program(tmp_path / "program", source)
    (home / "state.py").write_text(STATE)
    asked = [Asked("GET", "/"), Asked("POST", "/?name=a"), Asked("GET", "/")] * 2

    # WHEN
    with running(home, tmp_path, None, options=()) as stock:
        expected = stock.ask(asked)
    options, faults = ("--auto", "--share"), {"TXLOOP_FAULTS": "away=1"}
    with running(home, tmp_path, "processes", faults, options=options) as shared_one:
        answers = shared_one.ask(asked)
    _, said, _ = run(home, "share", "app.py")

    # THEN
    assert expected == answers
    assert (200, "0: [2, None, ['a', 'a']]") == expected[-1]
    assert "+from state import *; asked = asked.value; last = last.value  # all" in said

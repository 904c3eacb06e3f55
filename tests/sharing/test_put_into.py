"""What is put into something by any way, and used on after that."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import shared

PUT_INTO_ROWS = {
    "itself": ("", "rows.append(x)"),
    "by a key": ('d = {"a": rows}', 'd["a"].append(x)'),
    "by an index": ("d = [rows]", "d[0].append(x)"),
    "deeper": ('d = {"a": {"b": rows}}', 'd["a"]["b"].append(x)'),
    "stored later": ('d = {}\nd["a"] = rows', 'd["a"].append(x)'),
    "by get": ('d = {"a": rows}', 'd.get("a", []).append(x)'),
    "by setdefault": ('d = {"a": rows}', 'd.setdefault("a", []).append(x)'),
    "by a variable": ('d = {"a": rows}', 'r = d["a"]; r.append(x)'),
    "in a loop": ('d = {"a": rows}', "for r in d.values(): r.append(x)"),
    "by a setting": ("", 'app.settings["rows"].append(x)'),
    "by a setting's get": ("", 'r = app.settings.get("rows"); r.append(x)'),
    "by a parameter": ("def put(rs, y): rs.append(y)", "put(rows, x)"),
    "by an addition": ("d = [rows]", "d[0] += [x]"),
    "by a variable's addition": ("", "r = rows; r += [x]"),
    "by a local dict": ("", 'h = {"a": rows}; h["a"].append(x)'),
    "by a local list": ("", "h = [1, rows]; h[1].append(x)"),
    "by a table": (
        'def place(rs, y): rs.append(y)\nD = {"p": place}',
        'D["p"](rows, x)',
    ),
    "by a table of verbs": (
        'def put(rs, y): rs.append(y)\nD = {"put": put}',
        'D["put"](rows, x)',
    ),
    "out of a dict": ("", 'y = {"q": x}; rows.append(y.pop("q"))'),
    "as an item": ("", 'y = {"q": x}; rows.append(y.popitem())'),
    "as a default": ("", 'rows.append({}.get("q", x))'),
    "by reduce": ("", "rows.append(functools.reduce(lambda a, b: b, [1, x]))"),
    "by a loop's target": ("", "for rows[0] in [x]: pass"),
    "by a with's target": ("def g(y): yield y", "with g(x) as rows[0]: pass"),
    "as an attribute": ("", "d.rows: list = x"),
    "as an attribute by its name": ("", 'setattr(d, "rows", x)'),
    "by a property": (
        "class K:\n    @property\n    def all(self): return rows\nd = K()",
        "d.all.append(x)",
    ),
    "by a property's setter": (
        "class K:\n    @property\n    def all(self): ...\n"
        "    @all.setter\n    def all(self, y): rows.append(y)\nd = K()",
        "d.all = x",
    ),
    "by an object's call": (
        "class K:\n    def __call__(self, y): rows.append(y)\nd = K()",
        "d(x)",
    ),
    "by an object's key": (
        "class K:\n    def __setitem__(self, k, y): rows.append(y)\nd = K()",
        "d[0] = x",
    ),
    "by a function without a name": ("", "(lambda y: rows.append(y))(x)"),
    "by a star": ("", "*y, z = 1, x; rows.append(z)"),
    "by items of arguments": ("def put(*a): a[0].append(a[1])", "put(rows, x)"),
    "by items of keywords": (
        "def put(**k): k['to'].append(k['what'])",
        "put(to=rows, what=x)",
    ),
    "by items of a pair": ("", "p = rows, x; p[0].append(p[1])"),
    "by parts of an object": (
        "class P:\n    def __init__(self, m, y): self.m, self.y = m, y",
        "p = P(rows, x); p.m.append(p.y)",
    ),
    "by a pattern": ("", 'match {"q": x}:\n        case {"q": z}: rows.append(z)'),
}


@pytest.mark.parametrize("case", PUT_INTO_ROWS)
def test_what_is_put_into_something_by_any_way_and_used_on_leaves_that(case):
    setup, put = PUT_INTO_ROWS[case]
    source = f"""
rows = []
other = []
{setup}
app = Application([], rows=rows)
def keep(**x):
    {put}
    x["late"] = 1
"""
    after = shared(source, "rows", "other")

    assert "rows = []\nother = txloop.share([])" in after


def test_no_container_is_made_of_something_of_which_not_all_is_known():
    source = """
rows = []
other = []
def keep(**x):
    rows.append(x)
    y = [x]
    y[0]["late"] = 1
    y = x
    y["later"] = 1
def g(n): other.append(n)
"""
    after = shared(source, "rows", "other")

    assert "    y = [x]\n" in after
    assert "rows = []\nother = txloop.share([])" in after

"""Classes that add methods to a dict or list become containers with these methods."""

from __future__ import annotations

import textwrap

import pytest

from tests.sharing.commanding import PROGRAM, program, run
from tests.sharing.rounds import left, module
from txloop.sharing.rewriting import Round
from txloop.sharing.survey import Seed, Survey

SOURCE = """
class Rows({0}):
    {1}
rows = Rows()
def f(x):
    {2}
"""


def after(base="dict", body="pass", line="rows[x] = 1", head=""):
    """Return the text when the module's `rows` was found to be shared."""
    body = textwrap.indent(textwrap.dedent(body), "    ").strip()
    text = module(head + SOURCE.format(base, body, line))
    holds = ("app.Rows",)
    seed = Seed("app.rows", "module", "app", "rows", "Rows", None, (), holds, False)
    Round([text], Survey(seeds=[seed]), {}).run()
    return text.source


@pytest.mark.parametrize(
    ("base", "body", "line"),
    [
        ("dict", "pass", "rows[x] = 1"),
        ("list", "limit = 9\ndef add(self, x): self.append(x)", "rows.add(x)"),
        ("dict", "'''Of names.'''\ndef __missing__(self, key): return key", "rows[x]"),
        (
            "dict",
            "def __init__(self, *a):\n    super().__init__(*a)\n    self['a'] = 1",
            "rows[x] = 1",
        ),
        ("list", "@property\ndef last(self): return self[-1]", "rows.append(str(x))"),
        ("dict", "def count(self): return len(self)", "rows[x] = 1"),
        ("list", "def __str__(self): return 'rows'", "y = []; rows.append(y)"),
    ],
)
def test_a_class_that_adds_methods_only_becomes_a_container(base, body, line):
    expected = {"dict": "txloop.TDict", "list": "txloop.TList"}[base]

    assert f"class Rows({expected}):" in after(base, body, line)


def test_so_does_the_base_of_one_that_is_derived_from_it():
    head = "class Base(list):\n    def add(self, x): self.append(x)\n"
    text = after("Base", "def more(self, x): self.add(x)", "rows.more(1)", head)

    assert "class Base(txloop.TList):" in text
    assert "class Rows(Base):" in text


@pytest.mark.parametrize(
    ("line", "made"),
    [
        ("y = []; rows.put(y); y.append(1)", "y = txloop.share([])"),
        ("y = []; rows['a'] = y; y.append(1)", "y = txloop.share([])"),
    ],
)
def test_what_is_put_into_it_and_changes_is_a_container_from_the_start(line, made):
    text = after(body="def put(self, y): self['a'] = y", line=line)

    assert made in text
    assert "class Rows(txloop.TDict):" in text


@pytest.mark.parametrize(
    ("base", "body", "line"),
    [
        ("dict", "def __init__(self): self.n = 1", "rows[x] = 1"),
        ("dict", "def __init__(self):\n    super().__init__()\n    self.n = 1", "pass"),
        ("dict", "def __init__(self): self['a'] = 1", "rows[x] = 1"),
        ("dict", "def get(self, key): return 1", "rows[x] = 1"),
        ("list", "def count(self, x): return 1", "rows.append(1)"),
        ("dict", "def __getitem__(self, key): return 1", "rows[x] = 1"),
        ("dict", "__getattr__ = dict.__getitem__", "rows[x] = 1"),
        ("dict", "def f(self): return dict.copy(self)", "rows[x] = 1"),
        ("dict", "names = []", "rows[x] = 1"),
        ("dict", "@cached\ndef f(self): pass", "rows[x] = 1"),
        ("dict, Mixed", "pass", "rows[x] = 1"),
        ("dict, metaclass=Meta", "pass", "rows[x] = 1"),
        ("Dict", "pass", "rows[x] = 1"),
        ("dict", "pass", "rows[x] = 1\nclass Other(Rows, Mixed): pass"),
        ("dict", "pass", "rows[x] = 1\nrows.note = 1"),
        ("dict", "pass", "rows[x] = rows.__class__"),
        ("dict", "pass", "rows[x] = 1\nimport pickle; pickle.dumps(rows)"),
        ("dict", "pass", "rows[x] = 1\nimport library; library.f(rows)"),
        ("dict", "def put(self, y): self['a'] = y; y.append(1)", "rows.put(x)"),
        ("dict", "pass", "rows[x] = 1\nclass dict: pass"),
    ],
)
def test_a_class_that_does_more_stays_what_it_is(base, body, line):
    assert f"class Rows({base})" in after(base, body, line)


def test_what_stays_plain_is_not_kept_in_one():
    source = """
    import pickle
    class Rows(dict):
        def put(self, y): self['a'] = y
    class A: pass
    plain, rows, items = [A()], Rows(), []
    rows.put(plain)
    def f(x):
        plain.append(x)
        items.append(x)
        pickle.dumps(plain)
    """

    assert "pickle.dumps" in left(source, "plain")


DERIVED = PROGRAM.replace(
    "names = []  # in the order of arrival",
    """class Added(list):
    def add(self, name):
        self.append(name)
class Counts(dict):
    def count(self, name):
        self[name] = self.get(name, 0) + 1
        return self[name]
names = Added()
counts = Counts()""",
)
DERIVED = DERIVED.replace("asked += 1", "asked = counts.count('asked')")
DERIVED = DERIVED.replace("names.append(", "names.add(")


@pytest.mark.slow
def test_verbs_that_share_objects_of_such_classes_run_in_parallel(tmp_path):
    code, printed, _ = run(program(tmp_path, DERIVED), "share", "app.py")

    expected = "Of 3 verbs, 0 would run in parallel before, 3 after."
    assert (code, printed.splitlines()[-1]) == (0, expected)

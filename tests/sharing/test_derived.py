"""Classes that add methods to a dict or list become containers with these methods."""

from __future__ import annotations

import textwrap

import pytest

from tests.sharing.commanding import PROGRAM, program, run
from tests.sharing.random_programs import program_of
from tests.sharing.rounds import left, module
from tests.sharing.test_random_programs import asked_of, check
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


SETS = "def __init__(self, *a):\n    super().__init__(*a)\n    self.n = []\n"


@pytest.mark.parametrize(
    ("body", "line", "names"),
    [
        (SETS, "rows.n.append(x)", '"n",'),
        (SETS.replace("super()", "super(Rows, self)"), "rows.n = x", '"n",'),
        ("n = 3\ndef f(self): self.n += 1", "rows.f()", '"n",'),
        (SETS + "def f(self, y): self.m = y", "rows.n = 3", '"m", "n"'),
        (SETS, "x.more = 1", '"more", "n"'),
        (SETS, "rows.n = 1\nclass Other(Rows):\n def f(self): self.m = 1", '"m", "n"'),
    ],
)
def test_a_class_that_adds_attributes_names_them(body, line, names):
    text = after(body=body, line=line)

    assert f"class Rows(txloop.TDict, also=({names})):" in text


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (SETS, "rows.more = 1"),
        (SETS, "x.items = 1"),
        (SETS, "Rows.n = 1"),
        (SETS, "Rows.n += 1"),
        (SETS, "setattr(Rows, 'n', 1)"),
        (SETS + "def more(self): pass", "x.more = 1"),
        (SETS, "setattr(x, x, 1)"),
        (SETS, "print(vars(rows))"),
        (SETS, "print(getattr(rows, '__dict__'))"),
        (SETS, "import pickle; pickle.dumps(rows.n)"),
        (SETS, "pass\nclass Other(Rows):\n    n = 3"),
        (SETS, "pass\nclass Other(Rows):\n    def n(self): pass"),
        (SETS + "@property\ndef m(self): pass\ndef f(self): self.m = 1", "pass"),
        ("def f(self): self.items = 1", "pass"),
        ("def f(self): self.__n = 1", "pass"),
        ("def f(self, other): other.n = 1", "pass"),
        ("def f(self): del self.n", "pass"),
    ],
)
def test_attributes_that_show_leave_it_alone(body, line):
    assert "class Rows(dict)" in after(body=body, line=line)


SET_ITEM = """
def __setitem__(self, key, value):
    {}.__setitem__({})
    {}
"""


@pytest.mark.parametrize(
    "body",
    [
        SET_ITEM.format("super()", "key, value", "self.n = key"),
        SET_ITEM.format("super(Rows, self)", "key, value", "self.put(key)"),
        "def __delitem__(self, key):\n    super().__delitem__(key)\n    self.n = 1",
        "def __getattr__(self, name): return self[name]",
    ],
)
def test_a_class_may_set_items_of_a_dict_in_its_own_way(body):
    text = after(body=body, line="y = []; rows[x] = y; y.append(1)")

    assert "class Rows(txloop.TDict" in text
    assert "y = txloop.share([])" in text


@pytest.mark.parametrize(
    ("base", "body", "line"),
    [
        ("dict", SET_ITEM.format("super()", "key.lower(), value", ""), "rows[x] = 1"),
        ("dict", SET_ITEM.format("super()", "key, [value]", ""), "rows[x] = 1"),
        ("dict", SET_ITEM.format("super()", "key, value", "value.append(1)"), "pass"),
        ("dict", SET_ITEM.format("super()", "key, value", "key = 1"), "rows[x] = 1"),
        ("dict", SET_ITEM.format("super()", "key, value", ""), "import copy"),
        ("list", SET_ITEM.format("super()", "key, value", ""), "rows[x] = 1"),
        ("dict", "def __setattr__(self, k, v): self[k] = v", "rows[x] = 1"),
        ("list", "def __getattr__(self, k): return k", "rows[x] = 1"),
    ],
)
def test_other_ways_leave_it_alone(base, body, line):
    assert f"class Rows({base})" in after(base, body, line)


def test_what_is_kept_as_an_attribute_and_changes_is_a_container_from_the_start():
    body = SETS + "def put(self, y): self.n = y"
    text = after(body=body, line="y = []; rows.put(y); y.append(1)")

    assert "y = txloop.share([])" in text


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


SESSIONS = """
class Session(dict):
    limit = 3
    def __init__(self, sid, *given, **named):
        super(Session, self).__init__(*given, **named)
        self.sid, self.rows = sid, []
        self.changed = False
    def put(self, key, value):
        self[key] = value
        self.changed = True
        self.rows.append(value)
        return self.rows
    def raise_limit(self):
        self.limit += 1
        return self.limit
class Guest(Session):
    def __init__(self, sid):
        super().__init__(sid, guest=True)
        self.friend = None
class History(list):
    total = 0
    def add(self, item):
        self.total += 1
        self.last = item
        self.append(item)
sessions = {}
history = History([0])
def said(do):
    try:
        return do()
    except AttributeError as error:
        return str(error)
"""

SESSIONS_USED = [
    "s = sessions.setdefault(k, Session(k, a=v))\nmore += [s.put(k, [v]), s, s.sid]",
    "s = sessions.setdefault(k, Guest(k))\ns.friend = sessions\n"
    "more += [s.raise_limit(), Session.limit, len(s.friend), s.changed]",
    "x = [v]\ns = Session(v)\nsessions['b'] = s\ns.rows = x\nx.append(k)\n"
    "more += [s.rows, x is s.rows, repr(s)]",
    "history.add(v)\nmore += [history.total, history.last, history, History.total]",
    "s = Session('n')\nmore += [said(lambda: s.friend), hasattr(history, 'last')]\n"
    "more += [sorted(sessions), [one.rows for one in sessions.values()]]",
    "s = sessions.setdefault(k, Guest(k))\nc = copy.copy(s)\nc.sid = 'c'\n"
    "c.rows = [*c.rows, v]\nmore += [s.sid, s.rows, c.rows, c, type(c) is type(s)]",
    "s = sessions.setdefault(k, Guest(k))\nc = copy.deepcopy(s)\nc.rows.append(v)\n"
    "sessions['c'] = c\nmore += [s.rows, c.rows, isinstance(c, dict), {**c}]",
]

NOTED = """
class Noted(dict):
    def __init__(self, **named):
        super().__init__(**named)
        self.log = []
    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self.log.append(key)
    def __delitem__(self, key):
        self.log.append("del")
        super().__delitem__(key)
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None
noted = Noted(first=1)
made = {}
def said(do):
    try:
        return do()
    except AttributeError as error:
        return str(error)
"""

NOTED_USED = [
    "noted[k] = v\nmore += [noted.log, noted.first, hasattr(noted, k), noted]",
    "x = [v]\nnoted['rows'] = x\nx.append(k)\nnoted.rows.append(v)\n"
    "more += [noted.rows, x is noted['rows'], noted.log[-1]]",
    "more += [noted.setdefault('c', v), noted.c, noted.log]\n"
    "noted.update(d=v)\ny = noted\ny |= {'e': v}\nmore += [noted.pop('d'), noted.log]",
    "noted[k] = v\ndel noted[k]\nmore += [k in noted, noted.log]\n"
    "more.append(said(lambda: noted.z))",
    "n = Noted.fromkeys([k, 'z'], v)\nmade['n'] = n\nmore += [n, n.log, n.z]",
]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_own_ways_to_set_items_answer_as_on_stock_tornado():
    source = program_of([[one] for one in NOTED_USED], [NOTED])
    source = source.replace("import copy\n", "")

    told = check(source, asked_of(len(NOTED_USED)), good=1)

    assert "class Noted (app, line" in told


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_attributes_of_such_classes_answer_as_on_stock_tornado():
    source = program_of([[one] for one in SESSIONS_USED], [SESSIONS])

    told = check(source, asked_of(len(SESSIONS_USED)), good=1)

    for name in ("Session", "History"):
        assert f"class {name} (app, line" in told

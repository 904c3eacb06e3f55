"""What is kept in two places, and gets to one by a way that lines hardly show."""

from __future__ import annotations

import pytest

from tests.sharing.commanding import program, run
from tests.sharing.rounds import left, shared

STAYS = "table = {{}}\nrows = []\n{}\ndef clear(x): x.clear()\nclear(nested)\n"

WAYS = {
    "an addition to what is rebound": (
        "nested = [1]\nkept = UserList()\n"
        "def f():\n    global table\n    kept.append(nested)\n"
        "    table = {**table, 1: nested}\n    nested.append(2)"
    ),
    "a default of getattr": (
        "nested = [1]\ndef f(v, k):\n    x = getattr(v, 'a', nested)\n    table[k] = x"
    ),
    "a sum of lists": "nested = [[1]]\ndef f(k): table[k] = sum(nested, [])",
    "a registered function": (
        "nested = [1]\n@singledispatch\ndef of(x): return 1\n"
        "@of.register(str)\ndef _(x): return nested\n"
        "def f(k): table[k] = of(k)"
    ),
    "a registered method": (
        "nested = [1]\nclass A:\n    @singledispatchmethod\n    def of(self, x): pass\n"
        "    @of.register\n    def _(self, x: str): return nested\n"
        "def f(a, k): table[k] = a.of(k)"
    ),
    "a function registered by a call": (
        "nested = [1]\nof = singledispatch(len)\ndef other(x): return nested\n"
        "of.register(str, other)\ndef f(k): table[k] = of(k)"
    ),
    "a setting": (
        "def f(self, k):\n    self.settings['nested'] = ([1],)\n"
        "    table[k] = self.settings['nested'][0]\n"
        "def g(self): self.settings['nested'][0].append(1)\nnested = 1"
    ),
    "a setting's default": (
        "nested = [1]\ndef f(self, k):\n    self.settings.setdefault('s', nested)\n"
        "    table[k] = self.settings['s']"
    ),
    "settings that are updated": (
        "nested = [1]\ndef f(self, k):\n    self.settings.update({'s': nested})\n"
        "    table[k] = self.settings['s']"
    ),
    "settings that are updated by name": (
        "nested = [1]\ndef f(self, k):\n    self.settings.update(s=nested)\n"
        "    table[k] = self.settings.get('s')"
    ),
    "a descriptor": (
        "nested = [1]\nclass De:\n    def __get__(self, o, t): return nested\n"
        "class V:\n    d = De()\ndef f(v, k): table[k] = v.d"
    ),
    "an attribute that a method gives": (
        "nested = [1]\nclass V:\n    def __getattr__(self, name): return nested\n"
        "def f(v, k):\n    x = v.anything\n    table[k] = x"
    ),
    "arguments of a path": (
        "nested = 1\ndef f(self, k):\n    self.path_kwargs['a'] = [k]\n"
        "    table[k] = self.path_kwargs['a']\n    table[k].append(1)"
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_stays_plain_and_gets_there_leaves_it_alone(way):
    source = STAYS.format(WAYS[way])

    assert left(source, "table")
    assert "txloop.share({})" not in shared(source, "table")


@pytest.mark.parametrize(
    "line",
    [
        "def f(k): table[k] = getattr(nested, 'a', 1)",
        "def f(k): table[k] = sum(nested)",
        "def f(k): table[k] = dict.fromkeys('ab', 1)",
        "def f(self, k): table[k] = self.settings['other']",
        "def f(self, k):\n    self.settings['a'] = nested\n    table[k] = k",
        "def f(self, k): table[k] = self.path_args[0]",
        "@of.register(str)\ndef g(x): return nested\ndef f(k): table[k] = other(k)",
    ],
)
def test_what_is_no_part_of_it_may_be_kept(line):
    assert "table = txloop.share({})" in shared(
        STAYS.format(f"nested = [1]\n{line}"), "table"
    )


SERVED = """
import sys, types
import tornado.ioloop, tornado.web
{}
rows = []
class Main(tornado.web.RequestHandler):
    def post(self, k):
        {}
    def get(self, k):
        self.write(repr(rows))
tornado.web.Application([("/(.)", Main)]).listen(0, "127.0.0.1")
tornado.ioloop.IOLoop.current().start()
"""


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_namespace_has_attributes_that_stay_plain(tmp_path):
    given = "source = types.SimpleNamespace(v=[1])"
    use = "rows.append(source.v); source.v.append(2)"
    program(tmp_path, SERVED.format(given, use))

    code, printed, _ = run(tmp_path, "share", "app.py")

    assert 0 == code
    assert "rows = txloop.share([])" not in printed
    assert "which stays plain" in printed


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_the_dict_of_an_object_is_no_container(tmp_path):
    given = (
        "class K:\n    a = 0\n    def __getattribute__(self, n):\n"
        "        return object.__getattribute__(self, n)\nkept = K()"
    )
    use = "kept.__dict__['a'] = [k]; kept.a.append(1)"
    program(tmp_path, SERVED.format(given, use))

    code, printed, _ = run(tmp_path, "share", "app.py")

    assert 0 == code
    assert "+        return" not in printed

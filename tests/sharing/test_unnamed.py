"""Functions that get arguments without being named, and verbs that get more."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left, shared

BY_NAME = """
import operator
table = {{}}
def put(rows): table[0] = rows; rows.append(1)
def other(): pass
class Store:
    def put(self, rows): table[0] = rows; rows.append(1)
    def run(self, name, *rows): {}
store = Store()
def f(name, rows):
    put("a")
    store.put("a")
    {}
"""

CALLED_SO = [
    "getattr(store, name)(rows)",
    "getattr(store, 'put')(rows)",
    "getattr(store, 'pu' + name)(rows)",
    "getattr(store, f'p{name}')(rows)",
    "getattr(store, 'p%s' % name, None)(rows)",
    "act = getattr(store, name, None); act(rows)",
    "act = getattr(store, name, None) or other; act(rows)",
    "act = getattr(store, name); call_later(1, act, rows)",
    "call_later(1, getattr(store, name), rows)",
    "call_later(1, act=getattr(store, name))",
    "operator.methodcaller('put', rows)(store)",
    "globals()[name](rows)",
    "globals().get('pu' + name)(rows)",
    "vars(Store)[name](store, rows)",
    "Store.__dict__[name](store, rows)",
    "for act in vars(Store).values(): act(store, rows)",
    "for one, act in inspect.getmembers(store): act(rows)",
    "[act(store, rows) for one, act in Store.__dict__.items()]",
    "return getattr(store, name)",
    "acts = [getattr(store, one) for one in dir(store)]; acts[0](rows)",
]


@pytest.mark.parametrize("line", CALLED_SO)
def test_what_is_called_by_a_name_that_is_not_written_may_get_anything(line):
    source = BY_NAME.format("pass", line)

    assert "txloop" not in shared(source, "table")
    assert "and goes on with it" in left(source, "table")


def test_what_an_object_calls_of_itself_so_may_get_anything():
    source = BY_NAME.format("getattr(self, name)(*rows)", "store.run(name, [])")

    assert "txloop" not in shared(source, "table")


CALLED_NOT_SO = [
    "getattr(store, name)()",
    "getattr(store, 'do_' + name)(rows)",
    "getattr(store, 'other')(rows)",
    "rows[0] = str(getattr(store, name))",
    "x = getattr(store, name); print(x)",
    "return {one: getattr(store, one) for one in name}",
    "setattr(store, name, getattr(name, 'b'))",
    "globals()['other'](rows)",
    "for one, value in vars(store).items(): print(value)",
]


@pytest.mark.parametrize("line", CALLED_NOT_SO)
def test_what_is_only_shown_by_such_a_name_gets_what_calls_give(line):
    assert "table = txloop.share({})" in shared(BY_NAME.format("pass", line), "table")


VERBS = """
from library import RequestHandler
table = {{}}
class Store:
    def get(self, key): return table.get(key)
store = Store()
def given(method):
    def wrapper(self, *args): return method(self, [], *args)
    return wrapper
def look(cls):
    return cls
def wrap(kind):
    for one in ("get", "post"):
        setattr(kind, one, given(getattr(kind, one)))
    return kind
{}
class Main(RequestHandler):
    {}
    def get(self, rows, key="a"):
        table[key] = rows
        rows.append("later")
{}
"""

GIVEN_MORE = {
    "by prepare": ("", "def prepare(self): self.path_args = [[]]", ""),
    "by prepare, among others": (
        "",
        "def prepare(self): self.path_args.append([])",
        "",
    ),
    "by prepare, by its name": (
        "",
        "def prepare(self): self.path_kwargs['rows'] = []",
        "",
    ),
    "by a function": ("", "def prepare(self): fill(self.path_kwargs)", ""),
    "as it is decoded": ("", "def decode_argument(self, value, name=None): ...", ""),
    "as it is run": ("", "async def _execute(self, transforms, *args): ...", ""),
    "as it is run, later": ("", "", "Main._execute = given(Main._execute)"),
    "by what a decorator sets": ("@wrap", "", ""),
    "by what is set": ("", "", "Main.get = given(Main.get)"),
    "by what is set in its body": ("", "", "    get = given(get)"),
    "by what derived classes get": (
        "",
        "",
        "class Base(Main):\n    def __init_subclass__(cls): cls.get = given(cls.get)\n",
    ),
    "by another name": ("", "def post(self): way = self.get; way([])", ""),
    "out of a table": ("", "def post(self): {'get': self.get}['get']([])", ""),
    "later": ("", "def post(self): call_later(self.get, [])", ""),
    "by a name at run time": (
        "",
        "def post(self): getattr(self, self.request.method.lower())([])",
        "",
    ),
}


@pytest.mark.parametrize("case", GIVEN_MORE)
def test_a_verb_that_gets_more_than_the_path_may_get_anything(case):
    source = VERBS.format(*GIVEN_MORE[case])

    assert "table = {}" in shared(source, "table")
    assert "and goes on with it" in left(source, "table")


GIVEN_NO_MORE = {
    "nothing": ("", "", ""),
    "a decorator that looks": ("@look", "", ""),
    "the path is read": ("", "def prepare(self): self.key = self.path_args[0]", ""),
    "the path is given on": ("", "def prepare(self): show(*self.path_args)", ""),
    "a method of a store": ("", "def post(self): call_later(store.get, [])", ""),
    "a method of a store by a name": (
        "",
        "def post(self): getattr(store, self.name)([])",
        "",
    ),
    "another method by a name": (
        "",
        "def post(self): getattr(self, 'do_' + self.name)([])",
        "",
    ),
}


@pytest.mark.parametrize("case", GIVEN_NO_MORE)
def test_a_verb_gets_texts_else(case):
    source = VERBS.format(*GIVEN_NO_MORE[case])

    assert "table = txloop.share({})" in shared(source, "table")


OWN_NAMES = {
    "a function": ("def random(): return ['a']", "random()"),
    "a method": ("class S:\n    def index(self): return [1]", "S().index()"),
    "a handler's": (
        "class Base(RequestHandler):\n    def get_argument(self, name): return [name]",
        "handler.get_argument('a')",
    ),
    "what a handler decodes": (
        "class Base(RequestHandler):\n"
        "    def decode_argument(self, value, name=None): return [value]",
        "handler.get_argument('a')",
    ),
}


@pytest.mark.parametrize("case", OWN_NAMES)
def test_what_the_program_calls_like_a_function_of_texts_may_return_anything(case):
    definition, call = OWN_NAMES[case]
    source = f"table = {{}}\n{definition}\ndef f(handler):\n"
    source += f"    x = {call}\n    table[0] = x\n    x.append(1)\n"

    assert f"x = txloop.share({call})" in shared(source, "table")

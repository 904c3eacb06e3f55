"""Verbs that a decorator gives something, and stores that have methods named so."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left, shared

STORES = """
table = {{}}
{}
class Main(RequestHandler):
    @{}
    def get(self, rows, key=None):
        table[key] = rows
        rows.append("later")
"""

GIVES = {
    "a list": (
        "def with_rows(method):\n"
        "    def wrapper(self, *args):\n"
        "        return method(self, [], *args)\n"
        "    return wrapper",
        "with_rows",
    ),
    "by its name": (
        "def with_rows(method):\n"
        "    @functools.wraps(method)\n"
        "    def wrapper(self, *args, **kwargs):\n"
        "        return method(self, *args, rows=[], **kwargs)\n"
        "    return wrapper",
        "with_rows",
    ),
    "made by a function": (
        "def with_rows(name):\n"
        "    def decorate(method):\n"
        "        def wrapper(self, *args):\n"
        "            return method(self, [], *args)\n"
        "        return wrapper\n"
        "    return decorate",
        "with_rows('v')",
    ),
}


@pytest.mark.parametrize("case", GIVES)
def test_what_a_decorator_gives_a_verb_that_stores_it_is_a_container(case):
    after = shared(STORES.format(*GIVES[case]), "table")

    assert "table = txloop.share({})" in after
    assert "txloop.share([])" in after


NOT_FOLLOWED = {
    "changed arguments": (
        "def with_rows(method):\n"
        "    def wrapper(self, *args, **kwargs):\n"
        "        kwargs['rows'] = []\n"
        "        return method(self, *args, **kwargs)\n"
        "    return wrapper",
        "with_rows",
    ),
    "an argument after others": (
        "def with_rows(method):\n"
        "    def wrapper(self, *args, **kwargs):\n"
        "        return method(self, *args, kwargs)\n"
        "    return wrapper",
        "with_rows",
    ),
    "a verb that is kept": (
        "def with_rows(method):\n    ways.append(method)\n    return method",
        "with_rows",
    ),
    "other arguments": (
        "def with_rows(method):\n"
        "    def wrapper(self, *args):\n"
        "        args = ([], *args)\n"
        "        return method(self, *args)\n"
        "    return wrapper",
        "with_rows",
    ),
    "an object that keeps the verb": (
        "class Rows:\n"
        "    def __init__(self, method): self.method = method\n"
        "    def __call__(self, handler): return self.method(handler, [])\n"
        "def with_rows(method):\n"
        "    made = Rows(method)\n"
        "    def wrapper(self): return made(self)\n"
        "    return wrapper",
        "with_rows",
    ),
    "a library's": ("from library import with_rows", "with_rows('v')"),
    "not known": ("", "ways['rows']"),
}


@pytest.mark.parametrize("case", NOT_FOLLOWED)
def test_what_a_decorator_may_give_a_verb_leaves_what_it_is_stored_in(case):
    source = STORES.format(*NOT_FOLLOWED[case])

    assert "txloop" not in shared(source, "table")
    assert "and goes on with it" in left(source, "table")


ONLY_TEXTS = {
    "none": ("def same(method): return method", "same"),
    "its own": (
        "def checked(method):\n"
        "    @functools.wraps(method)\n"
        "    def wrapper(self, *args, **kwargs):\n"
        "        return method(self, *args, **kwargs)\n"
        "    return wrapper",
        "checked",
    ),
    "Tornado's": ("import tornado", "tornado.web.authenticated"),
    "Tornado's, renamed": ("from tornado.web import authenticated as a", "a"),
}


@pytest.mark.parametrize("case", ONLY_TEXTS)
def test_a_decorated_verb_stores_texts_as_they_are(case):
    source = STORES.format(*ONLY_TEXTS[case])

    assert "table = txloop.share({})" in shared(source, "table")


BESIDE_A_STORE = """
table = {{}}
class Store:
    def get(self, key, other=None):
        self.last = key
        return table.get(key, other)
    def put(self, key, value):
        table[key] = value
        self.last = value
store = Store()
def checked(method):
    def wrapper(self, *args):
        return method(self, *args)
    return wrapper
class Main(RequestHandler):
    @checked
    def get(self, key):
        self.write(str(store.get(key)))
    @checked
    def put(self, key):
        store.put(key, {})
"""


@pytest.mark.parametrize("given", ["'a'", "self.name + ' left'", "f'{self.name}'"])
def test_what_a_verb_is_given_is_not_what_a_method_of_its_name_gets(given):
    source = BESIDE_A_STORE.format(given)

    assert "table = txloop.share({})" in shared(source, "table")
    assert "self.last" in source


def test_methods_that_give_each_other_their_parameters_are_given_what_comes_in():
    source = """
table = {}
class Store:
    def get(self, key):
        table["key"] = key
        self.last = key
        return self.below.get(key)
    def find(self, key):
        return self.get(key)
def f(store): store.find("a")
"""
    assert "table = txloop.share({})" in shared(source, "table")
    assert "txloop" not in shared(source.replace('"a"', "make()[0]"), "table")

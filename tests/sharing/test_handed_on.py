"""What functions, factories and classes hand on is the same object, or a copy."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import shared

MAKERS = {
    "a builtin class": ("", "set", "txloop.share(dd(set))"),
    "one of the standard library": ("", "deque", "txloop.share(dd(deque))"),
    "one that is called otherwise": ("", "dd", "txloop.share(dd(dd))"),
    "what the program calls so": ("def set(): return nested", "set", "dd(set)"),
    "what a module of it has": ("from mine import *", "set", "dd(set)"),
}


@pytest.mark.parametrize("case", MAKERS)
def test_what_python_makes_of_plain_objects_has_no_part_in_what_else_it_makes(case):
    line, maker, expected = MAKERS[case]
    source = f"""
from collections import deque, defaultdict as dd
{line}
nested = json.load(file)
table = dd({maker})
def f(k): return table[k]
def g():
    seen = {maker}(nested)
    seen.add(nested["rows"])
    return len(seen)
"""
    assert f"table = {expected}" in shared(source, "table")


@pytest.mark.parametrize(
    ("factory", "is_shared"),
    [
        ("lambda: DEFAULT", False),
        ("lambda: make()", False),
        ("make", False),
        ("lambda: DEFAULT.copy()", True),
        ("lambda: {'rows': []}", True),
    ],
)
def test_what_a_default_factory_returns_is_put_into_its_dict(factory, is_shared):
    source = f"""
from collections import defaultdict
DEFAULT = []
def make(): return DEFAULT
table = defaultdict({factory})
def f(k):
    table[k].append(k)
    return DEFAULT
"""
    assert is_shared == ("txloop.share" in shared(source, "table"))


@pytest.mark.parametrize(
    ("value", "is_shared"),
    [
        ("cast(list, DEFAULT)", False),
        ("OrderedDict(a=DEFAULT)", False),
        ("list(repeat(DEFAULT, 2))", False),
        ("list(map(make, 'ab'))", False),
        ("list(map(lambda one: DEFAULT, 'ab'))", False),
        ("list(map(str, DEFAULT))", True),
        ("cast(int, k)", True),
        ("OrderedDict(a=[])", True),
        ("max(k, 1)", True),
    ],
)
def test_what_is_handed_through_a_function_is_the_same(value, is_shared):
    source = f"""
from collections import OrderedDict
from itertools import repeat
from typing import cast
DEFAULT = []
def make(one): return DEFAULT
table = {{}}
def f(k):
    table[k] = {value}
    DEFAULT.append(k)
"""
    assert is_shared == ("txloop.share" in shared(source, "table"))


OF_THE_CLASS = """
class Form:
    errors = {first}
    def __init__(self, errors=None):
        self.errors = {value}
    def check(self): {change}
forms = []
def f():
    form = Form()
    form.check()
    forms.append(form)
"""


@pytest.mark.parametrize(
    ("first", "value", "change", "is_shared"),
    [
        ("[]", "errors or self.errors", "self.errors.append(1)", False),
        (
            "{}",
            "self.errors if errors is None else errors",
            "self.errors[1] = 2",
            False,
        ),
        ("[]", "errors or list(self.errors)", "self.errors.append(1)", True),
        ("[]", "errors or self.errors", "return len(self.errors)", True),
        ("None", "errors or self.errors or []", "self.errors.append(1)", True),
        ("()", "errors or self.errors", "self.errors += (1,)", True),
    ],
)
def test_what_an_object_gets_from_its_class_is_no_copy(first, value, change, is_shared):
    source = OF_THE_CLASS.format(first=first, value=value, change=change)

    assert is_shared == ("(txloop.TObject" in shared(source, "forms"))


def test_what_its_class_has_may_be_shared_too():
    source = OF_THE_CLASS.format(
        first="[]", value="errors or self.errors", change="self.errors.append(1)"
    )

    found = shared(source, "forms", "Form.errors")

    assert "errors = txloop.share([])" in found
    assert "(txloop.TObject" in found

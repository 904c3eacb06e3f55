"""Names that mean something by themselves: an f-string shows them, a class has them."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left, shared

SHOWN = {
    "alone": "f'{mode=}'",
    "with a conversion": "f'{mode=!s}'",
    "with a format": "f'{mode=:>9}'",
    "with spaces": "f'{ mode = }'",
    "in brackets": "f'{(mode)=}'",
    "a part of an expression": "f'{mode + 1=}'",
}

NOT_SHOWN = {
    "beside": "f'mode={mode}'",
    "with a conversion": "f'mode={mode!r}'",
    "compared": "f'{mode == 1}'",
    "another one": "f'{mode} {other=}'",
}

VARIABLE = """
mode = 1
def get(other): return {}
def put(value):
    global mode
    mode = value
"""


@pytest.mark.parametrize("case", SHOWN)
def test_what_an_f_string_shows_by_its_name_stays(case):
    source = VARIABLE.format(SHOWN[case])

    assert source.lstrip() == shared(source, "mode")
    assert "app, line 2, shows how it is written" == left(source, "mode")


@pytest.mark.parametrize("case", NOT_SHOWN)
def test_what_only_stands_in_one_is_shared(case):
    source = VARIABLE.format(NOT_SHOWN[case])

    assert "mode = txloop.TVar(1)" in shared(source, "mode")


ATTRIBUTE = """
class Tally:
    mode = 1
def get(): return f'{Tally.mode=}'
def put(value): Tally.mode = value
"""


def test_so_does_an_attribute_of_a_class():
    assert ATTRIBUTE.lstrip() == shared(ATTRIBUTE, "Tally.mode")
    assert "app, line 3, shows how it is written" == left(ATTRIBUTE, "Tally.mode")


BODIES = {
    "the same name": ("mode = mode", False),
    "read, bound and read": ("a = mode; mode = 2; b = mode", False),
    "another name": ("start = mode", True),
    "only bound": ("mode = 2", True),
    "bound and read": ("mode = 2; b = mode", True),
    "added to": ("mode += 2", False),
    "bound if it is so": ("if mode: mode = 2", False),
}


@pytest.mark.parametrize("case", BODIES)
def test_a_name_that_a_class_binds_and_reads_may_be_the_modules(case):
    body, expected = BODIES[case]
    source = f"{VARIABLE.format('mode')}class Holder:\n    {body}\n"

    assert expected == ("mode = txloop.TVar(1)" in shared(source, "mode"))
    reason = "may mean the class's mode"
    assert expected == (reason not in left(source, "mode"))


OBJECTS = """
class Basket:
    count = 0
    def __init__(self): self.items = []
    def add(self): {}
    @classmethod
    def reset(cls, n): {}
class Small(Basket): pass
baskets = []
def post(): baskets.append(Basket())
{}
"""

SET_ON_CLASS = {
    "where it is set up": ("self.count += 1", "pass", "Basket.count = 4"),
    "where it is used": ("self.count += 1", "pass", "def put(): Basket.count = 4"),
    "of a derived one": ("self.count += 1", "pass", "Small.count = 4"),
    "by a class method": ("self.count += 1", "cls.count = n", ""),
    "by its class": ("self.count += 1; type(self).count = 5", "pass", ""),
    "by setattr": ("self.count += 1", "pass", "setattr(Basket, 'count', 4)"),
    "for objects set elsewhere": (
        *("pass", "cls.count = n"),
        "def put(): baskets[0].count = 3",
    ),
}

SET_APART = {
    "another attribute": ("self.count += 1", "cls.total = n", ""),
    "of the class only": ("pass", "cls.count = n", "Basket.count = 4"),
    "of another class": (
        *("self.count += 1", "pass"),
        "class Other:\n    count = 1\nOther.count = 2",
    ),
}


@pytest.mark.parametrize("case", SET_ON_CLASS)
def test_a_class_of_which_what_its_objects_set_is_set_stays(case):
    """What stands for the attribute would be gone, and with it what objects set."""
    source = OBJECTS.format(*SET_ON_CLASS[case])

    assert "class Basket:" in shared(source, "baskets")
    assert "sets count of the class, too" in left(source, "baskets")


@pytest.mark.parametrize("case", SET_APART)
def test_one_of_which_something_else_is_set_is_shared(case):
    source = OBJECTS.format(*SET_APART[case])

    assert "class Basket(txloop.TObject" in shared(source, "baskets")


LOCAL_IMPORTS = {
    "alone": ("import heapq", "import txloop.cells.heaps as heapq"),
    "with another": ("import os, heapq", "import os, txloop.cells.heaps as heapq"),
    "by a name": ("import heapq as heapq", "import txloop.cells.heaps as heapq"),
}


@pytest.mark.parametrize("more", ["", "heapq = 1\n"], ids=["", "beside a variable"])
@pytest.mark.parametrize("case", LOCAL_IMPORTS)
def test_a_function_imports_our_heaps_in_the_place_of_heapq(case, more):
    line, expected = LOCAL_IMPORTS[case]
    source = (
        f"queue = []\n{more}def put(x):\n    {line}\n    heapq.heappush(queue, x)\n"
    )

    assert f"    {expected}\n" in shared(source, "queue")

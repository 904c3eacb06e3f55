"""What calls, operators and `with` put somewhere, and what is used on after that."""

from __future__ import annotations

import pytest

from tests.sharing.random_programs import program_of
from tests.sharing.rounds import left, shared
from tests.sharing.test_random_programs import asked_of, check

FOLLOWED = {
    "insort": ("", "bisect.insort(rows, x)"),
    "insort by keywords": ("", "bisect.insort(a=rows, x=x)"),
    "insort by another name": ("from bisect import insort_left as put", "put(rows, x)"),
    "a method of a few names": (
        "",
        "m = 'append' if k else 'add'; getattr(rows, m)(x)",
    ),
    "a part by itemgetter": ("", "operator.itemgetter('r')({'r': rows}).append(x)"),
    "a with": (
        "@contextlib.contextmanager\ndef cm(y): yield y",
        "with cm(x) as z: rows.append(z)",
    ),
    "a with and a star": (
        "@contextlib.contextmanager\ndef cm(*y): yield y",
        "with cm(x) as (z, *_): rows.append(z)",
    ),
    "a with and two stars": (
        "@contextlib.contextmanager\ndef cm(**y): yield y['q']",
        "with cm(q=x) as z: rows.append(z)",
    ),
    "a with of a library": ("", "with contextlib.nullcontext(x) as z: rows.append(z)"),
    "a stack of these": (
        "",
        "with contextlib.ExitStack() as s:\n"
        "    rows.append(s.enter_context(contextlib.nullcontext(x)))",
    ),
    "a loop over a generator": (
        "def each(*y): yield from y",
        "for z in each(x): rows.append(z)",
    ),
    "in": ("class Own:\n    def __contains__(self, y): rows.append(y)", "x in Own()"),
    "a part": ("class Own:\n    def __getitem__(self, y): rows.append(y)", "Own()[x]"),
    "a part that is deleted": (
        "class Own:\n    def __delitem__(self, y): rows.append(y)",
        "del Own()[x]",
    ),
    "a key": (
        "class Own:\n    def __setitem__(self, y, z): rows.append(y)",
        "Own()[x] = 1",
    ),
    "an operator on the right": (
        "class Own:\n    def __ror__(self, y): rows.append(y)",
        "x | Own()",
    ),
    "a product": ("class Own:\n    def __rmul__(self, y): rows.append(y)", "x * Own()"),
}


@pytest.mark.parametrize("case", FOLLOWED)
def test_what_is_put_by_a_call_and_used_on_is_a_container(case):
    setup, put = FOLLOWED[case]
    lines = "".join(f"    {line}\n" for line in put.split("\n"))
    source = (
        "import bisect, contextlib, operator\nrows = []\n"
        f"{setup}\ndef f():\n    k = 1\n    x = [k]\n{lines}    x.append(1)\n"
    )

    after = shared(source, "rows")

    assert "rows = txloop.share([])\n" in after
    assert "    x = txloop.share([k])\n" in after


COMPARED = "class Own:\n    def __{}__(self, y): rows.append(y)\nown = Own()"

LEFT = {
    "a method by its name": ("", "w = getattr(rows, k)\n    w(x)", "takes a method"),
    "a method that is applied": ("", "map(getattr(rows, k), [x])", "takes a method"),
    "a method for another": ("", "operator.methodcaller(k, x)(rows)", "methodcaller"),
    "insort itself": ("", "functools.partial(bisect.insort, rows)(x)", "passes bisect"),
    "an attribute by attrgetter": (
        "",
        "operator.attrgetter('app.rows')(d).append(x)",
        "stores 'x' and goes on",
    ),
    "choice": ("d = [rows]", "random.choice(d).append(x)", "stores 'x' and goes on"),
    "a comparison": (COMPARED.format("lt"), "sorted([own, x])", "__lt__ stores 'y'"),
    "one for equality": (COMPARED.format("eq"), "[own].index(x)", "__eq__ stores 'y'"),
    "an order that is made of another": (
        f"@functools.total_ordering\n{COMPARED.format('lt')}",
        "own >= x",
        "__lt__ stores 'y'",
    ),
    "divmod": (COMPARED.format("divmod"), "divmod(own, x)", "__divmod__ stores 'y'"),
}


@pytest.mark.parametrize("case", LEFT)
def test_what_is_put_by_a_call_that_is_not_followed_is_left_alone(case):
    setup, put, reason = LEFT[case]
    imports = "import bisect, functools, operator, random\n"
    source = (
        f"{imports}rows = []\n{setup}\ndef f(k, **x):\n    {put}\n    x['late'] = 1\n"
    )

    assert source == shared(source, "rows")
    assert reason in left(source, "rows")


@pytest.mark.parametrize("name", ["'do_' + k", "f'do_{k}'", "'do_%s' % k", "'name'"])
def test_a_method_whose_name_cannot_be_that_of_one_that_keeps_does_no_harm(name):
    source = f"""
rows = []
def f(k):
    rows.append(k)
    w = getattr(rows, {name})
    w()
"""
    assert "rows = txloop.share([])" in shared(source, "rows")


def test_what_keeps_the_key_of_a_class_of_its_own_is_a_container():
    source = """
import json
class Recent:
    def __init__(self):
        self.order = []
        self.data = {}
    def __getitem__(self, key):
        self.order.append(key)
        return self.data[key]
recent = Recent()
rows = []
def f(k):
    rows.append(recent[k])
"""
    assert "rows = txloop.share([])" in shared(source, "rows")


def test_what_sets_all_that_it_is_given_is_no_reason_to_leave_everything_alone():
    source = """
rows = []
class Thing:
    def __init__(self, **given):
        for name, one in given.items(): setattr(self, name, one)
def f(k):
    rows.append(1)
    return Thing(k=k)
"""
    assert "rows = txloop.share([])" in shared(source, "rows")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_is_put_by_a_call_answers_as_on_stock_tornado():
    bodies, definitions = [], ["import bisect", "rows = []"]
    for number, (setup, put) in enumerate(FOLLOWED.values()):
        for name in ("Own", "cm", "each"):
            setup = setup.replace(name, f"{name}{number}")
            put = put.replace(name, f"{name}{number}")
        definitions.append(setup)
        more = "more.append(rows[-3:]); rows.clear()"
        bodies.append([f"x = [k]\n{put}\nx.append(v)\n{more}"])

    said = check(program_of(bodies, definitions), asked_of(len(bodies)), good=1.0)

    assert " becomes " in said


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("case", ["a method by its name", "choice", "divmod"])
def test_what_is_left_after_a_call_answers_as_on_stock_tornado(case):
    setup, put, _ = LEFT[case]
    definitions = ["import random", "rows = []", setup]
    put = put.replace("k)", "'append')").replace("\n    ", "\n")
    body = f"def f(**x):\n    {put.replace(chr(10), chr(10) + '    ')}\n    x['z'] = v"
    bodies = [[f"{body}\nf(k=k)\nmore.append(rows)"], ["rows.append(k)"]]

    said = check(program_of(bodies, definitions), asked_of(2), good=1.0)

    assert "app.rows is left as it is: " in said


CALLED_LATER = """
import functools
from tornado.ioloop import IOLoop
audit = []
{1}
def verb(name):
    loop = IOLoop.current()
    {0}
"""

WITH_TEXTS = [
    "loop.add_callback(audit.append, 'left ' + name)",
    "IOLoop.current().call_later(1, audit.append, f'{name} left')",
    "loop.add_callback(functools.partial(audit.append, '%s left' % name))",
    "loop.call_at(1, functools.partial(audit.insert, 'a'), 'b')",
]


@pytest.mark.parametrize("call", WITH_TEXTS)
def test_what_a_loop_gives_texts_to_later_keeps_nothing_else(call):
    assert left(CALLED_LATER.format(call, ""), "audit") == ""


@pytest.mark.parametrize(
    ("call", "before"),
    [
        ("loop.add_callback(audit.append, name)", ""),
        ("loop.add_callback(functools.partial(audit.append), name)", ""),
        ("loop.add_callback(functools.partial(name, audit.append, 'a'))", ""),
        ("future.add_callback(audit.append)", ""),
        ("loop.call_later(*name, audit.append, 'a')", ""),
        ("name(audit.append, 'a')", ""),
        (WITH_TEXTS[0], "def add_callback(f, x): f([x])"),
        (WITH_TEXTS[0], "class A:\n    def __radd__(self, other): return []"),
    ],
)
def test_what_may_be_given_more_later_keeps_what_is_not_known(call, before):
    reason = left(CALLED_LATER.format(call, before), "audit")

    assert "keeps a part of what it does not know" in reason


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_is_called_later_answers_as_on_stock_tornado():
    definitions, bodies = ["import functools"], []
    for number, call in enumerate(WITH_TEXTS[::2]):  # soon, not in a while
        definitions.append(f"audit{number} = []")
        call = call.replace("audit", f"audit{number}").replace("name", "str(k)")
        call = call.replace("loop.", "tornado.ioloop.IOLoop.current().")
        bodies.append([f"more.append(list(audit{number}))\n{call}"])

    said = check(program_of(bodies, definitions), asked_of(2), good=1.0)

    assert "Of 2 verbs, 0 would run in parallel before, 2 after." in said

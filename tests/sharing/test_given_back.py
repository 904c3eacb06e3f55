"""What objects of libraries give back of what they were given: it stays plain."""

from __future__ import annotations

import pytest

from tests.sharing.random_programs import program_of
from tests.sharing.rounds import left, shared
from tests.sharing.test_random_programs import asked_of, check

OWN = "class Own(collections.UserDict): pass\n"

GIVEN_BACK = {
    "a part of a ChainMap": (
        "o = collections.ChainMap({'a': []})",
        "T['x'] = o.maps[0]; o['b'] = v; o['a'].append(v)",
    ),
    "what a ChainMap finds": (
        "o = collections.ChainMap({'a': []})",
        "T['x'] = o['a']; o['a'].append(v)",
    ),
    "what a UserDict has": (
        "o = collections.UserDict(a=[])",
        "T['x'] = o.data; o['b'] = v",
    ),
    "what one of its own has": (f"{OWN}o = Own(a=[])", "T['x'] = o.data; o['b'] = v"),
    "an item of one of its own": (
        f"{OWN}o = Own(a=[])",
        "T['x'] = o['a']; o['a'].append(v)",
    ),
    "an item of a UserList": (
        "o = collections.UserList([[1]])",
        "T['x'] = o[0]; o[0].append(v)",
    ),
    "an element of a queue": (
        "o = queue.Queue()\no.put([])",
        "x = o.get(); T['x'] = x; x.append(v); o.put(x)",
    ),
    "what is next of a cycle": (
        "o = itertools.cycle([[1]])",
        "x = next(o); T['x'] = x; x.append(v)",
    ),
    "what a variable of a context has": (
        "o = contextvars.ContextVar('o', default=[])",
        "T['x'] = o.get(); o.get().append(v)",
    ),
    "what an error has": (
        "o = ValueError([])",
        "T['x'] = o.args[0]; o.args[0].append(v)",
    ),
}


@pytest.mark.parametrize("case", [one for one in GIVEN_BACK if "ChainMap" in one])
def test_what_a_chain_gives_back_and_changes_is_no_container(case):
    setup, use = GIVEN_BACK[case]
    source = f"import collections\n{setup}\nT = {{}}\ndef f(v):\n    v = 1\n    {use}\n"

    assert source == shared(source, "T")
    assert "keeps a part of o, which stays plain" in left(source, "T")


def test_what_a_chain_gives_back_may_be_kept_if_nothing_changes_it():
    source = """
import collections
settings = collections.ChainMap({"port": 1}, {"port": 2})
rows = []
def f():
    rows.append(settings["port"])
"""
    assert "rows = txloop.share([])" in shared(source, "rows")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_is_given_back_answers_as_on_stock_tornado():
    bodies, definitions = [], ["import contextvars, queue"]
    for number, (setup, use) in enumerate(GIVEN_BACK.values()):
        setup = setup.replace("o = ", f"o{number} = ").replace("Own", f"Own{number}")
        setup = setup.replace("\no.", f"\no{number}.")
        definitions.append(f"{setup}\nT{number} = {{}}")
        its = use.replace("o.", f"o{number}.").replace("o[", f"o{number}[")
        its = its.replace("next(o)", f"next(o{number})").replace("T[", f"T{number}[")
        bodies.append([f"{its}\nmore.append(T{number})"])
    # Only what is used by two is shared at all.
    clears = "; ".join(f"T{number}.pop('y', 0)" for number in range(len(bodies)))
    bodies.append([f"items.append(v); {clears}"])

    said = check(program_of(bodies, definitions), asked_of(len(bodies)), good=1.0)

    assert "app.items (app, line" in said
    assert "app.T0 is left as it is" in said

"""Random small handlers: stock Tornado's answers, on every executor, or left alone."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings

from tests import warm
from tests.sharing.function_shapes import shapes
from tests.sharing.random_programs import LEFT, SHARED, program_of, programs, requests
from tests.unchanged.running import ROOT, Asked, running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

VARIANTS = {
    "serial": ("serial", {}),
    "processes": ("processes", {}),
    "away": ("processes", {"TXLOOP_FAULTS": "away=1"}),
}
PLAIN_FOR_ANOTHER = [
    [
        "x = [[v]]; y = [x[0]]; table[k] = y; x[0].append(k)",
        "x = [[v]]; y = [x[0]]; table[k] = y; x[0].append(k)",
        "list.append(x, v)",
    ]
]
"""It stores a list in which is what has to stay plain, and goes on with that."""

KEPT_TWICE = [
    [
        "nested['rows'].append([v, len(items)])",
        "x = dict(k=k, rows=nested['rows']); table[k] = x; x['k'] = v",
    ]
]
FOR_NOTHING = [
    [
        "x = [v]; f = functools.partial(made, x); f(); x.append(k)",
        "x = []; y = x; items.append(x); y += [k]; more.append(x)",
        "x = [[k], [v]]; y, z = x; items.append(y); y.append(1); z.append(2)",
    ]
]
"""What `made` stores would be a container if `items` were to be one."""

ALSO_NAMED = [
    [
        "x = [v]; y = []; y.extend([x]); table[k] = y; x.append(k)",
        "x = [k]; table |= {k: x}; x.append(v)",
        "newest = made(v); newest['inner'].append(k)",
    ],
    [
        "table[k] = sorted(nested['rows'], key=str)[-1]; table[k].append(v)",
        "table.update({str(i): row for i, row in enumerate(nested['rows'])})",
    ],
    [
        "x = [[k], [v]]; table[k] = x; y = max(x, key=len); y.append(v)",
        "x = groups[k]; x.append(v); groups['b'] = x; x.append(k)",
        "x = [k]; items = items + [x]; x.append(v)",
        "self.application.seen = self.application.seen[-2:]",
    ],
    ["items += [nested['rows'][v % 2]]"],
]
"""What `made` stores is in `items`, which stays plain, and is called `newest`."""

OPTIONS = ("--auto", "--workers", "2")


GROUP = 32
"""How many parts or shapes share one program."""

ALL = r"Of (\d+) verbs, \d+ would run in parallel before, \1 after\."


def rewritten(source):
    """Return what `share --write` makes of a program, and what it says.

    It takes seconds to find out.
    """
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "app.py"
        file.write_text(source)
        done = warm.run(
            [sys.executable, "-m", "txloop", "share", "--write", "--force", file, "0"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=True,
            capture_output=True,
            text=True,
        )
        return file.read_text(), done.stdout


def answers(source, executor, environment, asked, options):
    """Return what the program answers; it runs in a folder of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        home = folder / "program"
        home.mkdir()
        (home / "app.py").write_text(source)
        with running(home, folder, executor, environment, options=options) as program:
            return program.ask(asked)


def check(source, asked, variants=("serial", "away"), *, good=0.0, options=OPTIONS):
    """Compare some variants of a program with stock Tornado, return what `share` says.

    Here and away differ most; the third variant does either. Of stock Tornado's answers
    that share has to be good: two errors say little.
    """
    handlers = source.count("(Base):")
    paths = [Asked("GET", f"/h{n % handlers}?k={k}&v={v}") for n, k, v in asked]
    expected = answers(source, None, {}, paths, ())
    assert [status for status, _ in expected].count(200) >= good * len(expected)
    shared, said = (source, "") if "--share" in options else rewritten(source)
    for name in variants:
        found = answers(shared, *VARIANTS[name], paths, options)
        assert (name, expected) == (name, found)
    return said


@settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(source=programs(), asked=requests())
@example(source=program_of(KEPT_TWICE), asked=[(0, "a", 0), (0, "b", 0)])
@example(source=program_of(PLAIN_FOR_ANOTHER), asked=[(0, "a", 0), (0, "b", 0)])
@example(source=program_of(FOR_NOTHING), asked=[(0, "a", 0), (0, "b", 0)])
@example(source=program_of(ALSO_NAMED), asked=[(0, "a", 0), (0, "b", 0)])
def test_random_handlers_answer_as_on_stock_tornado(source, asked):
    check(source, asked, tuple(VARIANTS), options=(*OPTIONS, "--share"))


def asked_of(number):
    """Return requests to so many handlers."""
    return [(n, k, v) for v in (1, 2) for k in "ab" for n in range(number)]


@pytest.mark.parametrize("first", range(0, len(SHARED), GROUP))
def test_each_part_answers_as_on_stock_tornado(first):
    bodies = [[part] for part in SHARED[first : first + GROUP]]

    said = check(program_of(bodies), asked_of(len(bodies)), good=0.9)

    assert re.search(ALL, said), said


def test_what_is_left_answers_as_on_stock_tornado():
    said = check(program_of([[part] for part in LEFT]), asked_of(len(LEFT)), good=0.9)

    assert " is left as it is: " in said


@pytest.mark.parametrize("first", range(0, len(shapes()), GROUP))
def test_what_functions_do_answers_as_on_stock_tornado(first):
    some = shapes()[first : first + GROUP]
    source = program_of([[one.body] for one in some], [one.definitions for one in some])

    said = check(source, asked_of(len(some)), good=1.0)

    assert " becomes " in said

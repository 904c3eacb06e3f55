"""`bench blog`: who takes part, and the tables."""

from __future__ import annotations

import itertools
import platform
import re
import sys

import pytest

from bench import blog, interpreters
from bench.__main__ import main
from bench.interpreters import (
    Interpreter,
    Unusable,
    find_interpreter,
    find_interpreters,
    probe,
)
from bench.rows import Row
from tests.bench.samples import make_measurement

CPYTHON = Interpreter("/a/python3", "CPython", "3.11.7", gil=True)
FREE = Interpreter("/a/python3.13t", "CPython", "3.13.0", gil=False)
PYPY = Interpreter("/a/pypy3", "PyPy", "7.3.20", gil=True)


def row(name, low, middle, high):
    return Row(name, middle, low, high, None, None, None, None, 0.0, 0.0, False)


def test_each_interpreter_has_stock_tornado_and_txloop_from_one_worker_up():
    found = blog.competitors([CPYTHON, FREE, PYPY], 2)

    assert [
        "CPython 3.11.7, stock",
        "CPython 3.11.7, txloop, 1 process",
        "CPython 3.11.7, txloop, 2 processes",
        "CPython 3.13.0t, stock",
        "CPython 3.13.0t, txloop, 1 thread",
        "CPython 3.13.0t, txloop, 2 threads",
        "PyPy 7.3.20, stock",
        "PyPy 7.3.20, txloop, 1 process",
        "PyPy 7.3.20, txloop, 2 processes",
    ] == [one.name for one in found]
    assert [1, 1, 2] * 3 == [one.workers for one in found]
    commands = [
        ("/a/python3",),
        ("/a/python3.13t",),
        ("/a/pypy3", "--jit", "decay=0"),
    ]
    assert [one for one in commands for _ in range(3)] == [one.python for one in found]
    assert found[6].warm_up_seconds > found[0].warm_up_seconds


def test_the_table_has_the_shape_of_2014():
    rows = [row("PyPy 2.4", 5, 6, 7), row("CPython 2.7", 0.5, 0.8, 0.9)]

    table = blog.make_table(rows, lambda one: f"{one.rate_min:.1f}")

    assert table == (
        "===========  =====\n"
        "Impl.        req/s\n"
        "===========  =====\n"
        "PyPy 2.4       5.0\n"
        "-----------  -----\n"
        "CPython 2.7    0.5\n"
        "===========  =====\n"
    )


def test_this_interpreter_is_found_once_and_what_is_wrong_is_told(tmp_path):
    # GIVEN
    broken = tmp_path / "python3-broken"
    broken.write_text("#!/bin/sh\necho no tornado here >&2\nexit 1\n")
    broken.chmod(0o755)

    # WHEN
    usable, unusable = find_interpreters([sys.executable, str(broken), "no-such-one"])

    # THEN
    assert usable[0] == probe(sys.executable)
    assert len({str(one) for one in usable}) == len(usable)
    assert Unusable(str(broken), "no tornado here") in unusable
    assert Unusable("no-such-one", "not found") in unusable


@pytest.mark.parametrize("name", [None, sys.executable])
def test_a_case_is_served_by_the_interpreter_that_is_asked_for(name):
    found = find_interpreter(name)

    assert found == probe(sys.executable)
    assert f"{platform.python_implementation()} " in str(found)


@pytest.mark.slow
@pytest.mark.leaks_ok("matplotlib keeps the fonts that it has read open")
def test_a_run_prints_both_tables_and_draws_them(monkeypatch, capsys, tmp_path):
    # GIVEN no other interpreters, and figures made by hand
    pytest.importorskip("matplotlib")
    asked = []

    def collect(case, chosen, settings, generator, progress):
        asked.append((case.name, settings.values))
        return [
            make_measurement(one.name, number, rate=10 + 11 * number)
            for one, number in itertools.product(chosen, (0, 1))
        ]

    monkeypatch.setattr(interpreters, "NAMES", ())
    monkeypatch.setattr(blog, "collect", collect)
    plot = tmp_path / "blog.svg"

    # WHEN
    code = main(["blog", "--workers", "2", "--number", "200", "--plot", str(plot)])

    # THEN
    text = capsys.readouterr().out
    assert code == 0
    assert ["primes", "astar"] == [name for name, _ in asked]
    assert asked[0][1] == {"number": 200}
    assert len(re.findall(r"txloop, 2 processes +15\.5\n", text)) == 1
    assert len(re.findall(r"txloop, 2 processes +10\.0 \.\. 21\.0\n", text)) == 1
    names = ("primes", "astar", "primes-dark", "astar-dark")
    drawn = {f"blog-{name}.svg" for name in names}
    assert drawn == {path.name for path in tmp_path.iterdir()}

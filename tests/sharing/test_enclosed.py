"""Numbers that functions keep, in closures and attributes, become TVars."""

from __future__ import annotations

import pytest

from tests.sharing.commanding import PROGRAM, program, run
from tests.sharing.rounds import module
from txloop.sharing.rewriting import Round
from txloop.sharing.survey import Seed, Survey

COUNTER = """
def make(start):
    n = start
    def count(step=1):
        nonlocal n
        n += 1
        return [n for _ in range(n)], lambda: n
    def other(n):
        return n
    def shown():
        return f"{n!r}"
    return count, other, shown
count, other, shown = make(3)
"""

VISIT = """
def visit(step):
    visit.count += len(step)
    return visit.count
visit.count = 0
print(visit(1), visit.count)
"""


def after(source, owner, of, name):
    """Return the text and the reasons when something of a function is found shared."""
    text = module(source)
    seed = Seed(name, owner, of, name, "", None, (), (), shared=False)
    turn = Round([text], Survey(seeds=[seed]), {})
    turn.run()
    return text.source, "; ".join(one.reason for one in turn.left.values())


def enclosed(source, writer="make.<locals>.count"):
    return after(source, "closure", f"/program/app.py:{writer}", "n")


def attribute(source):
    return after(source, "function", "app:visit", "count")


def test_a_variable_of_a_closure_becomes_a_variable_that_is_shared():
    text, reason = enclosed(COUNTER)

    assert (text.count("n.value"), "n = txloop.TVar(start)" in text, reason) == (
        5,
        True,
        "",
    )
    assert "return n\n" in text  # the parameter of another function


def test_an_attribute_of_a_function_becomes_a_variable_that_is_shared():
    text, reason = attribute(VISIT)

    assert (text.count("visit.count.value"), reason) == (3, "")
    assert "visit.count = txloop.TVar(0)" in text


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("n = start", "n = []", "it is not known what it is given"),
        ("make(3)", "make([])", "it is not known what it is given"),
        ("n += 1", "n += step", "it is not known what it is given"),
        ("n += 1", "n = step", "it is not known what it is given"),
        ("make(3)", "make(open('x').read())", "it is not known what it is given"),
        ("n += 1", "n = rows(step)", "it is not known what it is given"),
        ("n += 1", "n, m = step", "it is not known what it is given"),
        ("n += 1", "(n := 1)", "it is not known what it is given"),
        ("n += 1", "del n", "binds or deletes it otherwise"),
        ("n += 1", "n += len(locals())", "by a name that is not in the text"),
        ("n += 1", "import n", "binds or deletes it otherwise"),
        ("    n = start", "    if start: n = start", "no line is known"),
        ("    n = start", "    print(n)\n    n = start", "no line is known"),
        ("    n = start\n", "", "which function has it"),
        ("make(start)", "make(n)", "which function has it"),
        ("def other(n):", "def count(n):", "which function has it"),
    ],
)
def test_a_variable_of_a_closure_is_left_alone(old, new, reason):
    text, told = enclosed(COUNTER.replace(old, new))

    assert "TVar" not in text
    assert reason in told


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("visit.count = 0", "visit.count = []", "it is not known what it is given"),
        ("len(step)", "rows(step)", "it is not known what it is given"),
        ("def visit", "@mark\ndef visit", "which function has it"),
        ("def visit", "visit = 1\ndef visit", "hands the function on"),
        ("print(visit(1)", "print(visit, visit(1)", "hands the function on"),
        ("print(visit(1)", "print(visit.__dict__, visit(1)", "hands the function on"),
        ("print(visit(1)", "print(getattr(x, 'count'), visit(1)", "in a text"),
        ("print(visit(1)", "del visit.count; print(visit(1)", "it is deleted"),
        ("visit.count = 0", "if 1: visit.count = 0", "no line is known"),
    ],
)
def test_an_attribute_of_a_function_is_left_alone(old, new, reason):
    text, told = attribute(VISIT.replace(old, new))

    assert "TVar" not in text
    assert reason in told


def test_an_attribute_that_another_module_may_use_is_left_alone():
    text, other = module(VISIT), module("from app import visit\n", "other")
    seed = Seed("count", "function", "app:visit", "count", "", None, (), (), False)
    turn = Round([text, other], Survey(seeds=[seed]), {})

    assert (turn.run(), turn.left["count"].reason) == (
        False,
        "other, line 1, may use it, too",
    )


def test_a_variable_of_a_file_that_is_not_the_programs_is_left_alone():
    _, reason = after(COUNTER, "closure", "/library/x.py:make.<locals>.count", "n")

    assert reason == "it is in /library/x.py, which is not the program's"


KEPT = PROGRAM.replace(
    "asked = 0",
    """
def make():
    n = -1
    def count():
        nonlocal n
        n += 1
        return n
    return count
count = make()
def told():
    told.times += 1
    return told.times
told.times = 0
asked = 0""",
)
KEPT = KEPT.replace("asked += 1", "asked = count()")
KEPT = KEPT.replace("str(asked)", "str(told())")


@pytest.mark.slow
def test_verbs_that_share_what_functions_keep_run_in_parallel(tmp_path):
    code, printed, _ = run(program(tmp_path, KEPT), "share", "app.py")

    expected = "Of 3 verbs, 0 would run in parallel before, 3 after."
    assert (code, printed.splitlines()[-1]) == (0, expected)

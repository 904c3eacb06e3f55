"""What the log says of conflicts: both lines, and the name of the cell."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.contract.logged import increment, line_of, read_only
from tests.engine import on
from txloop import (
    Channel,
    TCounter,
    TDict,
    TList,
    TObject,
    TSet,
    TVar,
    inevitable,
    retry,
)
from txloop.stm.attempt_kinds import here


def conflict(engine, victim, culprit, victim_args, culprit_args):
    """Let one transaction lose against another in the scripted executor."""
    first, one = engine.send(victim, *victim_args)
    second, other = engine.send(culprit, *culprit_args)
    for number in (one, other):
        engine.scripted.begin(number)
    for number in (other, one):
        engine.scripted.finish(number)
    engine.wait(first, second)


@on("scripted")
def test_both_sides_of_a_write_read_conflict(engine, log):
    # WHEN
    variable = TVar(0)
    conflict(engine, read_only, increment, (variable, TVar(0)), (variable,))

    # THEN
    (loss,) = log.losses("write-read")
    assert line_of(read_only) == loss.victim.line
    assert "read_only" == loss.victim.function
    assert line_of(increment) == loss.culprit.line
    assert ("test", "test") == (loss.victim.handler, loss.culprit.handler)
    assert loss.victim.cell.startswith("TVar number ")
    assert 1 == loss.aborts


@on("scripted")
def test_both_sides_of_a_write_write_conflict(engine, log):
    # WHEN
    variable = TVar(0)
    conflict(engine, increment, increment, (variable,), (variable,))

    # THEN
    (loss,) = log.losses("write-write")
    assert {line_of(increment)} == {loss.victim.line, loss.culprit.line}


def read_some(items):
    items.append(sum(items[1:5]))


def write_two(items):
    items[9] = 1
    items[2] = 1


@on("scripted")
def test_of_several_lines_that_wrote_the_one_that_matters_is_named(engine, log):
    # WHEN
    items = TList(range(10))
    conflict(engine, read_some, write_two, (items,), (items,))

    # THEN
    (loss,) = [one for one in log.report().losses if one.aborts]
    assert line_of(write_two, 2) == loss.culprit.line


stock = TDict(apples=3)


def take_apple():
    stock["apples"] -= 1


@on("scripted")
def test_cells_are_called_as_in_the_program(engine, log):
    # WHEN
    conflict(engine, take_apple, take_apple, (), ())

    # THEN
    (loss,) = log.losses("write-write")
    assert "stock['apples']" == loss.victim.cell


@on("scripted")
def test_unmarked_code_that_won_is_named(engine, log):
    # GIVEN
    variable = TVar(0)
    result, number = engine.send(increment, variable)
    engine.scripted.begin(number)

    # WHEN
    variable.value = 5
    engine.scripted.finish(number)
    engine.wait(result)

    # THEN
    (loss,) = log.losses("write-write")
    assert "test_unmarked_code_that_won_is_named" == loss.culprit.function
    assert line_of(test_unmarked_code_that_won_is_named, 8) == loss.culprit.line


def write_and_fail(variable):
    variable.value = 1
    raise ValueError("on purpose")


@on("scripted")
def test_who_was_rolled_back_has_not_won(engine, log):
    # GIVEN
    variable = TVar(0)
    victim, one = engine.send(read_only, variable, TVar(0))
    engine.scripted.begin(one)

    # WHEN a transaction fails after the one that wins
    winner, other = engine.send(increment, variable)
    failed, third = engine.send(write_and_fail, variable)
    engine.scripted.begin(other)
    engine.scripted.finish(other)
    engine.scripted.begin(third)
    engine.scripted.finish(third)
    engine.scripted.finish(one)
    engine.wait(victim, winner, failed)

    # THEN
    (loss,) = log.losses("write-read")
    assert "increment" == loss.culprit.function


def ask_for_certainty():
    inevitable()


@on("processes", "threads", "scripted")
def test_the_line_that_made_one_inevitable(engine, log):
    # WHEN
    engine.run(ask_for_certainty)

    # THEN
    (loss,) = log.losses("inevitable")
    assert line_of(ask_for_certainty) == loss.victim.line
    assert "ask_for_certainty" == loss.victim.function
    assert (1, 1) == (loss.count, loss.aborts)


def wait_for(variable):
    if not variable.value:
        retry()
    return variable.value


@on("processes", "threads", "scripted")
def test_the_line_that_waits_for_a_change(engine, log):
    # WHEN
    variable = TVar(0)
    waiting = engine.submit(wait_for, variable)
    engine.until(lambda: engine.dispatcher.stats().waiting)
    variable.value = 1
    engine.wait(waiting)

    # THEN
    (loss,) = log.losses("write-read")
    assert line_of(wait_for, 2) == loss.victim.line


def test_where_only_a_library_is_to_be_seen_its_line_is_named():
    # WHEN nothing of the program is on the stack
    with ThreadPoolExecutor(1) as executor:
        site = executor.submit(here).result()

    # THEN
    assert site is not None
    file, line, function = site
    assert file.endswith("concurrent/futures/thread.py")
    assert ("run", True) == (function, line > 0)


class Box(TObject):
    size: int = 0


def _nested(shared):
    def inner():
        return shared["a"]

    return inner()


def _helped(shared):
    return _helper(shared)


def _helper(shared):
    return shared.get("a")


# How something is read, what changes it, and the function in which the line stands.
READS: dict[str, tuple[Any, Any, Any]] = {
    "variable": (lambda: TVar(1), lambda it: it.value, lambda it: it.set(2)),
    "counter": (TCounter, lambda it: it.value, lambda it: it.add()),
    "key": (lambda: TDict(a=1), lambda it: it["a"], lambda it: it.update(a=2)),
    "presence": (lambda: TDict(a=1), lambda it: "a" in it, lambda it: it.pop("a")),
    "length": (lambda: TDict(a=1), len, lambda it: it.update(b=2)),
    "keys": (lambda: TDict(a=1), list, lambda it: it.update(b=2)),
    "items": (lambda: TDict(a=1), lambda it: it.copy(), lambda it: it.update(a=2)),
    "item": (lambda: TList([1]), lambda it: it[0], lambda it: it.__setitem__(0, 2)),
    "slice": (
        lambda: TList(range(40)),
        lambda it: it[1:5],
        lambda it: it.__setitem__(2, 9),
    ),
    "list": (lambda: TList([1]), lambda it: sum(it), lambda it: it.append(2)),
    "size": (lambda: TList([1]), lambda it: it[-1], lambda it: it.append(2)),
    "beyond": (lambda: TList([1]), lambda it: bool(it[1:2]), lambda it: it.append(2)),
    "set": (lambda: TSet([1]), lambda it: 1 in it, lambda it: it.discard(1)),
    "attribute": (Box, lambda it: it.size, lambda it: setattr(it, "size", 2)),
    "channel": (Channel, lambda it: bool(it), lambda it: it.put(1)),
    "nested": (lambda: TDict(a=1), _nested, lambda it: it.update(a=2)),
    "helper": (lambda: TDict(a=1), _helped, lambda it: it.update(a=2)),
}
INNERMOST = {"nested": "inner", "helper": "_helper", "length": "act", "keys": "act"}


def act(operation, shared, other):
    other.value += 1
    return operation(shared)


@on("scripted")
@pytest.mark.parametrize("what", READS)
def test_the_line_of_a_read(engine, log, what):
    # GIVEN
    make, read, change = READS[what]
    shared = make()

    # WHEN
    conflict(engine, act, act, (read, shared, TVar(0)), (change, shared, TVar(0)))

    # THEN
    losses = [one for one in log.report().losses if one.aborts]
    assert [INNERMOST.get(what, "<lambda>")] == [one.victim.function for one in losses]
    assert ["<lambda>"] == [one.culprit.function for one in losses]

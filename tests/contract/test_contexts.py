"""The context of a call: each attempt, wherever it runs, has a copy of it."""

from __future__ import annotations

import contextvars
import decimal
from typing import Any

import pytest

from tests.engine import EXECUTORS, note, noted, on, running
from tests.logs import expect_log
from txloop import on_commit, on_worker_start
from txloop.executors.processes import worker

user: contextvars.ContextVar[Any] = contextvars.ContextVar("user", default="nobody")


class Local:
    """As of a library: no module global leads to its variable."""

    def __init__(self):
        self._value: contextvars.ContextVar[Any] = contextvars.ContextVar("hidden")

    def get(self):
        return self._value.get("unset")

    def set(self, value):
        self._value.set(value)


local = Local()
in_dict: dict[str, contextvars.ContextVar[Any]] = {"v": contextvars.ContextVar("v")}


def seen():
    """Return what is set, and a quotient."""
    quotient = str(decimal.Decimal(1) / 3)
    return user.get(), local.get(), in_dict["v"].get("unset"), quotient


def set_and_see(value):
    """Set all that an attempt may set for itself, and see it."""
    before = seen()
    user.set(value)
    local.set(value)
    decimal.setcontext(decimal.Context(prec=value))
    return before, seen()


def set_for_effects(value):
    """Set something for what is to happen at the commit, and after that."""
    user.set(value)
    on_commit(note_user)
    user.set(f"{value}, later")


def note_user():
    note(user.get())


def quotients():
    """Divide with settings of one's own, in the two ways that there are."""
    with decimal.localcontext(prec=4):
        inner = decimal.Decimal(1) / 3
    with decimal.localcontext() as own:
        own.prec = 5
        other = decimal.Decimal(1) / 3
    return str(inner), str(other), str(decimal.Decimal(1) / 3)


def divide():
    return str(decimal.Decimal(1) / 0)


@pytest.fixture
def program():
    """Return the context of a program that has set all of it at import."""
    context = contextvars.Context()

    def set_up():
        decimal.getcontext().prec = 6
        decimal.getcontext().traps[decimal.DivisionByZero] = False
        user.set("import")
        local.set("import")
        in_dict["v"].set("import")

    context.run(set_up)
    return context


THIRD = "0.333333"
AT_IMPORT = ("import", "import", "import", THIRD)


def test_an_attempt_sees_what_the_program_has_set(engine, program):
    found = program.run(engine.run, seen)

    assert AT_IMPORT == found
    assert "Infinity" == program.run(engine.run, divide)


def test_calls_from_different_contexts_see_different_things(engine, program):
    # GIVEN a context that has some of it, one that has more, and an empty one
    more, empty = program.copy(), contextvars.Context()
    more.run(user.set, "later")
    more.run(local.set, ("later", 1))

    # WHEN
    calls = [one.run(engine.submit, seen) for one in (program, more, empty, program)]
    engine.wait(*calls)

    # THEN
    assert [
        AT_IMPORT,
        ("later", ("later", 1), "import", THIRD),
        ("nobody", "unset", "unset", "0." + 28 * "3"),
        AT_IMPORT,
    ] == [call.value for call in calls]


def test_what_an_attempt_sets_is_its_own(engine, program):
    found = [program.run(engine.run, set_and_see, prec) for prec in (3, 4, 5)]

    assert [AT_IMPORT] * 3 == [before for before, _ in found]
    assert [(n, n, "import", "0." + n * "3") for n in (3, 4, 5)] == [
        after for _, after in found
    ]
    assert AT_IMPORT == program.run(seen)


def test_an_effect_finds_what_its_attempt_has_set_last(engine, program):
    for value in ("one", "other"):
        program.run(engine.run, set_for_effects, value)

    assert ["one, later", "other, later"] == noted
    assert AT_IMPORT == program.run(seen)


def test_local_settings_of_decimal_hold(engine, program):
    for _ in range(3):
        assert ("0.3333", "0.33333", THIRD) == program.run(engine.run, quotients)


def change_decimals(prec):
    """Change what all of the program uses."""
    before = decimal.getcontext().prec
    decimal.getcontext().prec = prec
    return before


def set_prec(prec):
    decimal.getcontext().prec = prec


def test_what_the_loop_changes_of_decimals_is_seen(engine, program):
    """The very object that was there at the fork, in place."""
    assert AT_IMPORT == program.run(engine.run, seen)
    program.run(set_prec, 8)

    assert "0.33333333" == program.run(engine.run, seen)[3]


@pytest.mark.parametrize("name", EXECUTORS)
def test_a_change_of_the_decimals_of_all_is_made_on_the_loop_thread(name, program):
    """As on stock Tornado, where the object is shared; it is not lost in a worker."""
    away = 2 * (name != "serial")  # one for each of them
    said = "runs on the loop thread: it changes decimal's context, which others use"
    with expect_log("txloop", said, away), running(name) as engine:
        # WHEN
        changes = [program.run(engine.run, change_decimals, n) for n in (7, 8)]

        # THEN
        assert [6, 7] == changes
        assert "0.33333333" == program.run(engine.run, seen)[3]


def fill_private():
    """Change a context of decimal that nobody else has."""
    decimal.getcontext().prec = 3
    return str(decimal.Decimal(1) / 3)


def test_decimals_of_a_call_alone_may_be_changed(engine):
    empty = contextvars.Context()

    assert ["0.333"] * 2 == [empty.run(engine.run, fill_private) for _ in range(2)]
    assert "0." + 28 * "3" == empty.run(engine.run, seen)[3]


# Only workers have those


@on("processes")
def test_what_a_start_hook_sets_is_seen(engine, program, monkeypatch, tmp_path):
    # GIVEN
    monkeypatch.setattr(worker, "_start_hooks", [])
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="none")
    ASKED.append(name)
    on_worker_start(lambda: name.set("connected"))
    on_worker_start(lambda: user.set("hook"))

    # WHEN
    found = program.run(engine.ask_all_workers, ask, tmp_path)

    # THEN
    assert [("connected", "hook")] * 2 == found
    assert "none" == ASKED.pop().get()


ASKED: list[contextvars.ContextVar[str]] = []


def ask():
    return ASKED[-1].get(), user.get()


@on("processes")
def test_a_value_that_came_after_the_fork_and_does_not_pickle(engine, program):
    late: contextvars.ContextVar[object] = contextvars.ContextVar("late")
    program.run(engine.run, seen)
    program.run(late.set, 1)
    said = "it does not pickle .the context variable 'late' is no module global"

    with expect_log("txloop", said):
        assert AT_IMPORT == program.run(engine.run, seen)

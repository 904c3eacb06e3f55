"""No attempt sees a mixture of two versions, not even one that is thrown away."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from tests.engine import Tally, running
from tests.model.following import follow, pause
from tests.strategies import schedules
from txloop import TDict, TVar

TOTAL = 100


def make_state() -> dict[str, Any]:
    return {
        "x": TVar(0),
        "y": TVar(0),
        "accounts": TDict(a=TOTAL, b=0),
        "twins": TDict(one={"n": 0}, other={"n": 0}),
    }


def look(state: dict[str, Any], tally: Tally) -> None:
    """Note down every trace of a mixture, in whatever order the parts are read."""
    accounts, twins = state["accounts"], state["twins"]
    x = state["x"].value
    pause()
    if x != state["y"].value:
        tally.mark("x and y differ")
    pause()
    size = len(accounts)
    pause()
    keys = list(accounts)
    if size != len(keys) or "a" not in accounts or keys != list(accounts):
        tally.mark("keys come and go")
    b = accounts.get("b", 0)
    pause()
    if b + sum(accounts[key] for key in keys if key != "b") != TOTAL:
        tally.mark("money comes and goes")
    one = twins["one"]["n"]
    pause()
    if one != twins["other"]["n"]:
        tally.mark("twins differ")


def change(state: dict[str, Any], tally: Tally, step: int) -> None:
    """Change everything, so that it fits together again at the end only."""
    look(state, tally)
    accounts, twins = state["accounts"], state["twins"]
    state["x"].value += step
    pause()
    state["y"].value += step
    twins["one"] = {"n": step}
    moved = min(step, accounts["a"])
    accounts["a"] -= moved
    pause()
    accounts["b"] = accounts.get("b", 0) + moved
    if step % 2 and accounts["b"]:
        accounts[f"key{step}"] = accounts.get(f"key{step}", 0) + accounts.pop("b")
    pause()
    twins["other"] = {"n": step}
    look(state, tally)


STEPS = st.lists(st.integers(0, 3), min_size=2, max_size=6)


def test_attempts_see_one_version_whatever_is_committed_in_their_middle(tmp_path):
    with running("scripted") as engine:

        @given(STEPS, schedules)
        @example([1, 1], (0, 0, 0, 2, 99, 99, 99, 2))
        def check(steps: list[int], schedule: tuple[int, ...]) -> None:
            # GIVEN
            tally, state = Tally(tmp_path / "tally"), make_state()
            aborts, results = engine.aborts, []

            def call(step: int) -> None:
                function = change if step else look
                arguments = (step,) if step else ()
                results.append(engine.submit(function, state, tally, *arguments))

            # WHEN
            follow(engine, schedule, [partial(call, step) for step in steps])
            engine.wait(*results)

            # THEN
            event(f"conflicts: {min(engine.aborts - aborts, 4)}")
            assert [None] * len(steps) == [result.error for result in results]
            assert [] == tally.lines

        check()


@pytest.mark.slow
def test_attempts_in_workers_see_one_version(tmp_path):
    with running("processes") as engine:
        # GIVEN
        tally, state = Tally(tmp_path / "tally"), make_state()
        engine.ask_all_workers(int, tmp_path)
        results, short = [], engine.short()

        # WHEN
        for number in range(30):
            results += [
                engine.submit(change, state, tally, number % 4 + 1, profile=short),
                engine.submit(change, state, tally, number % 3 + 1, profile=short),
                engine.submit(look, state, tally, profile=short),
            ]
            state["accounts"].update(a=state["accounts"]["a"])
            engine.turn()
        engine.wait(*results)

        # THEN
        assert {None} == {result.error for result in results}
        assert [] == tally.lines
        assert engine.aborts > 10


def test_a_mixture_would_be_seen(tmp_path):
    # GIVEN
    tally, state = Tally(tmp_path / "tally"), make_state()

    # WHEN
    state["x"].value = 1
    state["accounts"]["c"] = 1
    state["twins"]["one"]["n"] = 1
    look(state, tally)

    # THEN
    assert 3 == tally.count

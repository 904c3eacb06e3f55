"""No attempt sees a mixture of two versions, not even one that is thrown away."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from tests.engine import Tally, running
from tests.model.following import follow, pause, swaying
from tests.model.object_steps import SharedPoint
from tests.strategies import schedules
from txloop import TCounter, TDict, TList, TSet, TVar

TOTAL = 100
LENGTH = 40


def make_state() -> dict[str, Any]:
    return {
        "x": TVar(0),
        "y": TVar(0),
        "accounts": TDict(a=TOTAL, b=0),
        "twins": TDict(one={"n": 0}, other={"n": 0}),
        # All of these hold what x holds, and nothing else:
        "row": TList([0] * LENGTH),
        "members": TSet([0]),
        "point": SharedPoint(0, 0),
        "count": TCounter(0),
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
    look_at_others(state, tally, x)


def look_at_others(state: dict[str, Any], tally: Tally, x: int) -> None:
    """Look in each way at what holds nothing but `x`."""
    row, members, point = state["row"], state["members"], state["point"]
    seen = [row[0], row[7]]
    pause()
    seen += row[LENGTH - 3 :] + row[3:6] + [row[-1]]
    pause()
    seen += [row[index] for index in range(len(row))]
    pause()
    if {x} != {*seen, *row} or row != [x] * LENGTH or row.count(x) != LENGTH:
        tally.mark("items differ")
    pause()
    if x not in members or len(members) != 1:
        tally.mark("members come and go")
    pause()
    if members != {x}:
        tally.mark("members differ")
    a = point.x
    pause()
    if (a, point.y) != (x, x):
        tally.mark("attributes differ")
    pause()
    if state["count"] != x:
        tally.mark("a number is missing")


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
    change_others(state, step)
    look(state, tally)


def change_others(state: dict[str, Any], step: int) -> None:
    """Change them in several ways, which depend on the step."""
    row, members, point = state["row"], state["members"], state["point"]
    x = state["x"].value
    if step % 2:
        row[0 : LENGTH // 2] = [x] * (LENGTH // 2)
        pause()
        for index in range(LENGTH // 2, LENGTH):
            row[index] = x
    else:
        row.clear()
        pause()
        row.extend([x] * (LENGTH - 1))
        row.append(x)
    members.clear()
    pause()
    members.add(x)
    point.x = x
    pause()
    point.y += step
    state["count"].add(step)


STEPS = st.lists(st.integers(0, 3), min_size=2, max_size=6)


@pytest.mark.timeout(120)
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
                results.append(
                    engine.submit(function, state, tally, *arguments, watched=False)
                )

            # WHEN
            follow(engine, schedule, [partial(call, step) for step in steps])
            engine.wait(*results)

            # THEN
            event(f"conflicts: {min(engine.aborts - aborts, 4)}")
            assert [None] * len(steps) == [result.error for result in results]
            assert [] == tally.lines

        check()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["processes", "threads"])
def test_attempts_in_workers_see_one_version(tmp_path, name):
    with running(name) as engine, swaying(name):
        # GIVEN
        tally, state = Tally(tmp_path / "tally"), make_state()
        engine.ask_all_workers(int, tmp_path)
        results, short = [], engine.short()

        # WHEN
        for number in range(30):
            results += [
                engine.submit(
                    change, state, tally, number % 4 + 1, profile=short, watched=False
                ),
                engine.submit(
                    change, state, tally, number % 3 + 1, profile=short, watched=False
                ),
                engine.submit(look, state, tally, profile=short, watched=False),
            ]
            state["accounts"].update(a=state["accounts"]["a"])
            engine.turn()
        engine.wait(*results)

        # THEN
        assert {None} == {result.error for result in results}
        assert [] == tally.lines
        assert engine.aborts > 1


def test_a_mixture_would_be_seen(tmp_path):
    # GIVEN
    tally, state = Tally(tmp_path / "tally"), make_state()

    # WHEN
    state["x"].value = 1
    state["accounts"]["c"] = 1
    state["twins"]["one"]["n"] = 1
    look(state, tally)

    # THEN
    assert 8 == tally.count

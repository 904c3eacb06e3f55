"""TList does what a list does: see `tests.model.machines`."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.list_steps import (
    deque_steps,
    items,
    list_steps,
    perform_on_deque,
    perform_on_list,
)
from tests.model.machines import machine_of
from txloop import TDeque, TList
from txloop.cells import list_chunks
from txloop.stm.attempt import current

LIMITS = {"no maxlen": None, "maxlen 3": 3, "maxlen 0": 0}


def check_deque(longest: int, limit: int | None, examples: int, steps: int) -> None:
    machine = machine_of(
        perform_on_deque,
        deque_steps(longest),
        items(longest),
        lambda contents: TDeque(contents, limit),
        lambda contents: deque(contents, limit),
    )
    budget = settings(
        max_examples=examples, stateful_step_count=steps, report_multiple_bugs=False
    )
    run_state_machine_as_test(machine, settings=budget)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("chunk", [2, 256])
def test_a_deque_does_what_a_deque_does(limit, chunk, monkeypatch):
    monkeypatch.setattr(list_chunks, "CHUNK", chunk)

    check_deque(6, limit, examples=8, steps=10)


@pytest.mark.slow
@pytest.mark.timeout(600)  # a failure is shrunk for up to 300 s
@pytest.mark.parametrize(("chunk", "limit"), [(1, 5), (4, None), (4, 9), (256, 20)])
def test_deques_of_any_length_do(chunk, limit, monkeypatch):
    monkeypatch.setattr(list_chunks, "CHUNK", chunk)

    check_deque(24, limit, examples=15, steps=40)


WHOLE = {"per item": False, "whole": True}


def check(longest: int, whole: bool, examples: int, steps: int) -> None:
    machine = machine_of(
        perform_on_list,
        list_steps(longest),
        items(longest),
        lambda contents: TList(contents, whole=whole),
    )
    budget = settings(
        max_examples=examples, stateful_step_count=steps, report_multiple_bugs=False
    )
    run_state_machine_as_test(machine, settings=budget)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("whole", WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize("chunk", [2, 256])
def test_a_list_does_what_a_list_does(whole, chunk, monkeypatch):
    monkeypatch.setattr(list_chunks, "CHUNK", chunk)

    check(9, whole, examples=8, steps=10)


@pytest.mark.slow
@pytest.mark.timeout(600)  # a failure is shrunk for up to 300 s
@pytest.mark.parametrize("whole", WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize(("chunk", "longest"), [(1, 6), (4, 14), (4, 40), (256, 40)])
def test_lists_of_any_length_do(whole, chunk, longest, monkeypatch):
    monkeypatch.setattr(list_chunks, "CHUNK", chunk)

    check(longest, whole, examples=15, steps=40)


class Careless(TList[int]):
    """Forgets that its length was read."""

    def __len__(self) -> int:
        attempt = current()
        if attempt is None:
            return super().__len__()
        values = set(attempt.values)
        size = super().__len__()
        attempt.values = values
        return size


@pytest.mark.timeout(120)
def test_the_machine_finds_a_read_that_is_not_remembered():
    machine = machine_of(perform_on_list, list_steps(3), items(3), Careless)
    generous = settings(
        max_examples=2000,
        stateful_step_count=5,
        phases=[Phase.generate],
        derandomize=True,
    )

    with pytest.raises(AssertionError):
        run_state_machine_as_test(machine, settings=generous)

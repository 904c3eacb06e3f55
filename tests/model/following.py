"""Schedules for the scripted executor: who begins, who commits, and when."""

from __future__ import annotations

import random
import time
from collections import deque
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from txloop.stm.attempt import current

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.engine import Engine

__all__ = ["follow", "pause", "swaying"]

_pauses: list[Callable[[], object]] = []


def pause() -> None:
    """Let others begin and commit in the middle of an attempt."""
    attempt = current()
    if attempt is not None and attempt.speculative:
        for one in _pauses:
            one()


@contextmanager
def swaying(seed: object) -> Iterator[None]:
    """Let attempts in threads give way to others in their middle, now and then."""
    chance = random.Random(str(seed))

    def sway() -> None:
        time.sleep(chance.choice((0, 0, 1e-6)))

    _pauses.append(sway)
    try:
        yield
    finally:
        _pauses.remove(sway)


def follow(
    engine: Engine, schedule: Sequence[int], calls: Sequence[Callable[[], object]]
) -> None:
    """Make the calls, and let the schedule choose what happens in between.

    Once it is used up, what is left overlaps fully: all begin, then all commit.
    """
    executor = engine.scripted
    waiting_calls, choices = deque(calls), deque(schedule)

    def call() -> None:
        waiting_calls.popleft()()
        engine.turn()

    def options() -> list[Callable[[], object]]:
        begins = [partial(executor.begin, number) for number in executor.waiting]
        ends = [partial(executor.finish, number) for number in executor.begun]
        return [*begins, *ends]

    def go_on() -> None:
        if choices:
            chosen = choices.popleft() // 2  # half of the time, nothing happens
            if chosen < len(options()):
                options()[chosen]()

    _pauses.append(go_on)
    while choices and (waiting_calls or options()):
        possible = [call] * bool(waiting_calls) + options()
        possible[choices.popleft() % len(possible)]()
    _pauses.remove(go_on)
    while waiting_calls:
        call()
    while executor.waiting or executor.begun:
        for number in sorted(executor.waiting):
            executor.begin(number)
        for number in sorted(executor.begun):
            executor.finish(number)

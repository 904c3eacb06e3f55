"""A state machine that does the same to a container and to what it stands for.

Steps are outside of transactions, or several in one that commits or is undone, with
the commits of others in its middle. Old snapshots stay as they were, and a replica
that repeats the commits comes to the same contents.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hypothesis import event
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

import txloop.stm.attempt
from tests.comparing import as_plain, attempted, contents, raised
from tests.model.replica import Replica
from txloop import or_else, retry
from txloop.stm.attempt import Attempt, make_current
from txloop.stm.store import committed
from txloop.stm.validation import decide

if TYPE_CHECKING:
    from txloop.stm.types import Outcome

__all__ = ["Step", "machine_of"]

Step = tuple[Any, ...]
"""The name of an operation, and its arguments."""

Perform = Callable[[Step, Any], object]
"""Does a step to a container or to what it stands for, and returns what it says."""


class Undone(Exception):
    """Ends a transaction without its writes."""


def machine_of(
    perform: Perform,
    steps: st.SearchStrategy[Step],
    start: st.SearchStrategy[Any],
    make_shared: Callable[[Any], Any],
    make_plain: Callable[[Any], Any] = copy.deepcopy,
) -> type[RuleBasedStateMachine]:
    """Return a machine for one kind of container.

    Args:
        perform: Does a step.
        steps: The steps that there are.
        start: What the container may hold at first.
        make_shared: Makes the container from that.
        make_plain: Makes what it stands for.
    """
    several = st.lists(steps, max_size=5)

    def play(todo: Sequence[Step], target: Any) -> list[object]:
        return [_said(perform, step, target) for step in todo]

    class Machine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.replica = Replica()
            self.snapshots: list[tuple[int, object]] = []
            self.is_sound = False

        @initialize(contents=start)
        def make(self, contents: Any) -> None:
            self.plain = make_plain(contents)
            self.shared = make_shared(contents)

        @rule(step=steps)
        def do_directly(self, step: Step) -> None:
            expected = play([step], self.plain)

            assert expected == play([step], self.shared)

        @rule(todo=several, commits=st.booleans())
        def transact(self, todo: list[Step], commits: bool) -> None:
            expected, after = self._on_a_copy(todo)

            def body() -> list[object]:
                said.extend(play(todo, self.shared))
                assert contents(after) == contents(self.shared)
                if not commits:
                    raise Undone
                return said

            said: list[object] = []
            outcome = finished(body)
            assert expected == said
            install(outcome)
            if commits:
                self.plain = after

        @rule(first=several, tried=several, last=several)
        def try_and_undo(
            self, first: list[Step], tried: list[Step], last: list[Step]
        ) -> None:
            expected, _ = self._on_a_copy([*first, *tried])
            rest, after = self._on_a_copy([*first, *last])

            def body() -> None:
                said.extend(play(first, self.shared))
                or_else(attempt_and_retry, lambda: None)
                assert expected == said
                said[len(first) :] = play(last, self.shared)

            def attempt_and_retry() -> None:
                said.extend(play(tried, self.shared))
                retry()

            said: list[object] = []
            install(finished(body))
            assert rest == said
            self.plain = after

        @rule(first=several, others=several, last=several)
        def overlap(
            self, first: list[Step], others: list[Step], last: list[Step]
        ) -> None:
            """Let another transaction commit in the middle of one."""
            mine, alone = self._on_a_copy([*first, *last])

            def body() -> None:
                said.extend(play(first, self.shared))
                install(finished(lambda: play(others, self.shared)))
                said.extend(play(last, self.shared))
                assert contents(alone) == as_seen(self.shared)

            def as_seen(shared: Any) -> object:
                # Without making the attempt a reader of everything.
                attempt = txloop.stm.attempt.current()
                assert attempt is not None
                values, presences = set(attempt.values), set(attempt.presences)
                seen = contents(shared)
                attempt.values, attempt.presences = values, presences
                return seen

            said: list[object] = []
            snapshot = committed.open_snapshot()
            try:
                outcome = finished(body)
                assert mine == said  # nobody sees a mixture
                play(others, self.plain)
                decision = decide(outcome, committed, ordered=False)
                event(f"{'writes' if outcome.writes else 'reads'}: {type(decision)}")
                if decision is None and outcome.writes:
                    # The serial order is that of the commits.
                    assert play([*first, *last], self.plain) == said
                    install(outcome)
            finally:
                committed.close_snapshot(snapshot)

        @precondition(lambda self: len(self.snapshots) < 3)
        @rule()
        def open_snapshot(self) -> None:
            version = committed.open_snapshot()
            self.snapshots.append((version, contents(self.shared)))

        @precondition(lambda self: self.snapshots)
        @rule(which=st.integers(0, 2))
        def close_snapshot(self, which: int) -> None:
            version, _ = self.snapshots.pop(which % len(self.snapshots))
            committed.close_snapshot(version)

        @precondition(lambda self: self.snapshots)
        @rule(which=st.integers(0, 2), todo=several)
        def transact_at_an_old_snapshot(self, which: int, todo: list[Step]) -> None:
            version, before = self.snapshots[which % len(self.snapshots)]
            with attempt_at(version) as attempt:
                play(todo, self.shared)
                attempt.roll_back()

                assert before == contents(self.shared)

        @rule()
        def catch_up(self) -> None:
            self.replica.catch_up()

        @rule()
        def load_afresh(self) -> None:
            self.replica.load_afresh()

        @invariant()
        def same_contents(self) -> None:
            if not hasattr(self, "plain"):
                return
            self.is_sound = False
            assert contents(self.plain) == contents(self.shared)
            self.is_sound = True
            for version, before in self.snapshots:
                with attempt_at(version):
                    assert before == contents(self.shared)

        def teardown(self) -> None:
            try:
                if self.is_sound:
                    expected = as_plain(self.plain)
                    self.replica.catch_up()
                    assert expected == self.replica.shows(self.shared)
                    self.replica.forget_all()
                    assert expected == self.replica.shows(self.shared)
            finally:
                self.replica.close()
                for version, _ in self.snapshots:
                    committed.close_snapshot(version)

        def _on_a_copy(self, todo: list[Step]) -> tuple[list[object], Any]:
            copied = copy.deepcopy(self.plain)
            return play(todo, copied), copied

    return Machine


def _said(perform: Perform, step: Step, target: Any) -> object:
    try:
        result = perform(copy.deepcopy(step), target)
    except Undone:
        raise
    except Exception as error:
        return raised(error)
    return "itself" if result is target else as_plain(result)


def finished(body: Callable[[], object]) -> Outcome:
    """Run a body as one attempt, which may undo itself but not fail."""
    outcome = attempted(body)
    if outcome.error is not None and not isinstance(outcome.error, Undone):
        raise outcome.error
    return outcome


def install(outcome: Outcome) -> None:
    if outcome.writes:
        committed.install(outcome.writes)  # type: ignore[arg-type] # containers


@contextmanager
def attempt_at(version: int) -> Iterator[Attempt]:
    """Read and write as an attempt whose snapshot was opened earlier."""
    attempt = Attempt(version, True)
    make_current(attempt)
    committed.forget_views()
    try:
        yield attempt
    finally:
        make_current(None)
        committed.forget_views()

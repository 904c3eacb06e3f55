"""Committed transactions, replayed one after another on plain objects, give the same.

The same values, errors, effects and final state, down to the order of keys. The serial
order is that of the commits; a transaction that wrote nothing and succeeded is correct
at its snapshot, so it is replayed right after the commit that its snapshot shows. Its
effects run when it commits, as everybody's do: effects are compared in commit order.
"""

from __future__ import annotations

import copy
import os
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import event, example, given

from tests.engine import EXECUTORS, note_on_commit, noted, running
from tests.logs import expect_log
from tests.model.following import follow, swaying
from tests.model.object_steps import Count, PlainPoint, SharedPoint
from tests.model.plays import Ended, PlainVariable, State, frozen, play
from tests.model.remembered import ADD, OVERLAPPING, REMEMBERED, plays
from tests.strategies import Play, Program, programs
from txloop import TCounter, TDict, TList, TSet, TVar
from txloop.engine.events import Committed, Conflicted
from txloop.executors.faults import VARIABLE
from txloop.stm.store import committed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.engine import Engine, Result
    from txloop.engine.events import Event
    from txloop.stm.container import Write


AWAY = [name for name in EXECUTORS if name in ("processes", "threads")]
"""The executors whose attempts do not run on this thread."""

START = (2, 0, 1)
"""What is in the list and in the set at first."""


@dataclass
class Performance:
    """A play that took place.

    Attributes:
        version: That of the store when it committed.
        wrote: Whether it made that version.
        earliest: The version when it was called: it must not see an older one.
    """

    play: Play
    snapshot: int
    seen: object
    raised: bool
    version: int
    wrote: bool
    earliest: int

    @property
    def place(self) -> tuple[int, bool]:
        """Where in the serial order it belongs."""
        reads_only = not (self.wrote or self.raised or self.play.ordered)
        if reads_only and not self.play.direct:
            return self.snapshot, True
        return self.version, not self.wrote


class Journal:
    """Follows the store and the dispatcher: which commit made which version."""

    hears_births = True
    grows = False

    def __init__(self) -> None:
        self.wrote = False
        self.conflicts = 0
        self.commits: dict[int, tuple[int, bool]] = {}  # by transaction, in order

    def installed(self, version: int, writes: Sequence[Write], direct: bool) -> None:
        self.wrote = True

    def dropped(self, number: int) -> None:
        pass

    def __call__(self, event: Event) -> None:
        if isinstance(event, Committed):
            self.commits[event.transaction] = event.version, self.wrote
            self.wrote = False
        elif isinstance(event, Conflicted):
            self.conflicts += 1


class Stage:
    """Performs programs on one engine, each on fresh shared state."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.profile = engine.short()

    def perform(self, program: Program) -> int:
        """Perform a program, compare it with its serial replay, and count conflicts."""
        noted.clear()
        self.engine.events.clear()
        journal = Journal()
        committed.followers.append(journal)
        self.engine.dispatcher.listeners.append(journal)
        state = {
            "x": TVar(0),
            "y": TVar(0),
            "d": TDict(dict.fromkeys(program.keys, 0)),
            "e": TDict(),
            "l": TList(START),
            "s": TSet(START),
            "o": SharedPoint(1, 1),
            "n": TCounter(1),
        }
        journal.wrote = False
        try:
            with ExitStack() as stack:
                if self.engine.executor.name == "threads":
                    stack.enter_context(swaying(program.schedule))
                performances = self._performances(program, state, journal)
        finally:
            self.engine.dispatcher.listeners.remove(journal)
            committed.followers.remove(journal)
        check(program, performances, frozen_state(state), list(noted))
        return journal.conflicts

    def _performances(
        self, program: Program, state: State, journal: Journal
    ) -> list[Performance]:
        first = self.engine.dispatcher._transactions + 1
        calls: list[tuple[Play, int, Result]] = []
        direct: dict[int, Performance] = {}

        def begin(one: Play) -> None:
            if one.direct:
                place = len(journal.commits) + len(direct)
                direct[place] = performed_directly(one, state, journal)
                return
            result = self.engine.submit(
                play,
                state,
                one.operations,
                note_on_commit,
                profile=self.profile,
                ordered=one.ordered,
                commits_on=(Ended,) if one.commits else (),
                watched=False,  # the test itself is reached from there
            )
            calls.append((one, committed.version, result))

        if self.engine.executor.name == "scripted":
            calls_to_make = [partial(begin, one) for one in program.plays]
            follow(self.engine, program.schedule, calls_to_make)
        else:
            for one in program.plays:
                if not one.direct:
                    begin(one)
            self.engine.turn()  # now they are under way
            for one in program.plays:
                if one.direct:
                    begin(one)
        self.engine.wait(*[result for _, _, result in calls])
        marked = iter(
            performed(*calls[number - first], *found)
            for number, found in journal.commits.items()
        )
        count = len(calls) + len(direct)
        return [direct[n] if n in direct else next(marked) for n in range(count)]


def performed(
    one: Play, earliest: int, result: Result, version: int, wrote: bool
) -> Performance:
    """Tell what became of a call."""
    if isinstance(result.error, Ended):
        snapshot, seen = result.error.args
    else:
        snapshot, seen = result.value  # type: ignore[misc] # as `play` returns it
    raised = result.error is not None
    return Performance(one, snapshot, seen, raised, version, wrote, earliest)


def performed_directly(one: Play, state: State, journal: Journal) -> Performance:
    """Perform a play as unmarked code; each of its writes commits at once."""
    before = committed.version
    raised = False
    try:
        _, seen = play(state, one.operations, note_on_commit)
    except Ended as error:
        _, seen = error.args
        raised = True
    journal.wrote = False
    version = committed.version
    return Performance(one, -1, seen, raised, version, version > before, before)


def frozen_state(state: State) -> object:
    return tuple(map(frozen, state.values()))


def check(
    program: Program, performances: list[Performance], final: object, effects: object
) -> None:
    """Replay what took place on plain objects, in its serial order, and compare."""
    assert len(program.plays) == len(performances)
    expected_effects: dict[int, list[int]] = {}
    state: dict[str, Any] = {
        "x": PlainVariable(0),
        "y": PlainVariable(0),
        "d": dict.fromkeys(program.keys, 0),
        "e": {},
        "l": list(START),
        "s": set(START),
        "o": PlainPoint(1, 1),
        "n": Count(1),
    }
    order = sorted(range(len(performances)), key=lambda n: performances[n].place)
    for number in order:
        performance = performances[number]
        one = performance.play
        before = copy.deepcopy(state)
        asked: list[int] = []
        raised = False
        try:
            _, seen = play(state, one.operations, asked.append)
        except Ended as error:
            _, seen = error.args
            raised = True
            if not (one.commits or one.direct):
                state, asked = before, []
        expected_effects[number] = asked
        assert (raised, seen) == (performance.raised, performance.seen), one
        if not one.direct:
            assert performance.snapshot >= performance.earliest, "an old snapshot"
    assert frozen_state(state) == final
    in_commit_order = map(expected_effects.__getitem__, sorted(order))
    assert list(chain.from_iterable(in_commit_order)) == effects
    called = [one for one in program.plays if one.ordered and not one.direct]
    found = [one.play for one in performances]
    assert called == [one for one in found if one.ordered and not one.direct]


@pytest.mark.slow
@pytest.mark.timeout(600)  # a failure is shrunk for up to 300 s
@pytest.mark.parametrize(
    ("name", "faults"),
    [*[(name, "") for name in EXECUTORS], *[(name, "late=1") for name in AWAY]],
)
def test_a_serial_replay_of_the_commits_gives_the_same(
    name: str, faults: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as stack:
        if faults:
            monkeypatch.setenv(VARIABLE, faults)
            stack.enter_context(expect_log("txloop", "^faults happen on purpose"))
        engine = stack.enter_context(running(name))
        stage = Stage(engine)
        engine.run(int)

        @given(programs())
        def check_program(program: Program) -> None:
            event(f"conflicts: {min(stage.perform(program), 4)}")

        for program in REMEMBERED:
            check_program = example(program)(check_program)
        check_program()


@pytest.mark.parametrize("name", ["scripted", "processes"])
@pytest.mark.parametrize("program", OVERLAPPING)
def test_programs_overlap_truly(name: str, program: Program, tmp_path: Path) -> None:
    """Without overlap the test above would show nothing."""
    with running(name) as engine:
        if name == "processes":  # a worker that begins later would see what is newer
            engine.ask_all_workers(os.getpid, tmp_path)
        else:
            engine.run(int)

        assert 1 == Stage(engine).perform(program)


def test_the_check_sees_what_is_not_serial() -> None:
    # GIVEN two additions of which one got lost
    program = Program(plays((ADD,), (ADD,)))
    one, other = program.plays
    performances = [
        Performance(one, 5, [1], False, 6, True, 5),
        Performance(other, 5, [1], False, 7, True, 5),
    ]

    # THEN
    rest = ((), (), START, frozenset(START), (1, 1), 1)
    with pytest.raises(AssertionError):
        check(program, performances, (1, 0, *rest), [])
    performances[1].seen = [2]
    check(program, performances, (2, 0, *rest), [])

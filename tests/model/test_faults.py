"""A machine that picks the faults: the serial replay is the same as without them.

It chooses what `TXLOOP_FAULTS` says, performs programs, and kills or stops workers and
their spawner in between. Each program's performance is compared with its serial replay:
values, errors, effects, final state.
"""

from __future__ import annotations

import logging
import os
import re
import signal
from contextlib import ExitStack, suppress

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from tests.engine import running
from tests.logs import EXPECTED
from tests.model.remembered import ADD, OVERLAPPING, plays
from tests.model.test_replay import Stage
from tests.strategies import Operation, Program, programs
from txloop.executors.faults import VARIABLE
from txloop.executors.processes import crew
from txloop.executors.worker_protocol import Limits

ANNOUNCED = {
    "a worker died": r"^worker \d+ died; ",
    "an effect failed": r"^an effect failed: ",
    "a spawner died": r"^the process that forks workers has died; starting",
    "an inevitable one": r" conflicted 3 times on ",
    "a spawner died at once": r"^the process that forks workers dies before it forks",
    "workers again": r"^there are workers again",
    "the start": "^faults happen on purpose",
}

SHARES = st.sampled_from([0.0, 0.0, 0.05, 0.2])

counts: dict[str, int] = {}
"""What has happened in all performances: the faults must be reached."""


def count(kind: str, number: int = 1) -> None:
    counts[kind] = counts.get(kind, 0) + number


class Claimer(logging.Handler):
    """Expects what faults make the log say, and counts it."""

    def emit(self, record: logging.LogRecord) -> None:
        for kind, pattern in ANNOUNCED.items():
            if re.search(pattern, record.getMessage()):
                setattr(record, EXPECTED, True)
                count(kind)


class Faulty(RuleBasedStateMachine):
    """Programs on an engine that is struck by faults."""

    def __init__(self) -> None:
        super().__init__()
        self.open = ExitStack()

    @initialize(
        before=SHARES,
        after=SHARES,
        pickling=SHARES,
        commit=SHARES,
        effects=SHARES,
        away=SHARES,
        late=SHARES,
        seed=st.integers(0, 1000),
    )
    def start(
        self,
        before: float,
        after: float,
        pickling: float,
        commit: float,
        effects: float,
        away: float,
        late: float,
        seed: int,
    ) -> None:
        patch = self.open.enter_context(pytest.MonkeyPatch.context())
        patch.setenv(
            VARIABLE,
            f"before-reply={before},after-reply={after},pickling={pickling},"
            f"commit={commit},effects={effects},away={away},late={late},seed={seed}",
        )
        patch.setattr(crew, "threads_besides", list)
        # Here no call is given up.
        limits = Limits(look_seconds=0.01, most_deaths=1000, first_pause_seconds=0.01)
        claimer = Claimer()
        logging.getLogger().addHandler(claimer)
        self.open.callback(logging.getLogger().removeHandler, claimer)
        self.engine = self.open.enter_context(running("processes", limits=limits))
        self.stage = Stage(self.engine)

    @rule(program=programs())
    def perform(self, program: Program) -> None:
        self._perform(program)

    @rule(program=st.sampled_from(OVERLAPPING))
    def perform_what_overlaps(self, program: Program) -> None:
        self._perform(program)

    def _perform(self, program: Program) -> None:
        conflicts = self.stage.perform(program)
        if conflicts:
            count("a conflict", conflicts)

    @rule(
        which=st.integers(0, 1),
        number=st.sampled_from([signal.SIGKILL, signal.SIGSTOP, signal.SIGSEGV]),
    )
    def strike_worker(self, which: int, number: signal.Signals) -> None:
        pids = [one.pid for one in self.engine.processes._workers if one.pid]
        self._strike(pids[which : which + 1], number)

    @rule(number=st.sampled_from([signal.SIGKILL, signal.SIGSTOP]))
    def strike_spawner(self, number: signal.Signals) -> None:
        spawner = self.engine.crew.spawner
        self._strike([spawner.pid] if spawner else [], number)

    def _strike(self, pids: list[int], number: signal.Signals) -> None:
        for pid in pids:
            count(number.name)
            with suppress(ProcessLookupError):  # it has died by itself
                os.kill(pid, number)

    def teardown(self) -> None:
        self.open.close()


WITH_EFFECTS = Program(plays((ADD, Operation("effect", value=1)), (ADD,)))


def perform_with_all_faults() -> None:
    """Reach each kind of fault, whatever hypothesis picks elsewhere."""
    machine = Faulty()
    try:
        machine.start(0.2, 0.2, 0.2, 0.2, effects=0.5, away=0.2, late=0.5, seed=1)
        for number in (signal.SIGKILL, signal.SIGSTOP):
            for program in [*OVERLAPPING, *[WITH_EFFECTS] * 8]:
                machine._perform(program)
            machine.strike_worker(0, number)
        machine._perform(WITH_EFFECTS)
    finally:
        machine.teardown()


@pytest.mark.slow
@pytest.mark.timeout(600)  # a failure is shrunk for up to 300 s
def test_whatever_goes_wrong_a_serial_replay_gives_the_same() -> None:
    # GIVEN
    counts.clear()

    # WHEN
    perform_with_all_faults()
    run_state_machine_as_test(
        Faulty,
        settings=settings(max_examples=15, stateful_step_count=12, deadline=None),
    )

    # THEN
    expected = {"a worker died", "an effect failed", "a conflict", "SIGKILL", "SIGSTOP"}
    assert expected <= counts.keys(), counts

"""The engine's machine alone: whatever happens in whatever order, it stays consistent.

After each stimulus its whole state is looked at: each transaction is in one place, the
one that its state says; none is kept waiting for nothing. In the end each has had one
end. There is no loop, executor, store or clock: what they would do, the test decides.
A failure prints the transactions with their stories.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import event, note
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from tests.model.quiet import reporter
from txloop.engine.machine import MOST_CONFLICTS, Machine
from txloop.engine.profile import Profile
from txloop.engine.stimuli import (
    Answered,
    Arrived,
    Closed,
    Commit,
    Conflicting,
    Drop,
    Granted,
    HandBack,
    Left,
    Outdated,
    Placed,
    RanHere,
    RanShort,
    Recall,
    Recalled,
    Reject,
    RunHere,
    RunRound,
    RunsHere,
    Send,
    Submitted,
    Valid,
    Validate,
    Wait,
    Why,
    Woken,
)
from txloop.engine.transaction import State, Transaction
from txloop.stm.types import Call, Conflict, Outcome, Refusal, Retry

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.engine.stimuli import Action, Stimulus

WORKERS = 2
CELLS = [(1, "a"), (1, "b")]

ANSWERS = st.sampled_from(
    [
        *[Outcome(1)] * 3,
        Outcome(1, error=ValueError()),
        Retry(1),
        Refusal("the test says so", lasting=False),
        Refusal("the test says so"),
    ]
)
VERDICTS = st.sampled_from(["valid", "conflict", "conflict", "conflict", "outdated"])


class Machines(RuleBasedStateMachine):
    """A machine, and what its dispatcher would keep."""

    @initialize(
        max_queue=st.sampled_from([None, None, 1]),
        barrier=st.sampled_from([False, False, True]),
    )
    def begin(self, max_queue: int | None, barrier: bool) -> None:
        self.machine = Machine(reporter(), WORKERS, max_queue, barrier)
        self.profiles = [Profile("ann"), Profile("bob")]
        self.profiles[1].unproven = True
        self.all: list[Transaction] = []
        self.ends: Counter[int] = Counter()
        self.begun: set[int] = set()  # attempts that cannot be taken back
        self.round_announced = False
        self.granting = False
        self.verdict = ""  # where it is not chosen
        self.draw: Callable[[st.SearchStrategy[object]], object] | None = None

    # What the dispatcher would do

    def handle(self, stimulus: Stimulus) -> None:
        for action in self.machine.handle(stimulus):
            self.do(action)

    def do(self, action: Action) -> None:
        if isinstance(action, RunRound):
            assert not self.round_announced
            self.round_announced = True
        elif isinstance(action, Send):
            assert action.urgent == (
                action.transaction is self.machine.turns.inevitable
            )
        elif isinstance(action, Recall):
            self.recall(action.transaction, action.why)
        elif isinstance(action, Validate):
            self.handle(self.verdict_on(action.transaction))
        elif isinstance(action, RunHere):
            self.run_here(action.transaction)
        elif isinstance(action, Commit):
            self.check_turn(action.transaction)
            self.end(action.transaction)
        elif isinstance(action, Wait):
            action.transaction.waiting_since = 1.0
        else:
            assert isinstance(action, Reject | Drop | HandBack)
            handed_back = isinstance(action, HandBack)
            assert not handed_back or action.transaction.hand_back is not None
            self.end(action.transaction)

    def end(self, transaction: Transaction) -> None:
        assert State.DONE is transaction.state
        self.ends[transaction.number] += 1
        event(f"ended by {transaction!r}".split(" > ")[-2])

    def check_turn(self, transaction: Transaction) -> None:
        """Nothing commits past an inevitable one, or past one before it in order."""
        inevitable = self.machine.turns.inevitable
        if inevitable is not None and not self.granting:
            assert transaction.call.ordered
            assert inevitable.call.ordered
            assert transaction.number < inevitable.number
        if transaction.call.ordered:
            before = [
                one
                for one in self.machine.open.values()
                if one.call.ordered and one.number < transaction.number
            ]
            assert all(one.state is State.WAITING for one in before)

    def recall(self, transaction: Transaction, why: Why) -> None:
        if transaction.attempt_number not in self.begun:
            self.handle(Recalled(transaction, why))

    def choose(self, strategy: st.SearchStrategy[object], default: object) -> object:
        return default if self.draw is None else self.draw(strategy)

    def verdict_on(self, transaction: Transaction) -> Stimulus:
        verdict = self.verdict or self.choose(VERDICTS, "valid")
        if verdict == "valid":
            return Valid(transaction)
        if isinstance(transaction.answer, Retry):
            return Conflicting(transaction, None)
        if verdict == "outdated":
            return Outdated(transaction)
        cell = self.choose(st.sampled_from(CELLS), CELLS[0])
        return Conflicting(transaction, Conflict(cell, 1, 2))  # type: ignore[arg-type] # one of CELLS

    def run_here(self, transaction: Transaction) -> None:
        answers = st.sampled_from([Outcome(1), Retry(1), None])
        answer = self.choose(answers, Outcome(1))
        if answer is None and self.machine.turns.inevitable is None:
            self.handle(RanShort(transaction))
            self.end(transaction)
        else:
            run = answer or Outcome(1)
            self.handle(RanHere(transaction, run))  # type: ignore[arg-type] # see above

    def drain(self) -> None:
        while (actions := self.machine.step()) is not None:
            for action in actions:
                self.do(action)

    def pick(self, data: st.DataObject, *states: State) -> Transaction:
        """Choose one of those in some states."""
        self.draw = data.draw
        found = [one for one in self.machine.open.values() if one.state in states]
        return data.draw(st.sampled_from(found))

    def are_there(self, *states: State) -> bool:
        return any(one.state in states for one in self.machine.open.values())

    # What can happen

    @rule(ordered=st.booleans(), which=st.sampled_from([0, 0, 1]))
    def submit(self, ordered: bool, which: int) -> None:
        self.handle(Submitted(self.new(ordered, which)))

    def new(self, ordered: bool, which: int) -> Transaction:
        call, number = Call(print, ordered=ordered), len(self.all) + 1
        transaction = Transaction(number, call, self.profiles[which], lambda *_: None)
        self.all.append(transaction)
        return transaction

    @rule(data=st.data(), which=st.sampled_from([0, 0, 1]), refused=st.booleans())
    def arrive(self, data: st.DataObject, which: int, refused: bool) -> None:
        """One comes with an attempt made in a front, which may be made again there."""
        self.draw = data.draw
        transaction = self.new(ordered=False, which=which)
        answer: Outcome | Refusal = Outcome(1)
        if refused:
            answer = Refusal("the test says so", lasting=False)
        else:
            transaction.hand_back = lambda conflict: None
        self.handle(Arrived(transaction, answer))
        assert transaction.state in (State.DONE, State.HELD, State.WAITING, State.AWAY)
        assert refused or State.AWAY is not transaction.state
        self.drain()

    @precondition(lambda self: self.machine.turns.inevitable is None)
    @rule(ordered=st.booleans())
    def retry_where_it_was_made(self, ordered: bool) -> None:
        if ordered and self.machine.turns.in_order:
            return  # such a one goes the long way
        transaction = self.new(ordered, 0)
        self.handle(RunsHere(transaction))
        self.handle(RanHere(transaction, Retry(1)))
        self.drain()

    @precondition(lambda self: self.round_announced)
    @rule(data=st.data())
    def run_round(self, data: st.DataObject) -> None:
        self.draw, self.round_announced = data.draw, False
        for transaction in self.machine.begin_round():
            self.handle(Placed(transaction, data.draw(st.booleans())))
        self.drain()

    @precondition(lambda self: self.are_there(State.AWAY))
    @rule(data=st.data())
    def begin_attempt(self, data: st.DataObject) -> None:
        self.begun.add(self.pick(data, State.AWAY).attempt_number)

    @precondition(lambda self: self.are_there(State.AWAY))
    @rule(data=st.data(), answer=ANSWERS)
    def answer(self, data: st.DataObject, answer: Outcome | Retry | Refusal) -> None:
        transaction = self.pick(data, State.AWAY)
        self.handle(Answered(transaction, answer))
        self.drain()

    @precondition(lambda self: self.are_there(State.AWAY))
    @rule(data=st.data())
    def keep_conflicting(self, data: st.DataObject) -> None:
        transaction = self.pick(data, State.AWAY)
        self.verdict = "conflict"
        for _ in range(MOST_CONFLICTS):
            if transaction.state is State.AWAY:
                self.handle(Answered(transaction, Outcome(1)))
        self.verdict = ""
        self.drain()

    @precondition(lambda self: self.are_there(State.AWAY))
    @rule(data=st.data(), answer=ANSWERS)
    def grant(self, data: st.DataObject, answer: Outcome | Retry | Refusal) -> None:
        transaction = self.pick(data, State.AWAY)
        if not self.machine.turns.has_come(transaction):
            return
        self.granting = True
        self.handle(Granted(transaction, answer, Refusal("the test says so")))
        self.granting = False
        self.drain()

    @precondition(lambda self: self.are_there(State.AWAY))
    @rule(data=st.data())
    def help_out(self, data: st.DataObject) -> None:
        self.recall(self.pick(data, State.AWAY), Why.HERE)
        self.drain()

    @precondition(lambda self: self.are_there(State.WAITING))
    @rule(data=st.data(), timed_out=st.booleans())
    def wake(self, data: st.DataObject, timed_out: bool) -> None:
        self.handle(Woken(self.pick(data, State.WAITING), timed_out))
        self.drain()

    @precondition(lambda self: self.are_there(State.WAITING))
    @rule(data=st.data(), again=st.booleans())
    def wake_to_run(self, data: st.DataObject, again: bool) -> None:
        transaction = self.pick(data, State.WAITING)
        if self.machine.turns.inevitable or not self.machine.is_next(transaction):
            return  # such a one goes the long way
        self.handle(RunsHere(transaction))
        self.handle(RanHere(transaction, Retry(1) if again else Outcome(1)))
        self.drain()

    @precondition(lambda self: self.are_there(State.WAITING))
    @rule(data=st.data())
    def end_wait(self, data: st.DataObject) -> None:
        transaction = self.pick(data, State.WAITING)
        self.handle(Closed(transaction))
        self.end(transaction)
        self.drain()

    @precondition(lambda self: self.machine.open)
    @rule(data=st.data(), may_stay=st.booleans())
    def leave(self, data: st.DataObject, may_stay: bool) -> None:
        transaction = self.pick(data, *State)
        had_waited = transaction.waiting_since is not None
        self.handle(Left(transaction, int if may_stay else None))
        assert not had_waited or State.DONE is transaction.state
        self.drain()

    # What holds whenever nothing happens

    @invariant()
    def each_is_where_its_state_says(self) -> None:
        machine, turns = self.machine, self.machine.turns
        note(f"{list(machine.open.values())}")
        lines = machine.lines._lines
        for one in self.all:
            is_open = one.state not in (State.NEW, State.DONE)
            assert is_open == (machine.open.get(one.number) is one)
            assert (one.state is State.ROUND) == (one in machine.rounds)
            assert (one.state is State.AWAY) == (one in machine.away.values())
            assert (one.state is State.AWAY) == (one.attempt_number > 0)
            assert (one.state is State.HELD) == (one in turns._held)
            demands = one in turns._next_inevitable
            assert (one.state is State.TO_BE_INEVITABLE) == demands
            in_line = any(one in line for line in lines.values())
            assert (one.state is State.LINE) == in_line
            has_place = is_open and one.call.ordered and one.state is not State.WAITING
            assert has_place == (one in turns._in_order)
            if one.state is State.ANSWERED:
                assert one.answer is not None
            elif one.state is not State.HELD:
                assert one.answer is None or one.state is State.DONE
        assert all(
            machine.away[number].attempt_number == number for number in machine.away
        )

    @invariant()
    def none_waits_for_nothing(self) -> None:
        machine, turns = self.machine, self.machine.turns
        assert not self.are_there(State.RUNNING)
        if turns.inevitable is None:
            assert not self.are_there(State.HELD, State.TO_BE_INEVITABLE)
            stay = [State.HERE, State.ANSWERED]
            first = turns._in_order[0] if turns._in_order else None
            assert first is None or first.state not in stay
            for one in machine.open.values():
                assert one.state not in stay or one.call.ordered
        else:
            assert machine.open[turns.inevitable.number] is turns.inevitable
            assert State.WAITING is not turns.inevitable.state
        holders = machine.lines._holders
        assert holders.keys() <= machine.open.keys()
        for cell, line in machine.lines._lines.items():
            assert not line or cell in holders.values()
        if self.are_there(State.ROUND) and not self.round_announced:
            assert machine.rounds.waits

    def teardown(self) -> None:
        """Let all of them end, one way or the other: each does, and does it once."""
        if not hasattr(self, "machine"):
            return
        self.draw = None
        for _ in range(10 * len(self.all)):
            if not self.machine.open:
                break
            if self.round_announced:
                self.round_announced = False
                for transaction in self.machine.begin_round():
                    self.handle(Placed(transaction, here=True))
            for transaction in list(self.machine.open.values()):
                if transaction.state is State.AWAY:
                    self.handle(Answered(transaction, Outcome(1)))
                elif transaction.state is State.WAITING:
                    self.handle(Woken(transaction, timed_out=True))
                self.drain()
        assert not self.machine.open, list(self.machine.open.values())
        assert Counter(one.number for one in self.all) == self.ends


TestMachine = Machines.TestCase

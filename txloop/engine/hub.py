"""What the parts of a dispatcher may use of it, and of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from txloop.engine.waiting import Timers
from txloop.executors.protocol import Reactor

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.engine.effects import EffectQueue
    from txloop.engine.events import Listener
    from txloop.engine.holds import Holds
    from txloop.engine.machine import Machine
    from txloop.engine.placement import Placement
    from txloop.engine.profile import Profile, Profiles
    from txloop.engine.reporting import Reporter
    from txloop.engine.stimuli import Stimulus
    from txloop.engine.transaction import AsStock, Done, Transaction
    from txloop.engine.waiting import WaitingRoom
    from txloop.executors.faults import Faults
    from txloop.executors.protocol import Executor
    from txloop.stm.store import Store
    from txloop.stm.types import Call, Conflict, Outcome

__all__ = ["Hub", "HubReactor"]


class HubReactor(Timers, Reactor, Protocol):
    """What the dispatcher needs of the running event loop."""

    def is_closed(self) -> bool:
        """Tell whether it will never run again."""


class Hub(Protocol):
    """A dispatcher, as its parts know it; used by the loop thread only.

    Attributes:
        executor: Where attempts run.
        reactor: The running event loop.
        listeners: Told what happens.
        profiles: What is known of each function.
        machine: Decides what becomes of each transaction.
        room: Where transactions are that have retried.
        effects: What is still to be done of what has committed.
        holds: The functions that are held here, as plain objects have changed.
        placement: Decides where calls run.
        report: Tells the listeners, and warns.
        decide: Validates an outcome.
        faults: What goes wrong on purpose, or None.
        closed: Whether no more transactions run.
        thread: The identifier of the loop thread; 0 before the first transaction.
    """

    executor: Executor
    reactor: HubReactor
    listeners: list[Listener]
    profiles: Profiles
    machine: Machine
    room: WaitingRoom
    effects: EffectQueue
    holds: Holds
    placement: Placement
    report: Reporter
    decide: Callable[[Outcome, Store, bool], Conflict | None]
    faults: Faults | None
    closed: bool
    thread: int

    def submit(
        self,
        call: Call,
        profile: Profile,
        done: Done,
        away: bool = False,
        spare_loop: bool = False,
        *,
        since: float | None = None,
        as_stock: AsStock | None = None,
    ) -> int:
        """Have a call run as a transaction, the long way."""

    def new(self, call: Call, profile: Profile, done: Done) -> Transaction:
        """Make a transaction of a call."""

    def handle(self, stimulus: Stimulus) -> None:
        """Let something happen to a transaction, and do what follows."""

    def run_short(self, transaction: Transaction) -> bool:
        """Run one the short way, if it is open; return whether it was."""

    def flush(self) -> None:
        """Run the round, if there is one."""

    def drain(self) -> None:
        """Run effects, and what had to wait, until nothing more can be done."""

    def start(self) -> None:
        """Start the executor, if it has not been started."""

    def call_soon(self, method: Callable[[], object]) -> None:
        """Have the loop call a method in its next iteration."""

    def answer_closed(self, done: Done, label: str) -> None:
        """Hand a `TxClosedError` to `done`, as an effect."""

    def answer_error(self, done: Done, label: str, error: Exception) -> None:
        """Hand an error to `done`, as an effect."""

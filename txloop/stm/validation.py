"""Whether an outcome still holds: the whole of validation, and nothing else.

`decide` is pure: no I/O, threads, clocks or logging, and it changes nothing. The rule
is backward validation of optimistic concurrency control (Kung and Robinson, 1981): an
outcome may commit if nothing that it read has changed since its snapshot. One that
wrote nothing is the answer that a serial run at its snapshot would have given, and so
needs no validation, unless an order was asked for or it ends with an error, which must
not come from stale reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from txloop.stm.types import Conflict, Outcome, Retry

if TYPE_CHECKING:
    from txloop.stm.store import Store

__all__ = ["decide", "still_holds"]


def decide(outcome: Outcome, store: Store, ordered: bool) -> Conflict | None:
    """Return why `outcome` may not be the next version of `store`; None if it may.

    Args:
        outcome: What an attempt returned.
        store: The committed state; the caller is its owner.
        ordered: Whether the outcome must hold now rather than at its snapshot.
    """
    snapshot = outcome.snapshot
    if snapshot == store.version:
        return None
    if not (outcome.writes or ordered or outcome.failed):
        return None
    return _change(outcome, store)


def still_holds(retry: Retry, store: Store) -> bool:
    """Return whether an attempt that retried would find now what it has found."""
    return retry.snapshot == store.version or _change(retry, store) is None


def _change(answer: Outcome | Retry, store: Store) -> Conflict | None:
    """Return the first change found of what an attempt has read, or None."""
    snapshot = answer.snapshot
    for presence, cells in ((False, answer.values), (True, answer.presences)):
        for number, key in cells:
            version = store.changed_since(number, key, presence, snapshot)
            if version:
                return Conflict((number, key), snapshot, version)
    return None

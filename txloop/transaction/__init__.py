"""PyPy's `transaction` module: work for all cores in a plain script, without a loop.

This is the face of a room that drives a `Dispatcher` by an event loop of its own. The
names and what they do are those of PyPy-STM's module in its three generations, as far
as a library can: ``lib_pypy/transaction.py`` on PyPy's branches stmgc-c7 and stmgc-c8::

    queues   `TransactionQueue`, and the functions that were there before it
    pieces   pieces of work, and what each could change that is not shared
    groups   pieces that wait, and how many travel together
    runs     one run: until no piece is left, or one raises
    reactor  the small event loop
    blocks   `atomic`: a part of the program that is one transaction
    sharing  shared containers: `stmdict` and others
    scratch  what never conflicts: the time, new numbers, what a thread has
"""

from __future__ import annotations

from txloop.errors import TransactionError
from txloop.transaction.blocks import (
    atomic,
    hint_commit_soon,
    is_atomic,
    signals_enabled,
)
from txloop.transaction.queues import (
    TransactionQueue,
    add,
    getsegmentlimit,
    number_of_transactions_in_last_run,
    run,
    set_num_threads,
)
from txloop.transaction.scratch import clock, count, threadlocalproperty, time
from txloop.transaction.sharing import (
    Empty,
    queue,
    stmdict,
    stmiddict,
    stmidset,
    stmset,
)

__all__ = [
    "Empty",
    "TransactionError",
    "TransactionQueue",
    "add",
    "atomic",
    "clock",
    "count",
    "getsegmentlimit",
    "hint_commit_soon",
    "is_atomic",
    "number_of_transactions_in_last_run",
    "queue",
    "run",
    "set_num_threads",
    "signals_enabled",
    "stmdict",
    "stmiddict",
    "stmidset",
    "stmset",
    "threadlocalproperty",
    "time",
]

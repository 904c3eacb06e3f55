"""The conflict log: what happens to transactions, in the format of PyPy-STM's stm.log.

``PYPYSTM=stm.log`` or ``txloop.install(log="stm.log")`` write it to a file; `keep` and
`recent` have the last minutes of it in memory::

    writer       the scribe of one loop: from what happens to the events of the log
    process_log  where the events of all loops come together
    file         the file: begun once, rotated when it is full
    c7_format    its bytes
    log_threads  what each worker did: one thread does one thing at a time
    timeline     events in the order of time, and the last minutes of them
    sides        the two sides of a conflict: cells and places by name, and what won
    idling       workers that have nothing to do although there are calls
    stories      what became of the last transactions, in words
"""

from __future__ import annotations

from txloop.stmlog.file import DEFAULT_BYTES
from txloop.stmlog.process_log import connect, hub, keep, recent
from txloop.stmlog.stories import KeptStories

__all__ = ["DEFAULT_BYTES", "KeptStories", "connect", "hub", "keep", "recent"]

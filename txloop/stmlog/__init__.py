"""The conflict log: what happens to transactions, in the format of PyPy-STM's stm.log.

``PYPYSTM=stm.log`` or ``txloop.install(log="stm.log")`` write it to a file; `keep` and
`recent` have the last minutes of it in memory.
"""

from __future__ import annotations

from txloop.stmlog.file import DEFAULT_BYTES
from txloop.stmlog.process_log import connect, hub, keep, recent
from txloop.stmlog.stories import Stories

__all__ = ["DEFAULT_BYTES", "Stories", "connect", "hub", "keep", "recent"]

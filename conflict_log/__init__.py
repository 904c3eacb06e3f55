"""The reader of stm.log: what keeps the cores idle, by source line.

`load` returns a `Report`, `rows` groups its losses; ``python -m conflict_log`` prints
them. Nothing here knows txloop: the format of the log is all that they share.
"""

from __future__ import annotations

from conflict_log.errors import ConflictLogError, FormatError, UsageError
from conflict_log.loading import load
from conflict_log.markers import Site
from conflict_log.report import Loss, Report, Source, Totals, Worker
from conflict_log.rows import GROUPINGS, Row, rows

__all__ = [
    "GROUPINGS",
    "ConflictLogError",
    "FormatError",
    "Loss",
    "Report",
    "Row",
    "Site",
    "Source",
    "Totals",
    "UsageError",
    "Worker",
    "load",
    "rows",
]

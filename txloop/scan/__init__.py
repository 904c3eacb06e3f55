"""The scan: what a function shares with the rest of the program (rule 9).

A transaction runs in a forked worker, where a write to plain module, class or
application state is lost and a read of state that the program writes elsewhere is
stale. The scan reads the code, looks at the live objects that it names, and returns
what it finds; it calls nothing of the program and changes nothing. It knows neither
Tornado nor the containers: it tells them by the name of their module.
"""

from __future__ import annotations

from txloop.scan.find import add_served, scan_function, scan_handler, scan_once
from txloop.scan.finding import Finding, FindingKind
from txloop.scan.index import Served
from txloop.scan.source import give_source

__all__ = [
    "Finding",
    "FindingKind",
    "Served",
    "add_served",
    "give_source",
    "scan_function",
    "scan_handler",
    "scan_once",
]

"""The scan: what a function shares with the rest of the program (rule 9).

A transaction runs in a forked worker, where a write to plain module, class or
application state is lost and a read of state that the program writes elsewhere is
stale. The scan reads the code, looks at the live objects that it names, and returns
what it finds; it calls nothing of the program and changes nothing. It knows neither
Tornado nor the containers: it tells them by the name of their module::

    find             the questions that it answers
    finding          an answer: a place, a name and a remedy
    source           which code is the program's, and its syntax trees
    columns          ... whose nodes have the columns of the program's own text
    syntax           which nodes are functions, and which names these bind
    index            what the program's functions write: the other half of a stale read
    reach            which functions may run once requests are served
    references       which functions a file calls at once, and which it passes on
    walk             the walk through a function and what that calls
    statements       ... statements, and conditions, which live objects answer
    matching         ... `match`, and what the names of patterns get
    assignments      ... what is assigned
    expressions      ... expressions
    call_expressions ... calls, their arguments, builtins
    calls            ... what a call runs
    targets          ... whose code that is
    notebook         which reads and changes count
    frame            the names that a piece of code sees
    value            what an expression stands for, without running it
    member           what an attribute of a value stands for
    special          the methods that operators, builtins and libraries' methods call
    parts            what plain containers hold
    kinds            ... which parts stand for all others
    unnamed          code that no line names: of what containers hold, of logging
    known            what functions and methods of Python do, by their names
    live_objects     what kind of thing an object is that the scan has at hand
    access           what was seen of shared state, and whether that makes a read stale
    evidence         what the source says about objects that do not exist yet
    libraries        what calls of libraries do with what they are given
    rendering        ... and templates
    outside          calls that change the world outside the program
    logging_only     calls that do no more than read, or log
"""

from __future__ import annotations

from txloop.scan.access import Patch
from txloop.scan.columns import Columns
from txloop.scan.find import (
    add_served,
    assigned_late,
    has_scanned,
    is_quiet_after,
    patches,
    scan_function,
    scan_handler,
    scan_once,
    unless_it_fails,
)
from txloop.scan.finding import Finding, FindingKind
from txloop.scan.index import Served
from txloop.scan.source import give_source

__all__ = [
    "Columns",
    "Finding",
    "FindingKind",
    "Patch",
    "Served",
    "add_served",
    "assigned_late",
    "give_source",
    "has_scanned",
    "is_quiet_after",
    "patches",
    "scan_function",
    "scan_handler",
    "scan_once",
    "unless_it_fails",
]

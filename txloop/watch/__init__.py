"""The watch: plain objects are looked at while the program runs (rule 9).

The scan reads code, and reading is never complete. So the plain mutable objects that a
function can reach are listed when it is first seen, and looked at: in a worker after
each attempt, on the loop thread before a call is sent away and when its answer is
there. What has changed keeps the function on the loop thread, until nothing changes
any more. The watch calls nothing of the program and changes nothing::

    watch       all functions, on the loop thread
    in_worker   all functions, in a worker
    subject     one function under watch: when to look at what
    limits      what all of this may take
    places      where the walk begins, and what it has found
    reach       from a function to all that it can reach: the walk
    walk        what lies ahead of it, and which names code uses
    visits      what an object leads to, by its kind
    code        likewise functions and classes: the program's code
    definitions what these are beside their attributes
    namespaces  what code uses of modules: globals, builtins, imports
    parts       what an object consists of
    kinds       what an object is to the watch
    names       which names code and templates use, and in which line
    hooks       the program's code that libraries and the interpreter call
    patched     what the program sets in libraries
    library     objects of the standard library that keep something
    states      what its modules keep
    caches      what an `lru_cache` has kept
    given       what a call has by value
    ends        objects whose end the program notices
    pictures    what an object looked like, and whether it looks otherwise now
    memory      likewise buffers, mappings, what ctypes leads to
    ambient     what belongs to the whole process: its folder, environment, locale ...
    outside     a call that no mark vouches for is stopped before it acts outside
    acts        which audit events are such acts (PEP 578)
"""

from __future__ import annotations

from txloop.watch.caches import note_start_hook
from txloop.watch.given import Given, GivenWatch
from txloop.watch.in_worker import WorkerWatch
from txloop.watch.names import names_in_templates
from txloop.watch.places import (
    ROOTS_OF,
    Roots,
    add_functions,
    known_functions,
    roots_of,
)
from txloop.watch.subject import Change, Subject
from txloop.watch.watch import Watch, held_in_reach

__all__ = [
    "ROOTS_OF",
    "Change",
    "Given",
    "GivenWatch",
    "Roots",
    "Subject",
    "Watch",
    "WorkerWatch",
    "add_functions",
    "held_in_reach",
    "known_functions",
    "names_in_templates",
    "note_start_hook",
    "roots_of",
]

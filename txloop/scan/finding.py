"""What the scan says: a finding has a place, a name and a remedy.

Findings are built from what the walk saw; this module looks at no source and keeps no
live object.
"""

from __future__ import annotations

import enum
import os
from dataclasses import dataclass

from txloop.scan.things import has_type

TRUST_WRITE = "mark with @transactional(trust=True) if the write may stay in one worker"
TRUST_READ = (
    "mark with @transactional(trust=True) if it is written before the first request "
    "only"
)


class FindingKind(enum.Enum):
    """Why a function cannot run as a transaction in a worker."""

    WRITES_GLOBAL = "assigns the module-level"
    MUTATES_GLOBAL = "changes the module-level"
    WRITES_CLASS = "changes the class attribute"
    WRITES_CLOSURE = "changes the closure variable"
    WRITES_APPLICATION = "changes the application's"
    WRITES_ARGUMENT = "changes its argument"
    READS_WRITTEN = "reads what other code writes,"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the program that keeps a function on the loop thread.

    Picklable, and safe to keep: it refers to no object of the program.

    Attributes:
        kind: What the line does.
        name: What is shared, such as ``app.hits``.
        file: The file of the line, as the interpreter names it.
        line: Its number, from 1.
        function: The qualified name of the function in which the line stands.
        remedy: What to do about it.
    """

    kind: FindingKind
    name: str
    file: str
    line: int
    function: str
    remedy: str

    def __str__(self) -> str:
        return self.describe()

    def describe(self) -> str:
        """Return the finding as one line, its file relative to the work directory."""
        place = f"{short_path(self.file)}:{self.line}"
        act = f"{self.kind.value} {self.name}"
        return f"{place}: {self.function}() {act}; {self.remedy}"


def short_path(file: str) -> str:
    """Return the path from the work directory, or as it is where that is longer."""
    relative = os.path.relpath(file)
    return file if relative.startswith(os.pardir) else relative


def write_remedy(thing: object) -> str:
    """Return what to do about a write to the thing or to the name that holds it."""
    return f"{_container(thing)}, or {TRUST_WRITE}"


def read_remedy(thing: object, writer: str, file: str, line: int) -> str:
    """Return what to do about a read of what the writer, at that line, changes."""
    by = f"{writer}() writes it at {short_path(file)}:{line}"
    return f"{by}: {_container(thing)}, or {TRUST_READ}"


def _container(thing: object) -> str:
    """Return the container to use instead of the thing."""
    name = type(thing).__name__
    if has_type(thing, dict):
        return f"make this {name} a txloop.TDict"
    if has_type(thing, set):
        return (
            f"make this {name} a txloop container or an immutable frozenset "
            "in a txloop.TVar"
        )
    if hasattr(type(thing), "append"):
        return (
            f"make this {name} a txloop container or an immutable tuple "
            "in a txloop.TVar"
        )
    if hasattr(type(thing), "__next__"):
        return "keep the next value in a txloop.TVar"
    return "keep the value in a txloop.TVar"

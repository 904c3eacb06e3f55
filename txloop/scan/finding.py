"""What the scan says: a finding has a place, a name and a remedy.

Findings are built from what the walk saw; this module looks at no source and at no
live object.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from txloop.scan.remedy import short_path


class FindingKind(enum.Enum):
    """Why a function cannot run as a transaction in a worker."""

    WRITES_GLOBAL = "assigns the module-level"
    MUTATES_GLOBAL = "changes the module-level"
    WRITES_CLASS = "changes the class attribute"
    WRITES_CLOSURE = "changes the closure variable"
    WRITES_APPLICATION = "changes the application's"
    WRITES_ARGUMENT = "changes its argument"
    CHANGES_PROCESS = "changes the whole process by"
    ACTS_OUTSIDE = ""  # its name says what it does
    READS_WRITTEN = "reads what other code writes,"
    REACHES = "reaches"  # of which a copy is of no use


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the program that keeps a function on the loop thread.

    Picklable, and safe to keep: it refers to no object of the program.

    Attributes:
        kind: What the line does.
        name: What is shared, such as ``app.hits``.
        file: The file of the line, as the interpreter names it; "" if it is not known.
        line: Its number, from 1.
        function: The qualified name of the function in which the line stands.
        remedy: What to do about it.
        advice: That part of it that says what to make of the shared object.
        written: For a read, the line that makes it stale.
        thing: The type of the shared object, "" where it is not known.
        identity: The identity of the object, where all that changes it is known by
            that; else 0.
    """

    kind: FindingKind
    name: str
    file: str
    line: int
    function: str
    remedy: str
    advice: str = field(default="", compare=False)
    written: str = field(default="", compare=False)
    thing: str = field(default="", compare=False)
    identity: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return self.describe()

    def describe(self) -> str:
        """Return the finding as one line, its file relative to the work directory."""
        return f"{self.statement()}; {self.remedy}"

    def statement(self) -> str:
        """Return where it is and what happens there, without what to do about it."""
        act = f"{self.kind.value} {self.name}".strip()
        if not self.file:
            return f"it {act}"
        return f"{short_path(self.file)}:{self.line}: {self.function}() {act}"

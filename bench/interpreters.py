"""The Python interpreters of this machine that can serve: what they are, what lacks."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "NAMES",
    "Interpreter",
    "Unusable",
    "find_interpreter",
    "find_interpreters",
    "probe",
]

NAMES = ("python3.13t", "python3.14t", "pypy3.11", "pypy3")
"""What is looked for on the path, beside the interpreter that runs the benchmark."""

_PROBE = """
import json, platform, sys
import cloudpickle, tornado
gil = getattr(sys, "_is_gil_enabled", lambda: True)()
name = platform.python_implementation()
version = platform.python_version()
if name == "PyPy":
    version = "%d.%d.%d" % sys.pypy_version_info[:3]
print(json.dumps([name, version, gil]))
"""
_PROBE_SECONDS = 60

_JIT_WARM_UP_SECONDS = 75

# PyPy compiles what it has counted often enough. Without the decay of these counts,
# what a server does once for each request gets there sooner.
_JIT_OPTIONS = ("--jit", "decay=0")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that has Tornado and cloudpickle.

    Attributes:
        path: What runs it.
        implementation: ``CPython`` or ``PyPy``.
        version: Its own, as PyPy's 7.3.20.
        gil: Whether it has a global lock.
    """

    path: str
    implementation: str
    version: str
    gil: bool

    def __str__(self) -> str:
        return f"{self.implementation} {self.version}{'' if self.gil else 't'}"

    @property
    def has_jit(self) -> bool:
        """Whether it gets faster under load."""
        return self.implementation == "PyPy"

    @property
    def options(self) -> tuple[str, ...]:
        """What a server starts it with."""
        return _JIT_OPTIONS if self.has_jit else ()

    @property
    def command(self) -> tuple[str, ...]:
        """What starts it as a server."""
        return self.path, *self.options

    @property
    def warm_up_seconds(self) -> int:
        """How long it has to be under load before it is measured."""
        return _JIT_WARM_UP_SECONDS if self.has_jit else 1


@dataclass(frozen=True, slots=True)
class Unusable:
    """A Python that cannot serve, and why."""

    path: str
    reason: str


def find_interpreters(more: Iterable[str]) -> tuple[list[Interpreter], list[Unusable]]:
    """Return the interpreters that can serve, each once, and those that cannot.

    Args:
        more: Paths or names to look at, too.
    """
    usable: dict[str, Interpreter] = {}
    unusable: list[Unusable] = []
    found = (shutil.which(name) for name in (*more, *NAMES))
    for path in (sys.executable, *filter(None, found)):
        one = probe(path)
        if isinstance(one, Interpreter):
            usable.setdefault(str(one), one)
        else:
            unusable.append(one)
    unusable += [Unusable(name, "not found") for name in more if not shutil.which(name)]
    return list(usable.values()), unusable


def find_interpreter(name: str | None) -> Interpreter:
    """Return the interpreter of that name or path; this very one for None.

    Raises:
        UsageError: it cannot serve, or there is none.
    """
    path = shutil.which(name) if name else sys.executable
    if path is None:
        raise UsageError(f"there is no Python {name}")
    found = probe(path)
    if isinstance(found, Unusable):
        raise UsageError(f"{found.path} cannot serve: {found.reason}")
    return found


def probe(path: str) -> Interpreter | Unusable:
    """Ask the interpreter at `path` what it is."""
    try:
        answer = subprocess.run(
            [path, "-c", _PROBE],
            capture_output=True,
            text=True,
            check=False,
            timeout=_PROBE_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Unusable(path, str(error))
    if answer.returncode:
        lines = answer.stderr.strip().splitlines() or [f"exit code {answer.returncode}"]
        return Unusable(path, lines[-1])
    implementation, version, gil = json.loads(answer.stdout.splitlines()[-1])
    return Interpreter(path, implementation, version, gil)

"""What belongs to the whole process: a copy of the process has a copy of its own."""

from __future__ import annotations

import locale
import logging
import os
import sys
from typing import TYPE_CHECKING

from txloop.origin import is_own_module
from txloop.watch.pictures import Thing

if TYPE_CHECKING:
    from txloop.watch.pictures import Names

__all__ = ["MAKING_FILES", "Ambient", "Imports", "Umask"]

MAKING_FILES = frozenset(
    [
        *("NamedTemporaryFile", "copy", "copyfile", "makedirs", "mkdir", "mkstemp"),
        *("open", "touch", "umask", "write_bytes", "write_text"),
    ]
)
"""Names in code to which the umask may matter."""

_ENVIRONMENT = frozenset(
    [
        *("Popen", "check_call", "check_output", "environ", "environb", "expandvars"),
        *("getenv", "putenv", "run", "subprocess", "system", "unsetenv"),
    ]
)

_LOGGING = frozenset(
    [
        *("access_log", "app_log", "critical", "debug", "error", "exception"),
        *("gen_log", "getLogger", "info", "isEnabledFor", "log", "logger"),
        *("logging", "setLevel", "warn", "warning"),
    ]
)

# What there is, and the names in code to which it may matter; None: to any code.
_PARTS = (
    ("the working directory", None),
    ("os.environ", _ENVIRONMENT),
    ("the recursion limit", None),
    ("the locale", None),
    ("a logger's level", _LOGGING),
)


class Ambient(Thing):
    """The working directory, environment, recursion limit, locale and log levels."""

    __slots__ = ("_picture",)

    def retake(self) -> None:
        self._picture = _look()
        self.parts = 80  # it takes as long as so many

    def difference(self, names: Names | None) -> str | None:
        now = _look()
        if now == self._picture:
            return None
        for (what, users), old, new in zip(_PARTS, self._picture, now, strict=True):
            if old != new and _matters(users, names):
                return what
        return None


def _matters(users: frozenset[str] | None, names: Names | None) -> bool:
    return users is None or names is None or not users.isdisjoint(names.wanted)


def _look() -> tuple[object, ...]:
    try:
        folder = os.getcwd()
    except OSError:  # it was removed
        folder = ""
    environment = getattr(os.environ, "_data", os.environ)
    levels = {
        name: logger.level
        for name, logger in list(logging.root.manager.loggerDict.items())
        if isinstance(logger, logging.Logger) and logger.level
    }
    return (
        folder,
        dict(environment),
        sys.getrecursionlimit(),
        locale.setlocale(locale.LC_ALL),
        (logging.root.level, logging.root.manager.disable, levels),
    )


class Imports(Thing):
    """The program's modules: what is imported when code runs has a state of its own."""

    __slots__ = ("_picture",)

    def retake(self) -> None:
        self._picture = set(sys.modules)
        self.parts = 1

    def difference(self, names: Names | None) -> str | None:
        if len(sys.modules) == len(self._picture):
            return None
        for name in sys.modules.keys() - self._picture:
            if is_own_module(sys.modules[name]):
                return f"sys.modules, by importing {name}"
        self.retake()
        return None


class Umask(Thing):
    """The umask, as far as the system tells it without setting it."""

    __slots__ = ("_picture",)

    def retake(self) -> None:
        self._picture = _umask()
        self.parts = 300

    def difference(self, names: Names | None) -> str | None:
        return None if _umask() == self._picture else ""


def _umask() -> bytes:
    try:
        with open("/proc/self/status", "rb") as file:
            return next(line for line in file if line.startswith(b"Umask"))
    except (OSError, StopIteration):
        return b""

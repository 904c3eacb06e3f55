"""What belongs to the whole process: a copy of the process has a copy of its own.

So has it of the generators of random numbers that a process shares. That is as good,
unless the program has seeded them: then it wants the numbers of one sequence.
"""

from __future__ import annotations

import linecache
import locale
import logging
import os
import random
import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from txloop.scan.known import LOGS
from txloop.scan.source import own_modules
from txloop.stm.origin import file_of, is_own_module
from txloop.watch.pictures import Thing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Set

    from txloop.watch.pictures import Names

__all__ = [
    "MAKING_FILES",
    "Ambient",
    "Imports",
    "Umask",
    "is_seeded",
    "is_shared_generator",
    "shared_generators",
    "translations",
]

MAKING_FILES = frozenset(
    [
        *("NamedTemporaryFile", "copy", "copyfile", "makedirs", "mkdir", "mkstemp"),
        *("open", "touch", "umask", "write_bytes", "write_text"),
    ]
)
"""Names in code to which the umask may matter."""

_LOGGING = LOGS | {
    *("access_log", "app_log", "disabled", "gen_log", "getEffectiveLevel"),
    *("getLogger", "isEnabledFor", "level", "logger", "logging", "setLevel"),
}


_TRANSLATING = frozenset(
    [
        *("_", "format_date", "format_day", "friendly_number", "get_browser_locale"),
        *("get_user_locale", "locale", "pgettext", "translate"),
    ]
)


_TEXTS = frozenset(["_", "format_date", "format_day", "pgettext", "translate"])
"""Of these, what looks up texts, and is no method that each handler has."""


class _Part(NamedTuple):
    """One thing that belongs to the process.

    Attributes:
        what: What messages call it.
        look: Returns what it is now.
        users: The names in code to which it may matter; None: to any code.
    """

    what: str
    look: Callable[[], object]
    users: frozenset[str] | None = None

    def matters(self, names: Names | None) -> bool:
        """Tell whether it may matter to code of these names."""
        users = self.users
        return users is None or names is None or not users.isdisjoint(names.wanted)


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


def _environment() -> Mapping[str, object]:
    # Not its own items: they are decoded, at a hundred times the cost.
    return dict(getattr(os.environ, "_data", os.environ))


def _levels() -> tuple[object, ...]:
    levels = {
        name: (logger.level, logger.disabled)
        for name, logger in list(logging.root.manager.loggerDict.items())
        if isinstance(logger, logging.Logger) and (logger.level or logger.disabled)
    }
    names = dict(logging._levelToName)  # as `addLevelName` gives them
    return logging.root.level, logging.root.manager.disable, levels, names


def _locales() -> tuple[object, ...]:
    """Return what `tornado.locale` was set to; not that it was asked for a locale."""
    state = vars(sys.modules.get("tornado.locale", object))
    names = ("_default_locale", "_use_gettext", "_supported_locales", "_translations")
    return tuple(map(state.get, names))


_PARTS = (
    _Part("the working directory", _folder),
    # Libraries use it, too: for the time zone, the home folder, proxies.
    _Part("os.environ", _environment),
    _Part("the recursion limit", sys.getrecursionlimit),
    _Part("the locale", lambda: locale.setlocale(locale.LC_ALL)),
    _Part("a logger's level", _levels, _LOGGING),
    _Part("the translations", _locales, _TRANSLATING),
)


def translations(names: Set[str]) -> Iterator[tuple[str, object]]:
    """Yield the texts of `tornado.locale`, with a name, where code may ask for them.

    Args:
        names: All that the code uses.
    """
    texts = getattr(sys.modules.get("tornado.locale"), "_translations", None)
    if texts and not _TEXTS.isdisjoint(names):
        yield "the translations", texts


class Ambient(Thing):
    """The working directory, environment, limits, locales and log levels."""

    __slots__ = ("_picture",)

    def retake(self) -> None:
        self._picture = [part.look() for part in _PARTS]
        self.parts = 80  # it takes as long as this many

    def difference(self, names: Names | None) -> str | None:
        for part, old in zip(_PARTS, self._picture, strict=True):
            if part.matters(names) and part.look() != old:
                return part.what
        return None


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


_SEEDING = re.compile(r"(?<![\w.])(random|np\.random|numpy\.random)\.seed\(")
_IMPORTING = re.compile(r"from (numpy\.)?random import .*\bseed\b")


def is_shared_generator(thing: object) -> bool:
    """Tell whether it is the generator behind a module's functions."""
    return any(thing is one for one in _generators())


def shared_generators(module: object, names: Set[str]) -> Iterator[object]:
    """Yield the generators behind the functions of `random`, or of numpy's.

    Args:
        module: A module that code uses.
        names: What it uses of modules and objects.
    """
    numpys = module is sys.modules.get("numpy") and "random" in names
    if module is random or module is sys.modules.get("numpy.random") or numpys:
        yield from _generators()


def _generators() -> Iterator[Any]:
    yield getattr(random, "_inst", None)
    numpy_random: Any = sys.modules.get("numpy.random.mtrand")
    if numpy_random is not None:
        yield numpy_random._rand


def is_seeded() -> bool:
    """Tell whether a line of the program's seeds them."""
    return any(
        _SEEDING.search(line) or _IMPORTING.search(line)
        for module in own_modules()
        for line in linecache.getlines(file_of(module), vars(module))
    )

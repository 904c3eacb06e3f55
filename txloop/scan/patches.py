"""What the program sets in libraries: attributes of their modules, classes and objects.

No look can tell what a library keeps from its caches. But what the program sets there
itself is state of the program's, which it may read through whatever the library does.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from txloop.scan.access import SOME, WHOLE
from txloop.scan.live_objects import UNKNOWN, has_type
from txloop.stm.origin import is_own_module, own_module_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from txloop.scan.access import Access, Writes

__all__ = ["Patch", "patches_among"]

_GROWING = frozenset({"sys.modules"})
"""What Python itself adds to."""

_NO_LIBRARIES = frozenset({"builtins", "conflict_log", "logging", "txloop"})
"""Packages of which nothing is looked at, or all in any case."""


class Patch(NamedTuple):
    """An attribute that the program sets when requests are served.

    Attributes:
        home: The module in which that is.
        owner: What has it: a module, a class, an object that one of them has.
        label: What messages call that.
        name: Its name.
    """

    home: str
    owner: object
    label: str
    name: str


def patches_among(writes: Writes) -> Iterator[Patch]:
    """Yield what of all that the program writes lies in libraries.

    The scan knows owners by their identities, and calls them by their names.
    """
    for written in (writes.assigned, writes.changed):
        for (identity, name), access in written.items():
            if name not in (WHOLE, SOME):
                patch = _patch(identity, name, access)
                if patch is not None:
                    yield patch


def _patch(identity: object, name: str, access: Access) -> Patch | None:
    label = access.name.removesuffix(f".{name}")
    if label == access.name or label.partition(".")[0] in _NO_LIBRARIES:
        return None
    if access.name in _GROWING:
        return None
    home, rest = _home(label)
    if home is None or is_own_module(home):
        return None
    owner = _in(home, rest)
    known = owner.__dict__ if has_type(owner, ModuleType) else owner
    if id(known) != identity or own_module_of(owner) is not None:
        return None
    return Patch(home.__name__, owner, label, name)


def _home(label: str) -> tuple[ModuleType | None, list[str]]:
    """Return the module where a name begins, and what comes after that."""
    names = label.split(".")
    for count in range(len(names), 0, -1):
        module = sys.modules.get(".".join(names[:count]))
        if has_type(module, ModuleType):
            return module, names[count:]
    return None, names


def _in(module: ModuleType, names: list[str]) -> object:
    found: object = module
    for name in names:
        if not has_type(found, ModuleType, type):
            return UNKNOWN
        found = found.__dict__.get(name, UNKNOWN)
    return found

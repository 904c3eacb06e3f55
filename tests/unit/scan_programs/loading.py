"""Loading small programs, and comparing what the scan tells with their comments."""

from __future__ import annotations

import importlib.util
import re
import sys
import textwrap
from contextlib import contextmanager
from typing import TYPE_CHECKING
from unittest import mock

from txloop import scan as scanning
from txloop.scan import Finding, FindingKind, scan_function, source
from txloop.stm.origin import is_own_module

if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    Load = Callable[..., types.ModuleType]

MARK = re.compile(r"\b([A-Z]+_[A-Z]+) ([^\s,]+)")

# Stands in for the containers: the scan knows them by the name of their module.
CONTAINERS = """
class TVar:
    def __init__(self, value=None):
        self.value = value
class TDict:
    def __setitem__(self, key, value): ...
    def __getitem__(self, key): ...
    def __delitem__(self, key): ...
    def update(self, **values): ...
    def pop(self, key): ...
class TObject: ...
def on_commit(function, *args): ...
def or_else(first, second): ...
"""


@contextmanager
def loading(folder: Path) -> Iterator[Load]:
    """Give a function that writes a module into the folder and imports it."""
    loaded: set[str] = set()
    before = set(sys.modules)

    def program() -> list[types.ModuleType]:
        names = set(sys.modules) - before | loaded
        modules = [sys.modules.get(name) for name in names]
        return [one for one in modules if is_own_module(one)]

    def load_module(source: str, name: str = "app") -> types.ModuleType:
        file = folder / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(textwrap.dedent(source))
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        # As with importlib.reload: the same module, with the new code.
        module = sys.modules.get(name) or importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        loaded.add(name)
        spec.loader.exec_module(module)
        return module

    # Alone: what the tests themselves name would count otherwise.
    with mock.patch.object(source, "own_modules", program):
        yield load_module
    for name in loaded:
        del sys.modules[name]


def scan_handler(
    handler: type,
    verb: str,
    arguments: Mapping[str, object] | None = None,
    application: object = None,
    *,
    outside: bool = False,
    unfollowed: bool = False,
) -> tuple[Finding, ...]:
    """Scan a handler; return what it shares, and what else is asked for."""
    passed = set()
    if not outside:
        passed.add(FindingKind.ACTS_OUTSIDE)
    if not unfollowed:
        passed.add(FindingKind.NOT_FOLLOWED)
    found = scanning.scan_handler(handler, verb, arguments, application)
    return tuple(one for one in found if one.kind not in passed)


def scan(module: types.ModuleType) -> tuple[Finding, ...]:
    """Scan what a program of the tables starts with."""
    if hasattr(module, "Handler"):
        return scan_handler(module.Handler, "get")
    return scan_function(module.get)


def marked(source: str) -> list[tuple[str, str, int]]:
    """Return the kind, name and line that the comments of a program tell."""
    return [
        (match[1], match[2], number)
        for number, line in enumerate(source.splitlines(), 1)
        for match in MARK.finditer(line.partition("#")[2])
    ]


def told(findings: tuple[Finding, ...]) -> list[tuple[str, str, int]]:
    """Return the kind, name and line of the findings."""
    return [(each.kind.name, each.name, each.line) for each in findings]

"""Which packages are imported, and which ties between rooms are no imports.

The arrows between rooms and modules are contracts of import-linter, in pyproject.toml:
`make lint`. Here stands what it cannot say.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]

# Package -> what it may import beside the standard library. What of those may be
# imported where is in the contracts.
ELSEWHERE = {
    "txloop": {"cloudpickle", "dask", "distributed", "tornado", "txloop"},
    "conflict_log": {"conflict_log", "prometheus_client", "rich", "tornado", "txloop"},
    # They are written as a user's are.
    "handlers": {"handlers", "tornado", "txloop"},
}

# Ties that point upward at run time: a function that fills a table of its module when
# a higher room is imported -> the only module of txloop that calls it.
REGISTRIES = {
    "add_functions": "txloop.web.watched",
    "add_roots": "txloop.web.targets",
    "add_served": "txloop.web.targets",
    "before_start": "txloop.web.delegate",
    "reduce_carried": "txloop.web.travelling",
    "register_executor": None,  # for executors from elsewhere, and tests
    "register_form": "txloop.web.travelling",
}


LATER = {"annotationlib"}
"""Modules of the standard library that not all interpreters have."""


def modules(package: str) -> list[Path]:
    """Return the modules of a package of this repository."""
    return sorted((ROOT / package).rglob("*.py"))


def name_of(path: Path) -> str:
    """Return the name under which a file is imported, `__init__` kept."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def packages(path: Path) -> Iterator[str]:
    """Yield the top of every import of a file, those inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module).partition(".")[0]


def calls(path: Path) -> set[str]:
    """Return the names of the functions that a file calls."""
    return {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text(), str(path)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


@pytest.mark.parametrize("package", ELSEWHERE)
def test_nothing_else_is_imported_from_elsewhere(package: str) -> None:
    imported = {name for path in modules(package) for name in packages(path)}

    assert imported - sys.stdlib_module_names - LATER <= ELSEWHERE[package]


def test_a_registry_is_filled_by_the_module_it_is_for() -> None:
    called = {path: calls(path) for path in modules("txloop")}
    callers = {
        registry: {name_of(path) for path, names in called.items() if registry in names}
        for registry in REGISTRIES
    }

    expected = {name: {module} - {None} for name, module in REGISTRIES.items()}
    assert expected == callers


@pytest.mark.parametrize("module", ["txloop.stm", "txloop.cells", "txloop.engine"])
def test_a_lower_room_works_where_there_is_no_tornado(module: str) -> None:
    """At run time too: `txloop/__init__.py` alone imports Tornado for it."""
    proof = (
        "import sys, types; sys.modules['tornado'] = None;"
        "package = sys.modules['txloop'] = types.ModuleType('txloop');"
        f"package.__path__ = ['txloop']; import {module}"
    )

    subprocess.run(
        [sys.executable, "-c", proof], cwd=ROOT, check=True, capture_output=True
    )

"""The list of patches is complete, and fits the installed Tornado and Python."""

from __future__ import annotations

import ast
import inspect
import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from txloop.errors import TxInternalError
from txloop.loop.patches import MADE_BELOW, PATCHES, Patch, extend, patch

if TYPE_CHECKING:
    from collections.abc import Iterator

TXLOOP = Path(__file__).parents[2] / "txloop"

BELOW = {f"{row.by.replace('.', '/')}.py" for row in MADE_BELOW}
"""The modules that make their patches themselves."""

OWN = {
    # `vars()` of a TObject, and classes derived from the program's own
    "cells/attributes.py": {"cls", "stand_in"},
    "cells/owned.py": {"cls", "stand_in"},
    "cells/namespaces.py": {"self._shared"},
    "cells/undeclared.py": {"cls", "root"},
    "cells/orders.py": {"cls"},
    "engine/marks.py": {"target"},  # the mark of a function
    "executors/codec/answers.py": {"record"},
    "cells/tobject.py": {"cls", "self"},
    "stm/variables.py": {"self._shared"},  # the context of decimals, of an attempt
    "stm/container.py": {"container"},  # a slot that each reference takes along
    "stm/log_capture.py": {"record"},
    "sharing/making.py": {"builtins", "node"},  # in a rehearsal; a syntax tree
    "transaction/pieces.py": {"run_pieces"},
    "web/messages.py": {"run_message"},
    "web/request_attempt.py": {"run_request"},
    "web/tied.py": {"_real_of(self)"},  # what the program sets there
}
"""On what else `setattr` and `delattr` are used: our own, or single objects."""

DEFINING = {"cells/introspected.py"}
"""The modules that set special methods of classes of their own."""

SINGLE = {
    "cells/likeness.py": 1,  # in `MADE_BELOW`
    "cells/part_by_part.py": 1,  # likewise
    "web/clients.py": 1,  # one stream
    "web/delegate.py": 1,  # one handler
}
"""How often methods are assigned to, which mypy has to be told."""


def row_name(row: Patch) -> str:
    return f"{getattr(row.owner, '__qualname__', row.owner)}.{row.name}"


def parameters(function: object) -> str:
    """Return the names of a function's parameters, as they stand in a row."""
    assert callable(function)
    signs: dict[object, str] = {
        inspect.Parameter.VAR_POSITIONAL: "*",
        inspect.Parameter.VAR_KEYWORD: "**",
    }
    found = inspect.signature(function).parameters.values()
    return ", ".join(signs.get(one.kind, "") + one.name for one in found)


def sources() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(TXLOOP.rglob("*.py")):
        yield str(path.relative_to(TXLOOP)), ast.parse(path.read_text())


def foreign_names(tree: ast.Module) -> set[str]:
    """Return the names by which a module knows what is not txloop's."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {
                alias.asname or alias.name.partition(".")[0]
                for alias in node.names
                if not alias.name.startswith("txloop")
            }
        elif isinstance(node, ast.ImportFrom) and not (
            (node.module or "").startswith("txloop")
        ):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def root(node: ast.expr) -> str:
    """Return the name with which an expression begins; of `vars(X)` that is X."""
    while True:
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                node = inner
            case ast.Call(func=ast.Name("vars" | "type"), args=[inner]):
                node = inner
            case ast.Name(name):
                return name
            case _:
                return ""


def targets(tree: ast.Module) -> Iterator[ast.Attribute]:
    """Yield the attributes that are set or deleted, the keys of their dicts too."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ctx=ast.Store() | ast.Del()):
                yield node
            case ast.Subscript(
                value=ast.Attribute(attr="__dict__") as inner,
                ctx=ast.Store() | ast.Del(),
            ):
                yield inner
            case ast.Subscript(
                value=ast.Call(func=ast.Name("vars"), args=[inner]),
                ctx=ast.Store() | ast.Del(),
            ):
                yield ast.Attribute(inner, "__dict__", ast.Store())


def calls(tree: ast.Module, *names: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in names:
            yield node


@pytest.mark.parametrize("row", PATCHES, ids=row_name)
def test_what_is_replaced_takes_what_it_is_said_to_take(row):
    if row.takes is None:
        assert not callable(row.stock)
    else:
        taken = parameters(row.stock)

        assert row.takes == taken


@pytest.mark.parametrize("row", [*PATCHES, *MADE_BELOW], ids=lambda row: row.by)
def test_each_has_a_reason_and_a_module(row):
    file = TXLOOP.joinpath(*row.by.split(".")).with_suffix(".py")

    assert file.exists()
    assert len(row.reason) > 20


def test_each_is_made_by_some_module():
    # GIVEN
    made = {
        (ast.unparse(call.args[0]).rpartition(".")[2], ast.unparse(call.args[1]))
        for _, tree in sources()
        for call in calls(tree, "patch", "extend")
    }

    # THEN
    listed = {
        (
            getattr(row.owner, "__name__", "").rpartition(".")[2],
            repr(row.name).replace('"', "'"),
        )
        for row in PATCHES
    }
    in_turn = {pair for pair in listed if pair[0] == "PeriodicCallback"}
    expected = listed - in_turn | {("PeriodicCallback", "_name")}
    expected -= {("convert_yielded", "'register'")}
    assert expected | {("convert_yielded", "tuple")} == made


def test_no_module_replaces_anything_of_others_itself():
    found = {
        (name, ast.unparse(one))
        for name, tree in sources()
        for foreign in [foreign_names(tree)]
        for one in targets(tree)
        if root(one) in foreign
    }

    expected = {  # see `MADE_BELOW`
        ("cells/likeness.py", "json.JSONEncoder.iterencode"),
        ("cells/part_by_part.py", "dataclasses._asdict_inner"),
        ("cells/part_by_part.py", "dataclasses._astuple_inner"),
        ("cells/part_by_part.py", "pprint.PrettyPrinter._safe_repr"),
        ("executors/codec/by_value.py", "cloudpickle.cloudpickle._walk_global_ops"),
        ("executors/debugging.py", "sys.breakpointhook"),
        ("stm/tracebacks.py", "traceback.TracebackException"),
        ("stm/tracebacks.py", "traceback.extract_tb"),
    }
    assert expected == found


def test_no_module_sets_attributes_of_others_by_name():
    found = {
        (name, ast.unparse(call.args[0]))
        for name, tree in sources()
        for call in calls(tree, "setattr", "delattr")
        if name not in {*BELOW, "loop/patches.py"}
    }

    assert {(name, one) for name in OWN for one in OWN[name]} == found


def test_no_module_sets_special_methods_of_others():
    found = {
        name
        for name, tree in sources()
        for one in targets(tree)
        if one.attr in ("__init__", "__new__", "__call__", "__class_getitem__")
    }

    assert DEFINING | {"executors/refusing.py"} == found


def test_methods_are_assigned_to_on_single_objects_only():
    found = {}
    for path in sorted(TXLOOP.rglob("*.py")):
        count = path.read_text().count("method-assign]")
        if count:
            found[str(path.relative_to(TXLOOP))] = count

    assert SINGLE == found


def test_nothing_of_others_is_patched_by_other_means():
    found = {
        name
        for name, tree in sources()
        for foreign in [foreign_names(tree)]
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and (
            ast.unparse(call.func).startswith("mock.patch")
            or (
                ast.unparse(call.func).endswith(".register")
                and root(call.func) in foreign - {"atexit", "faulthandler"}
            )
        )
    }

    # Only while a program is rehearsed, which serves nobody.
    assert {"check/copies.py", "check/rehearsal.py"} == found


@pytest.mark.parametrize("name", ["encode", "no_such_name"])
def test_what_is_not_in_the_list_is_refused(name):
    with pytest.raises(TxInternalError, match="not in the list of patches"):
        patch(json.JSONEncoder, name, None)
    with pytest.raises(TxInternalError, match="not in the list of patches"):
        extend(logging.Logger.handle, int, print)

"""Where a program asks for the exact type of an object: that of a container is ours.

``type(rows).__name__`` and ``str(type(rows))`` are those of the plain class, and so is
``rows.__class__``. What is compared, looked up, kept or given on is not: what is asked
has to be plain, unless it may be an object of the program's own classes.
"""

from __future__ import annotations

import ast
import builtins
import typing
from typing import TYPE_CHECKING, TypeGuard

from txloop.scan.known import READERS, SCALARS
from txloop.scan.syntax import last_name, walk
from txloop.sharing.making import NOTED
from txloop.sharing.syntax import arguments_of, root_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from txloop.sharing.meanings import Meanings

__all__ = ["only_asks", "types_asked"]

_REPLACED = {one.__name__ for one in NOTED}
"""Types of objects for which containers may stand."""

_OTHERS = {
    name for name, its in vars(builtins).items() if isinstance(its, type)
} - _REPLACED
"""Builtin types of other objects."""

_ALIASES = frozenset(
    f"{home}.{name}"
    for home in ("typing", "typing_extensions")
    for name in typing.__all__
    if typing.get_origin(getattr(typing, name)) in NOTED
)
"""Names such as `typing.List`, which ask for the exact type, not for `__class__`."""

_CHECKS = frozenset(["isinstance", "issubclass"])

_OF_TYPES = frozenset(["__bases__", "__doc__", "__module__", "__mro__", "__qualname__"])
"""Attributes of classes that containers' classes do not have as the plain ones."""

_METHODS = frozenset(name for its in NOTED for name in dir(its)) - {
    *("__class__", "__dict__", "__doc__", "__init__", "__new__"),
}
"""Methods of those types: as functions, they take the plain objects only."""

_SHOWING = (SCALARS | READERS) - {
    *("count", "getattr", "hasattr", "index", "isinstance", "issubclass"),
}
"""Functions that show what they are given, or only its name."""


def types_asked(
    node: ast.AST, may_be_own: Callable[[ast.expr], bool], foreign: Mapping[str, str]
) -> list[ast.expr]:
    """Return the expressions whose exact types a node asks for.

    Args:
        node: The node; what is in it is not looked at, but for its direct parts.
        may_be_own: Tells whether an expression may give an object of a class of the
            program.
        foreign: Names that are imported from other modules than the program's, with
            what they mean there.
    """
    match node:
        case ast.Compare(left=left, comparators=others):
            return _compared([left, *others], may_be_own, foreign)
        case ast.Attribute(value=value, attr=name) if name in _OF_TYPES:
            given: Iterable[ast.AST] = [value]
        case ast.Attribute(
            value=ast.Attribute(value=of, attr="__class__"), attr=name
        ) if name in _METHODS:
            return [] if may_be_own(of) else [of]
        case ast.Attribute(value=value, attr=name) if name in _METHODS:
            given = [value]
        case ast.Call(func=ast.Name(id="isinstance"), args=[one, kinds]) if (
            _names_alias(kinds, foreign)
        ):
            return [one]
        case ast.Call(func=function):
            shows = last_name(function) in _SHOWING
            given = [] if shows else arguments_of(node)
        case ast.Subscript(slice=key):
            given = [key]
        case (
            ast.Assign(value=ast.expr() as value)
            | ast.AnnAssign(value=ast.expr() as value)
            | ast.NamedExpr(value=value)
            | ast.Return(value=ast.expr() as value)
            | ast.Match(subject=value)
        ):
            given = [value]
        case ast.Dict() | ast.List() | ast.Set() | ast.IfExp():
            given = ast.iter_child_nodes(node)
        case ast.ListComp(elt=value) | ast.SetComp(elt=value):
            given = [value]
        case ast.GeneratorExp(elt=value) | ast.DictComp(key=value):
            given = [value]
        case _:
            return []
    asked = (one.args[0] for one in given if _asks_type(one))
    return [one for one in asked if not may_be_own(one)]


def _compared(
    compared: list[ast.expr],
    may_be_own: Callable[[ast.expr], bool],
    foreign: Mapping[str, str],
) -> list[ast.expr]:
    """Return whose types are compared with one that a container may stand for."""
    asked = [one.args[0] for one in compared if _asks_type(one)]
    if not asked or any(map(_names_replaced, compared)):
        return asked
    if any(map(may_be_own, asked)):
        return []
    others = [one for one in compared if not _asks_type(one)]

    def is_other(node: ast.expr) -> bool:
        """Tell whether it names classes that are none of those."""
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return all(map(is_other, node.elts))
        if isinstance(node, ast.Call):  # ``type(None)``
            return all(isinstance(one, ast.Constant) for one in node.args)
        known = last_name(node) in _OTHERS or root_name(node) in foreign
        return known or may_be_own(node)

    return [] if others and all(map(is_other, others)) else asked


def only_asks(meanings: Meanings, call: ast.Call) -> bool:
    """Tell whether a call is one of `isinstance`, which calls nothing of the program.

    So of a class that it is given no object is made.
    """
    function = call.func
    if not isinstance(function, ast.Name) or function.id not in _CHECKS:
        return False
    if meanings.has_own_checks or not meanings.has(call):
        return False
    scope = meanings.scope_of(call)
    own = meanings.home(scope, function.id) is not None
    is_same = not own and meanings.in_full(scope, function.id) == function.id
    return is_same and meanings.is_pythons(scope, function.id)


def _asks_type(node: ast.AST) -> TypeGuard[ast.Call]:
    return (
        isinstance(node, ast.Call)
        and ast.unparse(node.func) == "type"
        and len(node.args) == 1
    )


def _names_alias(node: ast.expr, foreign: Mapping[str, str]) -> bool:
    for one in walk(node):
        if isinstance(one, ast.Name | ast.Attribute):
            first, *rest = ast.unparse(one).split(".")
            if ".".join([foreign.get(first, first), *rest]) in _ALIASES:
                return True
    return False


def _names_replaced(node: ast.AST) -> bool:
    displays = (ast.List, ast.Dict, ast.Set) if isinstance(node, ast.Call) else ()
    return any(
        isinstance(one, displays) or last_name(one) in _REPLACED
        for one in ast.walk(node)
    )

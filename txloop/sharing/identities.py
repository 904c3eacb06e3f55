"""Where a program asks for the identity of an object.

A container is the same object wherever it is read, and so is an object of a shared
class. A value is not: a text, a tuple, an object of a frozen dataclass that was stored
in a worker comes back as another one that is equal. So what is compared with such a
constant by ``is`` stays plain. Of small numbers and single letters Python has one
object each, and so it has of each member of an `enum.Enum`.
"""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING

from txloop.scan.syntax import last_name
from txloop.sharing.demands import Wants
from txloop.sharing.handlers import is_handler_class
from txloop.sharing.scopes import functions_in, names_of_standard, nodes_of, walked
from txloop.sharing.syntax import targets_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from txloop.sharing.demands import Demands
    from txloop.sharing.origins import Hazard
    from txloop.sharing.texts import Text

__all__ = ["identities"]

_MAKES_VALUES = frozenset(
    [
        *("Decimal", "Fraction", "UUID", "bytes", "complex", "date", "datetime"),
        *("float", "format", "frozenset", "int", "join", "range", "str", "timedelta"),
        "tuple",
    ]
)
"""Functions and methods that return a value."""

_OF_VALUES = frozenset(
    ["NamedTuple", "bytes", "float", "frozenset", "int", "str", "tuple"]
)
"""Bases of classes whose objects are values."""

_OF_MEMBERS = ("Enum", "Flag", "IntEnum", "IntFlag", "ReprEnum", "StrEnum")
"""Bases of classes whose objects are there once in each process."""


def identities(texts: Collection[Text], demands: Demands) -> Iterator[Hazard]:
    """Yield what has to stay plain for its identity, or its hash."""
    enums = _enums(texts)
    values = {name for text in texts for name in _classes_of_values(text)}
    makers = _MAKES_VALUES | (values - enums)
    constants = {
        last_name(target)
        for text in texts
        for body in (
            text.tree.body,
            *(one.body for one in _classes_in(text) if one.name not in enums),
        )
        for statement in body
        for target, value in targets_of(statement)
        if _is_value(value, makers)
    }
    for text in texts:
        for scope, owner in ((text.tree, None), *functions_in(text.tree)):
            if getattr(scope, "name", "") == "__hash__":
                continue
            for node in nodes_of(scope):
                for asked, what, wants in _asked_by(node, owner, constants, makers):
                    reason = f"{text.place(node)}, {what}"
                    yield from demands.on(node, [asked], reason, wants)


def _asked_by(
    node: ast.AST,
    owner: ast.ClassDef | None,
    constants: Collection[str],
    makers: Collection[str],
) -> Iterator[tuple[ast.expr, str, Wants]]:
    match node:
        case ast.Call(func=ast.Name(id="id" | "hash" as name), args=[asked]):
            if is_handler_class(owner) and ast.unparse(asked) == "self":
                return
            wants = Wants.HASH if name == "hash" else Wants.IDENTITY
            yield asked, f"asks for {ast.unparse(node)}", wants
        case ast.Compare(left=left, ops=operators, comparators=others):
            pairs = itertools.pairwise([left, *others])
            for operator, pair in zip(operators, pairs, strict=True):
                if not isinstance(operator, ast.Is | ast.IsNot):
                    continue
                for one, other in (pair, pair[::-1]):
                    its = last_name(one) in constants or _is_value(one, makers)
                    if its and not isinstance(other, ast.Constant):
                        yield other, f"asks whether {ast.unparse(node)}", Wants.PLAIN


def _classes_in(text: Text) -> list[ast.ClassDef]:
    return [one for one in walked(text.tree) if isinstance(one, ast.ClassDef)]


def _enums(texts: Collection[Text]) -> set[str]:
    """Return the names of classes whose objects are members of an enumeration."""
    found: dict[str, list[tuple[Text, ast.ClassDef]]] = {}
    for text in texts:
        for one in _classes_in(text):
            found.setdefault(one.name, []).append((text, one))
    known = {
        text.file: set().union(
            *(names_of_standard(text.tree, "enum", one) for one in _OF_MEMBERS)
        )
        for text in texts
    }
    enums: set[str] = set()
    while more := {
        name
        for name, its in found.items()
        if name not in enums
        if all(
            any(
                ast.unparse(base) in known[text.file] - found.keys()
                or last_name(base) in enums
                for base in one.bases
            )
            for text, one in its
        )
    }:
        enums |= more
    return enums


def _classes_of_values(text: Text) -> Iterator[str]:
    for one in _classes_in(text):
        bases = {last_name(getattr(base, "func", base)) for base in one.bases}
        frozen = any(
            word.arg == "frozen" and getattr(word.value, "value", False)
            for mark in one.decorator_list
            if isinstance(mark, ast.Call)
            for word in mark.keywords
        )
        if frozen or not bases.isdisjoint(_OF_VALUES | {"namedtuple"}):
            yield one.name
    for node in walked(text.tree):
        for target, value in targets_of(node):
            if isinstance(value, ast.Call) and last_name(value.func) == "namedtuple":
                yield last_name(target)


def _is_value(value: ast.expr, makers: Collection[str]) -> bool:
    """Tell whether an expression makes a value that may come back as another one."""
    match value:
        case ast.Constant(value=str() as text):
            return len(text) > 1
        case ast.Constant(value=bool()):
            return False
        case ast.Constant(value=int() as number):
            return not -5 <= number <= 256
        case ast.Constant(value=bytes() | float() | complex()):
            return True
        case ast.Tuple(elts=parts):
            return bool(parts)
        case ast.BinOp(left=left, right=right):
            return all(
                isinstance(one, ast.BinOp | ast.Constant) for one in (left, right)
            )
        case ast.JoinedStr():
            return True
        case ast.Call(func=function):
            return last_name(function) in makers
    return False

"""Functions that ask in C for a plain object, or that take a container for another.

A `TDict` is a mapping to Python code only: in C, what has a `__getitem__` and is no
dict is a sequence as well, so that sqlite3 looks for item 0 of it.

The functions of `heapq` ask for a list, those of `cells.heaps` do not. A program that
shares something imports these in their place. To all who look at its code, a call is
one of the method of a list that does as much to its items. So is one of
`bisect.insort`, which takes containers as they are, and one of `dataclasses.replace`
is as the method of a named tuple.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.known import COPIERS, HEAPS, INSORTS
from txloop.scan.syntax import last_name, walk
from txloop.sharing.scopes import walked
from txloop.sharing.syntax import DISPLAYS

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "OUR_HEAPS",
    "Databases",
    "is_passed_on",
    "wanted_exactly",
    "with_methods",
]

_FIRST = {
    ("operator", "concat"): 0,
    ("operator", "iconcat"): 0,
    ("xml.etree.ElementTree", "Element"): 1,
    ("xml.etree.ElementTree", "SubElement"): 2,
}
"""Functions, and the first of their arguments that is to be plain."""

_DRIVERS = frozenset(
    [
        *("MySQLdb", "aiomysql", "aiopg", "aiosqlite", "apsw", "asyncpg", "databases"),
        *("duckdb", "momoko", "mysql", "oracledb", "psycopg", "psycopg2", "pymysql"),
        *("pyodbc", "sqlalchemy", "sqlite3"),
    ]
)
"""Modules whose objects have `execute`."""

_MADE = (*DISPLAYS, ast.BinOp, ast.Constant, ast.GeneratorExp, ast.JoinedStr, ast.Tuple)
"""Expressions that make something plain, whatever is in it."""

_COPYING = COPIERS | {"asdict", "copy", "vars"}


def wanted_exactly(call: ast.Call, home: str, name: str) -> list[ast.expr]:
    """Return the arguments that a function takes as plain objects only.

    Args:
        call: The call.
        home: The module of the function; "" if it is not known.
        name: Its name there.
    """
    given: list[ast.expr] = []
    match call:
        case ast.Call(func=ast.Name(id="type"), args=[_, _, namespace]):
            return [namespace]  # what is made here may be known by the class
        case ast.Call(func=ast.Attribute(attr="maketrans"), args=[table]):
            given = [table]
        case ast.Call(func=ast.Name(id="eval" | "exec"), args=[_, variables, *_]):
            given = [variables]
        case ast.Call(args=[ast.Tuple(elts=[_, digits, _])]) if name == "Decimal":
            given = [digits]
        case ast.Call(func=ast.Attribute(attr="fromlist"), args=[items]):
            given = [items]
        case _ if (home, name) in _FIRST:
            named = [one.value for one in call.keywords if one.arg == "attrib"]
            given = [*call.args[_FIRST[home, name] :], *named]
    return [one for one in given if not _is_made(one)]


class Databases:
    """Finds what statements of databases are given."""

    def __init__(self, trees: Iterable[ast.Module], modules: Iterable[str]) -> None:
        """Look at the modules of a program, and at what they import."""
        self._are_used = any(one.partition(".")[0] in _DRIVERS for one in modules)
        self._starred = {
            one.arg
            for tree in (trees if self._are_used else ())
            for node in walked(tree)
            if isinstance(node, ast.arguments)
            for one in (node.vararg, node.kwarg)
            if one is not None
        }

    def bound_by(self, call: ast.Call) -> list[ast.expr]:
        """Return the values of a statement that may be containers, or have some."""
        name = last_name(call.func)
        if not (self._are_used and isinstance(call.func, ast.Attribute)):
            return []
        if name not in ("execute", "executemany"):
            return []
        values = [
            *call.args[1:],
            *(one.value for one in call.keywords if one.arg is not None),
        ]
        rows = name == "executemany"
        return [one for one in values if not self._is_plain(one, rows)]

    def _is_plain(self, value: ast.expr, rows: bool) -> bool:
        if isinstance(value, ast.Starred):
            return True  # what is in it is given
        if isinstance(value, ast.Name) and value.id in self._starred:
            return True
        if not rows:
            return _is_made(value)
        match value:
            case (
                ast.ListComp(elt=row) | ast.SetComp(elt=row) | ast.GeneratorExp(elt=row)
            ):
                return _is_made(row)
            case ast.Tuple(elts=made) | ast.List(elts=made) | ast.Set(elts=made):
                return all(map(_is_made, made))
        return False


def _is_made(value: ast.expr) -> bool:
    """Tell whether an expression makes a new plain object."""
    if isinstance(value, ast.Call):
        return last_name(value.func) in _COPYING
    return isinstance(value, _MADE)


OUR_HEAPS = "txloop.cells.heaps"
"""The module that has the functions of `heapq` for containers."""

_METHODS = {"bisect": INSORTS, "heapq": HEAPS, OUR_HEAPS: HEAPS}
"""Of modules: their functions that change a list, with methods that do as much."""

_REPLACE = "_replace"

_LIKE_METHODS = _METHODS | {
    home: {"replace": _REPLACE} for home in ("copy", "dataclasses")
}
"""The same, with functions that make what has the same parts as an object."""


def with_methods(tree: ast.Module) -> ast.Module:
    """Return a module with calls of methods in the place of those of functions."""
    named: dict[str, str] = {}
    for node in walk(tree):
        match node:
            case ast.Import(names=names):
                for one in names:
                    home = one.asname or one.name
                    its = _LIKE_METHODS.get(one.name, {})
                    named |= {f"{home}.{name}": its[name] for name in its}
            case ast.ImportFrom(module=str(module), names=names):
                its = _LIKE_METHODS.get(module, {})
                for one in names:
                    if one.name == "*":
                        named |= its
                    elif one.name in its:
                        named[one.asname or one.name] = its[one.name]
    return _Calls(named).visit(tree) if named else tree


class _Calls(ast.NodeTransformer):
    def __init__(self, named: dict[str, str]) -> None:
        self._named = named
        self._last = {name.rpartition(".")[2] for name in named}

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if last_name(node.func) not in self._last:
            return node
        method = self._named.get(ast.unparse(node.func))
        if method is None:
            return node
        given, named = node.args, node.keywords
        key = "" if method == _REPLACE else "a"
        holders = [*given[:1], *(one.value for one in named if one.arg == key)]
        if len(holders) != 1 or isinstance(holders[0], ast.Starred):
            return node
        function = ast.Attribute(holders[0], method, ast.Load())
        named = [one for one in named if one.arg != key]
        call = ast.Call(ast.copy_location(function, node.func), given[1:], named)
        return ast.copy_location(call, node)


def is_passed_on(home: str, name: str) -> bool:
    """Tell whether it is a function of heapq or bisect that changes a list.

    One that is called is none any more: what is found is used otherwise.
    """
    return name in _METHODS.get(home, ())

"""Tables of the program's functions and classes that are only read.

``KINDS = {"square": Square, "circle": Circle}``, where ``KINDS[kind](name)`` makes an
object: of which class is not known, but that it is one of these. A table is known by
its name, which nothing else in the program may have.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from txloop.scan.syntax import bound_by, last_name
from txloop.sharing.bindings import bindings
from txloop.sharing.syntax import root_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Set

    from txloop.sharing.meanings import Meanings

__all__ = ["Tables"]

_READING = frozenset(["get", "items", "keys", "values"])
_NAMING = frozenset(["__import__", "exec", "globals", "import_module", "modules"])
"""What may set a variable by its name."""

_SETTING = frozenset(["__dict__", "__setattr__", "delattr", "setattr", "vars"])
"""What may set an attribute by its name."""

_DEPTH = 4
"""The most variables that are followed."""

_READERS = frozenset(["enumerate", "iter", "len", "list", "sorted", "tuple"])


class Tables:
    """All tables of a program."""

    def __init__(
        self,
        nodes: Iterable[ast.AST],
        meanings: Meanings,
        is_own: Callable[[str], bool],
    ) -> None:
        """Look at all nodes.

        Args:
            nodes: Those of all modules.
            meanings: What names mean.
            is_own: Tells whether a name is that of a function or class of the program,
                and of nothing else.
        """
        self._meanings = meanings
        self._is_own = is_own
        self._names: dict[str, Set[str]] = {}
        displays: dict[str, ast.expr] = {}
        times: Counter[str] = Counter()
        read: set[ast.AST] = set()
        uses: list[ast.expr] = []
        for node in nodes:
            times.update(_named_by(node, meanings))
            read.update(_read_by(node))
            match node:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ):
                    displays[name] = value
                case ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()):
                    uses.append(node)
        others = {last_name(one) for one in uses if one not in read}
        if not others.isdisjoint(_NAMING) or times["*"]:
            return
        if not others.isdisjoint(_SETTING):
            others |= {one.attr for one in uses if isinstance(one, ast.Attribute)}
        for name, display in displays.items():
            values = _values_in(display)
            known = all(map(self._is_one, values))
            if values and known and times[name] == 1 and name not in others:
                self._names[name] = {*map(last_name, values)}

    def given_by(self, function: ast.AST, depth: int = 0) -> Set[str]:
        """Return the names of functions and classes of which an expression gives one.

        There are none if it may give something else.
        """
        match function:
            case ast.Subscript(value=table):
                return self._names.get(last_name(table), frozenset())
            case ast.Call(
                func=ast.Attribute(value=table, attr="get"),
                args=[_, *values],
                keywords=[],
            ):
                found = self._names.get(last_name(table), frozenset())
                return found and self._all(values, depth, found)
            case ast.BoolOp(values=values):
                return self._all(values, depth)
            case ast.IfExp(body=one, orelse=other):
                return self._all([one, other], depth)
            case ast.Name(id=name) if self._meanings.has(function) and depth < _DEPTH:
                scope = self._meanings.scope_of(function)
                values, is_given = bindings(scope, name)
                if not is_given and not isinstance(scope, ast.Module):
                    return self._all(values, depth + 1)
        return frozenset()

    def _all(
        self, values: Iterable[ast.expr], depth: int, found: Set[str] = frozenset()
    ) -> Set[str]:
        """Return what some values may give, and what is found already."""
        for one in values:
            if isinstance(one, ast.Constant) and one.value is None:
                continue  # it is not called
            is_one = isinstance(one, ast.Name) and self._is_one(one)
            its = {last_name(one)} if is_one else self.given_by(one, depth)
            if not its:
                return frozenset()
            found = found | its
        return found

    def _is_one(self, value: ast.expr) -> bool:
        """Tell whether an expression names a function or class of the program."""
        root = root_name(value)
        scope = self._meanings.scope_of(value)
        home = self._meanings.imported_from(scope, root)
        is_other = bool(home) and not self._meanings.is_own(home)
        is_local = self._meanings.home(scope, root) is not None
        return self._is_own(last_name(value)) and not (is_other or is_local)


def _values_in(display: ast.expr) -> list[ast.expr]:
    """Return what is in a display of names only; nothing if it is another one."""
    match display:
        case ast.Dict(keys=keys, values=values) if None not in keys:
            pass
        case ast.List(elts=values) | ast.Tuple(elts=values):
            pass
        case _:
            return []
    named = all(isinstance(one, ast.Name | ast.Attribute) for one in values)
    return values if named else []


def _named_by(node: ast.AST, meanings: Meanings) -> Iterable[str]:
    """Yield what a node may give another meaning, or ask for by a text."""
    match node:
        case ast.ImportFrom(module=module, level=level, names=names):
            # A table of the program keeps its name.
            own = level or meanings.is_own(module or "")
            yield from (
                one.asname or one.name for one in names if one.asname or not own
            )
        case ast.Call(func=ast.Name(id="vars"), args=[]):
            yield "*"
        case ast.keyword(arg=str(name)) | ast.arg(arg=name):
            yield name
        case ast.Constant(value=str(name)):
            yield name
        case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names
        case _:
            yield from bound_by(node)


def _read_by(node: ast.AST) -> Iterable[ast.AST]:
    """Yield the expressions of which a node only reads what is in there."""
    match node:
        case ast.Subscript(value=value, ctx=ast.Load()):
            yield value
        case ast.Attribute(value=value, attr=name) if name in _READING:
            yield value
        case ast.Compare(comparators=values):
            yield from values
        case ast.For(iter=value) | ast.comprehension(iter=value):
            yield value
        case ast.Call(func=ast.Name(id=name), args=values) if name in _READERS:
            yield from values

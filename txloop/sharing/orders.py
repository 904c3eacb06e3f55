"""Where a program shows the order of a set of numbers that also shrinks.

A plain set goes over numbers in an order that its history has made, the same each time
a program runs; `cells.set_order` finds it again as long as a set only grows one by
one, and not after what it has lost, or was given from another set at once. Such a set
stays plain where its order is to be seen: in a loop, a list, a text. And any set of
numbers, and a dict of them, where another set takes it as a table, as ``set(ids)``
does. Of texts the order is another one in each run of Python, and no program can rely
on it: so only those count of which a line tells that numbers are put in.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.known import GETTERS
from txloop.scan.syntax import FUNCTIONS, last_name, parameters
from txloop.sharing.bindings import bindings
from txloop.sharing.demands import Wants
from txloop.sharing.making import Site
from txloop.sharing.orders_seen import LIKE, OF_SETS, SHRINKING, Seen
from txloop.sharing.scopes import walked
from txloop.sharing.syntax import arguments_of, targets_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from txloop.sharing.demands import Demands
    from txloop.sharing.keeping import Keeping
    from txloop.sharing.origins import Hazard, Origins
    from txloop.sharing.texts import Text

__all__ = ["orders_shown"]

_IN_PLACE = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)

_ONE_BY_ONE = (ast.Dict, ast.GeneratorExp, ast.List, ast.ListComp, ast.Tuple)
"""What a set that is updated with it takes element by element."""

_NUMBERS = frozenset(
    [
        *("abs", "float", "hash", "int", "json_decode", "len", "loads", "ord"),
        *("randint", "randrange", "range", "round", "sum"),
    ]
)
"""Functions that give numbers, or what may have some."""

_MOST_STEPS = 4

_Key = tuple[str, bool]  # the name of a set, or of what has it as a part


def orders_shown(
    texts: Iterable[Text], origins: Origins, keeping: Keeping, demands: Demands
) -> Iterator[Hazard]:
    """Yield the sets that have to stay plain for their order."""
    its = _Sets([*texts], origins, keeping)
    if not its.tables:
        return
    for text in its.texts:
        seen = Seen(
            origins,
            {
                child: one
                for one in walked(text.tree)
                for child in ast.iter_child_nodes(one)
            },
        )
        for scope, node in origins.meanings.nodes(text):
            if not isinstance(
                node, ast.Attribute | ast.Call | ast.Name | ast.Subscript
            ):
                continue
            if not isinstance(getattr(node, "ctx", None), ast.Load | None):
                continue
            keys = its.keys(scope, node)
            parts = {(name, True) for name, _ in keys}
            if its.tables.isdisjoint(keys | parts):
                continue
            if what := _shown(its, seen, node, keys, keys | parts):
                reason = f"{text.place(node)}, {what}"
                yield from demands.on(node, [node], reason, Wants.PLAIN)


def _shown(
    its: _Sets, seen: Seen, node: ast.AST, keys: set[_Key], any_keys: set[_Key]
) -> str:
    if not its.told_apart.isdisjoint(any_keys):
        whole = not its.told_apart.isdisjoint(keys)
        if seen.in_any(node, whole):
            return "shows the order of a set that numbers come to and leave"
    if (not its.tables.isdisjoint(keys) and seen.as_taken(node)) or (
        not its.numbered.isdisjoint(keys) and seen.as_added(node)
    ):
        return "makes a set of one that has numbers, whose order may be seen"
    return ""


class _Sets:
    """The sets of a program, by what may hold them.

    Attributes:
        texts: The modules.
        numbered: Those that get numbers.
        told_apart: Those of them that change otherwise than by one more.
        tables: Those that get numbers, and dicts whose keys are numbers.
    """

    def __init__(self, texts: list[Text], origins: Origins, keeping: Keeping) -> None:
        self.texts = texts
        self._origins = origins
        self._keeping = keeping
        changed: set[_Key] = set()
        sets: set[_Key] = set()
        added: list[tuple[ast.AST, ast.expr, list[ast.expr]]] = []
        keyed: list[tuple[ast.AST, ast.expr, list[ast.expr]]] = []
        for text in texts:
            for scope, node in origins.meanings.nodes(text):
                match node:
                    case ast.Call(func=ast.Attribute(value=base, attr=name)):
                        if name in SHRINKING or (
                            name == "update"
                            and not all(isinstance(o, _ONE_BY_ONE) for o in node.args)
                        ):
                            changed |= self.keys(scope, base)
                        if name in OF_SETS:
                            sets |= self.keys(scope, base)
                        if name in ("add", "update"):
                            added.append((scope, base, node.args))
                        elif name == "setdefault":
                            keyed.append((scope, base, node.args[:1]))
                    case ast.Subscript(value=base, slice=key, ctx=ast.Store()):
                        keyed.append((scope, base, [key]))
                    case ast.AugAssign(target=base, op=op, value=value):
                        if isinstance(op, _IN_PLACE):
                            changed |= self.keys(scope, base)
                            added.append((scope, base, [value]))
        numbers = self._numbered(added)
        dicts: set[_Key] = set()
        for text in texts:
            for scope, node in origins.meanings.nodes(text):
                called = last_name(getattr(node, "func", None))
                if isinstance(node, ast.Dict | ast.DictComp) or called == "dict":
                    dicts |= self._keys_at(Site.of(text.file, node))
                if isinstance(node, ast.Set | ast.SetComp) or called == "set":
                    its = self._keys_at(Site.of(text.file, node))
                    sets |= its
                    if self._is_number(scope, node, 0):
                        numbers |= its
        self.numbered = numbers & sets
        self.told_apart = changed & self.numbered
        self.tables = self.numbered | (dicts & self._numbered(keyed))

    def _numbered(
        self, given: Iterable[tuple[ast.AST, ast.expr, list[ast.expr]]]
    ) -> set[_Key]:
        """Return the names of what is given numbers."""
        its: set[_Key] = set()
        for scope, base, values in given:
            if any(self._is_number(scope, one, 0) for one in values):
                its |= self.keys(scope, base)
        return its

    def keys(self, scope: ast.AST, value: ast.AST) -> set[_Key]:
        """Return the names of what an expression may give."""
        its = {
            (one.name, one.is_part)
            for one in self._origins.of(scope, value)
            if one.name and not one.inside
        }
        return its.union(*(self._keeping.other_names(*one) for one in its))

    def _keys_at(self, site: Site) -> set[_Key]:
        whole = self._keeping.names_at(site)
        parts = self._keeping.names_at(site, inside=True)
        return {(one, False) for one in whole} | {(one, True) for one in parts}

    def _is_number(self, scope: ast.AST, value: ast.AST, steps: int) -> bool:
        """Tell whether a line says that an expression may be a number, or have some."""
        if steps > _MOST_STEPS:
            return False
        steps += 1
        match value:
            case ast.Constant(value=int() | float()):
                return True
            case ast.Call(func=function):
                asked: list[ast.expr] = []
                if last_name(function) in _NUMBERS:
                    return True
                if last_name(function) in (*LIKE, "enumerate", "list", "map", "tuple"):
                    asked = arguments_of(value)
                elif last_name(function) in GETTERS:
                    asked = [getattr(function, "value", function)]
                return any(self._is_number(scope, one, steps) for one in asked)
            case ast.BinOp(left=left, right=right):
                return any(self._is_number(scope, o, steps) for o in (left, right))
            case ast.Set(elts=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
                return any(self._is_number(scope, one, steps) for one in parts)
            case (
                ast.SetComp(elt=one) | ast.ListComp(elt=one) | ast.GeneratorExp(elt=one)
            ):
                return self._is_number(scope, one, steps)
            case ast.Subscript(value=one) | ast.UnaryOp(operand=one):
                return self._is_number(scope, one, steps)
            case ast.Attribute(attr=name):
                given = (
                    each
                    for text in self.texts
                    for node in walked(text.tree)
                    for target, each in targets_of(node)
                    if isinstance(target, ast.Attribute) and target.attr == name
                )
                return any(self._is_number(scope, one, steps) for one in given)
            case ast.Name(id=name):
                return self._is_number_by_name(scope, name, steps)
        return False

    def _is_number_by_name(self, scope: ast.AST, name: str, steps: int) -> bool:
        home = self._origins.meanings.home(scope, name)
        where = home or self._origins.meanings.module_of(scope)
        values = bindings(where, name)[0]
        if any(self._is_number(where, one, steps) for one in values):
            return True
        if not isinstance(where, FUNCTIONS) or name not in parameters(where):
            return False
        for one in ast.walk(where.args):
            if isinstance(one, ast.arg) and one.arg == name and one.annotation:
                return "int" in ast.unparse(one.annotation)
        place = parameters(where).index(name)
        called = getattr(where, "name", "")
        return any(
            self._is_number(self._origins.meanings.scope_of(call), one, steps)
            for text in self.texts
            for call in walked(text.tree)
            if isinstance(call, ast.Call) and last_name(call.func) == called
            for one in [
                *call.args[max(place - 1, 0) : place + 1],
                *(each.value for each in call.keywords if each.arg == name),
            ]
        )

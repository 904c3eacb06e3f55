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

from txloop.scan.syntax import last_name
from txloop.sharing.demands import Wants
from txloop.sharing.making import Site
from txloop.sharing.numeric import Numbers
from txloop.sharing.orders_seen import OF_SETS, SHRINKING, Seen
from txloop.sharing.scopes import walked

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

_TAKEN = {"add": 1, "clear": 0, "discard": 1, "pop": 0, "remove": 1}
"""How many arguments those of a set take, where others of the name may take more."""

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
        self._is_number = Numbers(texts, origins).is_number
        changed: set[_Key] = set()
        sets: set[_Key] = set()
        added: list[tuple[ast.AST, ast.expr, list[ast.expr]]] = []
        keyed: list[tuple[ast.AST, ast.expr, list[ast.expr]]] = []
        for text in texts:
            for scope, node in origins.meanings.nodes(text):
                match node:
                    case ast.Call(func=ast.Attribute(value=base, attr=name)) if (
                        _may_be_of_set(node, name)
                    ):
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
                    if self._is_number(scope, node):
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
            if any(self._is_number(scope, one) for one in values):
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


def _may_be_of_set(call: ast.Call, name: str) -> bool:
    """Tell whether a method of a set could take the arguments of a call."""
    if name not in _TAKEN or any(isinstance(one, ast.Starred) for one in call.args):
        return True
    return len(call.args) == _TAKEN[name] and not call.keywords

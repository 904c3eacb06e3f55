"""Where a program shows the order of a set of numbers that also shrinks.

A plain set goes over numbers in an order that its history has made, the same each time
a program runs; `cells.set_order` finds it again as long as a set only grows one by
one, and not after what it has lost, or was given from another set at once. Such a set
stays plain where its order is to be seen: in a loop, a list, a text. Of texts the order
is another one in each run of Python, and no program can rely on it: so only sets count
of which a line tells that numbers are put in.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.known import KEEPING, PUTTING
from txloop.scan.syntax import last_name
from txloop.sharing.demands import Wants
from txloop.sharing.making import Site
from txloop.sharing.numeric import LIKE, Numbers
from txloop.sharing.scopes import walked
from txloop.sharing.syntax import DISPLAYS, root_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from txloop.sharing.demands import Demands
    from txloop.sharing.keeping import Keeping
    from txloop.sharing.origins import Hazard, Origins
    from txloop.sharing.texts import Text

__all__ = ["orders_shown"]

_OF_SETS = frozenset(
    [
        *("add", "difference_update", "discard", "intersection_update"),
        "symmetric_difference_update",
    ]
)
"""Methods that only sets have."""

_SHRINKING = (_OF_SETS - {"add"}) | {"clear", "pop", "remove"}

_TAKEN = {"add": 1, "clear": 0, "discard": 1, "pop": 0, "remove": 1}
"""How many arguments those of a set take, where others of the name may take more."""

_IN_PLACE = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)

_ONE_BY_ONE = (ast.Dict, ast.GeneratorExp, ast.List, ast.ListComp, ast.Tuple)
"""What a set that is updated with it takes element by element."""

_NO_ORDER = frozenset(
    [
        *("all", "any", "bool", "id", "isinstance", "issubset", "issuperset", "len"),
        *("isdisjoint", "max", "min", "sorted", "sum", "type"),
    ]
)
"""Functions and methods that do the same whatever the order is, without a key."""

_PRINTING = frozenset(["format", "pformat", "pprint", "print", "repr", "str", "write"])

_Key = tuple[str, bool]  # the name of a set, or of what has it as a part


def orders_shown(
    texts: Iterable[Text], origins: Origins, keeping: Keeping, demands: Demands
) -> Iterator[Hazard]:
    """Yield the sets that have to stay plain for their order."""
    its = _Sets([*texts], origins, keeping)
    if not its.told_apart:
        return
    for text in its.texts:
        above = {
            child: one
            for one in walked(text.tree)
            for child in ast.iter_child_nodes(one)
        }
        for scope, node in origins.meanings.nodes(text):
            if not isinstance(
                node, ast.Attribute | ast.Call | ast.Name | ast.Subscript
            ):
                continue
            if not isinstance(getattr(node, "ctx", None), ast.Load | None):
                continue
            keys = its.keys(scope, node)
            parts = {(name, True) for name, _ in keys}
            if its.told_apart.isdisjoint(keys | parts):
                continue
            whole = not its.told_apart.isdisjoint(keys)
            if _shows(origins, above, node, whole):
                what = "shows the order of a set that numbers come to and leave"
                reason = f"{text.place(node)}, {what}"
                yield from demands.on(node, [node], reason, Wants.PLAIN)


class _Sets:
    """The sets of a program, by what may hold them.

    Attributes:
        texts: The modules.
        told_apart: Those that get numbers, and change otherwise than by one more.
    """

    def __init__(self, texts: list[Text], origins: Origins, keeping: Keeping) -> None:
        self.texts = texts
        self._origins = origins
        self._keeping = keeping
        self.told_apart: set[_Key] = set()
        changed: set[_Key] = set()
        sets: set[_Key] = set()
        added: list[tuple[ast.AST, ast.expr, list[ast.expr]]] = []
        for text in texts:
            for scope, node in origins.meanings.nodes(text):
                match node:
                    case ast.Call(func=ast.Attribute(value=base, attr=name)) if (
                        _may_be_of_set(node, name)
                    ):
                        if name in _SHRINKING or (
                            name == "update"
                            and not all(isinstance(o, _ONE_BY_ONE) for o in node.args)
                        ):
                            changed |= self.keys(scope, base)
                        if name in _OF_SETS:
                            sets |= self.keys(scope, base)
                        if name in ("add", "update"):
                            added.append((scope, base, node.args))
                    case ast.AugAssign(target=base, op=op, value=value):
                        if isinstance(op, _IN_PLACE):
                            changed |= self.keys(scope, base)
                            added.append((scope, base, [value]))
        if not changed:
            return
        is_number = Numbers(texts, origins).is_number
        numbers: set[_Key] = set()
        for scope, base, values in added:
            if any(is_number(scope, one) for one in values):
                numbers |= self.keys(scope, base)
        for text in texts:
            for scope, node in origins.meanings.nodes(text):
                called = last_name(getattr(node, "func", None))
                if isinstance(node, ast.Set | ast.SetComp) or called == "set":
                    its = self._keys_at(Site.of(text.file, node))
                    sets |= its
                    if is_number(scope, node):
                        numbers |= its
        self.told_apart = changed & numbers & sets

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


def _shows(
    origins: Origins, above: dict[ast.AST, ast.AST], node: ast.AST, whole: bool
) -> bool:
    """Tell whether what is around an expression shows the order of what it gives.

    Args:
        origins: Where values come from.
        above: What each node is in.
        node: The expression.
        whole: Whether it gives a set, rather than what has sets in it.
    """

    def shows(other: ast.AST) -> bool:
        return _shows(origins, above, other, whole)

    around = above.get(node)
    match around:
        case ast.FormattedValue():
            return True
        case ast.For(iter=one) | ast.AsyncFor(iter=one):
            return whole and one is node
        case ast.comprehension(iter=one):
            made = above[around]
            if not whole or one is not node or isinstance(made, ast.SetComp):
                return False
            return not _has_no_order(above.get(made))
        case ast.Starred() | ast.YieldFrom():
            return whole
        case ast.Assign(targets=targets, value=one):
            unpacked = any(isinstance(each, ast.List | ast.Tuple) for each in targets)
            return whole and unpacked and one is node
        case ast.Attribute(attr=name):
            call = above.get(around)
            if not whole or getattr(call, "func", None) is not around:
                return False
            return name == "pop" or (name in LIKE and call is not None and shows(call))
        case ast.BinOp(op=ast.Mod()):
            return around.right is node
        case ast.BinOp():
            return whole and shows(around)
        case ast.Call(func=function) if function is not node:
            return _is_shown_by(origins, above, around, whole)
        case ast.keyword():
            call = above[around]
            if not isinstance(call, ast.Call):
                return False
            return _is_shown_by(origins, above, call, whole)
        case ast.IfExp(test=test):
            return test is not node and shows(around)
        case ast.Await() | ast.BoolOp() | ast.NamedExpr() | ast.Tuple():
            return shows(around)
        case ast.expr() if isinstance(around, DISPLAYS):
            return shows(around)
    return False


def _is_shown_by(
    origins: Origins,
    above: dict[ast.AST, ast.AST],
    call: ast.Call,
    whole: bool,
) -> bool:
    """Tell whether a call shows the order of what it is given."""
    name = last_name(call.func)
    if name in _PRINTING:
        return True
    if not whole or _has_no_order(call) or root_name(call.func) == "txloop":
        return False
    if name in LIKE:
        return _shows(origins, above, call, whole)
    keeps = name in KEEPING | PUTTING | _SHRINKING
    return not (keeps or origins.meanings.named(call.func))


def _has_no_order(node: ast.AST | None) -> bool:
    """Tell whether it is a call that does the same whatever the order is."""
    if not isinstance(node, ast.Call):
        return False
    named = any(one.arg == "key" for one in node.keywords)
    return not named and last_name(node.func) in _NO_ORDER | {"frozenset", "set"}

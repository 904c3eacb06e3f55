"""Names that are given sets only.

What is put into a set has a hash: it is no list, dict or set, and so it is the same
object in a container. ``seen.add(item["id"])`` stores no part of `item` that changes.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.syntax import bound_by, last_name
from txloop.sharing.scalars import set_by_call, sets_any
from txloop.sharing.scopes import imports_in, walked
from txloop.sharing.syntax import simple_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Set

    from txloop.sharing.origins import Origins
    from txloop.sharing.texts import Text

__all__ = ["is_set", "names_of_sets"]


def names_of_sets(texts: Iterable[Text]) -> Set[str]:
    """Return the names of variables and attributes that are given nothing but sets.

    They are told by their names alone, so each line counts that gives one of the name.
    """
    texts = [*texts]
    own = {text.package for text in texts}
    sets: set[str] = set()
    others: set[str] = set()
    for text in texts:
        called = {id(n.func): n for n in walked(text.tree) if isinstance(n, ast.Call)}
        if any(sets_any(one, called.get(id(one))) for one in walked(text.tree)):
            return frozenset()
        others.update(_bound_otherwise(text.tree))
        others.update(
            one.bound
            for one in imports_in(text.tree)
            if one.module.partition(".")[0] not in own
        )
        for node in walked(text.tree):
            for target, value in simple_values(node):
                (sets if _makes_set(value) else others).add(last_name(target))
    return frozenset() if "set" in sets | others else sets - others


def is_set(origins: Origins, names: Set[str], value: ast.expr) -> bool:
    """Tell whether a value has one of the names of sets, and can be nothing else."""
    its = origins.of(origins.meanings.scope_of(value), value)
    itself = [one for one in its if not one.inside]
    return bool(itself) and all(one.name in names and not one.is_part for one in itself)


def _bound_otherwise(tree: ast.Module) -> Iterator[str]:
    """Yield the names that lines bind which are no assignments to one name."""
    simple = {id(target) for node in walked(tree) for target, _ in simple_values(node)}
    for node in walked(tree):
        if isinstance(node, ast.AugAssign):
            simple.add(id(node.target))  # a set stays one: there is no other sum
        elif isinstance(node, ast.Attribute):
            if isinstance(node.ctx, ast.Store) and id(node) not in simple:
                yield node.attr
        elif isinstance(node, ast.Call):
            yield from set_by_call(node)
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            yield from () if id(node) in simple else bound_by(node)


def _makes_set(value: ast.expr) -> bool:
    match value:
        case ast.Set() | ast.SetComp() | ast.Call(func=ast.Name(id="set")):
            return True
        case ast.Call(func=function, args=[inner]):  # as it is once it is shared
            return ast.unparse(function) == "txloop.share" and _makes_set(inner)
    return False

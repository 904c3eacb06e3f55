"""Variables of modules that are used only while their module runs, like local ones.

``for one in range(3): post = {}; posts.append(post)`` leaves the variable `post`. No
function uses it, so nobody sees that `posts` has a container made of it. All else that
may use a variable by its name keeps it from being one of these.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from typing import TYPE_CHECKING

from txloop.scan.known import MUTATORS, PARTS, READERS, SCALARS
from txloop.scan.syntax import FUNCTIONS, last_name
from txloop.sharing.lookups import may_use_any
from txloop.sharing.scopes import walked
from txloop.sharing.syntax import arguments_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Set

    from txloop.sharing.texts import Text

__all__ = ["temporaries"]


def temporaries(
    texts: Iterable[Text],
    in_templates: Set[str] | None,
    is_local: Callable[[ast.Name], bool],
) -> dict[ast.Module, Set[str]]:
    """Return the variables of each module that only its own statements use.

    Args:
        texts: The modules of the program.
        in_templates: The names in its templates; None if not all are known.
        is_local: Tells whether a name means a variable of a function.
    """
    trees = [text.tree for text in texts]
    if in_templates is None or any(map(may_use_any, trees)):
        return {}
    homes: defaultdict[str, set[ast.Module | None]] = defaultdict(set)
    bound: dict[ast.Module, set[str]] = {}
    for tree in trees:
        bound[tree] = set()
        others = {id(one) for one in _others(tree)}
        others |= {id(one) for node in walked(tree) for one in _given(node)}
        for node in walked(tree):
            if isinstance(node, ast.Name):
                if is_local(node):
                    continue
                if isinstance(node.ctx, ast.Store):
                    bound[tree].add(node.id)
            is_own = isinstance(node, ast.Name) and id(node) not in others
            for name in _names(node):
                homes[name].add(tree if is_own else None)
    return {
        tree: {one for one in names if homes[one] == {tree}} - in_templates
        for tree, names in bound.items()
    }


def _others(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield what stands in functions and classes, whose variables are others."""
    for node in walked(tree):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield from walked(node)


def _given(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is called, and what it is given if it may keep that, and change it."""
    known = MUTATORS | PARTS | READERS | SCALARS
    if isinstance(node, ast.Call):
        yield node.func
        if last_name(node.func) not in known:
            for one in arguments_of(node):
                yield from walked(one)


def _names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node uses: as a variable, an attribute, or in a text."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.Global(names=names):
            yield from names
        case ast.Import(names=imported) | ast.ImportFrom(names=imported):
            for one in imported:
                yield from (one.name.partition(".")[0], one.asname or "")
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.ClassDef(name=name):
            yield name
        case ast.Constant(value=str(text)):
            if text.isidentifier() or "{" in text:
                yield from re.findall(r"\w+", text)

"""Which functions a program does more with than to call them, by their names.

They may be called by what is not followed. A parameter, or a variable of a function,
may have the name of a function of the module, such as a decorator's, and is none.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter
from typing import TYPE_CHECKING

from txloop.scan.syntax import FUNCTIONS, bound_by, last_name
from txloop.sharing.lookups import hides_modules
from txloop.sharing.scopes import functions_in, imports_in, walked
from txloop.sharing.syntax import root_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Set

    from txloop.sharing.meanings import Function, Meanings
    from txloop.sharing.texts import Text

__all__ = ["coroutines_alone", "is_other_variable", "passed_on"]

_NAMED = (*FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)
"""Statements that give a name to what may be a function."""


def passed_on(
    texts: Iterable[Text],
    meanings: Meanings,
    functions: Iterable[Function],
    called: Set[ast.expr],
) -> set[str]:
    """Return the names of what is not only called.

    Args:
        texts: The modules.
        meanings: What names mean.
        functions: Those of the program.
        called: The expressions that are just called.
    """
    texts = [*texts]
    of_objects = {
        one.name
        for one in functions
        if one.owner is not None or isinstance(one.node, ast.Lambda)
    }
    anywhere = hides_modules(texts)
    found: set[str] = set()
    for text in texts:
        outside = _of_defaults(text.tree)
        modules = {one.bound for one in imports_in(text.tree)}
        for node in walked(text.tree):
            if not isinstance(node, ast.Name | ast.Attribute) or node in called:
                continue
            if not isinstance(node.ctx, ast.Load) or last_name(node) in found:
                continue
            if isinstance(node, ast.Attribute):
                of_object = node.attr in of_objects or anywhere
                if not of_object and root_name(node) not in modules:
                    continue
            elif id(node) not in outside:
                home = meanings.home(meanings.scope_of(node), node.id)
                if is_other_variable(home, node.id):
                    continue
            found.add(last_name(node))
    return found


def is_other_variable(home: ast.AST | None, name: str) -> bool:
    """Tell whether a name is a variable whose function defines nothing of that name.

    Args:
        home: The function whose variable it is, or a module, or None for a module's.
        name: The name.
    """
    return isinstance(home, FUNCTIONS) and name not in _defined_in(home)


@functools.lru_cache(maxsize=4096)
def _defined_in(function: ast.AST) -> frozenset[str]:
    inner = (one for one in walked(function) if isinstance(one, _NAMED))
    return frozenset(
        name for one in inner if one is not function for name in bound_by(one)
    )


def _of_defaults(tree: ast.Module) -> set[int]:
    """Return what stands in a function's text, and is evaluated around it."""
    return {
        id(node)
        for function, _ in functions_in(tree)
        for default in (*function.args.defaults, *function.args.kw_defaults)
        if default is not None
        for node in walked(default)
    }


def coroutines_alone(texts: Collection[Text], meanings: Meanings) -> set[str]:
    """Return the names of a module's coroutines that stand for nothing else anywhere.

    No line may give another thing such a name, or name it in a text.
    """
    nodes = [node for text in texts for node in walked(text.tree)]
    times = Counter(name for node in nodes for name in _named_by(node, meanings))
    return {
        one.name
        for text in texts
        for one in text.tree.body
        if isinstance(one, ast.AsyncFunctionDef)
        if times[one.name] == 1 and not times["*"] and not one.decorator_list
    }


def _named_by(node: ast.AST, meanings: Meanings) -> Iterator[str]:
    match node:
        case ast.ImportFrom(module=module, names=names) if node.level or (
            meanings.is_own(module or "")
        ):
            yield from (
                one.asname for one in names if one.asname not in (None, one.name)
            )
        case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            yield name
        case ast.Constant(value=str(name)):
            yield name
        case _:
            yield from bound_by(node)

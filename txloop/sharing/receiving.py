"""Which methods only keep what they are given, such as `append`, and change none of it.

Those of plain objects do. A library's object might have a method of that name which
does more: a session that is given a row to `add` may fill it in. So either a name is
given nothing but plain objects; or there are no objects but those of the program, of
Python's library and of Tornado, and what is kept can be followed by some name.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from typing import TYPE_CHECKING, TypeGuard

from txloop.scan.known import KEEPING
from txloop.scan.syntax import FUNCTIONS, bound_in, last_name, parameters
from txloop.sharing.handlers import is_handler_class
from txloop.sharing.origins import ANY, ANY_ATTRIBUTE, NAMESPACE
from txloop.sharing.scopes import imports_in, walked
from txloop.sharing.syntax import DISPLAYS, arguments_of, leaves, targets_of

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Iterable,
        Iterator,
        Mapping,
        Set,
    )

    from txloop.sharing.meanings import Meanings
    from txloop.sharing.origins import Origins
    from txloop.sharing.texts import Text

__all__ = ["Receiving", "extends_others", "methods_by_name", "put_by_methods"]

_UNFOLLOWED = (ANY, ANY_ATTRIBUTE, NAMESPACE)

_PACKAGES = frozenset(["tornado", "txloop"])
"""Packages beside Python's of which no object changes what it is given to keep."""

_BRINGING = frozenset(
    ["copyreg", "ctypes", "importlib", "pickle", "pkgutil", "runpy", "shelve"]
)
"""Modules that may bring objects of packages which no line imports."""

_RUNNING = frozenset(["__import__", "eval", "exec"])
"""Functions that may do that."""


class Receiving:
    """The methods of a program's objects that only keep what they are given."""

    def __init__(self, texts: Collection[Text], origins: Origins) -> None:
        """Look at all lines.

        Args:
            texts: The modules.
            origins: Where values come from.
        """
        self._origins = origins
        self._plain = _names_of_plain(texts)
        trees = [text.tree for text in texts]
        self._are_known = not (
            any(_may_bring_others(origins.meanings, tree) for tree in trees)
            or any(_may_set_methods(tree) for tree in trees)
            or extends_others(origins.meanings, KEEPING)
        )

    def only_keeps(self, scope: ast.AST, function: ast.expr) -> bool:
        """Tell whether what a call runs, none of the program's functions, does so."""
        return (
            isinstance(function, ast.Attribute)
            and function.attr in KEEPING
            and (
                _name_of(function.value) in self._plain
                or (self._are_known and self._is_followed(scope, function.value))
            )
        )

    def _is_followed(self, scope: ast.AST, holder: ast.expr) -> bool:
        """Tell whether what is put into an object is found by a name of that."""
        match holder:
            case ast.Name():
                return True  # what is put into variables of functions is followed
            case ast.Call(func=ast.Attribute(value=inner, attr="setdefault")):
                return self._is_followed(scope, inner)  # its default is in there, too
        values = self._origins.of(scope, holder)
        names = {one.name for one in values}
        return bool(names) and names.isdisjoint(("", *_UNFOLLOWED))


def _names_of_plain(texts: Iterable[Text]) -> set[str]:
    """Return the names that are given nothing but new plain objects, or containers.

    Of a TVar it is ``name.value`` that has them.
    """
    plain: set[str] = set()
    others: set[str] = set()
    tvars: set[str] = set()
    given: set[str] = set()
    for node in (one for text in texts for one in walked(text.tree)):
        for target, value in targets_of(node):
            its = {_name_of(leaf) for leaf in leaves(target)}
            given |= its
            made = value
            if _is_call_of(made, "txloop.TVar"):
                others |= its
                tvars |= (its := {f"{one}.value" for one in its})
                made = made.args[0]
            else:
                others |= {f"{one}.value" for one in its}
            if _is_call_of(made, "txloop.share"):
                made = made.args[0]
            if isinstance(node, ast.Assign) and _is_slice_of(target, made):
                continue
            if isinstance(made, DISPLAYS) and isinstance(node, ast.Assign):
                plain |= its
            else:
                others |= its
        if isinstance(node, FUNCTIONS):
            others.update(parameters(node))
            others.update(f"{one}.value" for one in parameters(node))
    if any(one.endswith(".value") for one in given - tvars):
        others |= tvars  # some may be given it by another name
    return plain - others


def _is_call_of(value: ast.expr, name: str) -> TypeGuard[ast.Call]:
    return isinstance(value, ast.Call) and ast.unparse(value.func) == name


def _name_of(holder: ast.expr) -> str:
    """Return the last name of an object; of a TVar's value, or the like, two."""
    name = last_name(holder)
    if name == "value" and isinstance(holder, ast.Attribute):
        return f"{last_name(holder.value)}.value"
    return name


def _is_slice_of(target: ast.expr, value: ast.expr) -> bool:
    """Tell whether a name gets some elements of what has it: it is a list, as that."""
    match target, value:
        case ((ast.Name() | ast.Attribute()), ast.Subscript(slice=ast.Slice())):
            return ast.unparse(target) == ast.unparse(value.value)
    return False


def _may_bring_others(meanings: Meanings, tree: ast.Module) -> bool:
    """Tell whether a module may get objects of other packages than the known ones."""
    for one in imports_in(tree):
        package = one.module.partition(".")[0]
        known = package in sys.stdlib_module_names or package in _PACKAGES
        if package in _BRINGING or not (known or meanings.is_own(one.module)):
            return True
    return any(isinstance(one, ast.Name) and one.id in _RUNNING for one in walked(tree))


def _may_set_methods(tree: ast.Module) -> bool:
    """Tell whether a module may give classes methods otherwise than by their text."""
    for node in walked(tree):
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store()) if name in KEEPING:
                return True
            case ast.Call(args=[_, ast.Constant(value=name), *_]) if name in KEEPING:
                return True
            case ast.Call(func=ast.Name(id="type"), args=[_, _, _]):
                return True
            case ast.Call(func=function) if last_name(function) == "new_class":
                return True
    return False


def extends_others(meanings: Meanings, methods: Set[str]) -> bool:
    """Tell whether methods of the program may be run by those of its classes' bases.

    ``update`` of a `UserDict` runs the `__setitem__` that is there.

    Args:
        meanings: What names mean.
        methods: Their names.
    """
    bases = {
        name: {*map(last_name, (base for one in nodes for base in one.bases))}
        for name, nodes in meanings.classes.items()
    }
    classes = [(name, one) for name, its in meanings.classes.items() for one in its]
    found = {name for name, one in classes if _has_foreign_base(meanings, one)}
    before = -1
    while before != (before := len(found)):
        for name, its in bases.items():
            if name in found:
                found |= its & bases.keys()
            elif its & found:
                found.add(name)
    return any(methods & bound_in(one) for name, one in classes if name in found)


def _has_foreign_base(meanings: Meanings, node: ast.ClassDef) -> bool:
    """Tell whether a class is derived from another than the program's or Tornado's."""
    for base in map(last_name, node.bases):
        of_tornado = is_handler_class(node) and base.endswith("Handler")
        if not (base == "object" or base in meanings.classes or of_tornado):
            return True
    return False


def methods_by_name(texts: Iterable[Text]) -> Mapping[str, list[ast.Attribute]]:
    """Return what is called by another name, as in ``add = rows.append``."""
    found: defaultdict[str, list[ast.Attribute]] = defaultdict(list)
    for text in texts:
        for node in walked(text.tree):
            for target, value in targets_of(node):
                if _keeps(value):
                    found[last_name(target)].append(value)
    return found


def put_by_methods(
    call: ast.Call,
    methods: Mapping[str, list[ast.Attribute]],
    passed: Callable[[ast.expr], Iterable[str]],
) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what a call puts into what by such a name, or as ``map(rows.append, x)``.

    Args:
        call: The call.
        methods: Those of containers that are called by other names, by these.
        passed: Gives the names of a function.
    """
    every = arguments_of(call)
    for called in (call.func, *every):
        bases = [one.value for name in passed(called) for one in methods.get(name, ())]
        if called is not call.func and _keeps(called):
            bases.append(called.value)
        for base in bases:
            yield from ((base, one) for one in every if one is not called)


def _keeps(value: ast.expr) -> TypeGuard[ast.Attribute]:
    return isinstance(value, ast.Attribute) and value.attr in KEEPING

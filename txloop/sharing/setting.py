"""Which attributes the lines of a program set, and whose by names that are made later.

Of an attribute that no line sets, what has it was given it otherwise: ``ns.rows`` of
``SimpleNamespace(rows=rows)`` is one of the arguments. What ``setattr(room, name, x)``
sets may be any attribute of an object of that class.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.syntax import bound_in, last_name
from txloop.sharing.scopes import imports_in, nodes_of, scopes_in, walked
from txloop.sharing.strays import stray_attributes
from txloop.sharing.syntax import fields_of_tuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from txloop.sharing.flow import Flow
    from txloop.sharing.meanings import Meanings
    from txloop.sharing.texts import Text

__all__ = ["Setting"]

_SETTERS = ("setattr", "__setattr__")


class Setting:
    """The attributes that lines set."""

    def __init__(self, texts: Collection[Text], meanings: Meanings, flow: Flow) -> None:
        """Look at all lines.

        Args:
            texts: The modules.
            meanings: What names mean.
            flow: Where objects of the program's classes get to.
        """
        self._meanings = meanings
        self._flow = flow
        nodes = [node for text in texts for node in walked(text.tree)]
        strays = [*stray_attributes(texts)]
        self._names = {name for node in nodes for name in _set_by(node)}
        self._names |= {one.attribute for one in strays if one.attribute is not None}
        self._imported = {one.bound for text in texts for one in imports_in(text.tree)}
        later = [(one.of, one.scope) for one in strays if one.attribute is None]
        later += (
            (of, scope)
            for text in texts
            for scope in scopes_in(text.tree)
            for node in nodes_of(scope)
            for of in _set_later_by(node)
        )
        self._later = [self._classes_of(*one) for one in later]
        self._known: dict[tuple[ast.expr, ast.AST], bool] = {}

    def knows(self, asked: ast.Attribute) -> bool:
        """Tell whether a line may have set what an expression asks for.

        What handlers have of Tornado, and modules have, is not asked for here.
        """
        of = asked.value.id if isinstance(asked.value, ast.Name) else ""
        return asked.attr in self._names or of in ("self", "cls", *self._imported)

    def may_be_set_later(self, of: ast.expr, scope: ast.AST) -> bool:
        """Tell whether an object has attributes that are set by names made later."""
        if not self._later:
            return False
        if (of, scope) not in self._known:
            its = self._classes_of(of, scope)
            found = any(not (its and each) or its & each for each in self._later)
            self._known[of, scope] = found
        return self._known[of, scope]

    def _classes_of(self, of: ast.expr, scope: ast.AST) -> set[str]:
        """Return the classes of an object, with their bases; none if not one is known.

        What derives from these has them, too.
        """
        its = self._flow.classes_of(of, scope)
        owner = self._meanings.owner_of(scope)
        if isinstance(of, ast.Name) and of.id in ("self", "cls") and owner is not None:
            its = {owner.name}
        found: set[str] = set()
        waiting = [*its]
        while waiting:
            name = waiting.pop()
            if name in self._flow.classes and name not in found:
                found.add(name)
                for node in self._flow.classes[name]:
                    waiting += map(last_name, node.bases)
        return found


def _set_by(node: ast.AST) -> Iterator[str]:
    """Yield the attributes that a node sets, or defines in a class."""
    match node:
        case ast.Attribute(attr=name, ctx=ast.Store()):
            yield name
        case ast.ClassDef():
            yield from bound_in(node)
            yield from fields_of_tuple(node)
        case ast.Call(func=function, args=[_, ast.Constant(value=str(name)), *_]) if (
            last_name(function) in _SETTERS
        ):
            yield name
        case ast.Call():
            yield from fields_of_tuple(node)


def _set_later_by(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the object of which a node sets an attribute whose name is not there."""
    match node:
        case ast.Call(func=function, args=[*others, asked, _]) if last_name(
            function
        ) in _SETTERS and not isinstance(asked, ast.Constant):
            yield others[0] if others else getattr(function, "value", function)

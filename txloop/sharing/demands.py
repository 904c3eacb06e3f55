"""Which objects of the program a line needs to be plain.

Where that is known, they are left alone, with all that is kept in them and with the
expressions that make it. Where it is not known, everything is.
"""

from __future__ import annotations

import ast
import enum
from typing import TYPE_CHECKING

from txloop.scan.syntax import FUNCTIONS, parameters
from txloop.sharing.handlers import VERBS, is_handler_class
from txloop.sharing.origins import ANY, ANY_ATTRIBUTE, EVERYTHING, Hazard
from txloop.sharing.syntax import assigned_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from txloop.sharing.flow import Flow
    from txloop.sharing.keeping import Keeping
    from txloop.sharing.making import Site
    from txloop.sharing.origins import Origins

__all__ = ["Demands", "Wants"]


class Wants(enum.Enum):
    """What a line wants of objects.

    The program's own objects are no plain ones. Where their identity is wanted, or
    their hash, everything is left alone.
    """

    PLAIN = enum.auto()
    PARTS = enum.auto()  # of own objects, too: their attributes are to be plain
    IDENTITY = enum.auto()
    HASH = enum.auto()  # which plain objects do not have


class Demands:
    """Finds the objects that a line is about."""

    def __init__(self, origins: Origins, keeping: Keeping, flow: Flow) -> None:
        self._origins = origins
        self._keeping = keeping
        self._flow = flow

    def may_be_own(self, node: ast.AST, value: ast.expr) -> bool:
        """Tell whether an expression of a line may give an object of an own class."""
        if isinstance(value, ast.Name) and value.id in ("self", "cls"):
            return True
        scope = self._origins.meanings.scope_of(node)
        return bool(self._flow.classes_of(value, scope))

    def on(
        self, node: ast.AST, values: Iterable[ast.expr], reason: str, wants: Wants
    ) -> Iterator[Hazard]:
        """Yield what is to stay plain so that the values of a line are.

        Args:
            node: The line.
            values: The expressions.
            reason: What the line does.
            wants: What it wants of them.
        """
        scope = self._origins.meanings.scope_of(node)
        names: set[str] = set()
        sites: set[Site] = set()
        for value in values:
            classes = self._flow.classes_of(value, scope)
            own = classes and wants in (Wants.IDENTITY, Wants.HASH)
            if own or not self._is_known(scope, value, set()):
                yield Hazard(EVERYTHING, reason)
                return
            if wants is not Wants.PLAIN:
                for name in self._flow.held_by(classes):
                    for one in self._flow.classes[name]:
                        names |= assigned_in(one)
            for origin in () if wants is Wants.HASH else self._origins.of(scope, value):
                if origin.site is not None:
                    sites.add(origin.site)
                elif origin.name != ANY_ATTRIBUTE:  # it has a name, too
                    names.add(origin.name)
        yield from self.about(names, sites, reason)

    def about(self, names: set[str], sites: set[Site], reason: str) -> Iterator[Hazard]:
        """Yield names and places as hazards, with those of what is kept in them."""
        names, sites = self._keeping.all_in(names, sites)
        if ANY in names:
            yield Hazard(EVERYTHING, reason)
            return
        yield from (Hazard(name, reason) for name in sorted(names))
        yield from (Hazard(EVERYTHING, reason, site) for site in sorted(sites))

    def _is_known(
        self, scope: ast.AST, value: ast.AST, seen: set[tuple[int, str]]
    ) -> bool:
        """Tell whether all is known that variables in an expression may be given."""
        if isinstance(value, ast.Attribute):
            return True  # it has a name
        if isinstance(value, ast.Subscript):
            return self._is_known(scope, value.value, seen)
        if isinstance(value, ast.Name):
            if value.id in ("self", "cls"):
                return False
            home = self._origins.meanings.home(scope, value.id)
            return home is None or self._is_given(home, value.id, seen)
        children = ast.iter_child_nodes(value)
        return all(self._is_known(scope, one, seen) for one in children)

    def _is_given(
        self, function: ast.AST, name: str, seen: set[tuple[int, str]]
    ) -> bool:
        if (id(function), name) in seen:
            return True
        seen.add((id(function), name))
        if not isinstance(function, FUNCTIONS) or name not in parameters(function):
            return all(
                self._is_known(function, value, seen)
                for value in self._origins.meanings.values_of(function, name)
            )
        owner = self._origins.meanings.owner_of(function)
        called = getattr(function, "name", "")
        if is_handler_class(owner) and called in (*VERBS, "initialize"):
            return True
        return self._origins.meanings.is_only_called(function)

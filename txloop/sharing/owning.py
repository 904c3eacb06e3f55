"""What handlers keep in attributes of their own, change, and store: a hazard.

Where ``self.body`` is stored, a container holds a copy, which does not change with it.
Of an object of the program's own classes it holds that object.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from txloop.scan.syntax import last_name
from txloop.sharing.bindings import given_to
from txloop.sharing.origins import Hazard
from txloop.sharing.scopes import nodes_of, scopes_in, walked
from txloop.sharing.syntax import attribute_of_self, changed_by, holder_name, is_of_self

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from txloop.scan.syntax import FunctionNode
    from txloop.sharing.habits import Habits
    from txloop.sharing.storing import Storing
    from txloop.sharing.texts import Text

__all__ = ["Owning"]


class Owning:
    """What attributes of handlers are given, and where handlers store them."""

    def __init__(self, texts: Iterable[Text], habits: Habits, storing: Storing) -> None:
        """Look at all assignments.

        Args:
            texts: The modules.
            habits: What is known of the program's functions.
            storing: Tells what is put where.
        """
        self._habits = habits
        self._storing = storing
        self._given: defaultdict[str, list[tuple[ast.AST, ast.expr | None]]]
        self._given = defaultdict(list)
        for text in texts:
            for scope in scopes_in(text.tree):
                self._take(scope)

    def _take(self, scope: ast.AST) -> None:
        """Take note of what attributes are given, and names in bodies of classes."""
        known: set[ast.expr] = set()
        for node in nodes_of(scope):
            for target, value in given_to(node):
                if isinstance(target, ast.Attribute) or isinstance(scope, ast.Module):
                    known.add(target)
                    self._given[last_name(target)].append((scope, value))
        for node in nodes_of(scope):
            is_stored = not isinstance(getattr(node, "ctx", None), ast.Load)
            if isinstance(node, ast.Attribute) and is_stored and node not in known:
                self._given[node.attr].append((scope, None))

    def _stays(self, name: str) -> bool:
        """Tell whether what attributes of a name are given is the same once stored."""
        given = self._given[name]
        return bool(given) and all(
            value is not None and self._habits.stays(scope, value)
            for scope, value in given
        )

    def hazards(
        self, text: Text, function: FunctionNode, owner: ast.ClassDef
    ) -> Iterator[Hazard]:
        """Yield where an attribute of a handler is stored that its methods change."""
        changed = {
            attribute_of_self(target)
            for node in walked(owner)
            for target in [changed_by(node)]
            if target is not None and not is_of_self(node)
        }
        for node in nodes_of(function):
            for holder, value in self._storing.put(node):
                if isinstance(node, ast.Assign | ast.AnnAssign) and is_of_self(holder):
                    continue
                for name in sorted(self._stored_in(value) & changed):
                    if name != attribute_of_self(holder):
                        reason = f"stores self.{name}, which changes"
                        place = text.place(node)
                        yield Hazard(holder_name(holder), f"{place}, {reason}")

    def _stored_in(self, value: ast.AST) -> set[str]:
        """Return the attributes that are stored, or parts of them, with a value."""
        nodes = [*ast.walk(value)]
        bases = {
            one.value for one in nodes if isinstance(one, ast.Attribute | ast.Subscript)
        }
        return {
            name
            for one in nodes
            if (name := attribute_of_self(one))
            # Parts may be plain, whatever they are parts of.
            and (not is_of_self(one) or one in bases or not self._stays(name))
        }

"""What the objects of the program's classes have, where a TObject has to know it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.syntax import bound_in, last_name
from txloop.sharing.bindings import bindings
from txloop.sharing.families import Families
from txloop.sharing.origins import NAMESPACE
from txloop.sharing.scopes import functions_in
from txloop.sharing.showing import deleted_in, objects_shown, why_in_any_order
from txloop.sharing.slots import has_slots, why_not_slots
from txloop.sharing.stated import (
    begin_in_common,
    constants_in,
    is_dataclass,
    shows_attributes,
)
from txloop.sharing.syntax import set_on_self

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from txloop.sharing.flow import Flow
    from txloop.sharing.strays import Stray
    from txloop.sharing.texts import Text

__all__ = ["Having"]


class Having(Families):
    """Whether all attributes of these objects can be shared; the base of `Classes`."""

    def __init__(
        self, texts: Iterable[Text], flow: Flow, hazards: Mapping[str, str]
    ) -> None:
        """Look at all classes.

        Args:
            texts: The modules.
            flow: Where their objects get to.
            hazards: By the name of an attribute, why it must not hold a container; or
                by that of a class, or of all namespaces, why none must become one.
        """
        super().__init__(texts, flow)
        self._hazards = hazards

    def _why_not_attributes(self, name: str) -> str:
        for stray in self._strays:
            if self._sets_any(stray, name) and (
                stray.is_past or not self._is_free(name)
            ):
                return f"{stray.text.place(stray.of)}, sets attributes by name"
        every = {*self._attributes(name), *self._also(name), NAMESPACE}
        taken = every & self._hazards.keys()
        if taken:
            return self._hazards[min(taken)]
        line = [
            node for one in self._line(name) for _, node in self._found.get(one, ())
        ]
        its = set(self._also(name)).union(*map(set_on_self, line))
        if common := its & begin_in_common(line):
            return f"its objects begin with what the class has as {min(common)}"
        if any(map(has_slots, line)):
            others = self._also(name)
            if reason := why_not_slots(self._texts, line, others):
                return reason
        why = self._why_shown_in_order(name)
        return self._why_set_on_class(name) or ("" if self._is_free(name) else why)

    def _hidden(self, name: str) -> set[str]:
        """Return what is set, but not declared, and cannot be an attribute of these."""
        undeclared = {*self._also(name)}  # none where these have slots only
        if not undeclared or any(map(shows_attributes, self._texts)):
            return undeclared  # what came first would not be shown first
        bound: set[str] = set()
        for one in self._family(name):
            is_root = self._line(one) & self._found.keys() == {one}
            for _, node in self._found[one]:
                # Objects have these until they get values of their own.
                shown = constants_in(node) if is_root else set()
                bound |= bound_in(node) - shown
        return undeclared & bound | {one for one in undeclared if one[:2] == "__"}

    def _sets_any(self, stray: Stray, name: str) -> bool:
        """Tell whether a line may set attributes of any name on objects of a class."""
        if stray.attribute is not None:
            return False
        return not stray.owner or self._may_be_both(name, stray.owner)

    def _is_free(self, name: str) -> bool:
        """Tell whether objects of a class can have any attributes, as most have."""
        return not any(
            has_slots(node) or is_dataclass(text, node)
            for one in self._found
            if self.are_related(one, name)
            for text, node in self._found[one]
        )

    def _is_open(self, root: str) -> bool:
        """Tell whether objects of a class, or of derived ones, need any attributes.

        Either a line sets them by names that are not known, or one shows them in their
        order, which only those know in which this is the order of their cells.
        """
        return self._is_free(root) and any(
            any(self._sets_any(stray, one) for stray in self._strays)
            or self._why_shown_in_order(one)
            for one in self._found
            if root in self._line(one)
        )

    def _shown(self, text: Text, scope: ast.AST, value: ast.expr) -> set[str]:
        """Return the classes of which an expression may give one, or an object.

        There are none if it may give anything.
        """
        match value:
            case ast.Attribute(value=of, attr="__class__"):
                return self._shown(text, scope, of)
            case ast.Call(func=ast.Name(id="type"), args=[of]):
                return self._shown(text, scope, of)
            case ast.Name(id="self" | "cls"):
                owners = {id(one): cls for one, cls in functions_in(text.tree)}
                owner = owners.get(id(scope))
                return {owner.name} if owner is not None else set()
            case ast.Name(id=name) if name in self._found:
                values, is_given = bindings(scope, name)
                if not (is_given or (values and scope is not text.tree)):
                    return {name}
        return {*self._flow.classes_of(value, scope)} & self._found.keys()

    def _why_shown_in_order(self, name: str) -> str:
        """Return which line shows attributes in an order that no TObject knows."""
        if any(is_dataclass(*one) for one in self._found[name]):
            return ""  # whose fields have one order
        if not any(objects_shown(one.tree) for one in self._texts):
            return ""
        names = sorted(self._line(name) & self._found.keys())
        names.sort(key=lambda one: len(self._line(one)))
        line = [node for one in names for _, node in self._found[one]]
        gone = set[str]().union(*(deleted_in(one.tree) for one in self._texts))
        why = why_in_any_order(line, {*self._also(name)}, gone)
        if not why:
            return ""
        for text in self._texts:
            for scope, value in objects_shown(text.tree):
                its = self._shown(text, scope, value)
                if not its or any(self.are_related(one, name) for one in its):
                    what = f"shows attributes in their order, and {why}"
                    return f"{text.place(value)}, {what}"
        return ""

    def _why_set_on_class(self, name: str) -> str:
        """Return which line sets an attribute of a class that its objects set, too.

        What stands for that of the objects would be gone from the class.
        """
        its = {
            stray.attribute
            for stray in self._strays
            for one in self._known(stray) or {name}
            if last_name(stray.of) not in self._found and self.are_related(one, name)
        } | {*self._also(name)}
        for related in self._line(name):
            for _, node in self._found.get(related, ()):
                its |= set_on_self(node)
        for text, cls, of, attribute in self._set_on_classes:
            if attribute in its and self.are_related(cls, name):
                return f"{text.place(of)}, sets {attribute} of the class, too"
        return ""

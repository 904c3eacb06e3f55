"""The program's classes: which is derived from which, and what their objects have."""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

from txloop.scan.syntax import last_name
from txloop.sharing.scopes import nodes_of_kinds, walked
from txloop.sharing.slots import has_slots
from txloop.sharing.stated import is_dataclass, settable
from txloop.sharing.strays import is_own_class, stray_attributes
from txloop.sharing.syntax import annotated_in, assigned_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from txloop.sharing.flow import Flow
    from txloop.sharing.strays import Stray
    from txloop.sharing.texts import Text

__all__ = ["Families"]

_VALUES = frozenset(
    [
        *("Enum", "Flag", "IntEnum", "IntFlag", "NamedTuple", "StrEnum"),
        "TypedDict",  # what it makes is a plain dict
    ]
)
"""Bases of classes whose objects are stored as they are, or of which there are none."""


class Families:
    """The classes of a program, by simple name; the base of `Having`."""

    def __init__(self, texts: Iterable[Text], flow: Flow) -> None:
        """Look at all classes.

        Args:
            texts: The modules.
            flow: Where their objects get to.
        """
        self._texts = list(texts)
        self._flow = flow
        self._found: dict[str, list[tuple[Text, ast.ClassDef]]] = {}
        for text in self._texts:
            for node in walked(text.tree):
                if isinstance(node, ast.ClassDef):
                    self._found.setdefault(node.name, []).append((text, node))
        self._strays = [*stray_attributes(self._texts)]

    def is_known(self, name: str) -> bool:
        """Tell whether the program defines a class of that name."""
        return name in self._found

    def are_related(self, one: str, other: str) -> bool:
        """Tell whether one of two classes is derived from the other, or is it."""
        return other in self._line(one) or one in self._line(other)

    def are_apart(self, one: str, other: str) -> bool:
        """Tell whether both are the program's, and no object is of both."""
        both = {one, other}
        known = both <= self._found.keys()
        return known and not any(both <= self._line(each) for each in self._found)

    def has_derived(self, name: str) -> bool:
        """Tell whether the program derives a class from it."""
        return any(name in self._line(one) for one in self._found if one != name)

    def _line(self, name: str) -> set[str]:
        found = {name}
        for _, node in self._found.get(name, ()):
            for base in node.bases:
                if last_name(base) != name:
                    found |= self._line(last_name(base))
        return found

    def are_values(self, name: str) -> bool:
        """Tell whether the objects of a class never change, as numbers do."""
        its = [node for one in self._line(name) for _, node in self._found.get(one, ())]
        return not _VALUES.isdisjoint(self._line(name)) or any(map(_is_tuple, its))

    def have_end(self, name: str) -> bool:
        """Tell whether the objects of a class do something when they end."""
        return any(
            getattr(one, "name", "") == "__del__"
            for related in self._line(name)
            for _, node in self._found.get(related, ())
            for one in node.body
        )

    def _attributes(self, name: str) -> set[str]:
        found: set[str] = set()
        for _, node in self._found.get(name, ()):
            found |= assigned_in(node)
            for base in node.bases:
                if last_name(base) != name:
                    found |= self._attributes(last_name(base))
        return found

    def _also(self, name: str) -> list[str]:
        """Return the attributes that objects have and their class does not tell."""
        if self._have_slots_only(name):
            return []
        if any(is_dataclass(*one) for one in self._found.get(name, ())):
            return self._undeclared(name)
        found = set()
        for stray in self._strays:
            if stray.attribute is None:
                continue
            for one in self._known(stray) or {name}:
                if self.are_related(one, name):
                    found |= {stray.attribute} - self._attributes(one)
        return sorted(found)

    def _have_slots_only(self, name: str) -> bool:
        """Tell whether no object of a class, or of related ones, can have others."""
        its = [node for one in self._family(name) for _, node in self._found[one]]
        return bool(its) and all(map(has_slots, its))

    def _undeclared(self, name: str) -> list[str]:
        """Return what may be set on objects of a family of dataclasses besides fields.

        What methods set may be another's: objects may have it without having a value.
        """
        found: set[str] = set()
        for one in self._family(name):
            its = {
                stray.attribute
                for stray in self._strays
                if stray.attribute is not None
                if one in (self._known(stray) or {one})
            }
            for related in self._line(one) & self._found.keys():
                its.update(*(assigned_in(node) for _, node in self._found[related]))
            found |= its - self._declared(one) - self._set_by_properties(one)
        return sorted(found)

    def _family(self, name: str) -> set[str]:
        """Return a dataclass, those that it is derived from, and those from these."""
        line = self._line(name) & self._found.keys()
        return {one for one in self._found if line & self._line(one)}

    def _known(self, stray: Stray) -> set[str]:
        """Return the program's classes of which an object may be; none for any."""
        return self._flow.classes_of(stray.of, stray.scope) & self._found.keys()

    def _declared(self, name: str) -> set[str]:
        """Return the fields of a dataclass, with those of its bases."""
        return {
            attribute
            for related in self._line(name)
            for _, node in self._found.get(related, ())
            for attribute in annotated_in(node)
        }

    def _set_by_properties(self, name: str) -> set[str]:
        """Return the properties that a class, or one of its bases, has setters for."""
        return {
            one
            for related in self._line(name)
            for text, node in self._found.get(related, ())
            for one in settable(text, node)
        }

    @functools.cached_property
    def _set_on_classes(self) -> list[tuple[Text, str, ast.AST, str]]:
        """What sets an attribute of a class: module, class, the line, its name."""
        found: list[tuple[Text, str, ast.AST, str]] = [
            (stray.text, last_name(stray.of), stray.of, stray.attribute)
            for stray in self._strays
            if stray.attribute is not None and last_name(stray.of) in self._found
        ]
        for text in self._texts:
            for one in nodes_of_kinds(text.tree, ast.Attribute):
                name = last_name(one.value)
                if isinstance(one.ctx, ast.Store) and name in self._found:
                    found.append((text, name, one, one.attr))
        found += [
            (text, name, one, one.attr)
            for name, its in self._found.items()
            for text, node in its
            for one in ast.walk(node)
            if isinstance(one, ast.Attribute)
            and isinstance(one.ctx, ast.Store)
            and is_own_class(one.value)
        ]
        return found

    def _may_be_both(self, one: str, other: str) -> bool:
        """Tell whether an object of a class may be one of another, too."""
        return any(
            self.are_related(each, one) and self.are_related(each, other)
            for each in self._found
        )


def _is_tuple(node: ast.ClassDef) -> bool:
    """Tell whether a class is derived from what a call has made: a tuple with names."""
    called = [last_name(one.func) for one in node.bases if isinstance(one, ast.Call)]
    return not {"NamedTuple", "namedtuple"}.isdisjoint(called)

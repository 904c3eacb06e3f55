"""Attributes of classes and of the application that are assigned again: TVars.

``X.name`` becomes ``X.name.value``, where each use of the attribute's name in the
program is one of this attribute. Attributes of other objects need nothing of this:
their class becomes a TObject. What is assigned only while the program is set up is not
assigned again.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from txloop.scan.source import private
from txloop.scan.syntax import FUNCTIONS, bound_by, bound_in, last_name, parameters
from txloop.sharing.bindings import bindings, taken_from
from txloop.sharing.lookups import why_by_name
from txloop.sharing.scopes import (
    absolute_name,
    attributes_named,
    functions_in,
    imports_in,
    nodes_of_kinds,
    walked,
)
from txloop.sharing.shown import why_as_written
from txloop.sharing.syntax import is_of_self, simple_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Set

    from txloop.sharing.classes import Classes
    from txloop.sharing.texts import Edits, Text

__all__ = ["Attribute"]

_OWN = ("cls", "type(self)", "self.__class__")
"""What methods call their object's class."""

_APPLICATIONS = ("self.application", "handler.application")
"""What handlers, and what is given them, call the application."""


class _First(NamedTuple):
    """Where an attribute gets its first value."""

    text: Text
    cls: str
    target: ast.AST
    value: ast.expr


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a class, or of the objects of one.

    Attributes:
        texts: All modules.
        classes: All classes.
        late: Where attributes may be assigned once requests are served: name, file and
            line.
        owner: The name of the class.
        name: That of the attribute.
    """

    texts: Sequence[Text]
    classes: Classes
    late: Set[tuple[str, str, int]]
    owner: str
    name: str

    def is_rebound(self) -> bool:
        """Tell whether it is assigned after its object was made."""
        return any(
            self._is_late(text, function, cls, node)
            for text in self.texts
            for function, cls, node in _stores(text, self.name)
        )

    def _is_late(
        self,
        text: Text,
        function: ast.AST,
        cls: ast.ClassDef | None,
        node: ast.Attribute,
    ) -> bool:
        if self._is_apart(text, node):
            return False
        constructs = getattr(function, "name", "") == "__init__"
        own = cls.name if cls is not None and is_of_self(node) else ""
        if own and (constructs or not self._is_related(own)):
            return False
        # What a constructor does to others is not in `late`.
        return constructs or self._is_assigned_late(text, node)

    def _is_assigned_late(self, text: Text, node: ast.AST) -> bool:
        return (self.name, text.file, getattr(node, "lineno", 0)) in self.late

    def make_variable(self, edits: Mapping[str, Edits]) -> tuple[Text, int] | str:
        """Make it a TVar in all texts.

        Returns:
            Where it is made; why it is left alone, if it is.
        """
        first = self._first_value()
        if isinstance(first, str):
            return first
        for text in self.texts:
            reason = (
                why_by_name(text, self.name)
                or self._why_private(text)
                or self._why_in_namespace(text)
                or self._why_not(text, first)
            )
            if reason:
                return reason
        uses = [
            (text, use)
            for text in self.texts
            for use in self._uses(text)
            if use is not first.target
        ]
        if len({(text.file, text.end(use)) for text, use in uses}) < len(uses) or any(
            not text.segment(use).endswith(self.name) for text, use in uses
        ):
            return "it stands in an f-string whose parts this Python cannot place"
        reason = why_as_written(uses)
        if reason:
            return reason
        edits[first.text.file].wrap(first.text, first.value, "txloop.TVar")
        for text, use in uses:
            edits[text.file].append(text, use, ".value")
        return first.text, first.value.lineno

    def _why_private(self, text: Text) -> str:
        """Return which line may use it, if it is private, outside of its class."""
        full = private(self.name, self.owner)
        if full == self.name:
            return ""
        own: set[ast.AST] = set()
        for node in walked(text.tree):  # a class comes before those in it
            if isinstance(node, ast.ClassDef):
                same = node.name.lstrip("_") == self.owner.lstrip("_")
                own = own.union(walked(node)) if same else own.difference(walked(node))
        for use in (
            *attributes_named(text.tree, self.name),
            *attributes_named(text.tree, full),
        ):
            if use not in own or use.attr == full:
                return f"{text.place(use)}, may mean another's attribute"
        return why_by_name(text, full)

    def _why_in_namespace(self, text: Text) -> str:
        """Return which line finds it in what its class has; "" if none does."""
        for line, its in self.classes.namespaces_in(text):
            if not its or self._is_related(its):
                return f"{text.place(line)}, asks for all that a class has"
        return ""

    def _first_value(self) -> _First | str:
        """Return where it gets its first value, or why that is not one place.

        That is in the class's body, in its constructor, or where the program is set up.
        """
        found: list[_First] = []
        for text in self.texts:
            for node in walked(text.tree):
                if isinstance(node, ast.ClassDef):
                    found += _first_values_in(text, node, self.name)
        if not found:
            found = [one for text in self.texts for one in self._set_up_in(text)]
        found = [
            one for one in found if not self.classes.are_apart(one.cls, self.owner)
        ]
        for one in found:
            if not self._is_related(one.cls):
                return f"the class {one.cls} has an attribute {self.name}, too"
        if not found:
            return "no line is known to give it a value before requests come"
        if len(found) > 1:
            places = (one.text.place(one.value) for one in found)
            return f"it gets its first value in several places: {'; '.join(places)}"
        return found[0]

    def _set_up_in(self, text: Text) -> Iterator[_First]:
        values = {
            id(target): value
            for node in walked(text.tree)
            for target, value in simple_values(node)
        }
        for function, cls, target in _stores(text, self.name):
            value = values.get(id(target))
            if getattr(function, "name", "") == "__init__":
                continue  # which may run at any time
            if value is not None and not self._is_assigned_late(text, target):
                own = cls is not None and is_of_self(target)
                yield _First(
                    text, cls.name if cls and own else self.owner, target, value
                )

    def _why_not(self, text: Text, first: _First) -> str:
        """Return which use may be of another attribute; "" if there is none."""
        on_class = isinstance(first.target, ast.Name)
        for use in self._uses(text):
            if isinstance(use.ctx, ast.Del):
                return f"{text.place(use)}, deletes it"
        for _, cls, store in _stores(text, self.name):
            if self._is_apart(text, store):
                continue
            at = f"{text.place(store)},"
            base = _base_of(text, store)
            if on_class and base == "self":
                return f"{at} gives an object an attribute of its own"
            another = base not in _OWN or self.classes.has_derived(first.cls)
            if on_class and base.rpartition(".")[2] != first.cls and another:
                return f"{at} may give a derived class an attribute of its own"
            if store is first.target or cls is None or base != "self":
                continue
            if not self._is_related(cls.name):
                return f"the class {cls.name} has an attribute {self.name}, too"
        is_its = self._is_of_class if on_class else self._is_of_application
        for use in self._uses(text):
            if use is not first.target and not is_its(text, use):
                return f"{text.place(use)}, may mean another's attribute"
        for node in walked(text.tree) if on_class else ():
            if isinstance(node, ast.ClassDef) and self._is_related(node.name):
                for inner in ast.walk(node):
                    named = isinstance(inner, ast.Name) and inner.id == self.name
                    if named and inner is not first.target:
                        return f"{text.place(inner)}, uses the bare name"
        return ""

    def _uses(self, text: Text) -> list[ast.Attribute]:
        """Return where an attribute of that name is used, and may be this one.

        Those of modules are not, nor are those of objects that are of no such class.
        """
        uses = attributes_named(text.tree, self.name)
        modules = self._modules_in(text) if uses else ()
        return [
            one
            for one in uses
            if last_name(one.value) not in modules and not self._is_apart(text, one)
        ]

    def _is_apart(self, text: Text, use: ast.Attribute) -> bool:
        """Tell whether a use names a class apart from its own, or an object of one."""
        base = _base_of(text, use)
        own = base == "self" or base in _OWN
        cls = _class_of(text, use) if own else base.rpartition(".")[2]
        return self.classes.are_apart(cls, self.owner)

    def _modules_in(self, text: Text) -> set[str]:
        """Return the names that mean a module wherever they stand in a text."""
        every = {name for one in self.texts for name in one.names}
        found: set[str] = set()
        others: set[str] = set()
        for one in imports_in(text.tree):
            home = absolute_name(text.name, text.file, one.module)
            is_module = not one.name or f"{home}.{one.name}" in every
            (found if is_module else others).add(one.bound)
        for node in walked(text.tree):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                others.update(bound_by(node))
            if isinstance(node, FUNCTIONS):
                others.update(parameters(node))
            if isinstance(node, ast.Attribute):
                others.add(node.attr)  # of an object, it may be anything
        return found - others

    def _is_related(self, name: str) -> bool:
        return self.classes.are_related(name, self.owner)

    def _is_of_class(self, text: Text, use: ast.Attribute) -> bool:
        """Tell whether a use is one of the class's attribute."""
        base = _base_of(text, use)
        if base == "self" or base in _OWN:
            return self._is_related(_class_of(text, use))
        its = self._is_related(base.rpartition(".")[2])
        return its or self._is_of_object(text, use)

    def _is_of_object(self, text: Text, use: ast.Attribute) -> bool:
        """Tell whether it is asked of the only object that a variable ever has.

        That is one of the class, made by the module's own statements.
        """
        name = last_name(use.value)
        if not isinstance(use.value, ast.Name) or _is_local(text, use, name):
            return False
        match taken_from(text.tree, name):
            case ast.Call(func=ast.Name(id=cls)), 0:
                pass
            case _:
                return False
        once = all(_times_bound(text.tree, one) == 1 for one in (name, cls))
        is_here = any(getattr(one, "name", "") == cls for one in text.tree.body)
        if not (once and is_here and self._is_related(cls)) or any(
            _may_be_set_as(one.tree, name, "__class__") for one in self.texts
        ):
            return False
        return self.classes.is_shared(cls) or not self.classes.why_not(cls)

    def _is_of_application(self, text: Text, use: ast.Attribute) -> bool:
        """Tell whether a use is one of the application's attribute."""
        if is_of_self(use):
            return self._is_related(_class_of(text, use))
        values = [use.value]
        if isinstance(use.value, ast.Name):
            values = _values_of(text, use, use.value.id)
        return bool(values) and all(
            ast.unparse(one) in _APPLICATIONS
            or (isinstance(one, ast.Call) and self._is_related(last_name(one.func)))
            for one in values
        )


def _stores(
    text: Text, name: str
) -> Iterator[tuple[ast.AST, ast.ClassDef | None, ast.Attribute]]:
    """Yield where an attribute is set or deleted, with the function and its class."""
    if all(isinstance(one.ctx, ast.Load) for one in attributes_named(text.tree, name)):
        return
    seen: set[ast.AST] = set()
    for scope, cls in (*functions_in(text.tree), (text.tree, None)):
        for use in attributes_named(scope, name):
            if not isinstance(use.ctx, ast.Load) and use not in seen:
                seen.add(use)
                yield scope, cls, use


def _first_values_in(text: Text, cls: ast.ClassDef, name: str) -> Iterator[_First]:
    for statement in cls.body:
        for target, value in simple_values(statement):
            if isinstance(target, ast.Name) and target.id == name:
                yield _First(text, cls.name, target, value)
        if getattr(statement, "name", "") != "__init__":
            continue
        for inner in ast.walk(statement):
            for target, value in simple_values(inner):
                if is_of_self(target) and last_name(target) == name:
                    yield _First(text, cls.name, target, value)


def _class_of(text: Text, node: ast.AST) -> str:
    """Return the name of the class in one of whose methods a node stands."""
    for function, cls in functions_in(text.tree):
        if cls is not None and any(inner is node for inner in walked(function)):
            return cls.name
    return ""


def _base_of(text: Text, use: ast.Attribute) -> str:
    """Return whose attribute it is, as it is written, or what that variable holds."""
    values = [use.value]
    if isinstance(use.value, ast.Name):
        values = _values_of(text, use, use.value.id) or values
    return ast.unparse(values[0] if len(values) == 1 else use.value)


def _is_local(text: Text, use: ast.AST, name: str) -> bool:
    """Tell whether a name is a variable of a function where it is used."""
    return any(
        name in bound_in(function)
        for function, _ in functions_in(text.tree)
        if use in walked(function)
    )


def _times_bound(tree: ast.Module, name: str) -> int:
    return sum([*bound_by(node)].count(name) for node in walked(tree))


def _may_be_set_as(tree: ast.Module, *names: str) -> bool:
    """Tell whether lines may set an attribute of one of these names."""
    stores = (one for name in names for one in attributes_named(tree, name))
    texts = {one.value for one in nodes_of_kinds(tree, ast.Constant)}
    set_here = any(not isinstance(one.ctx, ast.Load) for one in stores)
    return set_here or not texts.isdisjoint(names)


def _values_of(text: Text, use: ast.AST, name: str) -> list[ast.expr]:
    """Return what a variable is given where it is used; nothing if not all is known."""
    around = [
        function for function, _ in functions_in(text.tree) if use in walked(function)
    ]
    for scope in (*reversed(around), text.tree):  # the innermost comes last
        if name in bound_in(scope):
            values, others = bindings(scope, name)
            return [] if others else values
    return []

"""Attributes of classes and of the application that are assigned again: TVars.

``X.name`` becomes ``X.name.value``, where each use of the attribute's name in the
program is one of this attribute. Attributes of other objects need nothing of this:
their class becomes a TObject. What is assigned only while the program is set up is not
assigned again.
"""

from __future__ import annotations

import ast
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, NamedTuple

from txloop.sharing.bindings import bindings
from txloop.sharing.scopes import bound_in, functions_in, walked
from txloop.sharing.syntax import each_given, is_of_self, last_name
from txloop.sharing.variables import why_by_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from txloop.sharing.classes import Classes
    from txloop.sharing.texts import Edits, Text

__all__ = ["make_attribute", "rebound_at"]

_OWN = ("cls", "type(self)", "self.__class__")
"""What methods call their object's class."""

_APPLICATIONS = ("self.application", "handler.application")
"""What handlers, and what is given them, call the application."""


_Late = AbstractSet[tuple[str, str, int]]
"""Where attributes may be assigned once requests are served: name, file and line."""


def rebound_at(
    texts: list[Text], classes: Classes, late: _Late, owner: str, name: str
) -> str:
    """Return where an attribute is assigned after its object was made; "" for nowhere.

    Args:
        texts: All modules.
        classes: All classes.
        late: What is assigned late.
        owner: The class of the object, or the class that has the attribute.
        name: The attribute.
    """
    for text in texts:
        for function, cls, node in _stores(text, name):
            constructs = getattr(function, "name", "") == "__init__"
            own = cls.name if cls is not None and is_of_self(node) else ""
            if own and (constructs or not classes.are_related(own, owner)):
                continue
            # What a constructor does to others is not in `late`.
            if not constructs and (name, text.file, node.lineno) not in late:
                continue
            return text.place(node)
    return ""


def _stores(
    text: Text, name: str
) -> Iterator[tuple[ast.AST | None, ast.ClassDef | None, ast.Attribute]]:
    seen: set[int] = set()
    for function, cls in functions_in(text.tree):
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and node.attr == name:
                if isinstance(node.ctx, ast.Load) or id(node) in seen:
                    continue
                seen.add(id(node))
                yield function, cls, node
    for node in ast.walk(text.tree):
        if (
            isinstance(node, ast.Attribute)
            and node.attr == name
            and not isinstance(node.ctx, ast.Load)
            and id(node) not in seen
        ):
            yield None, None, node


def make_attribute(
    texts: list[Text],
    classes: Classes,
    late: _Late,
    owner: str,
    name: str,
    edits: Mapping[str, Edits],
) -> tuple[Text, int] | str:
    """Make an attribute of a class or an application a TVar in all texts.

    Returns:
        Where it is made; why it is left alone, if it is.
    """
    first = _first_value(texts, classes, late, owner, name)
    if isinstance(first, str):
        return first
    uses: list[tuple[Text, ast.Attribute]] = []
    for text in texts:
        reason = why_by_name(text, name)
        if reason:
            return reason
        for node in ast.walk(text.tree):
            if not isinstance(node, ast.Attribute) or node.attr != name:
                continue
            if node is first.target:
                continue
            if isinstance(node.ctx, ast.Del):
                return f"{text.place(node)}, deletes it"
            uses.append((text, node))
        reason = _why_not(text, classes, owner, name, first)
        if reason:
            return reason
    if len({(text.file, text.end(use)) for text, use in uses}) < len(uses) or any(
        not text.segment(use).endswith(name) for text, use in uses
    ):
        return "it stands in an f-string whose parts this Python cannot place"
    edits[first.text.file].wrap(first.text, first.value, "txloop.TVar")
    for text, use in uses:
        edits[text.file].append(text, use, ".value")
    return first.text, first.value.lineno


class _First(NamedTuple):
    """Where an attribute gets its first value."""

    text: Text
    cls: str
    target: ast.AST
    value: ast.expr


def _first_value(
    texts: list[Text], classes: Classes, late: _Late, owner: str, name: str
) -> _First | str:
    """Return where it gets its first value.

    That is in the class's body, in its constructor, or where the program is set up.
    """
    found: list[_First] = []
    for text in texts:
        for node in ast.walk(text.tree):
            if isinstance(node, ast.ClassDef):
                found += _first_values_in(text, node, name)
    if not found:
        for text in texts:
            found += _set_up_in(text, late, owner, name)
    for one in found:
        if not classes.are_related(one.cls, owner):
            return f"the class {one.cls} has an attribute {name}, too"
    if not found:
        return "no line is known to give it a value before requests come"
    if len(found) > 1:
        places = (one.text.place(one.value) for one in found)
        return f"it gets its first value in several places: {'; '.join(places)}"
    return found[0]


def _first_values_in(text: Text, cls: ast.ClassDef, name: str) -> Iterator[_First]:
    for statement in cls.body:
        for target, value in _values(statement):
            if isinstance(target, ast.Name) and target.id == name:
                yield _First(text, cls.name, target, value)
        if getattr(statement, "name", "") != "__init__":
            continue
        for inner in ast.walk(statement):
            for target, value in _values(inner):
                if is_of_self(target) and last_name(target) == name:
                    yield _First(text, cls.name, target, value)


def _set_up_in(text: Text, late: _Late, owner: str, name: str) -> Iterator[_First]:
    values = {
        id(target): value
        for node in ast.walk(text.tree)
        for target, value in _values(node)
    }
    for function, cls, target in _stores(text, name):
        value = values.get(id(target))
        if getattr(function, "name", "") == "__init__":
            continue  # which may run at any time
        if value is not None and (name, text.file, target.lineno) not in late:
            own = cls is not None and is_of_self(target)
            yield _First(text, cls.name if cls and own else owner, target, value)


def _values(statement: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    match statement:
        case ast.Assign(targets=[target], value=value):
            return [*each_given(target, value)]
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            return [(target, value)]
    return []


def _why_not(text: Text, classes: Classes, owner: str, name: str, first: _First) -> str:
    """Return which use may be of another attribute; "" if there is none."""
    on_class = isinstance(first.target, ast.Name)
    for _, cls, store in _stores(text, name):
        at = f"{text.place(store)},"
        base = ast.unparse(store.value)
        if on_class and base == "self":
            return f"{at} gives an object an attribute of its own"
        another = base not in _OWN or classes.has_derived(first.cls)
        if on_class and base.rpartition(".")[2] != first.cls and another:
            return f"{at} may give a derived class an attribute of its own"
        if store is first.target or cls is None or base != "self":
            continue
        if not classes.are_related(cls.name, owner):
            return f"the class {cls.name} has an attribute {name}, too"
    for node in ast.walk(text.tree):
        at = f"{text.place(node)},"
        if node is first.target:
            continue
        if isinstance(node, ast.Attribute) and node.attr == name:
            base = ast.unparse(node.value)
            inside = _class_of(text, node)
            if on_class and not _is_of_class(base, inside, classes, owner):
                return f"{at} may mean another's attribute"
            if not on_class and not _is_of_application(text, node, classes, owner):
                return f"{at} may mean another's attribute"
        if on_class and isinstance(node, ast.ClassDef):
            for inner in ast.walk(node):
                if (
                    isinstance(inner, ast.Name)
                    and inner.id == name
                    and inner is not first.target
                    and classes.are_related(node.name, owner)
                ):
                    return f"{text.place(inner)}, uses the bare name"
    return ""


def _is_of_class(base: str, inside: str, classes: Classes, owner: str) -> bool:
    if base == "self" or base in _OWN:
        return classes.are_related(inside, owner)
    return classes.are_related(base.rpartition(".")[2], owner)


def _class_of(text: Text, node: ast.AST) -> str:
    """Return the name of the class in one of whose methods a node stands."""
    for function, cls in functions_in(text.tree):
        if cls is not None and any(inner is node for inner in ast.walk(function)):
            return cls.name
    return ""


def _is_of_application(
    text: Text, use: ast.Attribute, classes: Classes, owner: str
) -> bool:
    """Tell whether a use is one of the application's attribute."""
    if is_of_self(use):
        return classes.are_related(_class_of(text, use), owner)
    values = [use.value]
    if isinstance(use.value, ast.Name):
        values = _values_of(text, use, use.value.id)
    return bool(values) and all(
        ast.unparse(one) in _APPLICATIONS
        or (
            isinstance(one, ast.Call)
            and classes.are_related(last_name(one.func), owner)
        )
        for one in values
    )


def _values_of(text: Text, use: ast.AST, name: str) -> list[ast.expr]:
    """Return what a variable is given where it is used; nothing if not all is known."""
    around = [
        function for function, _ in functions_in(text.tree) if use in walked(function)
    ]
    for scope in (*around[-1:], text.tree):  # the innermost comes last
        if name in bound_in(scope):
            values, others = bindings(scope, name)
            return [] if others else values
    return []

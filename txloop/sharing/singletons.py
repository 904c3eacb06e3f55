"""Classes whose own `__new__` returns objects of the class only, as without one.

Most have one object, which an attribute of the class keeps, or a dict by the class.
What else is put there is not followed: then a call may return anything.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.syntax import FUNCTIONS, bound_by, parameters
from txloop.sharing.bindings import bindings
from txloop.sharing.scopes import attributes_named, functions_in, nodes_of_kinds, walked
from txloop.sharing.syntax import simple_values, targets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from txloop.sharing.texts import Text

__all__ = ["returns_own"]


def returns_own(texts: Iterable[Text], node: ast.ClassDef, *, is_alone: bool) -> bool:
    """Tell whether calls of a class return nothing but objects of it.

    Args:
        texts: The modules.
        node: The class, which has a `__new__`.
        is_alone: No class of the program is derived from it, nor it from one. Else
            what one keeps is found by another, too.
    """
    found = [one for one in node.body if getattr(one, "name", "") == "__new__"]
    match found:
        case [ast.FunctionDef(decorator_list=[], body=body) as method]:
            pass
        case _:
            return False
    inner = [one for statement in body for one in walked(statement)]
    first, *_ = [*parameters(method), ""]
    if any(isinstance(one, (*FUNCTIONS, ast.Yield)) for one in inner) or any(
        first in bound_by(one) for one in inner
    ):
        return False
    maker = _Maker(list(texts), node, method, first, is_alone=is_alone)
    return all(maker.is_own(one.value) for one in inner if isinstance(one, ast.Return))


class _Maker:
    """The `__new__` of a class."""

    def __init__(
        self,
        texts: list[Text],
        node: ast.ClassDef,
        method: ast.FunctionDef,
        first: str,
        *,
        is_alone: bool,
    ) -> None:
        self._texts = texts
        self._class = node
        self._method = method
        self._first = first
        self._is_alone = is_alone
        self._seen: set[str] = set()  # what is asked about already

    def is_own(self, value: ast.expr | None) -> bool:
        """Tell whether a value is an object of the class, or None."""
        match value:
            case None | ast.Constant(value=None):
                return True
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Name(id="object") | ast.Call(func=ast.Name(id="super")),
                    attr="__new__",
                ),
                args=[ast.Name(id=name), *_],
            ):
                return name == self._first
            case ast.Name(id=name):
                return self._once(name, self._is_own_variable)
            case ast.Attribute(value=base, attr=name) if self._is_class(base):
                return self._is_alone and self._once(f".{name}", self._keeps_own)
            case ast.Subscript(
                value=ast.Attribute(value=base, attr=name), slice=ast.Name(id=key)
            ) if self._is_class(base) and key == self._first:
                return self._once(f".{name}[]", self._keeps_own_by_class)
        return False

    def _once(self, key: str, asked: Callable[[str], bool]) -> bool:
        if key in self._seen:
            return True  # the first time, the answer comes
        self._seen.add(key)
        return asked(key.strip(".[]"))

    def _is_class(self, base: ast.expr) -> bool:
        match base:
            case ast.Name(id=name):
                return name in (self._first, self._class.name)
        return False

    def _is_own_variable(self, name: str) -> bool:
        values, others = bindings(self._method, name)
        return bool(values) and not others and all(map(self.is_own, values))

    def _keeps_own(self, name: str) -> bool:
        """Tell whether an attribute of the class is given nothing else anywhere."""
        return self._is_named_only(name) and all(
            self._is_own_at(text, one, values)
            for text in self._texts
            for values in [_values_in(text)]
            for one in attributes_named(text.tree, name)
            if not (isinstance(one.ctx, ast.Load) or self._is_anothers(text, one))
        )

    def _is_anothers(self, text: Text, use: ast.Attribute) -> bool:
        """Tell whether it is an attribute of another class, which uses it itself."""
        match use.value:
            case ast.Name(id=base):
                return any(
                    use in walked(function)
                    and owner.name != self._class.name
                    and base in (owner.name, *parameters(function)[:1])
                    and (function.name == "__new__" or _is_classmethod(function))
                    for function, owner in functions_in(text.tree)
                    if owner is not None and not isinstance(function, ast.Lambda)
                )
        return False

    def _is_own_at(
        self, text: Text, target: ast.AST, values: dict[int, ast.expr]
    ) -> bool:
        """Tell whether a line that sets something gives it one of the class."""
        if id(target) not in values:
            return False
        value = values[id(target)]
        if any(one is target for one in walked(self._method)):
            return self.is_own(value)
        return isinstance(value, ast.Constant) and value.value is None

    def _keeps_own_by_class(self, name: str) -> bool:
        """Tell whether a dict of the class has objects by their classes, all its own.

        It is asked whether it has one, and nothing else.
        """
        for text in self._texts:
            values = _values_in(text)
            known: set[int] = set()
            for one in nodes_of_kinds(text.tree, ast.Subscript, ast.Compare):
                match one:
                    case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[of]):
                        known.add(id(of))
                    case ast.Subscript(value=of, ctx=ast.Load()):
                        known.add(id(of))
                    case ast.Subscript(value=of, slice=ast.Name(id=key)):
                        if key == self._first and self._is_own_at(text, one, values):
                            known.add(id(of))
            uses = attributes_named(text.tree, name)
            if any(id(one) not in known for one in uses):
                return False
        return self._is_named_only(name, dict)

    def _is_named_only(self, name: str, kind: type | None = None) -> bool:
        """Tell whether no text may name an attribute, and how it begins in the class.

        That is None, or an empty dict.
        """
        if any(
            one.value == name
            for text in self._texts
            for one in nodes_of_kinds(text.tree, ast.Constant)
        ):
            return False
        first = [
            value
            for statement in self._class.body
            for target, value in simple_values(statement)
            if isinstance(target, ast.Name) and target.id == name
        ]
        match first:
            case [ast.Constant(value=None)]:
                return kind is None
            case [ast.Dict(keys=[])]:
                return kind is dict
        return False


def _is_classmethod(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return "classmethod" in map(ast.unparse, function.decorator_list)


def _values_in(text: Text) -> dict[int, ast.expr]:
    return {
        id(target): value
        for node in nodes_of_kinds(text.tree, ast.Assign, ast.AnnAssign)
        for target, value in targets_of(node)
    }

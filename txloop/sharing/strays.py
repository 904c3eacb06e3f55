"""Lines that set attributes of objects otherwise than as ``self.name = x``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from txloop.scan.known import NAMESPACES
from txloop.scan.syntax import last_name
from txloop.sharing.bindings import bindings
from txloop.sharing.scopes import functions_in, imports_in, nodes_of, walked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from txloop.sharing.texts import Text

__all__ = ["Stray", "is_namespace", "is_own_class", "stray_attributes"]


class Stray(NamedTuple):
    """A line that sets an attribute elsewhere than on `self`, or by a name in a text.

    Attributes:
        text: The module.
        scope: The function, or the module's tree.
        of: The object.
        attribute: Its name; None for any.
        owner: The class whose method it is, where that sets one of `self`; or "".
        is_past: Whether a shared object would not notice: it gets another `__dict__`,
            or an attribute past its class.
    """

    text: Text
    scope: ast.AST
    of: ast.expr
    attribute: str | None
    owner: str
    is_past: bool


def stray_attributes(texts: Iterable[Text]) -> Iterator[Stray]:
    """Yield all such lines of some modules."""
    for text in texts:
        imported = _imported(text.tree)
        for scope, owner in [(text.tree, None), *functions_in(text.tree)]:
            for node in nodes_of(scope):
                for of, attribute in _set_by(node, scope):
                    name = of.id if isinstance(of, ast.Name) else ""
                    if isinstance(node, ast.Attribute) and name in imported:
                        continue
                    own = owner.name if owner and _is_own(scope, of) else ""
                    past = attribute is None and (
                        isinstance(node, ast.Attribute)
                        or last_name(getattr(node, "func", None)) == "__setattr__"
                    )
                    yield Stray(text, scope, of, attribute, own, past)


def _is_own(method: ast.AST, of: ast.expr) -> bool:
    """Tell whether it is the object of a method, or one that a class method makes."""
    if not isinstance(of, ast.Name) or of.id == "self":
        return isinstance(of, ast.Name)
    marks = map(last_name, getattr(method, "decorator_list", ()))
    values, others = bindings(method, of.id)
    makers = {ast.unparse(getattr(one, "func", one)) for one in values}
    return makers == {"cls"} and not others and "classmethod" in marks


def _set_by(node: ast.AST, scope: ast.AST) -> Iterator[tuple[ast.expr, str | None]]:
    """Yield whose attribute a node sets, and which; None for any."""
    match node:
        case ast.Attribute(value=base, attr="__dict__", ctx=ast.Store()):
            yield base, None
        case ast.Attribute(value=ast.Name(id="self"), ctx=ast.Store()):
            pass
        case ast.Attribute(value=base, ctx=ast.Store()) if is_own_class(base):
            pass  # of the class, not of an object
        case ast.Attribute(value=base, attr=name, ctx=ast.Store()):
            named = isinstance(base, ast.Name)
            if named or last_name(base) not in ("application", "request", "settings"):
                yield base, name
        case ast.Call(
            func=ast.Name(id="setattr")
            | ast.Attribute(value=ast.Name(id="object"), attr="__setattr__"),
            args=[base, named, _],
        ):
            texts = _texts_of(named, scope)
            yield from ((base, text) for text in texts)
            if not texts:
                yield base, None
        case ast.Subscript(value=namespace, ctx=ast.Store()):
            yield from ((base, None) for base in _with_namespace(namespace))
        case ast.Call(
            func=ast.Attribute(value=namespace, attr="update" | "setdefault")
        ):
            yield from ((base, None) for base in _with_namespace(namespace))


def is_own_class(node: ast.expr) -> bool:
    """Tell whether it is what methods call their class, or that of their object."""
    return ast.unparse(node) in ("cls", "self.__class__", "type(self)")


def _texts_of(node: ast.expr, scope: ast.AST) -> list[str]:
    """Return the texts that an expression may be; none if not all are known."""
    values, others = [node], False
    if isinstance(node, ast.Name):
        values, others = bindings(scope, node.id)
    found = [one.value for one in values if isinstance(one, ast.Constant)]
    texts = [one for one in found if isinstance(one, str)]
    return texts if not others and len(texts) == len(values) else []


def _with_namespace(node: ast.expr) -> list[ast.expr]:
    """Return the object of which an expression is the `__dict__`, if it is one."""
    match node:
        case ast.Attribute(value=base, attr="__dict__"):
            return [base]
        case ast.Call(func=ast.Name(id="vars"), args=[base]):
            return [base]
    return []


def is_namespace(node: ast.expr) -> bool:
    """Tell whether an expression is the `__dict__` of an object that it names."""
    its = isinstance(node, ast.Call) and last_name(node.func) in NAMESPACES
    return its or bool(_with_namespace(node))


def _imported(tree: ast.Module) -> set[str]:
    """Return names of modules, and of what is made as an application."""
    found = {one.bound for one in imports_in(tree)}
    for node in walked(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            if last_name(node.value.func).endswith(("Application", "App", "Server")):
                found.update(map(last_name, node.targets))
        elif isinstance(node, ast.ClassDef):
            found.add(node.name)
    return found

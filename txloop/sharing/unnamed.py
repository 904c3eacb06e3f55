"""What is called without its name, and verbs that not Tornado alone gives something.

``getattr(self, "do_" + name)(x)`` gives `x` to one of several methods. And a verb is
given what `prepare` puts among the arguments of the path, and whatever calls it by
another way than ``self.get(x)``: what a class's decorator has put in its place.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from txloop.scan.known import (
    LISTING,
    MUTATORS,
    NAMESPACES,
    READERS,
    SCALARS,
    SETTING,
)
from txloop.scan.references import prefix_of
from txloop.scan.syntax import FUNCTIONS, children, last_name
from txloop.sharing.handlers import VERBS, is_handler_class
from txloop.sharing.scopes import functions_in, nodes_of, scopes_in, walked
from txloop.sharing.syntax import leaves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Set

    from txloop.sharing.meanings import Function, Meanings
    from txloop.sharing.texts import Text

__all__ = ["called_without_name"]

_IN_TORNADO = ("decode_argument", "_execute")
"""Methods of handlers that make the arguments of verbs, or call these."""

_OF_PATH = ("path_args", "path_kwargs")
"""Attributes of handlers that have these arguments."""

_HARMLESS = SCALARS | READERS | SETTING | {"callable", "getattr"}
"""Functions that call nothing that they are given."""

_GIVING = ("__getattr__", "__getattribute__")
"""Methods that return what has the name that they are asked for."""


class _Lookup(NamedTuple):
    """An expression that stands for what has a name that may be made at run time.

    Attributes:
        node: The expression.
        of: What has the name.
        start: What the name begins with.
        is_whole: Whether that is all of it.
    """

    node: ast.AST
    of: ast.expr
    start: str
    is_whole: bool

    def may_be(self, name: str) -> bool:
        return name == self.start or (not self.is_whole and name.startswith(self.start))


def called_without_name(
    texts: Iterable[Text], meanings: Meanings, functions: Iterable[Function]
) -> set[ast.AST]:
    """Return the functions, verbs too, that may be given what no call of them has.

    Args:
        texts: The modules.
        meanings: What names mean.
        functions: Those of the program.
    """
    found: set[ast.AST] = set()
    functions = [*functions]
    verbs = [one for one in functions if meanings.is_verb(one.node)]
    for text in texts:
        parents = {
            child: node for node in walked(text.tree) for child in children(node)
        }
        if _makes_arguments(text, parents):
            found |= {one.node for one in verbs}
        decorators = _decorators_of_handlers(text)
        called = {*_called_by_name_in(text)}
        for scope in scopes_in(text.tree):
            in_decorator = getattr(scope, "name", "") in decorators
            for lookup in _lookups_in(scope):
                if not _is_called(lookup.node, parents, called, scope):
                    continue
                of_handler = _may_be_handler(lookup.of, scope, meanings)
                found |= {
                    one.node
                    for one in functions
                    if lookup.may_be(one.name)
                    and not one.name.startswith("__")
                    and (of_handler or not meanings.is_verb(one.node))
                }
            for of, name in _named_otherwise(scope, parents):
                if in_decorator or _may_be_handler(of, scope, meanings):
                    its = (one.node for one in verbs if name in ("", one.name))
                    found.update(its)
    return found


def _makes_arguments(text: Text, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Tell whether a module has a say in what Tornado gives verbs."""
    for function, owner in functions_in(text.tree):
        if is_handler_class(owner) and getattr(function, "name", "") in _IN_TORNADO:
            return True
    for node in walked(text.tree):
        if isinstance(node, ast.Attribute):
            if node.attr in _IN_TORNADO and isinstance(node.ctx, ast.Store):
                return True
            if node.attr in _OF_PATH and not _is_read(node, parents):
                return True
    return False


def _is_read(node: ast.Attribute, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Tell whether no more is done with a list or dict than to look into it."""
    match parents.get(node):
        case ast.Subscript(ctx=ast.Load()) | ast.Starred() | ast.Compare():
            return isinstance(node.ctx, ast.Load)
        case ast.Attribute(attr=name):
            return name not in MUTATORS or name == "get"
        case ast.keyword(arg=None):
            return True
        case ast.Call(func=function):
            return last_name(function) in _HARMLESS | {"dict", "len", "list", "tuple"}
    return False


def _decorators_of_handlers(text: Text) -> set[str]:
    return {
        last_name(getattr(mark, "func", mark))
        for node in walked(text.tree)
        if isinstance(node, ast.ClassDef) and is_handler_class(node)
        for mark in node.decorator_list
    }


def _called_by_name_in(text: Text) -> Iterator[str]:
    """Yield the names of what is called, or given to what may call it."""
    for node in walked(text.tree):
        if isinstance(node, ast.Call):
            yield last_name(node.func)
            if last_name(node.func) not in _HARMLESS:
                yield from map(last_name, node.args)


def _lookups_in(scope: ast.AST) -> Iterator[_Lookup]:
    for node in nodes_of(scope):
        match node:
            case ast.Call(func=ast.Name(id="getattr"), args=[of, asked, *_]):
                yield _lookup(node, of, asked)
            case ast.Call(func=function, args=[asked, _, *_]) if (
                last_name(function) == "methodcaller"
            ):
                yield _lookup(node, ast.Name("self", ast.Load()), asked)
            case (
                ast.Subscript(value=names, slice=asked, ctx=ast.Load())
                | ast.Call(
                    func=ast.Attribute(value=names, attr="get"), args=[asked, *_]
                )
            ) if _has_all(names):
                yield _lookup(node, _owner_of(names), asked)
            case ast.Call(func=ast.Attribute(value=names, attr="items" | "values")) if (
                _has_all(names)
            ):
                yield _Lookup(node, _owner_of(names), "", is_whole=False)
            case ast.Call(func=function, args=[of, *_]) if (
                last_name(function) == "getmembers"
            ):
                yield _Lookup(node, of, "", is_whole=False)


def _lookup(node: ast.AST, of: ast.expr, asked: ast.expr) -> _Lookup:
    if isinstance(asked, ast.Constant):
        return _Lookup(node, of, str(asked.value), is_whole=True)
    return _Lookup(node, of, prefix_of(asked), is_whole=False)


def _owner_of(names: ast.expr) -> ast.expr:
    """Return whose namespace it is, itself if that is not said."""
    match names:
        case ast.Attribute(value=of) | ast.Call(args=[of]):
            return of
    return names


def _has_all(names: ast.expr) -> bool:
    """Tell whether an expression is the namespace of a module or an object."""
    match names:
        case ast.Call(func=function):
            return last_name(function) in NAMESPACES
        case ast.Attribute(attr="__dict__"):
            return True
    return False


def _is_called(
    node: ast.AST,
    parents: Mapping[ast.AST, ast.AST],
    called: Set[str],
    scope: ast.AST,
) -> bool:
    """Tell whether something may give arguments to what an expression stands for."""
    parent = parents.get(node)
    while isinstance(parent, ast.BoolOp | ast.IfExp | ast.Starred):
        node, parent = parent, parents.get(parent)
    match parent:
        case ast.Call(func=function) if function is node:
            return bool(parent.args or parent.keywords)
        case ast.Call(func=function):
            return last_name(function) not in _HARMLESS
        case ast.Assign(targets=targets):
            return any(last_name(one) in called for one in targets)
        case ast.For(target=target) | ast.comprehension(target=target):
            return any(last_name(one) in called for one in leaves(target))
        case ast.AnnAssign(target=target):
            return last_name(target) in called
        case ast.Return():
            return getattr(scope, "name", "") not in _GIVING
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return any(
                last_name(one) in LISTING | NAMESPACES
                for each in parent.generators
                for one in walked(each.iter)
            )
    return isinstance(parent, ast.NamedExpr | ast.Lambda | ast.Yield | ast.keyword)


def _named_otherwise(
    scope: ast.AST, parents: Mapping[ast.AST, ast.AST]
) -> Iterator[tuple[ast.expr, str]]:
    """Yield whose verb is set, or not just called, with its name; "" for any verb."""
    for node in nodes_of(scope):
        match node:
            case ast.Attribute(value=of, attr=name) if name in VERBS:
                parent = parents.get(node)
                if not (isinstance(parent, ast.Call) and parent.func is node):
                    yield of, name
            case ast.Call(func=ast.Name(id="setattr"), args=[of, asked, *_]):
                name = str(getattr(asked, "value", ""))
                if not isinstance(asked, ast.Constant) or name in VERBS:
                    yield of, name if isinstance(asked, ast.Constant) else ""
            case ast.ClassDef() if is_handler_class(node):
                for one in node.body:
                    yield from _used_in_body(one, parents)


def _used_in_body(
    statement: ast.stmt, parents: Mapping[ast.AST, ast.AST]
) -> Iterator[tuple[ast.expr, str]]:
    """Yield the verbs that a statement in the body of a handler's class hands on."""
    if isinstance(statement, FUNCTIONS):
        return
    for node in walked(statement):
        is_verb = isinstance(node, ast.Name) and node.id in VERBS
        if is_verb and isinstance(parents.get(node), ast.Call):
            yield ast.Name("cls", ast.Load()), last_name(node)


def _may_be_handler(of: ast.expr, scope: ast.AST, meanings: Meanings) -> bool:
    if isinstance(of, ast.Name) and of.id == "self":
        owner = meanings.owner_of(scope)
        return owner is None or is_handler_class(owner)
    method = ast.Attribute(of, VERBS[0], ast.Load())
    return meanings.is_of_handler(method) or "handler" in last_name(of).lower()

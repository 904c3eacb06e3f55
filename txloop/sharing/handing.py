"""What expressions hand on: their values, or parts of these, as names show it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.known import GETTERS, PARTS
from txloop.scan.syntax import last_name
from txloop.sharing.making import PLAIN
from txloop.sharing.syntax import (
    DISPLAYS,
    OF_NUMBERS,
    arguments_of,
    attribute_of_self,
    leaves,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

__all__ = [
    "called_with_texts",
    "handed_on",
    "is_of_future",
    "is_scalar",
    "may_give",
    "names_handed_on",
    "taken_whole",
]

_OF_PARTS = PARTS | {
    *("ChainMap", "MappingProxyType", "SimpleNamespace", "UserDict", "UserList"),
    *("aclosing", "closing", "enter_async_context", "enter_context", "nullcontext"),
    *("fromkeys", "reduce", "send"),
    *("anext", "as_completed", "convert_yielded", "create_task", "ensure_future"),
    *("gather", "maybe_future", "multi", "run_in_executor", "shield", "submit"),
    *("to_thread", "wait", "wait_for", "with_timeout"),
}
"""Those functions, and others that return what they are given, or parts of it."""

_TAKING = GETTERS | {"get_nowait", "popitem", "result"}


_PLACES = {
    **dict.fromkeys(("add_callback", "call_soon", "spawn_callback"), 0),
    **dict.fromkeys(("add_timeout", "call_at", "call_later"), 1),
}
"""Methods of loops, with the place of the function that they call later.

Futures of other libraries have such methods, too, and give the function their result.
"""

_OPERATORS = ("__radd__", "__rmod__", "__rsub__")
"""Methods that texts and numbers may be given to, which may return anything."""

_HOLDING = frozenset([*(one.__name__ for one in PLAIN), "UserDict", "UserList"])
"""Classes whose objects hold what they are given."""


def names_handed_on(value: ast.AST) -> set[str]:
    """Return the variables whose objects an expression hands on, or parts of them.

    ``self.name`` is one of a handler.
    """
    found: set[str] = set()
    for one in handed_on(value):
        if isinstance(one, ast.Name):
            found.add(one.id)
        elif name := attribute_of_self(one):
            found.add(f"self.{name}")
    return found


def handed_on(value: ast.AST) -> list[ast.AST]:
    """Return what an expression hands on, or parts of it, as far as names show it.

    That is names, attributes, functions, and calls of which it is not known here what
    they return.
    """
    match value:
        case ast.Name() | ast.Attribute() | ast.Lambda():
            return [value]
        case ast.Call(
            func=ast.Name(id="getattr"), args=[base, ast.Constant(value=name), *others]
        ):
            asked = ast.Attribute(base, str(name), ast.Load())
            return [asked, *_of_all(others)]
        case ast.NamedExpr(target=target, value=inner):
            return _of_all([target, inner])
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return _of_all(parts)
        case ast.Dict(values=parts) | ast.BoolOp(values=parts):
            return _of_all(parts)
        case ast.BinOp(op=operator) if isinstance(operator, OF_NUMBERS):
            return []
        case ast.BinOp() if is_scalar(value):
            return []
        case ast.BinOp(left=one, op=ast.Sub()):
            return handed_on(one)
        case ast.BinOp(left=one, op=ast.Mult(), right=other):
            # One of the two is a number: not the one that is a display.
            displays = [part for part in (one, other) if isinstance(part, DISPLAYS)]
            return _of_all(displays or [one, other])
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            return _of_all([one, other])
        case (
            ast.Await(value=inner)
            | ast.Starred(value=inner)
            | ast.Subscript(value=inner)
        ):
            return handed_on(inner)
        case ast.ListComp(elt=one) | ast.SetComp(elt=one) | ast.GeneratorExp(elt=one):
            return [*handed_on(one), *_of_loops(value.generators, one)]
        case ast.DictComp(value=one):
            return [*handed_on(one), *_of_loops(value.generators, one)]
        case ast.Call(func=ast.Lambda(body=body)):
            return _of_all([body, *value.args])
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _TAKING:
            # The default of `get` comes second.
            return _of_all([inner, *arguments_of(value)[1:]])
        case ast.Call(func=function) if last_name(function) in _OF_PARTS:
            given = arguments_of(value)
            if isinstance(function, ast.Attribute):
                given.append(function.value)
            return _of_all(given)
        case ast.Call():
            return [value]
    return []


def is_scalar(value: ast.AST) -> bool:
    """Tell whether a value is a text or a number since one is written there, or added.

    What has operators of its own is asked elsewhere (see `operators`).
    """
    match value:
        case ast.JoinedStr() | ast.Constant(value=str() | int() | float()):
            return True
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return is_scalar(left) or is_scalar(right)
        case ast.BinOp(left=left, op=ast.Mod()):
            return is_scalar(left)
    return False


def called_with_texts(call: ast.Call, own: Container[str]) -> ast.expr | None:
    """Return what a call has the loop call later, if it gives it texts and numbers.

    Args:
        call: The call.
        own: The names of the program's functions: what has one of these is not known.
    """
    name = last_name(call.func)
    place = _PLACES.get(name)
    if place is None or len(call.args) <= place or "loop" not in _receiver(call):
        return None
    function, given = call.args[place], [*call.args[place + 1 :], *call.keywords]
    if isinstance(function, ast.Call) and last_name(function.func) == "partial":
        given += [*function.args[1:], *function.keywords]
        function = next(iter(function.args), function)
    known = not any(one in own for one in (name, "partial", *_OPERATORS))
    shifted = any(isinstance(one, ast.Starred) for one in call.args[:place])
    texts = all(map(is_scalar, given))
    return function if known and texts and not shifted else None


def _receiver(call: ast.Call) -> str:
    return ast.unparse(getattr(call.func, "value", call)).lower()


def _of_all(values: Iterable[ast.AST]) -> list[ast.AST]:
    return [each for one in values for each in handed_on(one)]


def _of_loops(loops: list[ast.comprehension], value: ast.AST) -> list[ast.AST]:
    """Return what a comprehension goes over, if it hands on parts of that."""
    found: list[ast.AST] = []
    names = names_handed_on(value)
    for loop in reversed(loops):
        targets = {one.id for one in leaves(loop.target) if isinstance(one, ast.Name)}
        if targets & names:
            names |= names_handed_on(loop.iter)
            found += handed_on(loop.iter)
    return found


def is_of_future(value: ast.AST) -> bool:
    """Tell whether it is the result of a future that is there already."""
    match value:
        case (
            ast.Await(value=of) | ast.Call(func=ast.Attribute(value=of, attr="result"))
        ):
            taken = last_name(getattr(of, "func", None))
            named = isinstance(of, ast.Name | ast.Attribute | ast.Subscript)
            return named or taken in ("pop", "popleft", "setdefault")
    return False


def may_give(node: ast.ClassDef, bases: list[str]) -> bool:
    """Tell whether a call of a class may return what it is given, or what has it."""
    meta = [ast.unparse(one.value) for one in node.keywords if one.arg == "metaclass"]
    new = any(getattr(one, "name", "") == "__new__" for one in node.body)
    return new or bool(meta and "ABCMeta" not in meta[0]) or bool(_HOLDING & {*bases})


def taken_whole(call: ast.Call) -> list[ast.expr]:
    """Return what is given to one of `PARTS`, and is in its result as it is.

    Of a function among these, it is what that returns: ``defaultdict(lambda: NAMES)``.
    """
    name = last_name(call.func)
    named = [one.value for one in call.keywords if one.arg != "key"]
    if name in ("cast", "repeat"):
        return [*call.args, *named]
    return [*call.args[:1], *named] if name in ("defaultdict", "map") else named

"""Whether a use of a variable or an attribute changes its object, or hands it on.

A part that is stored is no such use, as most are numbers and texts: only where the same
part was stored before, two places would have it.
"""

from __future__ import annotations

import ast
import functools
import itertools
from typing import TYPE_CHECKING

from txloop.scan.known import GETTERS, KEEPING, MUTATORS, PARTS
from txloop.scan.syntax import FUNCTIONS, declared_in, last_name
from txloop.sharing.syntax import (
    DISPLAYS,
    is_in_inner_function,
    leaves,
    parent_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from txloop.sharing.habits import Habits

__all__ = ["are_stored_together", "given_twice", "is_stored_again", "matters", "taking"]

_GIVING = PARTS | GETTERS | {"get_nowait", "popitem", "result"}
"""Methods that return parts of their object."""


def matters(habits: Habits, scope: ast.AST, use: ast.expr) -> bool:
    """Tell whether a use changes the object, or gives it to what may."""
    parent, node = parent_of(scope, use)
    while isinstance(parent, ast.Subscript | ast.Attribute) and (
        getattr(parent, "value", None) is node
    ):
        if isinstance(getattr(parent, "ctx", None), ast.Store | ast.Del):
            return True
        if isinstance(parent, ast.Attribute) and parent.attr in MUTATORS:
            return True
        parent, node = parent_of(scope, taking(scope, parent) or parent)
    match parent:
        case ast.AugAssign() | ast.Return() | ast.Yield() | ast.NamedExpr():
            return True
        case ast.Assign(value=value):
            return value is use
        case ast.Call(func=ast.Name(id="setattr"), args=[_, _, value]) if value is node:
            return value is use
        case ast.Call(func=function):
            name = last_name(function)
            if node is function:  # it reads; of what it returns, parts matter
                return name in _GIVING and matters(habits, scope, parent)
            if habits.acts(parent) or habits.stored_by(parent):
                return True
            if name in PARTS:
                applied = [one for one in parent.args[:1] if one is not node]
                acts = any(map(habits.may_act, applied))
                return acts or matters(habits, scope, parent)
            return not habits.only_reads(name)
        case ast.BoolOp() | ast.IfExp() | ast.Starred():
            return matters(habits, scope, parent)
        case ast.comprehension(iter=value) if node is value:
            around, _ = parent_of(scope, parent)
            return isinstance(around, ast.expr) and matters(habits, scope, around)
        case ast.List() | ast.Tuple() | ast.Dict() | ast.keyword():
            return node is use
    return is_in_inner_function(scope, use)


def is_stored_again(
    habits: Habits,
    scope: ast.AST,
    use: ast.expr,
    store: ast.AST,
    is_same: Callable[[ast.AST], bool],
) -> bool:
    """Tell whether a use puts a part of an object elsewhere that is stored already.

    Args:
        habits: What is known of the program's functions.
        scope: The function.
        use: The use of the object.
        store: What has stored a part of it, or all.
        is_same: Tells which expressions in there give the object.
    """
    steps, part = _steps_from(scope, use)
    if not (steps and _is_put(habits, scope, part)):
        return False
    return any(
        _may_meet(steps, _steps_from(store, one)[0])
        for one in ast.walk(store)
        if isinstance(one, ast.expr) and is_same(one)
    )


def given_twice(node: ast.AST) -> list[ast.expr]:
    """Return what is twice in what a node makes: its parts may be stored one by one.

    As in ``{"a": rows, "b": rows}``, ``[[]] * 2`` and ``[rows for _ in names]``.
    """
    match node:
        case (
            ast.List() | ast.Dict() | ast.Set() | ast.BinOp(op=ast.Add() | ast.BitOr())
        ):
            return _named_twice(node)
        case ast.Call(func=ast.Name(id="dict") | ast.Attribute(attr="update")):
            return _named_twice(node)
        case (
            ast.Assign(value=ast.Tuple() as made)
            | ast.Return(value=ast.Tuple() as made)
        ):
            return _named_twice(made)
        case (
            ast.For(iter=ast.Tuple() as made)
            | ast.comprehension(iter=ast.Tuple() as made)
        ):
            return _named_twice(made)
        case (
            ast.BinOp(op=ast.Mult(), left=ast.List() | ast.Tuple() as made)
            | ast.BinOp(op=ast.Mult(), right=ast.List() | ast.Tuple() as made)
        ):
            return made.elts
        case ast.Call(func=function, args=[_, value]) if (
            last_name(function) == "fromkeys"
        ):
            return [value]
        case ast.Call(func=function, args=[value, *_]) if (
            last_name(function) == "repeat"
        ):
            return [value]
        case (
            ast.ListComp(elt=made)
            | ast.SetComp(elt=made)
            | ast.GeneratorExp(elt=made)
            | ast.DictComp(value=made)
        ):
            own = {leaf for one in node.generators for leaf in leaves(one.target)}
            names = {*map(last_name, own)}
            parts = (one for one in _parts(made) if isinstance(one, ast.Name))
            return [one for one in parts if one.id not in names]
    return []


def _named_twice(made: ast.expr) -> list[ast.expr]:
    names = [one.id for one in _parts(made) if isinstance(one, ast.Name)]
    return [ast.Name(one) for one in sorted({*names}) if names.count(one) > 1]


def _parts(made: ast.expr) -> Iterator[ast.expr]:
    """Yield what is put into something new, and into what is in there."""
    match made:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            pass
        case ast.Dict(values=parts):
            pass
        case ast.Call(func=ast.Name(id="dict") | ast.Attribute(attr="update")):
            parts = [one.value for one in made.keywords]
        case ast.BinOp(left=left, op=ast.Add() | ast.BitOr(), right=right):
            displays = isinstance(left, DISPLAYS) or isinstance(right, DISPLAYS)
            parts = [one for one in (left, right) if displays]
        case ast.Starred(value=inner):
            parts = [inner]
        case _:
            yield made
            return
    for one in parts:
        yield from _parts(one)


def are_stored_together(
    habits: Habits,
    scope: ast.AST | None,
    store: ast.AST,
    is_same: Callable[[ast.AST], bool],
) -> bool:
    """Tell whether one statement puts a part of an object, or all, in two places.

    As ``a[k], b[k] = row, row`` does, and ``Pair(row, row)``.
    """
    within = functools.partial(_within, habits, scope)
    match store:
        case ast.Call():
            stored = [
                [_steps_from(store, one)[0] for one in within(value) if is_same(one)]
                for value in dict.fromkeys(habits.stored_by(store))
            ]
            return any(
                len(one) == len(other) and _may_meet(one, other)
                for some, others in itertools.combinations(stored, 2)
                for one, other in itertools.product(some, others)
            )
        case ast.Assign(value=ast.Tuple(elts=values)):
            every = [
                [_steps_from(store, one)[0] for one in within(value) if is_same(one)]
                for value in values
            ]
            return any(
                _may_meet(one, other)
                for some, others in itertools.combinations(every, 2)
                for one, other in itertools.product(some, others)
            )
    return False


def _within(habits: Habits, scope: ast.AST | None, value: ast.AST) -> Iterator[ast.AST]:
    """Yield an expression with all that is in it, but for what numbers are made of."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        is_sum = isinstance(one, ast.BinOp) and habits.is_scalar_sum(scope, one)
        if not (is_sum or isinstance(one, ast.JoinedStr)):
            yield one
            waiting += ast.iter_child_nodes(one)


def _is_put(habits: Habits, scope: ast.AST, part: ast.AST) -> bool:
    """Tell whether an expression, or what is made with it in it, is stored."""
    parent, node = parent_of(scope, part)
    outer = declared_in(scope) if isinstance(scope, FUNCTIONS) else ()
    while True:
        match parent:
            case ast.Dict() | ast.List() | ast.Set() | ast.Tuple():
                pass
            case ast.IfExp() | ast.Starred() | ast.keyword():
                pass
            case ast.Call(func=ast.Name(id="setattr"), args=[_, _, value]) if (
                value is node
            ):
                return True
            case ast.Call(func=function) if function is not node:
                name = last_name(function)
                if name in KEEPING or habits.is_scalar(parent):
                    return name in KEEPING
            case ast.Assign(targets=targets, value=value) if value is node:
                every = (leaf for one in targets for leaf in leaves(one))
                return any(map(functools.partial(_is_kept, outer=outer), every))
            case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
                return target is not node and _is_kept(target, outer)
            case _:
                return False
        parent, node = parent_of(scope, parent)


def _is_kept(target: ast.AST, outer: Collection[str]) -> bool:
    return isinstance(target, ast.Attribute | ast.Subscript) or (
        last_name(target) in outer
    )


def _steps_from(scope: ast.AST, use: ast.AST) -> tuple[list[ast.AST], ast.AST]:
    """Return what leads from an object to the part that is used, and that part."""
    steps: list[ast.AST] = []
    part: ast.AST = use
    parent, node = parent_of(scope, use)
    while isinstance(parent, ast.Subscript | ast.Attribute) and parent.value is node:
        part = parent
        if call := taking(scope, parent):
            part, parent = call, ast.Subscript(parent.value, call.args[0], ast.Load())
        steps.append(parent)
        parent, node = parent_of(scope, part)
    return steps, part


def taking(scope: ast.AST, method: ast.AST) -> ast.Call | None:
    """Return the call ``row.get(key)``, if that is what is done with ``row.get``."""
    if isinstance(method, ast.Attribute) and method.attr == "get":
        match parent_of(scope, method):
            case (ast.Call(args=[_] | [_, _], keywords=[]) as call, node) if (
                call.func is node
            ):
                return call
    return None


def _may_meet(some: Sequence[ast.AST], others: Sequence[ast.AST]) -> bool:
    """Tell whether steps may lead to the same part, or to a part of that."""
    return all(
        type(one) is not type(other)
        or not _is_constant(one)
        or not _is_constant(other)
        or _key_of(one) == _key_of(other)
        for one, other in zip(some, others, strict=False)
    )


def _is_constant(step: ast.AST) -> bool:
    return isinstance(getattr(step, "slice", ast.Constant("")), ast.Constant)


def _key_of(step: ast.AST) -> str:
    return ast.unparse(step.slice) if isinstance(step, ast.Subscript) else step.attr  # type: ignore[attr-defined] # an attribute

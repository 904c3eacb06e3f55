"""How values get from place to place: what lines bind to names, put, and give.

Functions are not told apart by their callers.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.known import ADDING, MUTATORS, PUTTING
from txloop.scan.syntax import bound_by, last_name, numbered, parameters, walk
from txloop.sharing.bindings import IMMUTABLE, given_to
from txloop.sharing.operators import adds_elements, operands
from txloop.sharing.origins import ANY, ANY_ATTRIBUTE, RAISED, Origin, inside, part_of
from txloop.sharing.scopes import defaults_of, walked
from txloop.sharing.syntax import (
    OF_NUMBERS,
    arguments_of,
    is_cached,
    leaves,
    registered_by,
    returned_by_raising,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from txloop.scan.syntax import FunctionNode
    from txloop.sharing.callees import Callees
    from txloop.sharing.origins import Origins, Values
    from txloop.sharing.texts import Text

__all__ = ["bindings", "cache_of", "follow", "puts"]

_STORING = MUTATORS - {"discard", "pop", "popleft", "remove"} | PUTTING

_STORING_WHOLE = {"add", "append", "appendleft", "insert", *PUTTING}
"""Those that put in what they are given, and not the parts of that."""

_SETTINGS = "settings"
_NO_SLICES = (ast.Constant, ast.JoinedStr)
_HANDING_NOTHING = (ast.Name, ast.Constant, ast.arg, ast.arguments, ast.operator)
"""Most nodes; what they stand in says what becomes of them."""


def follow(texts: Iterable[Text], origins: Origins, callees: Callees) -> None:
    """Follow all values of a program until nothing more is found.

    What has used what has grown since is followed again.

    Args:
        texts: The modules.
        origins: Gets what is found.
        callees: Tells what a call runs.
    """
    for function in origins.meanings.initialized:
        for one in function.given:
            origins.add(function.node, one, {Origin(one)})
    for function in origins.meanings.every:
        its = function.owner and origins.meanings.containers.get(function.owner.name)
        if its and function.skipped:
            origins.add(function.node, parameters(function.node)[0], {Origin(its)})
    nodes = [
        (scope, node)
        for text in texts
        for scope, node in origins.meanings.nodes(text)
        if not isinstance(node, _HANDING_NOTHING)
    ]
    used: list[dict[int, tuple[Values, int]]] = [{} for _ in nodes]
    todo = [*range(len(nodes))]
    while todo:
        for number in todo:
            origins.used = used[number] = {}
            _follow(origins, callees, *nodes[number])
        todo = [
            number
            for number, its in enumerate(used)
            if any(len(values) != size for values, size in its.values())
        ]


def _follow(origins: Origins, callees: Callees, scope: ast.AST, node: ast.AST) -> None:
    for target, values in bindings(origins, scope, node):
        _add(origins, scope, target, values)
        for one in callees.setting(target):
            origins.add(one.node, one.given[-1], values)
            if isinstance(target, ast.Subscript):
                origins.add(one.node, one.given[0], origins.of(scope, target.slice))
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.Compare | ast.Subscript):
        for function in callees.operating(node):
            for given in operands(node):
                for name in function.given:
                    origins.add(function.node, name, origins.of(scope, given))
    for holder, values in puts(origins, scope, node):
        _add(origins, scope, holder, inside(values))
    for dispatcher, name in registered_by(node):
        origins.returned[dispatcher] |= origins.use(origins.returned[name])
    match node:
        case ast.Return(value=ast.expr() as value):
            its = origins.of(scope, value)
            if is_cached(scope):
                its = its | {Origin(cache_of(scope))}
            origins.returned[_key(origins, scope)] |= its
        case ast.Raise():
            for value in returned_by_raising(node):
                origins.returned[_key(origins, scope)] |= origins.of(scope, value)
        case ast.Yield(value=ast.expr() as value) | ast.YieldFrom(value=value):
            found = inside(origins.of(scope, value))
            origins.returned[_key(origins, scope)] |= found
        case ast.Call():
            _give(origins, callees, scope, node)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            for parameter, default in defaults_of(node).items():
                if origins.of(scope, default):
                    origins.add(node, parameter, {Origin(parameter)})
            for name in _around(origins, node):
                its = origins.use(origins.returned[name])
                origins.returned[_key(origins, node)] |= its


def _around(origins: Origins, function: FunctionNode) -> Iterator[str]:
    """Yield the names of what may be called in the place of a decorated function."""
    for mark in getattr(function, "decorator_list", ()):
        for one in origins.meanings.named(getattr(mark, "func", mark)):
            yield from (
                inner.name
                for inner in walked(one.node)
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
                and inner is not one.node
            )
            if one.name in origins.meanings.classes:
                yield "__call__"


def cache_of(function: ast.AST) -> str:
    """Return the name of what keeps the results of a function that is cached."""
    return f"the cache of {getattr(function, 'name', '')}"


def _key(origins: Origins, function: ast.AST) -> str:
    """Return the name under which is kept what a function returns."""
    name = getattr(function, "name", "")
    return f"{name}()" if origins.meanings.is_verb(function) else name


def _add(origins: Origins, scope: ast.AST, target: ast.expr, values: Values) -> None:
    """Add to what a variable may hold, if the target is one of a function."""
    if isinstance(target, ast.Name):
        home = origins.meanings.home(scope, target.id)
        if home is not None:
            origins.add(home, target.id, values)


def bindings(
    origins: Origins, scope: ast.AST, node: ast.AST
) -> Iterator[tuple[ast.expr, Values]]:
    """Yield the targets that a node binds: names and attributes."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _spread(origins, scope, target, value)
        case ast.AnnAssign() | ast.NamedExpr():
            if node.value is not None:
                yield node.target, origins.of(scope, node.value)
        case ast.AugAssign(target=target, op=operator, value=value):
            if not isinstance(operator, OF_NUMBERS):
                yield target, inside(part_of(origins.of(scope, value)))
            yield target, origins.operated(node)
        case ast.For() | ast.AsyncFor() | ast.comprehension():
            values = origins.elements(scope, node.iter)
            keys = _keys_of(origins, node)
            for leaf in leaves(node.target):
                yield leaf, set() if leaf in keys else values
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            values = origins.entered(scope, value)
            yield from ((one, values) for one in leaves(target))
        case ast.Match(subject=subject):
            values = origins.of(scope, subject)
            for one in walk(node):
                if isinstance(one, ast.MatchAs | ast.MatchStar) and one.name:
                    name = ast.Name(one.name, ast.Store())
                    yield name, values | part_of(values) | inside(part_of(values))
        case ast.MatchClass(kwd_attrs=names, kwd_patterns=patterns, patterns=others):
            given = [origins.of(scope, _attribute(name)) for name in names]
            given += [{Origin(ANY)}] * len(others)
            for values, pattern in zip(given, [*patterns, *others], strict=True):
                for one in walk(pattern):
                    for each in bound_by(one):
                        yield ast.Name(each, ast.Store()), values | part_of(values)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            yield from _defined_by(origins, scope, node)
        case ast.Dict(keys=keys, values=given):
            for key, one in zip(keys, given, strict=True):
                text = getattr(key, "value", None)
                if isinstance(text, str) and text in origins.meanings.keys:
                    yield _attribute(text), origins.of(scope, one)
        case (
            ast.Call(func=ast.Name(id="setattr"), args=[_, asked, value])
            | ast.Call(func=ast.Attribute(attr="__setattr__"), args=[*_, asked, value])
        ):
            text = str(getattr(asked, "value", ANY_ATTRIBUTE))
            # What is found by its name, too, has that name elsewhere.
            values = {one for one in origins.of(scope, value) if one.name != ANY}
            yield _attribute(text), values
        case ast.Raise(exc=ast.Call() as call):
            for one in call.args:
                values = inside(origins.of(scope, one))
                yield _attribute("args"), values
                yield _attribute(RAISED), values
        case ast.ExceptHandler(name=str(name)):
            yield ast.Name(name, ast.Store()), {Origin(RAISED)}
        case ast.Call(func=ast.Attribute(value=base, attr=method)) if last_name(
            base
        ) == _SETTINGS and method in ("setdefault", "update"):
            for setting, one in _set_by(node):
                yield _attribute(setting), origins.of(scope, one)
        case ast.keyword(arg=str(key), value=value):
            if key in origins.meanings.keys:
                yield _attribute(key), origins.of(scope, value)


def _set_by(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """Yield the keys that a call sets of a mapping, as far as it names them."""
    match call.args:
        case [ast.Constant(value=str(key)), value]:
            yield key, value
        case [ast.Dict(keys=keys, values=values)]:
            for one, value in zip(keys, values, strict=True):
                if isinstance(one, ast.Constant) and isinstance(one.value, str):
                    yield one.value, value
    yield from ((one.arg, one.value) for one in call.keywords if one.arg)


def _defined_by(
    origins: Origins, scope: ast.AST, node: FunctionNode
) -> Iterator[tuple[ast.expr, Values]]:
    """Yield what a function's defaults give, and a property, under its name."""
    for parameter, value in defaults_of(node).items():
        made = origins.of(scope, value)
        if made:
            yield _attribute(parameter), made
    marks = {last_name(one) for one in getattr(node, "decorator_list", ())}
    called = getattr(node, "name", "")
    if marks & {"cached_property", "property"}:
        yield _attribute(called), origins.use(origins.returned[called])
    if called == "get_current_user":
        yield _attribute("current_user"), origins.use(origins.returned[called])


def _keys_of(origins: Origins, loop: ast.AST) -> list[ast.expr]:
    """Return the targets of a loop that get keys or numbers: no lists or dicts."""
    functions = origins.meanings.functions
    if "items" in functions or "keys" in functions:  # of a class of the program
        return []
    given = given_to(loop)
    keys = (target for target, value in given if value is IMMUTABLE)
    return [leaf for target in keys for leaf in leaves(target)]


def _spread(
    origins: Origins, scope: ast.AST, target: ast.expr, value: ast.expr
) -> Iterator[tuple[ast.expr, Values]]:
    targets = getattr(target, "elts", None)
    if targets is None:
        values = origins.of(scope, value)
        yield target, values
        match target:
            case ast.Subscript(value=base, slice=ast.Constant(value=str(key))):
                if last_name(base) == _SETTINGS:  # it is asked for by its key
                    yield _attribute(key), values
        return
    given = getattr(value, "elts", [])
    stars = any(isinstance(one, ast.Starred) for one in [*targets, *given])
    if len(given) == len(targets) and not stars:
        for one, its in zip(targets, given, strict=True):
            yield from _spread(origins, scope, one, its)
        return
    values = origins.elements(scope, value)
    yield from ((one, values | inside(values)) for one in leaves(target))


def puts(
    origins: Origins, scope: ast.AST, node: ast.AST
) -> Iterator[tuple[ast.expr, Values]]:
    """Yield the expressions of objects into which a node puts something."""
    match node:
        case ast.Assign() | ast.AugAssign() | ast.For():
            for target, values in bindings(origins, scope, node):
                if isinstance(target, ast.Subscript):
                    if not isinstance(target.slice, _NO_SLICES):  # one takes the parts
                        values = values | part_of(values)
                    yield target.value, values
                elif isinstance(node, ast.AugAssign) and adds_elements(node):
                    yield target, part_of(values)
        case ast.Call(func=ast.Attribute(value=base, attr=name)) if name in _STORING:
            for one in arguments_of(node):
                values = origins.of(scope, one)
                if name not in _STORING_WHOLE:
                    values = values | part_of(values)
                yield base, values
        case ast.Call(func=function, args=[base, *given]) if (
            last_name(function) in ADDING
        ):
            for one in given:
                values = origins.of(scope, one)
                yield base, values | part_of(values)
        case ast.Call(func=function, args=[base, ast.Constant(value=name), *_]) if (
            last_name(function) == "getattr"
        ):
            if name in _STORING:
                yield base, {Origin(ANY)}  # whatever it is called with
        case ast.Attribute(value=base, attr=name, ctx=ast.Load()):
            if name in _STORING and id(node) in origins.meanings.used_without_call:
                yield base, {Origin(ANY)}  # whatever it is called with


def _give(origins: Origins, callees: Callees, scope: ast.AST, call: ast.Call) -> None:
    """Give a call's arguments to the parameters of the functions that it may run."""
    spread = any(isinstance(one, ast.Starred) for one in call.args)
    if isinstance(call.func, ast.Subscript):  # a function out of a table
        known = [(one, 0) for one in origins.meanings.kept()]
    elif callees.runs_any(call):
        # Of these it is not known what is given for what, but for an object's own.
        known = [(one, 0) for one in callees.calling(call)]
        if isinstance(call.func, ast.Name):
            number = len(arguments_of(call))
            known += [
                (one, 0) for one in origins.meanings.kept() if len(one.given) == number
            ]
    else:
        known = callees.run_by(call)
    for function, others in known:
        # Others are the object, where a method is called by way of its class.
        names = parameters(function.node) if others else function.given
        apart = not (spread or isinstance(function.node, ast.Lambda))
        give = _give_each if apart else _give_all
        give(origins, scope, call, function.node, names)
    for one in [call.func, *arguments_of(call)]:  # a function that is called back
        if isinstance(one, ast.Lambda):
            _give_all(origins, scope, call, one, parameters(one))
        elif one is not call.func and isinstance(one, ast.Name | ast.Attribute):
            for function in origins.meanings.named(one):
                _give_all(origins, scope, call, function.node, function.given)


def _give_each(
    origins: Origins,
    scope: ast.AST,
    call: ast.Call,
    function: FunctionNode,
    names: list[str],
) -> None:
    """Give each argument to the parameter that it is for."""
    rest = getattr(function.args.vararg, "arg", None)
    others = getattr(function.args.kwarg, "arg", None)
    positional = [name for name in names if name in numbered(function)]
    placed = {*positional[: len(call.args)], *(one.arg for one in call.keywords)}
    placed.discard(others)
    for number, one in enumerate(call.args):
        values = origins.of(scope, one)
        if number < len(positional):
            origins.add(function, positional[number], values)
        elif rest is not None:
            origins.add(function, rest, inside(values))
    for each in call.keywords:
        values = origins.of(scope, each.value)
        if each.arg in names:
            origins.add(function, each.arg, values)
        elif each.arg is None:
            for name in names:
                if name not in placed:  # no parameter is given twice
                    origins.add(function, name, part_of(values))
        elif others is not None:
            origins.add(function, others, inside(values))


def _give_all(
    origins: Origins,
    scope: ast.AST,
    call: ast.Call,
    function: FunctionNode,
    names: list[str],
) -> None:
    given = [one for one in arguments_of(call) if not isinstance(one, ast.Lambda)]
    if isinstance(call.func, ast.Attribute):
        given.append(call.func.value)
    values: Values = set().union(*(origins.of(scope, one) for one in given))
    for name in names:
        origins.add(function, name, values | part_of(values))


def _attribute(name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name(name, ast.Load()), name, ast.Store())

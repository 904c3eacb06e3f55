"""Out of which objects the values of a program come, by names alone.

A value is described by `Origin`s: that it is, is a part of, or contains what a name
leads to, or what an expression has just made. A name stands for every variable of a
module and every attribute of that name. Functions are not told apart by their callers.
What is found is more than what happens.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from txloop.scan.live_objects import GETTERS, MUTATORS
from txloop.sharing.bindings import IMMUTABLE, given_to
from txloop.sharing.known import PARTS, SCALARS
from txloop.sharing.making import Site
from txloop.sharing.meanings import Meanings
from txloop.sharing.origin import ANY, Origin, inside, part_of
from txloop.sharing.scopes import defaults_of, parameters
from txloop.sharing.syntax import OF_NUMBERS, last_name, leaves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from txloop.sharing.origin import Values
    from txloop.sharing.scopes import Function
    from txloop.sharing.texts import Text

__all__ = ["Origins"]


_STORING = MUTATORS - {"discard", "pop", "popleft", "remove"} | {"put", "put_nowait"}


class Origins:
    """The origins of all values in a program."""

    def __init__(self, texts: Iterable[Text]) -> None:
        """Follow all values until nothing more is found."""
        self._texts = list(texts)
        self._locals: defaultdict[tuple[int, str], Values] = defaultdict(set)
        self._returned: defaultdict[str, Values] = defaultdict(set)
        self.meanings = Meanings(self._texts)
        for function, names in self.meanings.initialized:
            for one in names:
                self._locals[id(function), one].add(Origin(one))
        self._passed = self.meanings.used_without_call
        before = -1
        while before != (before := self._size()):
            for text in self._texts:
                for scope, node in self.nodes(text):
                    self._follow(scope, node)

    def _size(self) -> int:
        tables = (*self._locals.values(), *self._returned.values())
        return sum(map(len, tables))

    def nodes(self, text: Text) -> Iterator[tuple[ast.AST, ast.AST]]:
        """Yield all nodes of a module, each with its function or the module."""
        for node in ast.walk(text.tree):
            for child in ast.iter_child_nodes(node):
                yield self.meanings.scope_of(node), child

    # What is put into variables of functions

    def _follow(self, scope: ast.AST, node: ast.AST) -> None:
        for target, values in self.bindings(scope, node):
            if isinstance(target, ast.Name):
                home = self.meanings.home(scope, target.id)
                if home is not None:
                    self._locals[id(home), target.id] |= values
        for holder, values in self.puts(scope, node):
            if isinstance(holder, ast.Name):
                home = self.meanings.home(scope, holder.id)
                if home is not None:
                    self._locals[id(home), holder.id] |= inside(values)
        match node:
            case ast.Return(value=ast.expr() as value):
                self._returned[getattr(scope, "name", "")] |= self.of(scope, value)
            case ast.Yield(value=ast.expr() as value) | ast.YieldFrom(value=value):
                found = inside(self.of(scope, value))
                self._returned[getattr(scope, "name", "")] |= found
            case ast.Call():
                self._give(scope, node)

    def bindings(
        self, scope: ast.AST, node: ast.AST
    ) -> Iterator[tuple[ast.expr, Values]]:
        """Yield the targets that a node binds: names and attributes."""
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from self._spread(scope, target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield target, self.of(scope, value)
            case ast.NamedExpr(target=target, value=value):
                yield target, self.of(scope, value)
            case ast.AugAssign(target=target, op=operator, value=value):
                if isinstance(operator, OF_NUMBERS):
                    return
                yield target, inside(part_of(self.of(scope, value)))
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                values = part_of(self.of(scope, node.iter))
                keys = self._keys_of(node)
                for leaf in leaves(node.target):
                    yield leaf, set() if leaf in keys else values
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                values = self.of(scope, value)
                yield from ((one, values) for one in leaves(target))
            case ast.Match(subject=subject):
                values = self.of(scope, subject)
                for one in ast.walk(node):
                    if isinstance(one, ast.MatchAs | ast.MatchStar) and one.name:
                        name = ast.Name(one.name, ast.Store())
                        yield name, values | part_of(values) | inside(part_of(values))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                for parameter, value in defaults_of(node).items():
                    made = self.of(scope, value)
                    if made:
                        self._locals[id(node), parameter].add(Origin(parameter))
                        yield _attribute(parameter), made
                marks = [last_name(d) for d in getattr(node, "decorator_list", ())]
                called = getattr(node, "name", "")
                if {"cached_property", "property"} & {*marks}:
                    yield _attribute(called), self._returned[called]
                if called == "get_current_user":
                    yield _attribute("current_user"), self._returned[called]
            case ast.Dict(keys=keys, values=given):
                for key, one in zip(keys, given, strict=True):
                    if (
                        isinstance(key, ast.Constant)
                        and key.value in self.meanings.keys
                    ):
                        yield _attribute(str(key.value)), self.of(scope, one)
            case ast.Call(func=ast.Name(id="setattr"), args=[_, asked, value]):
                text = str(asked.value) if isinstance(asked, ast.Constant) else ANY
                yield _attribute(text), self.of(scope, value)
            case ast.keyword(arg=str(key), value=value):
                if key in self.meanings.keys:
                    yield _attribute(key), self.of(scope, value)

    def _keys_of(self, loop: ast.AST) -> list[ast.expr]:
        """Return the targets of a loop that get keys or numbers: no lists or dicts."""
        if {"items", "keys"} & {*self.meanings.functions}:  # of a class of the program
            return []
        given = given_to(loop)
        keys = (target for target, value in given if value is IMMUTABLE)
        return [leaf for target in keys for leaf in leaves(target)]

    def _spread(
        self, scope: ast.AST, target: ast.expr, value: ast.expr
    ) -> Iterator[tuple[ast.expr, Values]]:
        targets = getattr(target, "elts", None)
        if targets is None:
            yield target, self.of(scope, value)
            return
        given = getattr(value, "elts", [])
        stars = any(isinstance(one, ast.Starred) for one in [*targets, *given])
        if len(given) == len(targets) and not stars:
            for one, its in zip(targets, given, strict=True):
                yield from self._spread(scope, one, its)
            return
        values = part_of(self.of(scope, value))
        yield from ((one, values | inside(values)) for one in leaves(target))

    def puts(self, scope: ast.AST, node: ast.AST) -> Iterator[tuple[ast.expr, Values]]:
        """Yield the expressions of objects into which a node puts something."""
        for target, values in self._subscripts(scope, node):
            yield target, values
        match node:
            case ast.Call(func=ast.Attribute(value=base, attr=name)):
                if name not in _STORING:
                    return
                for one in _given(node):
                    values = self.of(scope, one)
                    yield base, values | part_of(values)
            case ast.Attribute(value=base, attr=name, ctx=ast.Load()):
                if name in _STORING and id(node) in self._passed:
                    yield base, {Origin(ANY)}  # whatever it is called with

    def _subscripts(
        self, scope: ast.AST, node: ast.AST
    ) -> Iterator[tuple[ast.expr, Values]]:
        match node:
            case ast.Assign() | ast.AugAssign() | ast.For():
                for target, values in self.bindings(scope, node):
                    if isinstance(target, ast.Subscript):
                        # A slice takes the parts.
                        yield target.value, values | part_of(values)

    def _give(self, scope: ast.AST, call: ast.Call) -> None:
        """Give a call's arguments to the parameters of functions of that name."""
        for function, names in self.meanings.called(scope, call):
            spread = any(isinstance(one, ast.Starred) for one in call.args)
            if spread or isinstance(function, ast.Lambda):
                self._give_all(scope, call, function, names)
                continue
            rest = getattr(function.args.vararg, "arg", None)
            for number, one in enumerate(call.args):
                positional = [name for name in names if name != rest]
                values = self.of(scope, one)
                if number < len(positional):
                    self._locals[id(function), positional[number]] |= values
                elif rest is not None:
                    self._locals[id(function), rest] |= inside(values)
            for each in call.keywords:
                values = self.of(scope, each.value)
                if each.arg in names:
                    self._locals[id(function), each.arg] |= values
                elif each.arg is None:
                    for name in names:
                        self._locals[id(function), name] |= part_of(values)
                elif function.args.kwarg is not None:
                    rest_name = function.args.kwarg.arg
                    self._locals[id(function), rest_name] |= inside(values)
        for one in [call.func, *_given(call)]:  # a function that is called back
            if isinstance(one, ast.Lambda):
                self._give_all(scope, call, one, parameters(one))
            elif one is not call.func and isinstance(one, ast.Name | ast.Attribute):
                for function, names in self.meanings.functions.get(last_name(one), ()):
                    self._give_all(scope, call, function, names)

    def _give_all(
        self, scope: ast.AST, call: ast.Call, function: Function, names: list[str]
    ) -> None:
        values: Values = set()
        for one in _given(call):
            if not isinstance(one, ast.Lambda):
                values |= self.of(scope, one)
        if isinstance(call.func, ast.Attribute):
            values |= self.of(scope, call.func.value)
        for name in names:
            self._locals[id(function), name] |= values | part_of(values)

    def together(self, scope: ast.AST, value: ast.expr) -> Values:
        """Return what those variables of a function hold that hold what it has made."""
        made = self._made(scope, value)
        its = (one for (home, _), one in self._locals.items() if home == id(scope))
        return set().union(*(one for one in its if made in one))

    def returned(self, name: str) -> Values:
        """Return what functions of that name return."""
        return self._returned[name]

    # Values

    def of(self, scope: ast.AST, value: ast.AST | None) -> Values:
        """Return the origins of an expression's value, in a function or module."""
        match value:
            case ast.Name(id=name):
                return self._of_name(scope, name)
            case ast.Attribute(value=base, attr=name):
                if name == "value" and isinstance(base, ast.Name | ast.Attribute):
                    return {Origin(name), *self.of(scope, base)}  # it may be a TVar
                return {Origin(ANY if name == "__dict__" else name)}
            case ast.Subscript(value=base, slice=key):
                found = part_of(self.of(scope, base)) | self.returned("__getitem__")
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    found.add(Origin(key.value))
                    if last_name(base) == "settings":
                        return {Origin(key.value)}
                if isinstance(key, ast.Slice):
                    return {self._made(scope, value), *inside(found)}
                return found
            case ast.Call():
                return self._of_call(scope, value)
            case ast.Starred(value=inner):
                return part_of(self.of(scope, inner))
            case ast.Await(value=inner):
                return self.of(scope, inner)
            case ast.NamedExpr(value=inner):
                return self.of(scope, inner)
            case ast.IfExp(body=body, orelse=orelse):
                return self.of(scope, body) | self.of(scope, orelse)
            case ast.BoolOp(values=values):
                return set().union(*(self.of(scope, one) for one in values))
            case ast.Lambda(body=body):
                return self.of(value, body)
            case ast.BinOp(left=left, op=operator, right=right):
                if isinstance(operator, OF_NUMBERS):
                    return set()
                both = self.of(scope, left) | self.of(scope, right)
                parts = {one for one in both if one.name or one.inside or one.site}
                if not parts:
                    return set()
                # What is added up may be numbers; lists have the parts of both.
                made = (
                    {self._made(scope, value)}
                    if any(one.site for one in both)
                    else set()
                )
                return made | inside(part_of(both))
            case ast.Dict(keys=keys, values=values):
                found = set()
                for place, one in zip(keys, values, strict=True):
                    its = self.of(scope, one)
                    found |= its if place is not None else part_of(its)
                return {self._made(scope, value), *inside(found)}
            case ast.List(elts=parts) | ast.Set(elts=parts) | ast.Tuple(elts=parts):
                found = set().union(*(self.of(scope, one) for one in parts))
                if isinstance(value, ast.Tuple):
                    return inside(found)
                return {self._made(scope, value), *inside(found)}
            case ast.ListComp(elt=one) | ast.SetComp(elt=one):
                return {self._made(scope, value), *inside(self.of(scope, one))}
            case ast.GeneratorExp(elt=one):
                return inside(self.of(scope, one))
            case ast.DictComp(value=one):
                return {self._made(scope, value), *inside(self.of(scope, one))}
        return set()

    def _of_name(self, scope: ast.AST, name: str) -> Values:
        home = self.meanings.home(scope, name)
        if home is not None:
            return self._locals[id(home), name]
        if name in self.meanings.functions and name not in self.meanings.classes:
            return self._returned[name]
        if self.meanings.makes_plain(scope, name):
            return set()
        name = self.meanings.in_full(scope, name)
        if not name or name in self.meanings.classes or name in ("self", "cls"):
            return set()
        return {Origin(name)}

    def _of_call(self, scope: ast.AST, call: ast.Call) -> Values:
        function = call.func
        name = last_name(function)
        if ast.unparse(function) in ("txloop.share", "txloop.TVar"):
            values = set().union(*(self.of(scope, one) for one in call.args))
            return {one for one in values if one.name}
        if name in self.meanings.classes:
            return self._of_object(scope, call, name)
        values = set()
        if name and name in self.meanings.functions:
            values |= self._returned[name]
            if name not in PARTS | GETTERS:
                return values
        if name not in PARTS and self.meanings.is_scalar(scope, function):
            return set()
        if name in SCALARS or name in ("range", "deepcopy"):
            return {self._made(scope, call)} if name == "deepcopy" else set()
        if name == "keys" and isinstance(function, ast.Attribute) and not call.args:
            return {self._made(scope, call)}  # with what has a hash inside
        if name == "getattr" and len(call.args) > 1:
            key = call.args[1]
            known = isinstance(key, ast.Constant) and isinstance(key.value, str)
            return {Origin(str(key.value) if known else ANY)}  # type: ignore[attr-defined] # a constant
        if name in ("vars", "globals", "locals"):
            return {Origin(ANY)}
        gets = isinstance(function, ast.Attribute) and name in GETTERS
        for one in _given(call):
            if not (gets and one in call.args[:1]):  # a key is no part of an element
                values |= self.of(scope, one)
        if isinstance(function, ast.Attribute):
            base = self.of(scope, function.value)
            if gets:
                asked = call.args[0] if call.args else None
                if isinstance(asked, ast.Constant) and isinstance(asked.value, str):
                    values.add(Origin(asked.value))
                if last_name(function.value) == "settings":
                    return values
                return values | part_of(base)
            values |= base
        else:
            values |= self.of(scope, function)
        made = self._made(scope, call)
        if name in PARTS:
            parts = part_of(values)
            return {made, *parts, *inside(parts)}
        parts = values | part_of(values)
        return {made, made._replace(inside=True), *parts, *inside(parts)}

    def _of_object(self, scope: ast.AST, call: ast.Call, name: str) -> Values:
        """Return what an object of a class is made of, where it is a tuple or alike."""
        node = self.meanings.classes[name]
        frozen = any("frozen" in ast.unparse(one) for one in node.decorator_list)
        bases = {last_name(base) for base in node.bases}
        if not frozen and not bases & {"NamedTuple", "tuple", "dict", "list", "set"}:
            return set()
        found = set()
        for one in _given(call):
            found |= self.of(scope, one)
        return inside(found | part_of(found))

    def _made(self, scope: ast.AST, node: ast.expr) -> Origin:
        return Origin("", site=self.site(scope, node))

    def site(self, scope: ast.AST, node: ast.AST) -> Site:
        """Return where in a function's or module's file an expression stands."""
        new: Any = node
        end = new.end_lineno, new.end_col_offset
        return Site(self.meanings.file_of(scope), new.lineno, new.col_offset, *end)


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(one.value for one in call.keywords)]


def _attribute(name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name(name, ast.Load()), name, ast.Store())

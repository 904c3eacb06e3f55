"""Where all values of a program come from, by names alone.

A value is described by `Origin`s: that it is, is a part of, or contains what a name
leads to, or what an expression has just made. A name stands for every variable of a
module and every attribute of that name. Functions are not told apart by their callers.
More is found than happens.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from txloop.scan.known import COPIERS, GETTERS, MUTATORS, NAMESPACES, PARTS, SCALARS
from txloop.scan.syntax import last_name, parameters
from txloop.sharing.bindings import IMMUTABLE, given_to
from txloop.sharing.making import Site
from txloop.sharing.meanings import Meanings
from txloop.sharing.origin import ANY, Origin, inside, part_of
from txloop.sharing.scopes import defaults_of, walked
from txloop.sharing.syntax import OF_NUMBERS, arguments_of, leaves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Set

    from txloop.scan.syntax import FunctionNode
    from txloop.sharing.origin import Values
    from txloop.sharing.texts import Text

__all__ = ["Origins"]

_STORING = MUTATORS - {"discard", "pop", "popleft", "remove"} | {"put", "put_nowait"}


class Origins:
    """The origins of all values in a program.

    Attributes:
        meanings: What names mean in it.
        returned: The origins of what functions of a name return.
    """

    def __init__(
        self, texts: Iterable[Text], in_templates: Set[str] | None = frozenset()
    ) -> None:
        """Follow all values until nothing more is found.

        Args:
            texts: The modules.
            in_templates: The names in templates; None if not all are known.
        """
        texts = list(texts)
        self.meanings = Meanings(texts, in_templates)
        self._locals: defaultdict[tuple[int, str], Values] = defaultdict(set)
        self.returned: defaultdict[str, Values] = defaultdict(set)
        self._nodes: dict[ast.Module, list[tuple[ast.AST, ast.AST]]] = {}
        for function, names in self.meanings.initialized:
            for one in names:
                self._locals[id(function), one].add(Origin(one))
        self._used: dict[int, tuple[Values, int]] = {}  # by the node at hand
        self._follow_all([pair for text in texts for pair in self.nodes(text)])

    def _follow_all(self, nodes: list[tuple[ast.AST, ast.AST]]) -> None:
        """Follow all nodes, and again those that have used what has grown since."""
        used = [self._used] * len(nodes)
        todo = [*range(len(nodes))]
        while todo:
            for number in todo:
                self._used = used[number] = {}
                self._follow(*nodes[number])
            todo = [
                number
                for number, its in enumerate(used)
                if any(len(values) != size for values, size in its.values())
            ]

    def _use(self, values: Values) -> Values:
        self._used.setdefault(id(values), (values, len(values)))
        return values

    def nodes(self, text: Text) -> list[tuple[ast.AST, ast.AST]]:
        """Return all nodes of a module, each with its function or the module."""
        tree = text.tree
        if tree not in self._nodes:
            self._nodes[tree] = [
                (self.meanings.scope_of(node), child)
                for node in walked(tree)
                for child in ast.iter_child_nodes(node)
            ]
        return self._nodes[tree]

    # What is put into variables of functions

    def _follow(self, scope: ast.AST, node: ast.AST) -> None:
        for target, values in self.bindings(scope, node):
            self._add(scope, target, values)
        for holder, values in self.puts(scope, node):
            self._add(scope, holder, inside(values))
        match node:
            case ast.Return(value=ast.expr() as value):
                self.returned[self._key(scope)] |= self.of(scope, value)
            case ast.Yield(value=ast.expr() as value) | ast.YieldFrom(value=value):
                found = inside(self.of(scope, value))
                self.returned[self._key(scope)] |= found
            case ast.Call():
                self._give(scope, node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                for parameter, default in defaults_of(node).items():
                    if self.of(scope, default):
                        self._locals[id(node), parameter].add(Origin(parameter))

    def _key(self, function: ast.AST) -> str:
        """Return the name under which is kept what a function returns."""
        name = getattr(function, "name", "")
        return f"{name}()" if self.meanings.is_verb(function) else name

    def _add(self, scope: ast.AST, target: ast.expr, values: Values) -> None:
        """Add to what a variable may hold, if the target is one of a function."""
        if isinstance(target, ast.Name):
            home = self.meanings.home(scope, target.id)
            if home is not None:
                self._locals[id(home), target.id] |= values

    def bindings(
        self, scope: ast.AST, node: ast.AST
    ) -> Iterator[tuple[ast.expr, Values]]:
        """Yield the targets that a node binds: names and attributes."""
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from self._spread(scope, target, value)
            case ast.AnnAssign() | ast.NamedExpr():
                if node.value is not None:
                    yield node.target, self.of(scope, node.value)
            case ast.AugAssign(target=target, op=operator, value=value):
                if not isinstance(operator, OF_NUMBERS):
                    yield target, inside(part_of(self.of(scope, value)))
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                values = part_of(self.of(scope, node.iter))
                keys = self._keys_of(node)
                for leaf in leaves(node.target):
                    yield leaf, set() if leaf in keys else values
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                yield from ((one, self.of(scope, value)) for one in leaves(target))
            case ast.Match(subject=subject):
                values = self.of(scope, subject)
                for one in ast.walk(node):
                    if isinstance(one, ast.MatchAs | ast.MatchStar) and one.name:
                        name = ast.Name(one.name, ast.Store())
                        yield name, values | part_of(values) | inside(part_of(values))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                yield from self._defined_by(scope, node)
            case ast.Dict(keys=keys, values=given):
                for key, one in zip(keys, given, strict=True):
                    text = getattr(key, "value", None)
                    if isinstance(text, str) and text in self.meanings.keys:
                        yield _attribute(text), self.of(scope, one)
            case ast.Call(func=ast.Name(id="setattr"), args=[_, asked, value]):
                text = str(asked.value) if isinstance(asked, ast.Constant) else ANY
                yield _attribute(text), self.of(scope, value)
            case ast.keyword(arg=str(key), value=value):
                if key in self.meanings.keys:
                    yield _attribute(key), self.of(scope, value)

    def _defined_by(
        self, scope: ast.AST, node: FunctionNode
    ) -> Iterator[tuple[ast.expr, Values]]:
        """Yield what a function's defaults give, and a property, under its name."""
        for parameter, value in defaults_of(node).items():
            made = self.of(scope, value)
            if made:
                yield _attribute(parameter), made
        marks = {last_name(one) for one in getattr(node, "decorator_list", ())}
        called = getattr(node, "name", "")
        if marks & {"cached_property", "property"}:
            yield _attribute(called), self._use(self.returned[called])
        if called == "get_current_user":
            yield _attribute("current_user"), self._use(self.returned[called])

    def _keys_of(self, loop: ast.AST) -> list[ast.expr]:
        """Return the targets of a loop that get keys or numbers: no lists or dicts."""
        functions = self.meanings.functions
        if "items" in functions or "keys" in functions:  # of a class of the program
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
        match node:
            case ast.Assign() | ast.AugAssign() | ast.For():
                for target, values in self.bindings(scope, node):
                    if isinstance(target, ast.Subscript):  # a slice takes the parts
                        yield target.value, values | part_of(values)
            case ast.Call(func=ast.Attribute(value=base, attr=name)):
                if name not in _STORING:
                    return
                for one in arguments_of(node):
                    values = self.of(scope, one)
                    yield base, values | part_of(values)
            case ast.Attribute(value=base, attr=name, ctx=ast.Load()):
                if name in _STORING and id(node) in self.meanings.used_without_call:
                    yield base, {Origin(ANY)}  # whatever it is called with

    def _give(self, scope: ast.AST, call: ast.Call) -> None:
        """Give a call's arguments to the parameters of functions of that name."""
        for function, names in self.meanings.called(scope, call):
            spread = any(isinstance(one, ast.Starred) for one in call.args)
            apart = not spread and not isinstance(function, ast.Lambda)
            give = self._give_each if apart else self._give_all
            give(scope, call, function, names)
        for one in [call.func, *arguments_of(call)]:  # a function that is called back
            if isinstance(one, ast.Lambda):
                self._give_all(scope, call, one, parameters(one))
            elif one is not call.func and isinstance(one, ast.Name | ast.Attribute):
                for function, names in self.meanings.named(one):
                    self._give_all(scope, call, function, names)

    def _give_each(
        self, scope: ast.AST, call: ast.Call, function: FunctionNode, names: list[str]
    ) -> None:
        """Give each argument to the parameter that it is for."""
        rest = getattr(function.args.vararg, "arg", None)
        others = getattr(function.args.kwarg, "arg", None)
        positional = [name for name in names if name != rest]
        for number, one in enumerate(call.args):
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
            elif others is not None:
                self._locals[id(function), others] |= inside(values)

    def _give_all(
        self, scope: ast.AST, call: ast.Call, function: FunctionNode, names: list[str]
    ) -> None:
        given = [one for one in arguments_of(call) if not isinstance(one, ast.Lambda)]
        if isinstance(call.func, ast.Attribute):
            given.append(call.func.value)
        values = self._of_all(scope, given)
        for name in names:
            self._locals[id(function), name] |= values | part_of(values)

    def together(self, scope: ast.AST, value: ast.expr) -> Values:
        """Return what those variables of a function hold that hold what it has made."""
        made = self._made(scope, value)
        its = (one for (home, _), one in self._locals.items() if home == id(scope))
        return set().union(*(one for one in its if made in one))

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
            case ast.Subscript():
                return self._of_subscript(scope, value)
            case ast.Call():
                return self._of_call(scope, value)
            case ast.Starred(value=inner):
                return part_of(self.of(scope, inner))
            case ast.Await(value=inner) | ast.NamedExpr(value=inner):
                return self.of(scope, inner)
            case ast.IfExp(body=body, orelse=orelse):
                return self._of_all(scope, [body, orelse])
            case ast.BoolOp(values=values):
                return self._of_all(scope, values)
            case ast.Lambda(body=body):
                return self.of(value, body)
            case ast.BinOp():
                return self._of_sum(scope, value)
            case ast.Dict(keys=keys, values=values):
                found = set()
                for key, one in zip(keys, values, strict=True):
                    its = self.of(scope, one)
                    found |= its if key is not None else part_of(its)
                return self._made_of(scope, value, found)
            case ast.Tuple(elts=parts):
                return inside(self._of_all(scope, parts))
            case ast.List(elts=parts) | ast.Set(elts=parts):
                return self._made_of(scope, value, self._of_all(scope, parts))
            case ast.GeneratorExp(elt=one):
                return inside(self.of(scope, one))
            case ast.ListComp(elt=one) | ast.SetComp(elt=one) | ast.DictComp(value=one):
                return self._made_of(scope, value, self.of(scope, one))
        return set()

    def _of_all(self, scope: ast.AST, values: Iterable[ast.AST]) -> Values:
        return set().union(*(self.of(scope, one) for one in values))

    def _made_of(self, scope: ast.AST, node: ast.expr, parts: Values) -> Values:
        """Return the origins of what an expression makes, with these in it."""
        return {self._made(scope, node), *inside(parts)}

    def _of_subscript(self, scope: ast.AST, value: ast.Subscript) -> Values:
        parts = part_of(self.of(scope, value.value))
        parts |= self._use(self.returned["__getitem__"])
        key = value.slice
        if isinstance(key, ast.Slice):
            return self._made_of(scope, value, parts)
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            if last_name(value.value) == "settings":
                return {Origin(key.value)}
            parts |= self._of_key(key.value, parts)
        return parts

    def _of_sum(self, scope: ast.AST, value: ast.BinOp) -> Values:
        """Return the origins of a sum: of numbers, or of lists with parts of both."""
        if isinstance(value.op, OF_NUMBERS):
            return set()
        both = self._of_all(scope, [value.left, value.right])
        made = {self._made(scope, value)} if any(one.site for one in both) else set()
        return made | inside(part_of(both))

    def _of_name(self, scope: ast.AST, name: str) -> Values:
        home = self.meanings.home(scope, name)
        if home is not None:
            return self._use(self._locals[id(home), name])
        if name in self.meanings.functions and name not in self.meanings.classes:
            return self._use(self.returned[name])
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
            return {one for one in self._of_all(scope, call.args) if one.name}
        if name == "TCount" or self.meanings.is_count(scope, function):
            return {self._made(scope, call)}  # it gives numbers
        if name in self.meanings.classes:
            return self._of_object(scope, call, name)
        values = set()
        if name and self.meanings.named(function):
            values |= self._use(self.returned[name])
            if self.meanings.is_of_handler(function):
                values |= self._use(self.returned[f"{name}()"])
            if name not in PARTS | GETTERS:
                return values
        if name not in PARTS and self.meanings.is_scalar(scope, function):
            return set()
        is_method = isinstance(function, ast.Attribute)
        if name == "deepcopy" or (name == "keys" and is_method and not call.args):
            return {self._made(scope, call)}  # keys cannot change: they have a hash
        if name in SCALARS or name == "range":
            return set()
        if name == "getattr" and len(call.args) > 1:
            key = call.args[1]
            known = isinstance(key, ast.Constant) and isinstance(key.value, str)
            return {Origin(str(key.value) if known else ANY)}  # type: ignore[attr-defined] # a constant
        if name in NAMESPACES:
            return {Origin(ANY)}
        if isinstance(function, ast.Attribute) and name in GETTERS:
            if last_name(function.value) in PARTS and call.args:  # ``dict.get(d, key)``
                return values | part_of(self.of(scope, call.args[0]))
            return values | self._taken_from(scope, function.value, call)
        if isinstance(function, ast.Name) and self._copies(scope, name):
            return self._copied(scope, call)
        base = function.value if isinstance(function, ast.Attribute) else function
        values |= self._of_all(scope, [base, *arguments_of(call)])
        made, parts = {self._made(scope, call)}, part_of(values)
        if name not in PARTS:
            made |= inside(made)
            parts |= values
        return made | parts | inside(parts)

    def _copies(self, scope: ast.AST, name: str) -> bool:
        """Tell whether a function makes something new of what it is given."""
        is_pythons = self.meanings.makes_plain(scope, name)
        return name in COPIERS and is_pythons and not self.meanings.home(scope, name)

    def _copied(self, scope: ast.AST, call: ast.Call) -> Values:
        """Return what is new, with parts of what is given: not of a sort's keys."""
        values = [one.value for one in call.keywords if one.arg != "key"]
        named = self._of_all(scope, values)
        parts = part_of(self._of_all(scope, call.args) | named) | named
        return self._made_of(scope, call, parts)

    def _taken_from(self, scope: ast.AST, holder: ast.expr, call: ast.Call) -> Values:
        """Return what a method such as `get` returns: an element, or its default."""
        key = call.args[0] if call.args else None
        values = self._of_all(
            scope, [one for one in arguments_of(call) if one is not key]
        )
        parts = part_of(self.of(scope, holder))
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            if last_name(holder) == "settings":
                return {*values, Origin(key.value)}
            parts |= self._of_key(key.value, parts)
        return values | parts

    def _of_key(self, key: str, parts: Values) -> Values:
        """Return the name that a key stands for, if it may be one of the program's.

        That is a name of what handlers are given, or of an attribute in a `__dict__`.

        Args:
            key: The key.
            parts: The origins of what is in the same object.
        """
        meanings = self.meanings
        is_name = key in meanings.keys or meanings.has_keys_for_attributes
        named = {"settings", ANY, *meanings.keys}
        is_name = is_name or any(one.name in named for one in parts)
        return {Origin(key)} if is_name else set()

    def _of_object(self, scope: ast.AST, call: ast.Call, name: str) -> Values:
        """Return what an object of a class has in it, if it is a tuple or the like."""
        node = self.meanings.classes[name][-1]
        frozen = any("frozen" in ast.unparse(one) for one in node.decorator_list)
        bases = {last_name(base) for base in node.bases}
        if not frozen and not bases & {"NamedTuple", "tuple", "dict", "list", "set"}:
            return set()
        found = self._of_all(scope, arguments_of(call))
        return inside(found | part_of(found))

    def _made(self, scope: ast.AST, node: ast.expr) -> Origin:
        return Origin("", site=self.site(scope, node))

    def site(self, scope: ast.AST, node: ast.AST) -> Site:
        """Return where in a function's or module's file an expression stands."""
        return Site.of(self.meanings.file_of(scope), node)


def _attribute(name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name(name, ast.Load()), name, ast.Store())

"""Where objects of the program's classes may get to, by names alone.

A name of an attribute, a function, a parameter stands for all of that name. More is
found than happens, which does no harm: a class that becomes a TObject without need
behaves as before. What is missed is held on the loop thread.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from txloop.scan.known import MUTATORS
from txloop.scan.syntax import FUNCTIONS, children, last_name
from txloop.sharing.syntax import arguments_of, assigned_in, metaclasses, root_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from txloop.sharing.meanings import Meanings
    from txloop.sharing.texts import Text

__all__ = ["Flow"]

_ROUNDS = 6

_Key = tuple[object, str]


class Flow:
    """Names of classes, by what may hold their objects.

    Attributes:
        attributes: By the name of an attribute.
        classes: The program's classes by simple name; those of one name are one.
    """

    def __init__(self, texts: Iterable[Text], meanings: Meanings) -> None:
        self.attributes: defaultdict[str, set[str]] = defaultdict(set)
        self.classes = meanings.classes
        self._names: defaultdict[_Key, set[str]] = defaultdict(set)
        self._values: defaultdict[_Key, dict[int, ast.AST]] = defaultdict(dict)
        self._returned: defaultdict[str, set[str]] = defaultdict(set)
        self._meanings = meanings
        trees = [text.tree for text in texts]
        before = -1
        for _ in range(_ROUNDS):
            for tree in trees:
                self._go_over(tree, tree)
            if before == (before := self._size()):
                break

    def _size(self) -> int:
        tables = (self.attributes, self._names, self._values, self._returned)
        return sum(len(one) for table in tables for one in table.values())

    def classes_of(self, value: ast.AST | None, scope: ast.AST) -> set[str]:
        """Return the classes whose objects an expression may give, or hold."""
        found: set[str] = set()
        match value:
            case None | ast.Constant() | ast.Compare() | ast.JoinedStr() | ast.Lambda():
                pass
            case ast.Name(id=name):
                found |= self._names[self._key(scope, name)]
                found |= self._names[None, self._meanings.in_full(scope, name)]
                if name in self.classes:
                    found.add(name)
                if name == "cls":
                    found |= self._own_class(scope)
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Call(func=ast.Name(id="super")), attr="__call__"
                )
            ):  # of a metaclass
                found |= self._own_class(scope)
            case ast.Attribute(value=ast.Name(id="self"), attr="__class__"):
                found |= self._own_class(scope)
            case ast.Call(func=ast.Name(id="type"), args=[ast.Name(id="self")]):
                found |= self._own_class(scope)
            case ast.Attribute(value=base, attr=name):
                found |= self.attributes[name]
                if self._is_module(scope, base):
                    found |= self._names[None, name]
                if name in self.classes:
                    found.add(name)
                if name == "value":  # of a TVar
                    found |= self.classes_of(base, scope)
            case ast.Call(func=function):
                name = last_name(function)
                found |= self._returned[name]
                parts = [function]
                if isinstance(function, ast.Attribute):  # x.get(), x.pop(), x.copy()
                    parts.append(function.value)
                if name not in self.classes:  # list(x), sorted(x), enumerate(x)
                    parts += arguments_of(value)
                for one in parts:
                    found |= self.classes_of(one, scope)
            case ast.Subscript(value=base) | ast.Starred(value=base):
                found |= self.classes_of(base, scope)
            case _:
                for child in children(value):
                    found |= self.classes_of(child, scope)
        return found

    def _own_class(self, scope: ast.AST) -> set[str]:
        """Return the class whose method it is; those derived from it go with it.

        In a metaclass that is each class which has it.
        """
        owner = self._meanings.owner_of(scope)
        if owner is None:
            return set()
        return {owner.name} | {
            name
            for name, nodes in self.classes.items()
            if owner.name in (one for node in nodes for one in metaclasses(node))
        }

    def _key(self, scope: ast.AST, name: str) -> _Key:
        """Return the key of a variable; those of all modules, by name, are one."""
        is_own = self._meanings.home(scope, name) is not None
        return (scope if is_own else None), name

    def _is_module(self, scope: ast.AST, base: ast.AST) -> bool:
        """Tell whether an expression names one of the program's modules."""
        root = root_name(base)
        home = self._meanings.imported_from(scope, root)
        is_own = bool(home) and self._meanings.is_own(home)
        return is_own and self._meanings.home(scope, root) is None

    def _go_over(self, node: ast.AST, scope: ast.AST) -> None:
        for child in children(node):
            inner = child if isinstance(child, FUNCTIONS) else scope
            self._see(child, inner)
            self._go_over(child, inner)

    def _see(self, node: ast.AST, scope: ast.AST) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, value, scope)
            case ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
                self._bind(node.target, node.value, scope)
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                self._bind(node.target, node.iter, scope)
            case ast.Return(value=value) | ast.Yield(value=value):
                name = getattr(scope, "name", "")
                self._returned[name] |= self.classes_of(value, scope)
            case ast.Call():
                self._see_call(node, scope)

    def _bind(self, target: ast.AST, value: ast.AST | None, scope: ast.AST) -> None:
        found = self.classes_of(value, scope)
        match target:
            case ast.Name(id=name):
                key = self._key(scope, name)
                self._names[key] |= found
                if value is not None:
                    self._values[key][id(value)] = value
            case ast.Attribute(value=base, attr=name):
                self.attributes[name] |= found
                if self._is_module(scope, base):
                    self._names[None, name] |= found
            case ast.Subscript(value=base, slice=key):
                found |= self.classes_of(key, scope)
                self._put_into(base, found, scope)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    self._bind(part, value, scope)
            case ast.Starred(value=inner):
                self._bind(inner, value, scope)

    def _put_into(self, holder: ast.AST, found: set[str], scope: ast.AST) -> None:
        match holder:
            case ast.Name(id=name):
                key = self._key(scope, name)
                new = found - self._names[key]
                self._names[key] |= found
                if not self._values[key]:
                    self._names[None, self._meanings.in_full(scope, name)] |= found
                for value in self._values[key].values() if new else ():
                    # It may be a part of what it was taken from.
                    self._put_into(value, found, scope)
            case ast.Attribute(value=base, attr=name):
                self.attributes[name] |= found
                if self._is_module(scope, base):
                    self._names[None, name] |= found
            case ast.Subscript(value=base) | ast.Call(func=ast.Attribute(value=base)):
                self._put_into(base, found, scope)

    def _see_call(self, call: ast.Call, scope: ast.AST) -> None:
        name = last_name(call.func)
        if name in MUTATORS and isinstance(call.func, ast.Attribute):
            found: set[str] = set()
            for one in arguments_of(call):
                found |= self.classes_of(one, scope)
            self._put_into(call.func.value, found, scope)
        for function in self._meanings.functions.get(name, ()):
            for parameter, one in zip(function.given, call.args, strict=False):
                found = self.classes_of(one, scope)
                self._names[function.node, parameter] |= found
            for each in call.keywords:
                if each.arg in function.given:
                    found = self.classes_of(each.value, scope)
                    self._names[function.node, each.arg] |= found

    def held_by(self, classes: Iterable[str]) -> set[str]:
        """Return these classes, and those whose objects get into theirs."""
        reached: set[str] = set()
        waiting = [*classes]
        while waiting:
            name = waiting.pop()
            if name in reached or name not in self.classes:
                continue
            reached.add(name)
            for node in self.classes[name]:
                waiting += map(last_name, node.bases)
                for attribute in assigned_in(node):
                    waiting += self.attributes[attribute]
        return reached

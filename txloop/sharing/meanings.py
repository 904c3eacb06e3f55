"""What names mean in a program: functions, classes, variables of which function."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from txloop.scan.known import MODULES, PARTS
from txloop.scan.syntax import (
    FUNCTIONS,
    bound_by,
    bound_in,
    children,
    last_name,
    parameters,
    walk,
)
from txloop.sharing.derived import container_classes
from txloop.sharing.fields import constructor_of
from txloop.sharing.handing import called_with_texts
from txloop.sharing.handlers import VERBS, is_handler_class
from txloop.sharing.scopes import functions_in, imports_in, nodes_of, walked
from txloop.sharing.syntax import (
    arguments_of,
    fields_of_tuple,
    root_name,
    targets_of,
)
from txloop.sharing.temporaries import temporaries

if TYPE_CHECKING:
    from collections.abc import Iterable, Set

    from txloop.scan.syntax import FunctionNode
    from txloop.sharing.scopes import Imported
    from txloop.sharing.texts import Text

__all__ = ["Function", "Meanings"]


_CHECKING = frozenset(
    ["__class__", "__instancecheck__", "__subclasscheck__", "__subclasshook__"]
)
"""What classes have that say themselves which objects are theirs."""


class Function(NamedTuple):
    """A function of the program.

    Attributes:
        name: The one by which it is called: a constructor has that of its class.
        home: Its module.
        node: Its syntax.
        owner: The class whose method it is, or None.
        skipped: How many of its parameters a call does not give.
        given: Those that it gives.
    """

    name: str
    home: Text
    node: FunctionNode
    owner: ast.ClassDef | None
    skipped: int
    given: list[str]


class Meanings:
    """The meanings of all names in a program.

    Attributes:
        every: All functions.
        functions: The same by name; a class stands for its constructor.
        classes: By simple name.
        keys: Names of what an application or a route gives to handlers.
        initialized: The `initialize` methods, which get that as arguments.
        fields: Names of the parts of named tuples.
        properties: Names of attributes that functions give.
        containers: Classes whose objects may become containers: see `derived`.
        has_keys_for_attributes: Whether a class may give its items as attributes.
        has_own_checks: Whether a class may say itself what `isinstance` finds.
        used_without_call: Attributes that are not called, or are later, with no texts.
    """

    def __init__(self, texts: Iterable[Text], in_templates: Set[str] | None) -> None:
        """Look at all modules.

        Args:
            texts: The modules.
            in_templates: The names in templates; None if not all are known.
        """
        texts = list(texts)
        self.every: list[Function] = []
        self.containers = container_classes(texts)
        self.functions: defaultdict[str, list[Function]] = defaultdict(list)
        self._no_verbs: dict[str, list[Function]] = {}  # those that are no verbs
        self.classes: dict[str, list[ast.ClassDef]] = {}
        self.keys: set[str] = set()
        self.fields: set[str] = set()
        self.properties: set[str] = set()
        self.initialized: list[Function] = []
        self.used_without_call: set[int] = set()
        self._around: dict[int, list[ast.AST]] = {}
        self._bound: dict[int, set[str]] = {}
        self._defined: dict[int, set[str]] = {}  # anywhere in a module
        self._owners: dict[int, ast.ClassDef | None] = {}
        self._imports: dict[int, dict[str, Imported]] = {}
        self._files: dict[int, str] = {}
        self._packages: set[str] = set()
        self._nodes: dict[ast.Module, list[tuple[ast.AST, ast.AST]]] = {}
        self._written: defaultdict[ast.Module, list[ast.AST]] = defaultdict(list)
        self._bases: defaultdict[str, list[str]] = defaultdict(list)
        self._called: set[str] = set()
        self._stored: set[str] = set()  # names of what is used without a call
        self._passed: set[int] = set()  # lambdas that are given to calls
        for text in texts:
            self._files[id(text.tree)] = text.file
            self._packages.add(text.package)
            self._collect(text)
            self._enter(text.tree, [text.tree])
        for text in texts:
            self._note_uses(text.tree)
        for text in texts:
            self._add_constructors(text)
        found = temporaries(texts, in_templates, self._is_local)
        self._bound |= {id(tree): {*names} for tree, names in found.items()}
        self.has_keys_for_attributes = any(
            "__getattr__" in names or "__getattribute__" in names
            for names in self._defined.values()
        )
        self.has_own_checks = any(
            not _CHECKING.isdisjoint(names) for names in self._defined.values()
        )
        self._inherit()

    def _note_uses(self, tree: ast.Module) -> None:
        direct: set[int] = set()
        called: set[int] = set()
        for node in walked(tree):
            if isinstance(node, ast.Call):
                self._called.add(last_name(node.func))
                direct.add(id(node.func))
                called |= {id(node.func), id(called_with_texts(node, self.functions))}
                given = arguments_of(node)
                for one in given:
                    direct.add(id(one))
                    self._called.add(last_name(one))
                    if isinstance(one, ast.Lambda):
                        self._passed.add(id(one))
            self.fields.update(fields_of_tuple(node))
            for mark in getattr(node, "decorator_list", ()):
                direct.add(id(mark))
                self._called.add(last_name(mark))
        for node in walked(tree):
            if isinstance(node, ast.Name | ast.Attribute) and id(node) not in direct:
                self._stored.add(last_name(node))
            if isinstance(node, ast.Attribute) and id(node) not in called:
                self.used_without_call.add(id(node))

    def _collect(self, text: Text) -> None:
        tree = text.tree
        self._defined[id(tree)] = {
            name
            for node in walked(tree)
            if not isinstance(node, ast.Import | ast.ImportFrom)
            for name in bound_by(node)
        }
        self._imports[id(tree)] = {one.bound: one for one in imports_in(tree)}
        for node in walked(tree):
            match node:
                case ast.ClassDef(name=name, bases=bases):
                    self.classes.setdefault(name, []).append(node)
                    self._bases[name] += map(last_name, bases)
                case ast.Subscript() | ast.Call():
                    self.keys |= _keys_of_settings(node)
        for node, owner in functions_in(tree):
            self._collect_function(text, node, owner)

    def _collect_function(
        self, text: Text, node: FunctionNode, owner: ast.ClassDef | None
    ) -> None:
        self._owners[id(node)] = owner
        self._bound[id(node)] = {*bound_in(node), *_gone_over(node)}
        marks = {*map(last_name, getattr(node, "decorator_list", []))}
        if marks & {"cached_property", "property"}:
            self.properties.add(node.name)  # type: ignore[union-attr] # it has marks
        skipped = int(owner is not None and "staticmethod" not in marks)
        name = self.called_as(node)
        given = parameters(node)[skipped:]
        function = Function(name, text, node, owner, skipped, given)
        self.every.append(function)
        self.functions[name].append(function)
        if name == "initialize":
            self.keys |= {*given}
            self.initialized.append(function)

    def _add_constructors(self, text: Text) -> None:
        """Add those that stand in no text, as if they stood in their classes."""
        classes = (one for one in walked(text.tree) if isinstance(one, ast.ClassDef))
        for cls in classes:
            node = constructor_of(cls, self.classes)
            if node is not None:
                self._collect_function(text, node, cls)
                self._enter(node, [node, *self._around[id(cls)]])
                self._written[text.tree].append(node)

    def _enter(self, node: ast.AST, around: list[ast.AST]) -> None:
        self._around[id(node)] = around
        for child in children(node):
            inner = [child, *around] if isinstance(child, FUNCTIONS) else around
            self._enter(child, inner)

    def _inherit(self) -> None:
        """Let a class without a constructor be called like its base."""
        for _ in self._bases:
            for name, bases in self._bases.items():
                if name not in self.functions:
                    for base in filter(self.functions.__contains__, bases):
                        self.functions[name] += self.functions[base]

    def scope_of(self, node: ast.AST) -> ast.AST:
        """Return the innermost function around a node, or its module.

        A function is its own scope.
        """
        return self._around[id(node)][0]

    def has(self, node: ast.AST) -> bool:
        """Tell whether a node stands in a module."""
        return id(node) in self._around

    def nodes(self, text: Text) -> list[tuple[ast.AST, ast.AST]]:
        """Return all nodes of a module, each with its function or the module.

        Those of constructors that stand in no text are among them.
        """
        tree = text.tree
        if tree not in self._nodes:
            self._nodes[tree] = [
                (self.scope_of(node), child)
                for top in (tree, *self._written[tree])
                for node in walked(top)
                for child in children(node)
            ]
        return self._nodes[tree]

    def home(self, scope: ast.AST, name: str) -> ast.AST | None:
        """Return the function whose variable a name is; None for a module's.

        It is the module for a variable that only the module's own statements use.
        """
        for around in self._around[id(scope)]:
            if name in self._bound.get(id(around), ()):
                return around
        return None

    def _is_local(self, node: ast.Name) -> bool:
        return self.home(self.scope_of(node), node.id) is not None

    def file_of(self, scope: ast.AST) -> str:
        """Return the file of a function or module."""
        return self._files[id(self.module_of(scope))]

    def in_full(self, scope: ast.AST, name: str) -> str:
        """Return the name that something imported has at home; "" for a module."""
        found = self._imports_around(scope).get(name)
        return name if found is None else found.name

    def makes_plain(self, scope: ast.AST, name: str) -> bool:
        """Tell whether a name is that of Python's own `set`, `map` or the like.

        They keep nothing: what one call returns has no part in what another returns.
        """
        return self.in_full(scope, name) in PARTS and self.is_pythons(scope, name)

    def is_pythons(self, scope: ast.AST, name: str) -> bool:
        """Tell whether a name can only mean a builtin, or one of Python's library."""
        if self.defines(scope, name):
            return False
        imports = self._imports_around(scope)
        home = "" if "*" in imports else "builtins"
        if name in imports:
            home = imports[name].home
        return home.partition(".")[0] in sys.stdlib_module_names

    def is_count(self, scope: ast.AST, function: ast.expr) -> bool:
        """Tell whether an expression names `itertools.count`."""
        root = root_name(function)
        home = self.imported_from(scope, root), self.in_full(scope, last_name(function))
        return home == ("itertools", "count") and self.home(scope, root) is None

    def defines(self, scope: ast.AST, name: str) -> bool:
        """Tell whether a module gives a name to more than what it imports."""
        return name in self._defined[id(self.module_of(scope))]

    def module_of(self, scope: ast.AST) -> ast.AST:
        """Return the module in which a function is."""
        return self._around[id(scope)][-1]

    def owner_of(self, function: ast.AST) -> ast.ClassDef | None:
        """Return the class whose method a function is."""
        return self._owners.get(id(function))

    def values_of(self, function: ast.AST, name: str) -> list[ast.expr]:
        """Return what a function gives to a variable, directly or as a part."""
        return [
            value
            for node in walked(function)
            for target, value in targets_of(node)
            if isinstance(target, ast.Name | ast.Tuple | ast.List)
            and any(
                isinstance(one, ast.Name) and one.id == name for one in walk(target)
            )
        ]

    def kept(self) -> list[Function]:
        """Return the functions that are used without a call, as those in tables are."""
        names = self._stored & self.functions.keys() - self.classes.keys()
        asked = (ast.Name(name, ast.Load()) for name in sorted(names))
        return [one for name in asked for one in self.named(name)]

    def is_only_called(self, function: ast.AST) -> bool:
        """Tell whether a function is called, or given to calls, and never kept."""
        if isinstance(function, ast.Lambda):
            return id(function) in self._passed
        name = self.called_as(function)
        return name in self._called and name not in self._stored

    def called_as(self, function: ast.AST) -> str:
        """Return the name by which a function is called: a constructor's is a class."""
        name, owner = getattr(function, "name", ""), self.owner_of(function)
        return owner.name if owner is not None and name == "__init__" else name

    def imported_from(self, scope: ast.AST, name: str) -> str:
        """Return the module that a name is, or is imported from; "" if it is not."""
        found = self._imports_around(scope).get(name)
        return "" if found is None else found.home

    def imports(self, module: str) -> bool:
        """Tell whether any module of the program imports one, or something of it."""
        every = (one.home for names in self._imports.values() for one in names.values())
        return module in every

    def is_scalar(self, scope: ast.AST, function: ast.expr) -> bool:
        """Tell whether a function is of a module whose results cannot change."""
        found = self._imports_around(scope).get(root_name(function))
        return found is not None and found.module in MODULES

    def _imports_around(self, scope: ast.AST) -> dict[str, Imported]:
        return self._imports[id(self.module_of(scope))]

    def is_own(self, module: str) -> bool:
        """Tell whether a module that is imported is one of the program's."""
        return module.startswith(".") or module.partition(".")[0] in self._packages

    def named(self, function: ast.expr) -> list[Function]:
        """Return the functions that an expression may name.

        Tornado calls the verbs of handlers, and these do by `self`: else every
        ``row.get("name")`` might mean the `get` of some handler.
        """
        name = last_name(function)
        found = self.functions.get(name, [])
        if name not in VERBS or self.is_of_handler(function):
            return found
        if name not in self._no_verbs:
            self._no_verbs[name] = [one for one in found if not self.is_verb(one.node)]
        return self._no_verbs[name]

    def is_verb(self, function: ast.AST) -> bool:
        """Tell whether a function is a verb of a handler."""
        is_named_so = getattr(function, "name", "") in VERBS
        return is_named_so and is_handler_class(self.owner_of(function))

    def is_of_handler(self, function: ast.expr) -> bool:
        """Tell whether an expression names a method of what may be a handler."""
        match function:
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super" | "type"))):
                return True
            case ast.Attribute(value=base):
                name = last_name(base)
                own = name in ("self", "cls") or name in self.classes
                return own or name.lower().endswith("handler")
        return False


def _gone_over(function: FunctionNode) -> set[str]:
    """Return the variables of comprehensions, as if they were the function's."""
    return {
        one.id
        for node in nodes_of(function)
        if isinstance(node, ast.comprehension)
        for one in walk(node.target)
        if isinstance(one, ast.Name)
    }


def _keys_of_settings(node: ast.Subscript | ast.Call) -> set[str]:
    """Return the key that an expression asks an application's settings for."""
    match node:
        case ast.Subscript(value=base, slice=ast.Constant(value=str(key))):
            return {key} if last_name(base) == "settings" else set()
        case ast.Call(
            func=ast.Attribute(value=base), args=[ast.Constant(value=str(key)), *_]
        ):
            return {key} if last_name(base) == "settings" else set()
    return set()

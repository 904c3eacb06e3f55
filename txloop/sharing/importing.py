"""What modules import from each other has one name: the one that it has at home.

``from db import rows as table``, where `db` has it from ``db.impl`` as `_rows`: all
that follows objects does so by names, and would take `table` for something else. And
what a function imports would be a variable of that function. So in the trees of
modules, `table` is replaced by an attribute of the module that has it, and functions
import nothing: the module does. The texts stay as they are, and the new nodes stand
where the old ones do.
"""

from __future__ import annotations

import ast
import copy
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from txloop.scan.syntax import (
    FUNCTIONS,
    bound_by,
    declared_in,
    nonlocal_in,
    own_nodes,
    parameters,
)
from txloop.sharing.scopes import (
    absolute_name,
    bound_as_globals,
    globals_named,
    imports_in,
    scopes_in,
    walked,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from txloop.scan.syntax import FunctionNode
    from txloop.sharing.scopes import Imported
    from txloop.sharing.texts import Text

__all__ = ["name_as_at_home"]


class _Home(NamedTuple):
    """The module that has something, and its name there."""

    text: Text
    name: str


def name_as_at_home(texts: Iterable[Text]) -> None:
    """Replace the trees of the modules in which something is imported otherwise."""
    homes = _Homes(texts)
    new = {text.name: _Imports(text, homes).changed() for text in homes.texts}
    for text in homes.texts:
        text.tree = new[text.name]


class _Homes:
    """Which module has what is imported from another one."""

    def __init__(self, texts: Iterable[Text]) -> None:
        self.texts = list(texts)
        self._by_name = {name: text for text in self.texts for name in text.names}
        self._defined = {
            text.name: {
                *bound_as_globals(text.tree),
                *(
                    name
                    for node in own_nodes(text.tree)
                    if not isinstance(node, ast.Import | ast.ImportFrom)
                    for name in bound_by(node)
                ),
            }
            for text in self.texts
        }

    def of(self, text: Text, imported: Imported) -> _Home | None:
        """Return where that is defined which a module imports; None for a module."""
        module = absolute_name(text.name, text.file, imported.module)
        if not imported.name or f"{module}.{imported.name}" in self._by_name:
            return None
        return self._find(module, imported.name, set())

    def _find(self, module: str, name: str, seen: set[str]) -> _Home | None:
        text = self._by_name.get(module)
        if text is None or module in seen:
            return None
        if name in self._defined[text.name]:
            return _Home(text, name)
        own = {*own_nodes(text.tree)}
        for one in imports_in(text.tree):
            if one.node in own and one.name and one.bound in (name, "*"):
                wanted = name if one.bound == "*" else one.name
                home = absolute_name(text.name, text.file, one.module)
                if found := self._find(home, wanted, {*seen, module}):
                    return found
        return None


class _Imports:
    """What one module imports otherwise than by its name at home."""

    def __init__(self, text: Text, homes: _Homes) -> None:
        self._text = text
        self._homes = homes
        self._instead: dict[ast.AST, ast.expr] = {}  # what takes the places of names
        self._moved: dict[ast.AST, ast.Import | ast.ImportFrom] = {}
        self._added: dict[str, ast.Import] = {}
        self._bound: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
        for one in imports_in(text.tree):
            self._bound[one.bound].add((one.home, one.name))
        self._taken: set[str] = set()  # names that mean something else there

    def changed(self) -> ast.Module:
        """Return the module's tree, or a new one if there is something to change."""
        tree = self._text.tree
        if not self._bound:
            return tree
        for node in walked(tree):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                self._taken.update(bound_by(node))
            if isinstance(node, FUNCTIONS):
                self._taken.update(parameters(node))
        for scope in scopes_in(tree):
            own = {*own_nodes(scope)}
            found: defaultdict[ast.AST, list[Imported]] = defaultdict(list)
            for one in imports_in(tree):
                if one.node in own and self._is_only_read(scope, one):
                    found[one.node].append(one)
            for node, its in found.items():
                if isinstance(scope, ast.Module):
                    for one in its:
                        home = self._homes.of(self._text, one)
                        if home is not None and home.name != one.bound:
                            self._name_at_home(scope, one, home)
                elif len(its) == len(node.names):  # type: ignore[attr-defined] # an import
                    self._move(scope, its)
        if not self._instead and not self._moved:
            return tree
        return self._replaced(tree)

    def _is_only_read(self, scope: ast.Module | FunctionNode, one: Imported) -> bool:
        """Tell whether one import binds a name there, and nothing else does."""
        others = declared_in(scope) | nonlocal_in(scope)
        return one.bound not in others and all(
            use is one.node
            or (isinstance(use, ast.Name) and isinstance(use.ctx, ast.Load))
            for use in globals_named(scope, one.bound)
        )

    def _move(self, scope: FunctionNode, its: list[Imported]) -> None:
        """Have the module import what a function does."""
        node = its[0].node
        moved = copy.copy(node)
        moved.names = []
        for one, alias in zip(its, node.names, strict=True):
            bound, name = alias.asname or "", alias.name
            home = self._homes.of(self._text, one)
            clashes = one.bound in self._taken or len(self._bound[one.bound]) > 1
            if clashes:
                bound = f"{one.bound}_{node.lineno}"
                name = name if alias.asname or one.name else one.home
            if home is not None and (clashes or home.name != one.bound):
                self._name_at_home(scope, one, home)
            elif clashes:
                for use in self._uses(scope, one):
                    self._instead[use] = ast.Name(bound, ast.Load())
            new = ast.alias(name, bound or None)
            moved.names.append(ast.copy_location(new, alias))
        self._moved[node] = moved

    def _name_at_home(
        self, scope: ast.Module | FunctionNode, one: Imported, home: _Home
    ) -> None:
        module = home.text.name
        name = f"module_{module.replace('.', '_')}"
        added = ast.Import([ast.alias(module, name)])
        self._added[module] = ast.copy_location(added, one.node)
        for use in self._uses(scope, one):
            base = ast.copy_location(ast.Name(name, ast.Load()), use)
            self._instead[use] = ast.Attribute(base, home.name, ast.Load())

    def _uses(self, scope: ast.Module | FunctionNode, one: Imported) -> list[ast.AST]:
        return [use for use in globals_named(scope, one.bound) if use is not one.node]

    def _replaced(self, tree: ast.Module) -> ast.Module:
        copied: dict[int, ast.AST] = {}
        new: ast.Module = copy.deepcopy(tree, copied)
        instead = {copied[id(one)]: value for one, value in self._instead.items()}
        gone = {copied[id(one)] for one in self._moved}

        class Replacing(ast.NodeTransformer):
            def visit(self, node: ast.AST) -> ast.AST:
                if node in gone:
                    return ast.copy_location(ast.Pass(), node)
                if node in instead:
                    return ast.copy_location(instead[node], node)
                return self.generic_visit(node)

        Replacing().visit(new)
        new.body += [*self._moved.values(), *self._added.values()]
        return new

"""Names that are bound again at run time: `global name` becomes a TVar.

``name`` becomes ``name.value`` in the module, and ``module.name`` in the others. What
these import by ``from module import name`` is the value that it has then: they take it
out in the same line. Where one use cannot be followed, all stay.
"""

from __future__ import annotations

import ast
import functools
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from txloop.scan.syntax import own_nodes
from txloop.sharing.lookups import hides_modules, why_by_name
from txloop.sharing.scopes import (
    absolute_name,
    attributes_named,
    bound_as_globals,
    globals_named,
    imports_in,
    nodes_of_kinds,
    walked,
)
from txloop.sharing.shown import why_as_written
from txloop.sharing.syntax import simple_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from txloop.sharing.scopes import Imported
    from txloop.sharing.texts import Edits, Text

__all__ = ["Variable"]


@dataclass(frozen=True)
class Variable:
    """A module's variable.

    Attributes:
        texts: All modules.
        home: The one that has it.
        name: Its name.
    """

    texts: Sequence[Text]
    home: Text
    name: str

    def is_rebound(self) -> bool:
        """Tell whether code other than the module's own body binds the name."""
        return self.name in bound_as_globals(self.home.tree) or any(
            not isinstance(use.ctx, ast.Load) for _, use in self._uses_elsewhere()
        )

    def make_variable(self, edits: Mapping[str, Edits]) -> str:
        """Make it a TVar in all texts.

        Args:
            edits: Gets the changes, by file.

        Returns:
            Why it is left alone; "" if it is not.
        """
        home = self.home
        uses = [*globals_named(home.tree, self.name)]
        values, reason = self._first_values(uses)
        reason = reason or self._why_left()
        if reason:
            return reason
        others = self._uses_elsewhere()
        first = {target for target, _ in values}
        later = [one for one in uses if isinstance(one, ast.Name) and one not in first]
        places = {(text.file, text.start(one)) for text, one in others}
        places |= {(home.file, home.start(one)) for one in later}
        if len(places) < len(later) + len(others) or any(
            home.segment(one) != self.name for one in later
        ):
            return "it stands in an f-string whose parts this Python cannot place"
        reason = why_as_written([*((home, one) for one in later), *others])
        if reason:
            return reason
        for _, value in values:
            edits[home.file].wrap(home, value, "txloop.TVar")
        for text, use in (*((home, one) for one in later), *others):
            edits[text.file].append(text, use, ".value")
        for text in self._others():
            for one in self._imports_in(text):
                if one.name in (self.name, "*") and self._is_imported_by(one):
                    taken = f"{self.name} = {self.name}.value"
                    edits[text.file].follow(text, one.node, taken)
        return ""

    def _why_left(self) -> str:
        """Return which line may use the name in a way that cannot be followed."""
        of_modules = not hides_modules(self.texts)
        reasons = itertools.chain(
            map(self._why_not_global, nodes_of_kinds(self.home.tree, ast.ClassDef)),
            map(self._why_not_followed, self._others()),
            (why_by_name(one, self.name, of_modules=of_modules) for one in self.texts),
        )
        return next(filter(None, reasons), "")

    def _why_not_global(self, node: ast.ClassDef) -> str:
        """Return why a class's body may mean something of its own by the name.

        Until it has bound the name, it means the module's.
        """
        names = {
            one
            for one in own_nodes(node)
            if isinstance(one, ast.Name) and one.id == self.name
        }
        if all(isinstance(one.ctx, ast.Load) for one in names):
            return ""
        for statement in node.body:
            its = [one for one in ast.walk(statement) if one in names]
            if its:
                binds = isinstance(statement, ast.Assign | ast.AnnAssign)
                if binds and all(isinstance(one.ctx, ast.Store) for one in its):
                    break
                return f"{self.home.place(its[0])}, may mean the class's {self.name}"
        return ""

    def _others(self) -> list[Text]:
        return [text for text in self.texts if text is not self.home]

    def _first_values(
        self, uses: list[ast.AST]
    ) -> tuple[list[tuple[ast.Name, ast.expr]], str]:
        """Return where the module's body gives it a value, and why that will not do."""
        values = [
            (target, given)
            for statement in _body(self.home.tree)
            for target, given in simple_values(statement)
            if isinstance(target, ast.Name) and target.id == self.name
        ]
        if not values:
            return [], "the module gives it no value by a simple assignment"
        simple: set[ast.AST] = {target for target, _ in values}
        for one in walked(self.home.tree):
            if isinstance(one, ast.AugAssign):
                simple.add(one.target)
            elif isinstance(one, ast.Assign):
                for target in one.targets:
                    simple.update(getattr(target, "elts", [target]))
        for use in uses:
            if not isinstance(use, ast.Name):
                return [], f"{self.home.place(use)}, binds it otherwise"
            if not isinstance(use.ctx, ast.Load) and use not in simple:
                return [], f"{self.home.place(use)}, binds or deletes it otherwise"
        return values, ""

    def _why_not_followed(self, text: Text) -> str:
        for one in self._imports_in(text):
            # Under another name, or in a function, the uses stand for those at home.
            same = one.bound == self.name and one.node.col_offset == 0
            if one.name == self.name and not same:
                return f"{text.place(one.node)}, imports a copy of its value"
            late = one.node.col_offset > 0 or self._may_come_late
            if one.name == "*" and self._is_imported_by(one) and late:
                return f"{text.place(one.node)}, imports all names"
        alone = _standing_alone(text.tree)
        passed = [alone[name] for name in self._names_in(text) if name in alone]
        if passed:
            return f"{text.place(min(passed, key=text.start))}, passes the module on"
        for use in self._uses_in(text):
            if isinstance(use.ctx, ast.Del):
                return f"{text.place(use)}, deletes it"
        return ""

    def _imports_in(self, text: Text) -> Iterator[Imported]:
        """Yield what another module imports of what is in this one."""
        for one in imports_in(text.tree):
            home = absolute_name(text.name, text.file, one.module)
            if one.name and home in self.home.names:
                yield one

    def _is_imported_by(self, one: Imported) -> bool:
        return one.name != "*" or not self.name.startswith("_")

    @functools.cached_property
    def _may_come_late(self) -> bool:
        """Whether what imports all names of the module may not get this one.

        So it is where `__all__` tells which, and where modules that it imports itself
        do so before its body has come to its end.
        """
        home = self.home
        own = {name.partition(".")[0] for text in self.texts for name in text.names}
        imported = {
            absolute_name(home.name, home.file, one.module).partition(".")[0]
            for one in imports_in(home.tree)
        }
        at_once = any(
            isinstance(target, ast.Name) and target.id == self.name
            for statement in home.tree.body
            for target, _ in simple_values(statement)
        )
        listed = [*globals_named(home.tree, "__all__")]
        return not at_once or bool(listed) or not own.isdisjoint(imported)

    def _uses_elsewhere(self) -> list[tuple[Text, ast.Attribute]]:
        return [(text, use) for text in self._others() for use in self._uses_in(text)]

    def _uses_in(self, text: Text) -> Iterator[ast.Attribute]:
        """Return where another module uses the name as an attribute of this one."""
        uses = attributes_named(text.tree, self.name)
        aliases = self._names_in(text) if uses else ()
        return (use for use in uses if ast.unparse(use.value) in aliases)

    def _names_in(self, text: Text) -> set[str]:
        """Return what another module calls this one, by way of a third one, too."""
        found = _aliases(text, self.home)
        for other, theirs in self._known_to:
            if other is not text:
                names = _aliases(text, other)
                found |= {f"{one}.{inner}" for one in names for inner in theirs}
        return found

    @functools.cached_property
    def _known_to(self) -> list[tuple[Text, set[str]]]:
        """The other modules that have this one in a variable, and what they call it."""
        package, _, last = self.home.name.rpartition(".")
        found = []
        for other in self._others():
            theirs = _aliases(other, self.home)
            if package == other.name:
                theirs.add(last)  # it has it when anything has imported it
            if theirs:
                found.append((other, theirs))
        return found


def _body(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements of a module's body that run once."""
    waiting: list[ast.stmt] = [*tree.body]
    while waiting:
        statement = waiting.pop(0)
        yield statement
        if isinstance(statement, ast.If | ast.Try | ast.With):
            for field in ("body", "orelse", "finalbody"):
                waiting += getattr(statement, field, [])
            for handler in getattr(statement, "handlers", []):
                waiting += handler.body


def _aliases(text: Text, home: Text) -> set[str]:
    """Return what a module calls another one."""
    imported = _imported(text.tree, text.name, text.file)
    return {alias for name in home.names for alias in imported.get(name, ())}


# A large program has thousands of variables: none of them walks through all modules.


@functools.lru_cache(maxsize=4096)
def _imported(tree: ast.Module, module: str, file: str) -> dict[str, set[str]]:
    """Return what a module calls what it imports, by its full name."""
    found: dict[str, set[str]] = {}
    for one in imports_in(tree):
        name = f"{absolute_name(module, file, one.module)}.{one.name}".strip(".")
        its = one.bound if one.home == one.module else one.module  # of `import a.b`
        found.setdefault(name, set()).add(its)
    return found


@functools.lru_cache(maxsize=4096)
def _standing_alone(tree: ast.Module) -> dict[str, ast.AST]:
    """Return where a dotted name stands of which no attribute is taken, the first."""
    nodes = nodes_of_kinds(tree, ast.Name, ast.Attribute)
    based = {getattr(one, "value", None) for one in nodes}
    found: dict[str, ast.AST] = {}
    for one in nodes:
        if one not in based:
            found.setdefault(ast.unparse(one), one)
    return found

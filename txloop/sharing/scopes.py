"""Which names in a module mean a variable of the module, and what binds it.

Python's own rules: a name that a function binds is the function's, unless it says
`global`; what a class body binds is not seen in its methods; comprehensions have
variables of their own.
"""

from __future__ import annotations

import ast
import functools
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from txloop.scan.syntax import (
    COMPREHENSIONS,
    FUNCTIONS,
    SCOPES,
    body_of,
    bound_by,
    bound_in,
    children,
    declared_in,
    own_nodes,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from txloop.scan.syntax import FunctionNode

__all__ = [
    "Imported",
    "absolute_name",
    "attributes_named",
    "bound_as_globals",
    "defaults_of",
    "functions_in",
    "globals_named",
    "imports_in",
    "names_of_standard",
    "nodes_of",
    "nodes_of_kinds",
    "scopes_in",
    "walked",
]


@functools.lru_cache(maxsize=4096)
def walked(node: ast.AST) -> tuple[ast.AST, ...]:
    """Return a node and all that is in it; trees do not change once they are made."""
    return tuple(walk(node))


@functools.lru_cache(maxsize=4096)
def nodes_of_kinds(tree: ast.Module, *kinds: type[Any]) -> tuple[Any, ...]:
    """Return the nodes of some kinds."""
    return tuple(one for one in walked(tree) if isinstance(one, kinds))


class Imported(NamedTuple):
    """A name that a module imports.

    Attributes:
        node: The statement.
        bound: What it is called there.
        module: The module that is named, with its dots.
        name: What it is in that; "" for the module itself.
        home: The module that the name stands for, or which has what it stands for.
    """

    node: ast.Import | ast.ImportFrom
    bound: str
    module: str
    name: str
    home: str


@functools.lru_cache(maxsize=4096)
def imports_in(tree: ast.Module) -> tuple[Imported, ...]:
    """Return all names that a module imports."""

    def of(node: ast.Import | ast.ImportFrom, one: ast.alias) -> Imported:
        if isinstance(node, ast.ImportFrom):
            home = "." * node.level + (node.module or "")
            return Imported(node, one.asname or one.name, home, one.name, home)
        top = one.name.partition(".")[0]
        home = one.name if one.asname else top
        return Imported(node, one.asname or top, one.name, "", home)

    nodes = nodes_of_kinds(tree, ast.Import, ast.ImportFrom)
    return tuple(of(node, one) for node in nodes for one in node.names)


def names_of_standard(tree: ast.Module, module: str, name: str) -> set[str]:
    """Return what a module calls a name of the standard library, and nothing else."""
    found: set[str] = set()
    others: set[str] = set()
    for one in imports_in(tree):
        if (one.module, one.name) == (module, name):
            found.add(one.bound)
        elif (one.module, one.name) == (module, ""):
            found.add(f"{one.bound}.{name}")
        else:
            others |= {one.bound, f"{one.bound}.{name}"}
    return found - others


def absolute_name(module: str, file: str, imported: str) -> str:
    """Return the full name of a module that another one imports, maybe with dots."""
    name = imported.lstrip(".")
    level = len(imported) - len(name)
    if not level:
        return name
    package = module.split(".")
    is_package = file.endswith("__init__.py")
    keep = len(package) - level + is_package
    return ".".join([*package[:keep], *([name] if name else [])])


def attributes_named(tree: ast.AST, name: str) -> Sequence[ast.Attribute]:
    """Return where a node, or what is in it, names an attribute."""
    return _attributes_in(tree).get(name, ())


@functools.lru_cache(maxsize=4096)
def _attributes_in(tree: ast.AST) -> dict[str, list[ast.Attribute]]:
    found = defaultdict(list)
    for one in walked(tree):
        if isinstance(one, ast.Attribute):
            found[one.attr].append(one)
    return found


@functools.lru_cache(maxsize=4096)
def functions_in(tree: ast.AST) -> list[tuple[FunctionNode, ast.ClassDef | None]]:
    """Return the functions in a node, with the class in whose body each stands."""

    def visit(
        node: ast.AST, owner: ast.ClassDef | None
    ) -> Iterator[tuple[FunctionNode, ast.ClassDef | None]]:
        for child in children(node):
            if isinstance(child, FUNCTIONS):
                yield child, owner
                yield from visit(child, None)
            elif isinstance(child, ast.ClassDef):
                yield from visit(child, child)
            else:
                yield from visit(child, owner)

    return [*visit(tree, None)]


def scopes_in(tree: ast.Module) -> list[ast.Module | FunctionNode]:
    """Return a module and the functions in it."""
    return [tree, *(function for function, _ in functions_in(tree))]


@functools.lru_cache(maxsize=4096)
def nodes_of(scope: ast.AST) -> tuple[ast.AST, ...]:
    """Return the nodes of a function or module, without those of functions in it."""

    def visit(node: ast.AST) -> Iterator[ast.AST]:
        for child in children(node):
            yield child
            if not isinstance(child, FUNCTIONS):
                yield from visit(child)

    return tuple(visit(scope))


@functools.lru_cache(maxsize=4096)
def defaults_of(function: FunctionNode) -> dict[str, ast.expr]:
    """Return what its parameters are where a call does not give them."""
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args)]
    found = dict(zip(reversed(names), reversed(given.defaults), strict=False))
    for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        if value is not None:
            found[one.arg] = value
    return found


@functools.lru_cache(maxsize=4096)
def bound_as_globals(tree: ast.Module) -> frozenset[str]:
    """Return the names that code binds which says `global`; much only uses them."""
    scopes = [one for one in walked(tree) if isinstance(one, SCOPES)]
    return frozenset(
        name
        for scope in scopes
        for node in own_nodes(scope)
        for name in declared_in(scope).intersection(bound_by(node))
    )


def globals_named(scope: ast.AST, name: str) -> Iterator[ast.AST]:
    """Yield each node that uses or binds the variable of that name of a module.

    These are names, and other nodes that bind it: imports, definitions, `except`. Of a
    function, they are those of its own variable.
    """
    yield from _visit(body_of(scope), name, is_global=True)


def _visit(
    nodes: Sequence[ast.AST], name: str, *, is_global: bool
) -> Iterator[ast.AST]:
    for node in nodes:
        if isinstance(node, ast.Name):
            if node.id == name and is_global:
                yield node
        elif isinstance(node, SCOPES):
            yield from _visit_scope(node, name, is_global=is_global)
        else:
            if is_global and name in bound_by(node):
                yield node
            yield from _visit([*children(node)], name, is_global=is_global)


@functools.lru_cache(maxsize=4096)
def _names_in(node: ast.AST) -> frozenset[str]:
    """Return all that a node, or what is in it, uses or binds by name."""
    used = (one.id for one in walked(node) if isinstance(one, ast.Name))
    return frozenset(used).union(*map(bound_by, walked(node)))


def _visit_scope(node: ast.AST, name: str, *, is_global: bool) -> Iterator[ast.AST]:
    if not isinstance(node, COMPREHENSIONS) and name not in _names_in(node):
        return
    inner = is_global
    if name in bound_in(node):
        inner = False
    elif name in declared_in(node):
        inner = True
    if isinstance(node, COMPREHENSIONS):
        first = node.generators[0].iter
        yield from _visit([first], name, is_global=is_global)
        rest = [one for one in _parts(node) if one is not first]
        yield from _visit(rest, name, is_global=inner)
        return
    if is_global and name in bound_by(node):
        yield node
    body = body_of(node)
    outside = [one for one in _parts(node) if one not in body]
    yield from _visit(outside, name, is_global=is_global)
    if isinstance(node, ast.ClassDef) and not inner and is_global:
        # Its methods do not see what the class binds.
        for one in body:
            yield from _visit_class_part(one, name)
    else:
        yield from _visit(body, name, is_global=inner)


def _visit_class_part(node: ast.AST, name: str) -> Iterator[ast.AST]:
    if isinstance(node, FUNCTIONS):
        yield from _visit_scope_body(node, name)
    else:
        for child in children(node):
            yield from _visit_class_part(child, name)


def _visit_scope_body(node: ast.AST, name: str) -> Iterator[ast.AST]:
    inner = name not in bound_in(node) or name in declared_in(node)
    yield from _visit(body_of(node), name, is_global=inner)


def _parts(node: ast.AST) -> list[ast.AST]:
    """Return the parts of a scope; those of its arguments and comprehensions, too."""
    found: list[ast.AST] = []
    for child in children(node):
        if isinstance(child, ast.arguments | ast.comprehension):
            found += children(child)
        else:
            found.append(child)
    return found

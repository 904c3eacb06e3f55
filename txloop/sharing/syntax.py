"""Parts of syntax trees: which names stand in an expression, and where."""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

from txloop.scan.known import MUTATORS
from txloop.scan.syntax import FUNCTIONS, children, last_name, walk
from txloop.sharing.scopes import functions_in, imports_in, walked

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "DISPLAYS",
    "OF_NUMBERS",
    "annotated_in",
    "arguments_of",
    "assigned_in",
    "attribute_of_self",
    "changed_by",
    "comes_out_of",
    "each_given",
    "fields_of_tuple",
    "foreign_modules",
    "holder_name",
    "is_after",
    "is_cached",
    "is_coroutine",
    "is_in_inner_function",
    "is_of_self",
    "leaves",
    "metaclasses",
    "name_in_text",
    "nodes_with_loops",
    "parent_of",
    "registered_by",
    "results_of",
    "returned_by_raising",
    "root_name",
    "set_on_self",
    "simple_values",
    "targets_of",
    "uses_arrays",
]

DISPLAYS = (ast.Dict, ast.List, ast.Set, ast.DictComp, ast.ListComp, ast.SetComp)

OF_NUMBERS = (ast.Div, ast.FloorDiv, ast.LShift, ast.Mod, ast.Pow, ast.RShift)
"""Operators that plain containers do not have; strings have `%`."""

_WITH_ARRAYS = frozenset(["cupy", "jax", "numpy", "pandas", "tensorflow", "torch"])
"""Libraries of arrays, which take lists for indices."""


def changed_by(node: ast.AST) -> ast.AST | None:
    """Return what a node changes, if it is an object that a name leads to."""
    match node:
        case ast.Call(func=ast.Attribute(value=base, attr=name)) if name in MUTATORS:
            return base
        case ast.Subscript(ctx=ast.Store() | ast.Del()):
            return node
        case ast.Attribute(ctx=ast.Store() | ast.Del()):
            return node
    return None


def is_after(node: ast.AST, where: tuple[int, int]) -> bool:
    """Tell whether a node begins at a line and column, or after it."""
    line = getattr(node, "lineno", None)
    return line is not None and (line, node.col_offset) >= where  # type: ignore[attr-defined] # it has a line


@functools.lru_cache(maxsize=4096)
def nodes_with_loops(scope: ast.AST) -> list[tuple[ast.AST, list[ast.AST]]]:
    """Return the nodes of a scope, without inner functions, with the loops around."""

    def visit(
        node: ast.AST, loops: list[ast.AST]
    ) -> Iterator[tuple[ast.AST, list[ast.AST]]]:
        for child in children(node):
            if isinstance(child, (*FUNCTIONS, ast.ClassDef, ast.Raise)):
                continue  # what an exception takes along is read only
            inner = loops
            if isinstance(child, ast.For | ast.While | ast.AsyncFor):
                inner = [*loops, child]
            yield child, loops
            yield from visit(child, inner)

    return [*visit(scope, [])]


def arguments_of(call: ast.Call) -> list[ast.expr]:
    """Return what a call gives, by position and by keyword."""
    return [*call.args, *(one.value for one in call.keywords)]


def each_given(
    target: ast.expr, value: ast.expr
) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what is assigned to what: of ``a, b = x, y`` each part."""
    match target, value:
        case (
            ast.Tuple(elts=targets) | ast.List(elts=targets),
            ast.Tuple(elts=values) | ast.List(elts=values),
        ) if len(targets) == len(values) and not any(
            isinstance(one, ast.Starred) for one in (*targets, *values)
        ):
            for pair in zip(targets, values, strict=True):
                yield from each_given(*pair)
        case _:
            yield target, value


def simple_values(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """Return the targets of an assignment to one, each with what it is given."""
    match node:
        case ast.Assign(targets=[target], value=value):
            return [*each_given(target, value)]
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            return [(target, value)]
    return []


def targets_of(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the targets of a node, each with its value, or with what it goes over."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from each_given(target, value)
        case ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
            if node.value is not None:
                yield node.target, node.value
        case ast.For() | ast.AsyncFor() | ast.comprehension():
            yield node.target, node.iter
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            yield target, value


def leaves(target: ast.expr) -> Iterator[ast.expr]:
    """Yield the names, attributes and subscripts of a target."""
    match target:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for one in parts:
                yield from leaves(one)
        case ast.Starred(value=inner):
            yield from leaves(inner)
        case _:
            yield target


def registered_by(node: ast.AST) -> list[tuple[str, str]]:
    """Return what a node registers with a `functools.singledispatch` function.

    Each with the name of that: a call of it may run what is registered.
    """
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            marks = (getattr(one, "func", one) for one in node.decorator_list)
            its = [one for one in marks if isinstance(one, ast.Attribute)]
            return [
                (last_name(one.value), name) for one in its if one.attr == "register"
            ]
        case ast.Call(
            func=ast.Attribute(value=base, attr="register"), args=[_, function]
        ):
            return [(last_name(base), last_name(function))]
    return []


def is_cached(function: ast.AST) -> bool:
    """Tell whether `functools.cache` or the like keeps what a function returns."""
    marks = getattr(function, "decorator_list", [])
    names = {last_name(getattr(one, "func", one)) for one in marks}
    return not names.isdisjoint(("cache", "lru_cache"))


def is_coroutine(function: ast.AST) -> bool:
    """Tell whether Tornado's decorator gives a generator what it waits for."""
    marks = map(last_name, getattr(function, "decorator_list", []))
    return "coroutine" in marks


def results_of(function: ast.AST) -> list[ast.expr]:
    """Return the expressions that a function returns or yields."""
    if isinstance(function, ast.Lambda):
        return [function.body]
    found: list[ast.expr] = []
    for one in walked(function):
        match one:
            case (
                ast.Return(value=ast.expr() as value)
                | ast.Yield(value=ast.expr() as value)
                | ast.YieldFrom(value=value)
            ):
                found.append(value)
            case ast.Raise():
                found += returned_by_raising(one)
    return found


def returned_by_raising(node: ast.Raise) -> list[ast.expr]:
    """Return what a coroutine returns by ``raise gen.Return(value)``."""
    match node.exc:
        case ast.Call(func=function, args=args) if last_name(function) == "Return":
            return args
    return []


def may_see(
    scope: ast.AST, uses: list[ast.Name], act: ast.AST, stored: ast.AST
) -> bool:
    """Tell whether what a node does may have been done when one of the uses runs.

    Args:
        scope: The function, or the module.
        uses: Variables that are read.
        act: What changes something.
        stored: What runs before all of these.
    """
    loops = dict(nodes_with_loops(scope))
    statements = [one for one in walked(scope) if isinstance(one, ast.stmt)]
    begun = [one for one in statements if is_after(act, (one.lineno, one.col_offset))]
    if act not in loops or not begun:
        return True
    its = max(begun, key=lambda one: (one.lineno, one.col_offset))
    match its:
        case ast.AugAssign(target=target) | ast.Assign(targets=[target]) if (
            act is target or act is its
        ):  # what is assigned comes first
            done = (its.end_lineno or 0, its.end_col_offset or 0)
        case _:  # parts of a statement do not run in the order in which they stand
            done = (its.lineno, its.col_offset)
    around = [one for one in loops[act] if stored not in walked(one)]
    return any(
        is_after(use, done) or any(one in loops.get(use, around) for one in around)
        for use in uses
    )


def parent_of(scope: ast.AST, node: ast.AST) -> tuple[ast.AST | None, ast.AST]:
    """Return what a node is a part of, and the node."""
    for parent in walked(scope):
        for child in children(parent):
            if child is node:
                return parent, node
    return None, node


def is_in_inner_function(scope: ast.AST, use: ast.AST) -> bool:
    """Tell whether a node is in a function of the scope."""
    return any(use in walked(inner) for inner, _ in functions_in(scope))


def foreign_modules(tree: ast.Module, own: set[str]) -> Iterator[str]:
    """Yield the names of modules that are not the program's."""
    for one in imports_in(tree):
        if not one.name and one.module.partition(".")[0] not in own:
            yield one.bound


def name_in_text(node: ast.expr, unknown: str) -> str:
    """Return ``b`` of a text ``"a.b"``, as `getattr` has it; `unknown` of others."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.rpartition(".")[2]
    return unknown


def comes_out_of(holder: ast.AST) -> bool:
    """Tell whether it is a part of what a call returns that is given objects.

    So ``random.choice(rows)`` is one of the program's.
    """
    while isinstance(holder, ast.Attribute | ast.Call | ast.Subscript):
        if isinstance(holder, ast.Call):
            if not all(isinstance(one, ast.Constant) for one in arguments_of(holder)):
                return True
            holder = holder.func
        else:
            holder = holder.value
    return False


def root_name(node: ast.AST | None) -> str:
    """Return ``a`` of ``a.b[0].c()``; "" if it is no name."""
    while True:
        match node:
            case ast.Attribute(value=base) | ast.Subscript(value=base):
                node = base
            case ast.Call(func=base):
                node = base
            case ast.Name(id=name):
                return name
            case _:
                return ""


def holder_name(node: ast.AST | None) -> str:
    """Return ``b`` of ``a.b`` and of ``a.b[0]``; "" if there is no name."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return last_name(node)


def is_of_self(node: ast.AST) -> bool:
    """Tell whether it is ``self.name``: of a handler, which lives for one request."""
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def attribute_of_self(node: ast.AST) -> str:
    """Return ``name`` of ``self.name[0].part``; "" of anything else."""
    name = ""
    while isinstance(node, ast.Attribute | ast.Subscript):
        name = getattr(node, "attr", name)
        node = node.value
    return name if isinstance(node, ast.Name) and node.id == "self" else ""


def fields_of_tuple(node: ast.AST) -> list[str]:
    """Return the names of the parts, if a node makes a class of named tuples."""
    match node:
        case ast.ClassDef(bases=bases, body=body) if "NamedTuple" in map(
            last_name, bases
        ):
            return [
                last_name(one.target) for one in body if isinstance(one, ast.AnnAssign)
            ]
        case ast.Call(func=function, args=[_, names, *_]) if last_name(function) in (
            "NamedTuple",
            "namedtuple",
        ):
            texts = (getattr(one, "value", None) for one in walk(names))
            found = [one for one in texts if isinstance(one, str)]
            return [one for text in found for one in text.replace(",", " ").split()]
    return []


def uses_arrays(tree: ast.Module) -> bool:
    """Tell whether a module imports a library of arrays."""
    packages = (one.module.partition(".")[0] for one in imports_in(tree))
    return not _WITH_ARRAYS.isdisjoint(packages)


def annotated_in(node: ast.ClassDef) -> set[str]:
    """Return the attributes that a class declares for its objects."""
    return {
        one.target.id
        for one in node.body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        if "ClassVar" not in ast.unparse(one.annotation)
    }


def set_on_self(node: ast.ClassDef) -> set[str]:
    """Return the attributes that a class's methods assign to what they call self."""
    return {
        one.attr
        for one in walk(node)
        if isinstance(one, ast.Attribute)
        and isinstance(one.ctx, ast.Store)
        and is_of_self(one)
    }


def assigned_in(node: ast.ClassDef) -> set[str]:
    """Return the attributes that a class declares or that its methods assign."""
    found = annotated_in(node)
    for one in walk(node):
        if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store):
            found.add(one.attr)
    return found


def metaclasses(node: ast.ClassDef) -> list[str]:
    """Return the last name of the metaclass that a class names, if it names one."""
    return [last_name(one.value) for one in node.keywords if one.arg == "metaclass"]

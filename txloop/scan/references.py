"""Where a file names functions and classes: called at once, or passed on.

Names are all that is looked at: `x.add()` may call every function and method `add`. So
what no file names in a way that may run it does not run; the rest may.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from txloop.scan.known import RUNNING, SETTING, TAKING
from txloop.scan.syntax import last_name

if TYPE_CHECKING:
    from txloop.scan.syntax import FunctionNode

_Function = ast.FunctionDef | ast.AsyncFunctionDef
Context = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Module

_ANY_NAME = RUNNING | {"globals"}
"""Calls of these builtins may run anything."""

_ABOUT_CLASSES = frozenset({"isinstance", "issubclass", "super"})
"""Builtins that make nothing of the classes that they are given."""

_KEEPING = frozenset({"dataclass", "define", "final", "total_ordering", "unique"})
"""Decorators after which only its name leads to a class."""

SOME_CLASS = "type()"
"""The name for classes that are taken from their objects."""

_LISTENS = frozenset(
    {"add_socket", "add_sockets", "bind", "bind_sockets", "listen", "serve", "start"}
)
"""Without one of these no request comes in."""

_NAMES_IN_TEXT = re.compile(r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)*\Z")
_IN_TEMPLATES = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\$\{.*?\}|<%.*?%>", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")
_ATTRIBUTE = re.compile(r"(?:\.\s*|['\"])([A-Za-z_]\w*)")
_IMPORT = re.compile(r"\{%-?\s*(?:from|import)\s")


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """One place that names something.

    Attributes:
        context: The innermost function around it, or the module.
        line: Its line.
        calls: How often it, then its result, and so on, is called at once; 0 for what
            is passed on or kept, and may be called at any time.
        dropped: Whether nothing is done with what the last of these calls returns.
    """

    context: Context
    line: int
    calls: int
    dropped: bool = False


@dataclass(slots=True, eq=False)
class References:
    """What a file names.

    Attributes:
        by_name: The places that name a function, method, class or attribute.
        returned: Functions, with those in which they stand and which return them.
        texts: Names that stand in strings, and in templates.
        prefixes: What begins names that are put together at run time.
        anything: Whether it may run what it does not name.
        made_inside: Whether functions of it make classes.
        stored: The attributes that are assigned, "*" for any, where, and in which line.
        listens: What opens a port, or starts what does, and where it first does.
    """

    by_name: dict[str, list[Reference]] = field(default_factory=dict)
    returned: dict[FunctionNode, Context] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)
    prefixes: set[str] = field(default_factory=set)
    anything: bool = False
    made_inside: bool = False
    stored: list[tuple[str, Context, int]] = field(default_factory=list)
    listens: dict[Context, int] = field(default_factory=dict)

    def add(self, other: References) -> None:
        """Add what another file names."""
        for name, places in other.by_name.items():
            self.by_name.setdefault(name, []).extend(places)
        self.returned.update(other.returned)
        self.texts |= other.texts
        self.prefixes |= other.prefixes
        self.anything |= other.anything
        self.made_inside |= other.made_inside
        self.stored += other.stored
        self.listens.update(other.listens)


def references(tree: ast.Module) -> References:
    """Return what the file names."""
    reader = _Reader(tree)
    try:
        reader.visit(tree)
    except RecursionError:  # an expression as deep as the stack
        reader.found.anything = True
    return reader.found


def prefix_of(name: ast.expr) -> str:
    """Return what a name that is put together at run time begins with, or ""."""
    match name:
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            return text
        case ast.BinOp(left=ast.Constant(value=str(text))):
            return text.partition("%")[0]
    return ""


def names_in_template(text: str) -> set[str]:
    """Return the names in the parts of a template that are code."""
    parts = _IN_TEMPLATES.findall(text)
    return {name for part in parts for name in _WORD.findall(part)}


def attributes_in_template(text: str) -> set[str]:
    """Return the names that a template may use as attributes, and those it imports."""
    names = set()
    for part in _IN_TEMPLATES.findall(text):
        names.update((_WORD if _IMPORT.match(part) else _ATTRIBUTE).findall(part))
    return names


class _Reader(ast.NodeVisitor):
    """Walks through one file; `_around` is the module with the functions in it."""

    def __init__(self, tree: ast.Module) -> None:
        self.found = References()
        self._around: list[Context] = [tree]
        self._calls: dict[int, int] = {}  # of the expression in a call, by identity
        self._dropped: set[int] = set()

    def _note(self, name: str, node: ast.AST, calls: int | None = None) -> None:
        calls = self._calls.get(id(node), 0) if calls is None else calls
        dropped = id(node) in self._dropped
        place = Reference(self._around[-1], getattr(node, "lineno", 0), calls, dropped)
        self.found.by_name.setdefault(name, []).append(place)

    def _note_stored(self, name: str, node: ast.expr) -> None:
        self.found.stored.append((name, self._around[-1], node.lineno))

    # What is defined

    def visit_FunctionDef(self, node: _Function) -> None:
        for each in node.decorator_list:
            self._called(each, 0)
            self.visit(each)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        self._inside(node, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        self._inside(node, [node.body])

    def _inside(
        self, node: FunctionNode, body: list[ast.stmt] | list[ast.expr]
    ) -> None:
        self._around.append(node)
        for each in body:
            self.visit(each)
        self._around.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.found.made_inside |= len(self._around) > 1
        for each in node.decorator_list:
            self._called(each, 0)
            self.visit(each)
            if _last_name(each) not in _KEEPING:
                self._note(node.name, node, 0)
        for each in (*node.bases, *(one.value for one in node.keywords)):
            if not _only_names(each):
                self.visit(each)
        for statement in node.body:
            self.visit(statement)

    # What is named

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._note(node.id, node)
        if node.id == "cls" and id(node) in self._calls:
            self._note(SOME_CLASS, node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Load):
            self._note(node.attr, node)
        else:
            self._note_stored(node.attr, node)
        if node.attr == "__class__":
            self._note(SOME_CLASS, node)
        # Whose attribute is taken is not passed on by that.
        if isinstance(node.value, ast.Call) and _last_name(node.value.func) == "type":
            self.generic_visit(node.value)
        elif not isinstance(node.value, ast.Name):
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        name = _last_name(node.func)
        self._called(node.func, self._calls.get(id(node), 0))
        if id(node) in self._dropped:
            self._dropped.add(id(node.func))
        if name in _LISTENS:
            line = self.found.listens.get(self._around[-1], node.lineno)
            self.found.listens[self._around[-1]] = min(line, node.lineno)
        if isinstance(node.func, ast.Name) and name in _ANY_NAME:
            self.found.anything = True
        if name == "run_sync" and node.args:
            self._called(node.args[0], 0)
        if name == "type":
            self._note(SOME_CLASS, node)
        if name in SETTING and len(node.args) > 1:
            known = isinstance(node.args[1], ast.Constant)
            attribute = str(getattr(node.args[1], "value", "")) if known else "*"
            self._note_stored(attribute, node)
        if name in TAKING:  # it may run what is named by a string
            self._note_name(node.args[1 if name == "getattr" else 0 :])
        self.visit(node.func)
        for each in (*node.args, *(one.value for one in node.keywords)):
            if not (name in _ABOUT_CLASSES and _only_names(each)):
                self.visit(each)

    def _called(self, node: ast.expr, more: int) -> None:
        self._calls[id(node)] = more + 1

    def _note_name(self, given: list[ast.expr]) -> None:
        """Note which names the expression, the first one, may stand for."""
        if given and isinstance(given[0], ast.Constant):
            return  # noted as a text
        prefix = prefix_of(given[0]) if given else ""
        if prefix:
            self.found.prefixes.add(prefix)
        else:
            self.found.anything = True

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            if _NAMES_IN_TEXT.match(node.value):
                self.found.texts.update(_WORD.findall(node.value))
            elif "{" in node.value or "<%" in node.value:
                self.found.texts |= names_in_template(node.value)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for each in node.names:
            if each.asname:
                self._note(each.name, node, 0)

    # What is not passed on

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        self._dropped.add(id(node.value))
        self.visit(node.value)

    def visit_Return(self, node: ast.Return) -> None:
        inner = self._returned_function(node.value)
        if inner is not None:
            self.found.returned[inner] = self._around[-1]
        elif node.value is not None:
            self.visit(node.value)

    def _returned_function(self, value: ast.expr | None) -> FunctionNode | None:
        """Return the function inside the present one that the expression names."""
        context = self._around[-1]
        if not isinstance(value, ast.Name) or not isinstance(context, _Function):
            return None
        for each in context.body:
            if isinstance(each, _Function) and each.name == value.id:
                return each
        return None

    def visit_Assign(self, node: ast.Assign) -> None:
        names = [each.id for each in node.targets if isinstance(each, ast.Name)]
        if "__all__" not in names:
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        for statement in node.body:
            self.visit(statement)


def _last_name(node: ast.expr) -> str:
    return last_name(node.func if isinstance(node, ast.Call) else node)


def _only_names(node: ast.expr) -> bool:
    """Tell whether the expression is a name with dots, or a tuple of such."""
    if isinstance(node, ast.Tuple):
        return all(map(_only_names, node.elts))
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)

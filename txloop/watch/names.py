"""Which names a piece of code uses: what it can reach by them, and in which line.

The names in its code object are all of them. Only where code asks for effects is the
source looked at: what runs after the commit, on the loop thread, may use what it likes.

A template is code that no function shows. Where a handler renders any, all names that
stand in the templates of its application count as its own.
"""

from __future__ import annotations

import ast
import dis
import os
import re
import sys
from types import CodeType
from typing import TYPE_CHECKING

from txloop.scan.known import IMPORTING, LISTING, RUNNING, SETTING, TAKING
from txloop.scan.source import Sources
from txloop.scan.syntax import last_name
from txloop.watch import limits
from txloop.watch.parts import texts_in_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import FunctionType

    from txloop.scan.syntax import FunctionNode

__all__ = [
    "imports_of",
    "line_of",
    "names_in_code",
    "names_in_format",
    "names_in_templates",
    "names_of",
    "uses_any_attribute",
    "uses_any_global",
]

_ANY_ATTRIBUTE = RUNNING | LISTING | TAKING | SETTING | {"__getattribute__", "vars"}
"""Names that lead to attributes which the code does not name."""

_ANY_GLOBAL = RUNNING | IMPORTING | {"__globals__", "globals", "modules"}
"""Likewise, to globals."""

_IN_FORMAT = re.compile(r"[.\[]([A-Za-z_]\w*)")

_EFFECT = "on_commit"

_IMPORTS = {
    # Two bits tell since Python 3.15 whether it is lazy.
    dis.opmap["IMPORT_NAME"]: 2 if sys.version_info >= (3, 15) else 0,
    dis.opmap["IMPORT_FROM"]: 0,
}
"""Operations whose arguments tell a name, by how many bits before."""

_names: dict[CodeType, frozenset[str]] = {}
"""What `names_of` found: code does not change. Threads find the same."""

_imports: dict[CodeType, frozenset[str]] = {}
"""What `imports_of` found, likewise."""


def names_of(function: FunctionType) -> frozenset[str]:
    """Return the globals and attributes that a function may use, inner ones too.

    Strings are among them: they may be keys, or arguments of `getattr`.
    """
    code = function.__code__
    found = _names.get(code)
    if found is None:
        found = frozenset(names_in_code(code))
        if _EFFECT in found:
            definition = Sources().definition(function)
            if definition is not None:
                found = frozenset(_in_source(definition.node))
        _names[code] = found
    return found


def names_in_code(code: CodeType) -> Iterator[str]:
    """Yield the names in a code object, in those inside it, and in their strings."""
    for text in texts_in_code(code):
        yield text
        yield from names_in_format(text)


def names_in_format(text: str) -> list[str]:
    """Return the attributes and keys that `str.format` would look up."""
    return _IN_FORMAT.findall(text) if "{" in text else []


def imports_of(code: CodeType) -> frozenset[str]:
    """Return the modules that code imports when it runs."""
    found = _imports.get(code)
    if found is None:
        found = _imports[code] = frozenset(_imported_by(code))
    return found


def _imported_by(code: CodeType) -> Iterator[str]:
    # Not `dis.get_instructions`: PyPy's fails at variables of closures.
    extended = 0
    for operation, argument in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        argument |= extended
        extended = argument << 8 if operation == dis.EXTENDED_ARG else 0
        if operation in _IMPORTS:
            yield code.co_names[argument >> _IMPORTS[operation]]
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _imported_by(constant)


def _in_source(node: FunctionNode) -> set[str]:
    """Return the names in a function without those that only its effects use."""
    finder = _Finder()
    finder.visit(node)
    for name, inner in finder.functions.items():
        if name in finder.names or name not in finder.effects:
            finder.generic_visit(inner)
    return finder.names


class _Finder(ast.NodeVisitor):
    """Collects names.

    Attributes:
        names: Those that the code uses.
        effects: Those of functions that are given to `on_commit`.
        functions: Inner functions by their names, not gone into yet.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.effects: set[str] = set()
        self.functions: dict[str, ast.AST] = {}
        self._inside = False

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if self._inside and not node.decorator_list:
            self.functions[node.name] = node
            return
        self._inside = True
        self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Call(self, node: ast.Call) -> None:
        name = last_name(node.func)
        if name != _EFFECT or not node.args:
            self.generic_visit(node)
            return
        effect, *rest = node.args
        if isinstance(effect, ast.Name):
            self.effects.add(effect.id)
        elif isinstance(effect, ast.Call):  # a partial
            rest += effect.args[1:]
        for part in (*rest, *node.keywords):
            self.visit(part)

    def visit_Name(self, node: ast.Name) -> None:
        self.names.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.names.add(node.attr)
        self.generic_visit(node)

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        self.names.update(node.kwd_attrs)
        self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> None:
        self.names.update(node.name.split("."))

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.names.update((node.value, *names_in_format(node.value)))


def uses_any_attribute(names: Iterable[str]) -> bool:
    """Tell whether code of these names may use attributes that it does not name."""
    return not _ANY_ATTRIBUTE.isdisjoint(names)


def uses_any_global(names: Iterable[str]) -> bool:
    """Tell whether code of these names may use globals that it does not name."""
    return not _ANY_GLOBAL.isdisjoint(names)


def line_of(code: CodeType, name: str) -> int:
    """Return the line in which code first uses a name; its own first one if unknown."""
    try:
        for instruction in dis.get_instructions(code):
            if instruction.argval == name and instruction.positions is not None:
                return instruction.positions.lineno or code.co_firstlineno
    except Exception:  # PyPy's fails at variables of closures
        return code.co_firstlineno
    for constant in code.co_consts:
        if isinstance(constant, CodeType) and name in set(names_in_code(constant)):
            return line_of(constant, name)
    return code.co_firstlineno


_TAG = re.compile(r"\{[{%](.*?)[%}]\}", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")


def names_in_templates(settings: Mapping[str, object], folder: str) -> set[str]:
    """Return the names in the templates of an application.

    Args:
        settings: The application's: they name the templates' folder, or a loader.
        folder: The one of the handler's module, where they do not.
    """
    loader = settings.get("template_loader")
    held = getattr(loader, "dict", None)  # a DictLoader's
    if isinstance(held, dict):
        texts: Iterator[str] = (str(text) for text in list(held.values()))
    else:
        path = settings.get("template_path") or getattr(loader, "root", None) or folder
        texts = _texts_in(str(path))
    names: set[str] = set()
    for text in texts:
        for tag in _TAG.findall(text):
            names.update(_NAME.findall(tag))
    return names


def _texts_in(folder: str) -> Iterator[str]:
    left = limits.MOST_TEMPLATES
    for parent, _, files in os.walk(folder):
        for file in files:
            if file.endswith((".py", ".pyc", ".so")):
                continue
            left -= 1
            if left < 0:
                return
            try:
                with open(os.path.join(parent, file), encoding="utf-8") as opened:
                    yield opened.read(limits.TEMPLATE_BYTES)
            except (OSError, ValueError):
                continue  # it is not text

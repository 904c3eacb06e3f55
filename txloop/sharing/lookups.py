"""What may use a variable or an attribute by a name that the code does not have.

Functions such as `getattr` are given one, `eval` may use any, and `vars` gives all. And
templates and format strings name what they show: `share` changes modules only, and not
these. ``{{ handler.hits }}`` would show a TVar in the place of its value.
"""

from __future__ import annotations

import ast
import functools
import os
import re
from typing import TYPE_CHECKING

from txloop.scan.evidence import words_in_templates
from txloop.scan.known import (
    IMPORTING,
    KEEPING,
    LISTING,
    NAMESPACES,
    RUNNING,
    SETTING,
    TAKING,
)
from txloop.scan.references import attributes_in_template
from txloop.scan.syntax import bound_by, last_name
from txloop.sharing.scopes import imports_in, nodes_of_kinds, walked
from txloop.sharing.syntax import root_name
from txloop.web.targets import applications

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Set

    from txloop.sharing.scopes import Imported
    from txloop.sharing.texts import Text

__all__ = [
    "hides_modules",
    "may_keep",
    "may_use_any",
    "names_in_files",
    "names_in_templates",
    "runs_what_it_does_not_name",
    "why_by_name",
    "why_in_templates",
]

_ANY_NAME = RUNNING | NAMESPACES | LISTING
"""With these a program may use a variable that it does not name."""


_OF_FIRST = SETTING | {"getattr", "hasattr"}
"""Those that are given the object first."""

_FINDING_MODULES = IMPORTING | {"getmodule", "modules"}
"""Functions, and the dict, that give modules."""


def why_by_name(text: Text, name: str, *, of_modules: bool = False) -> str:
    """Return where a module may use a name that stands in a text; "" for nowhere.

    Args:
        text: The module.
        name: The name.
        of_modules: Whether only what a module imports has it as an attribute: it is
            that of a module's variable, and nothing `hides_modules`.
    """
    modules = {one.bound for one in imports_in(text.tree)} if of_modules else None
    for node in nodes_of_kinds(text.tree, ast.Call):
        called = last_name(node.func)
        if called == "vars":
            if not (node.args and _is_variable(text, node.args[0])):
                return f"{text.place(node)}, calls vars()"
        elif called in RUNNING | NAMESPACES and isinstance(node.func, ast.Name):
            return f"{text.place(node)}, calls {called}()"
        if called in TAKING | SETTING | {"hasattr"}:
            asked = node.args if called == "attrgetter" else node.args[1:2]
            if called == "methodcaller":
                asked = node.args[:1]
            if modules is not None and not (
                called in _OF_FIRST and root_name(node.args[0]) in modules
            ):
                continue
            if any(_may_be(one, name) for one in asked):
                return f"{text.place(node)}, may name it in a text"
    return ""


def hides_modules(texts: Iterable[Text]) -> bool:
    """Tell whether a variable or an attribute may be one of the program's modules.

    Else the variables of a module are attributes of names that are imported only.
    """
    texts = [*texts]
    own = {part for text in texts for name in text.names for part in name.split(".")}
    return any(_hides_modules(text.tree, frozenset(own)) for text in texts)


@functools.lru_cache(maxsize=4096)
def _hides_modules(tree: ast.Module, own: frozenset[str]) -> bool:
    bound = {one.bound for one in imports_in(tree) if own & {one.name, *_parts_of(one)}}
    bases = {id(one.value) for one in walked(tree) if isinstance(one, ast.Attribute)}
    used = [one for one in walked(tree) if isinstance(one, ast.Name | ast.Attribute)]
    return any(last_name(one) in _FINDING_MODULES for one in used) or any(
        root_name(one) in bound and last_name(one) in bound | own
        for one in used
        if isinstance(one.ctx, ast.Load) and id(one) not in bases
    )


def _parts_of(one: Imported) -> list[str]:
    """Return the names of what is imported as a module."""
    return [] if one.name else one.module.split(".")


def _may_be(asked: ast.expr, name: str) -> bool:
    """Tell whether an expression may be that name, or have it between dots."""
    if not isinstance(asked, ast.Constant):
        return True
    return name in str(asked.value).split(".")


def _is_variable(text: Text, node: ast.AST) -> bool:
    """Tell whether it is a variable that is no module and no class."""
    return isinstance(node, ast.Name) and not any(
        node.id in bound_by(one)
        for one in text.tree.body
        if isinstance(one, ast.Import | ast.ImportFrom | ast.ClassDef)
    )


def may_use_any(tree: ast.Module) -> bool:
    """Tell whether a module may use a variable by a name that is not in its text."""
    names = nodes_of_kinds(tree, ast.Name, ast.Attribute)
    calls = nodes_of_kinds(tree, ast.Call)
    return any(last_name(one) in _ANY_NAME for one in names) or any(
        last_name(one.func) == "getattr" and not _is_known(one) for one in calls
    )


def runs_what_it_does_not_name(call: ast.Call) -> bool:
    """Tell whether a call may use, or run, what no name in the program stands for."""
    name = last_name(call.func)
    if name in RUNNING | NAMESPACES or name == "__import__":
        return True
    return (name in SETTING or name == "getattr") and not _is_known(call)


def _is_known(call: ast.Call) -> bool:
    """Tell whether the name that `getattr` or the like is given stands in the text."""
    return len(call.args) > 1 and isinstance(call.args[1], ast.Constant)


def may_keep(asked: ast.expr) -> bool:
    """Tell whether what has a name may be a method that keeps what it is given.

    Args:
        asked: The name that `getattr` or the like is given: a text, maybe in parts.
    """
    match asked:
        case ast.Constant(value=value):
            return not KEEPING.isdisjoint(str(value).split("."))
        case ast.IfExp(body=body, orelse=orelse):
            return may_keep(body) or may_keep(orelse)
        case (
            ast.BinOp(op=ast.Add(), left=ast.Constant(value=str(start)))
            | ast.JoinedStr(values=[ast.Constant(value=str(start)), *_])
        ):
            return any(one.startswith(start) for one in KEEPING)
        case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str(text))):
            start = text.partition("%")[0]
            return any(one.startswith(start) for one in KEEPING)
    return True


_FIELD = re.compile(r"\{\w*\.([\w.]+)")  # of str.format


def names_in_files(modules: Iterable[str]) -> set[str] | None:
    """Return what the program's templates name; None if there are too many of them.

    Args:
        modules: The files of its modules.
    """
    folders = {os.path.dirname(os.path.abspath(one)) for one in modules}
    return words_in_templates(folders, _folders(), attributes_in_template)


def _folders() -> Iterator[str]:
    for application in applications():
        settings = application.settings
        loader = settings.get("template_loader")
        for path in (settings.get("template_path"), getattr(loader, "root", None)):
            if isinstance(path, str):
                yield path


def why_in_templates(
    texts: Iterable[Text], in_files: Set[str] | None, name: str, module: str = ""
) -> str:
    """Return which template may use an attribute, or a module's variable; "" for none.

    Args:
        texts: All modules, which may have templates in their strings.
        in_files: What those in files name.
        name: The attribute.
        module: The last part of the module's name. A template has to import it.
    """
    wanted = {name, module} - {""}
    if in_files is None or wanted <= in_files:
        return "a template may use it"
    for text in texts:
        for node in walked(text.tree):
            match node:
                case ast.Constant(value=str(content)) if wanted <= _names_in(content):
                    return f"{text.place(node)}, may use it in a template"
    return ""


def names_in_templates(texts: Iterable[Text], in_files: Set[str] | None) -> set[str]:
    """Return what templates name, those in strings, too.

    Args:
        texts: All modules.
        in_files: What those in files name, as far as it is known.
    """
    found = {*(in_files or ())}
    for text in texts:
        for node in nodes_of_kinds(text.tree, ast.Constant):
            if isinstance(node.value, str):
                found |= _names_in(node.value)
    return found


def _names_in(text: str) -> set[str]:
    if "{" not in text and "<%" not in text:
        return set()
    fields = {part for one in _FIELD.findall(text) for part in one.split(".")}
    return attributes_in_template(text) | fields

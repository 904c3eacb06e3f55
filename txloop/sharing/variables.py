"""Names that are bound again at run time: `global name` becomes a TVar.

``name`` becomes ``name.value`` in the module, and ``module.name`` in the others. Where
one use cannot be followed, all stay.
"""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING

from txloop.scan.frame import bound_by
from txloop.sharing.scopes import globals_named, is_bound_as_global
from txloop.sharing.syntax import each_given

if TYPE_CHECKING:
    from collections.abc import Iterator

    from txloop.sharing.texts import Edits, Text

__all__ = ["is_rebound", "make_variable", "why_by_name"]


def is_rebound(texts: list[Text], home: Text, name: str) -> bool:
    """Tell whether code other than the module's own body binds the name."""
    if is_bound_as_global(home.tree, name):
        return True
    return any(
        not isinstance(use.ctx, ast.Load)
        for text in texts
        if text is not home
        for use in _attributes(texts, text, home, name)
    )


def make_variable(
    texts: list[Text], home: Text, name: str, edits: dict[str, Edits]
) -> str:
    """Make a module's variable a TVar in all texts.

    Args:
        texts: All modules.
        home: The one that has it.
        name: Its name.
        edits: Gets the changes, by file.

    Returns:
        Why it is left alone; "" if it is not.
    """
    uses = [*globals_named(home.tree, name)]
    values, reason = _first_values(home, name, uses)
    reason = reason or _why_left(texts, home, name)
    if reason:
        return reason
    others = [
        (text, use)
        for text in texts
        if text is not home
        for use in _attributes(texts, text, home, name)
    ]
    first = {id(target) for target, _ in values}
    later = [one for one in uses if isinstance(one, ast.Name) and id(one) not in first]
    places = {(text.file, text.start(one)) for text, one in others}
    places |= {(home.file, home.start(one)) for one in later}
    if len(places) < len(later) + len(others) or any(
        home.segment(one) != name for one in later
    ):
        return "it stands in an f-string whose parts this Python cannot place"
    for _, value in values:
        edits[home.file].wrap(home, value, "txloop.TVar")
    for one in later:
        edits[home.file].append(home, one, ".value")
    for text, use in others:
        edits[text.file].append(text, use, ".value")
    return ""


def _why_left(texts: list[Text], home: Text, name: str) -> str:
    """Return which line may use the name in a way that cannot be followed."""
    others = (text for text in texts if text is not home)
    reasons = itertools.chain(
        (_why_not_followed(texts, text, home, name) for text in others),
        (why_by_name(text, name) for text in texts),
    )
    return next(filter(None, reasons), "")


def _first_values(
    home: Text, name: str, uses: list[ast.AST]
) -> tuple[list[tuple[ast.Name, ast.expr]], str]:
    """Return where the module's body gives it a value, and why that will not do."""
    values: list[tuple[ast.Name, ast.expr]] = []
    for statement in _body(home.tree):
        match statement:
            case ast.Assign(targets=[whole], value=value):
                for target, given in each_given(whole, value):
                    if isinstance(target, ast.Name) and target.id == name:
                        values.append((target, given))
            case ast.AnnAssign(target=ast.Name(id=found) as target, value=ast.expr()):
                if found == name:
                    assert statement.value is not None
                    values.append((target, statement.value))
    if not values:
        return [], "the module gives it no value by a simple assignment"
    first = {id(target) for target, _ in values}
    augmented = {
        id(one.target) for one in ast.walk(home.tree) if isinstance(one, ast.AugAssign)
    }
    simple = {
        id(part)
        for one in ast.walk(home.tree)
        if isinstance(one, ast.Assign)
        for target in one.targets
        for part in getattr(target, "elts", [target])
    }
    for use in uses:
        if not isinstance(use, ast.Name):
            return [], f"{home.place(use)}, binds it otherwise"
        if isinstance(use.ctx, ast.Load) or id(use) in first | augmented | simple:
            continue
        return [], f"{home.place(use)}, binds or deletes it otherwise"
    return values, ""


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


def _why_not_followed(texts: list[Text], text: Text, home: Text, name: str) -> str:
    for node in ast.walk(text.tree):
        if isinstance(node, ast.ImportFrom) and _is_module(text, node, home):
            for one in node.names:
                if one.name == name:
                    return f"{text.place(node)}, imports a copy of its value"
                if one.name == "*" and not name.startswith("_"):
                    return f"{text.place(node)}, imports all names"
    aliases = _names_of(texts, text, home)
    based = {
        id(one.value) for one in ast.walk(text.tree) if isinstance(one, ast.Attribute)
    }
    for node in ast.walk(text.tree):
        if id(node) in based or not isinstance(node, ast.Name | ast.Attribute):
            continue
        if ast.unparse(node) in aliases:
            return f"{text.place(node)}, passes the module on"
    for use in _attributes(texts, text, home, name):
        if isinstance(use.ctx, ast.Del):
            return f"{text.place(use)}, deletes it"
    return ""


def _attributes(
    texts: list[Text], text: Text, home: Text, name: str
) -> Iterator[ast.Attribute]:
    """Yield where another module uses the name as an attribute of this one."""
    aliases = _names_of(texts, text, home)
    for node in ast.walk(text.tree):
        if (
            isinstance(node, ast.Attribute)
            and node.attr == name
            and ast.unparse(node.value) in aliases
        ):
            yield node


def _names_of(texts: list[Text], text: Text, home: Text) -> set[str]:
    """Return what a module calls another one, by way of a third one, too."""
    found = _aliases(text, home)
    for other in texts:
        if other is text or other is home:
            continue
        theirs = _aliases(other, home)
        package, _, last = home.name.rpartition(".")
        if package == other.name:
            theirs.add(last)  # it has it when anything has imported it
        if theirs:
            names = _aliases(text, other)
            found |= {f"{one}.{inner}" for one in names for inner in theirs}
    return found


def _aliases(text: Text, home: Text) -> set[str]:
    """Return what a module calls another one."""
    found = set()
    for node in ast.walk(text.tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                if one.name in home.names:
                    found.add(one.asname or one.name)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(text, node)
            for one in node.names:
                if f"{base}.{one.name}".strip(".") in home.names:
                    found.add(one.asname or one.name)
    return found


def _is_module(text: Text, node: ast.ImportFrom, home: Text) -> bool:
    return _absolute(text, node) in home.names


def _absolute(text: Text, node: ast.ImportFrom) -> str:
    """Return the full name of what is imported from."""
    if not node.level:
        return node.module or ""
    package = text.name.split(".")
    is_package = text.file.endswith("__init__.py")
    keep = len(package) - node.level + is_package
    return ".".join([*package[:keep], *([node.module] if node.module else [])])


_BY_NAME = ("attrgetter", "delattr", "getattr", "hasattr", "setattr")
_NAMESPACES = ("eval", "exec", "globals", "locals")


def why_by_name(text: Text, name: str) -> str:
    """Return where a module may use a name that stands in a text; "" for nowhere."""
    for node in ast.walk(text.tree):
        if not isinstance(node, ast.Call):
            continue
        called = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if called in _NAMESPACES and isinstance(node.func, ast.Name):
            return f"{text.place(node)}, calls {called}()"
        if called == "vars" and not (node.args and _is_variable(text, node.args[0])):
            return f"{text.place(node)}, calls vars()"
        if called in _BY_NAME:
            asked = node.args[-1] if called == "attrgetter" else node.args[1:2]
            parts = asked if isinstance(asked, list) else [asked]
            if not all(
                isinstance(one, ast.Constant) and one.value != name for one in parts
            ):
                return f"{text.place(node)}, may name it in a text"
    return ""


def _is_variable(text: Text, node: ast.AST) -> bool:
    """Tell whether it is a variable that is no module and no class."""
    return isinstance(node, ast.Name) and not any(
        node.id in bound_by(one)
        for one in text.tree.body
        if isinstance(one, ast.Import | ast.ImportFrom | ast.ClassDef)
    )

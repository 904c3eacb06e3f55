"""What a class statement says of its class, by itself."""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import TYPE_CHECKING

from txloop.scan.syntax import FUNCTIONS, bound_by, last_name
from txloop.sharing.making import PLAIN
from txloop.sharing.scopes import names_of_standard, walked
from txloop.sharing.syntax import DISPLAYS, is_of_self, simple_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from txloop.sharing.texts import Text

__all__ = [
    "begin_in_common",
    "bound_in_body",
    "constants_in",
    "dataclass_mark",
    "is_abstract",
    "is_dataclass",
    "is_of_typing",
    "is_ordering",
    "is_ordinary",
    "options_kept",
    "reached_by_name",
    "settable",
    "shows_attributes",
]

_KEPT = ("kw_only", "order", "slots")

_OPTIONS = frozenset(
    [
        *(("init", True), ("repr", True), ("eq", True), ("match_args", True)),
        *(("frozen", False), ("unsafe_hash", False)),
        *((name, value) for name in _KEPT for value in (False, True)),
    ]
)
"""What a dataclass may be given: what it does in any case, or a TObject does, too."""

_PLAIN = frozenset(one.__name__ for one in PLAIN)

_SHOWING = re.compile(r"\b(__dict__|__getstate__|dir|getmembers|vars)\b")
"""What tells which attributes an object has."""


def reached_by_name(node: ast.Module | ast.ClassDef) -> Iterator[ast.ClassDef]:
    """Yield the classes of a module, and those inside of these: ``Room.Member``."""
    for one in node.body:
        if isinstance(one, ast.ClassDef):
            yield one
            yield from reached_by_name(one)


def begin_in_common(line: Iterable[ast.ClassDef]) -> set[str]:
    """Return the attributes that all objects find in a list or the like of the class.

    They do until they get one of their own, which ``self.names += [name]`` does with
    the same list. Those that a constructor gives are not of these.

    Args:
        line: A class and what it is derived from.
    """
    found: set[str] = set()
    given: set[str] = set()
    for node in line:
        for one in node.body:
            for target, value in simple_values(one):
                if isinstance(target, ast.Name) and _makes_plain(value):
                    found.add(target.id)
            if getattr(one, "name", "") == "__init__":
                values = (each for node in walked(one) for each in simple_values(node))
                given.update(last_name(each) for each, _ in values if is_of_self(each))
    return found - given


def _makes_plain(value: ast.expr) -> bool:
    called = last_name(value.func) if isinstance(value, ast.Call) else ""
    return isinstance(value, DISPLAYS) or called in _PLAIN


def bound_in_body(node: ast.ClassDef) -> set[str]:
    """Return what a class has besides its fields that may be a property."""
    return {
        name
        for one in node.body
        if not isinstance(one, ast.AnnAssign)
        if not _is_constant(getattr(one, "value", None))
        for each in [one, *getattr(one, "targets", ())]
        for name in bound_by(each)
    }


def constants_in(node: ast.ClassDef) -> set[str]:
    """Return the names that a class gives numbers or texts, and nothing else."""
    found, others = set[str](), set[str]()
    for one in node.body:
        if isinstance(one, ast.Assign | ast.AnnAssign) and _is_constant(one.value):
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            found.update(name for each in targets for name in bound_by(each))
        else:
            whole = isinstance(one, (*FUNCTIONS, ast.ClassDef))
            for each in [one] if whole else ast.walk(one):
                others.update(bound_by(each))
    return found - others


def _is_constant(value: ast.expr | None) -> bool:
    if isinstance(value, ast.UnaryOp):  # as in -1
        value = value.operand
    return isinstance(value, ast.Constant)


def is_dataclass(text: Text, node: ast.ClassDef) -> bool:
    """Tell whether a class is a dataclass of which a TObject can be the like."""
    return dataclass_mark(text, node) is not None


def dataclass_mark(text: Text, node: ast.ClassDef) -> ast.expr | None:
    """Return the decorator of such a class: Python's, with options that TObject has."""
    marks = [one for one in node.decorator_list if not is_ordering(text, one)]
    names = names_of_standard(text.tree, "dataclasses", "dataclass")
    match marks:
        case [ast.Call(func=function, args=[], keywords=given) as mark]:
            has_equality = any(
                getattr(one, "name", "") == "__eq__" for one in node.body
            )
            for one in given:
                its = one.arg, getattr(one.value, "value", None)
                if its not in _OPTIONS and not (its == ("eq", False) and has_equality):
                    return None
        case [mark]:
            function = mark
        case _:
            return None
    return mark if ast.unparse(function) in names else None


def options_kept(mark: ast.expr) -> list[str]:
    """Return the options of a dataclass that are those of TObject, too."""
    given = getattr(mark, "keywords", ())
    return [one.arg for one in given if one.arg in _KEPT and one.value.value]


def is_ordering(text: Text, mark: ast.expr) -> bool:
    """Tell whether a decorator is `functools.total_ordering`."""
    names = names_of_standard(text.tree, "functools", "total_ordering")
    own = any(
        "total_ordering" in bound_by(one)
        for one in walked(text.tree)
        if not isinstance(one, ast.Import | ast.ImportFrom)
    )
    return ast.unparse(mark) in names and not own


def settable(text: Text, node: ast.ClassDef) -> set[str]:
    """Return the properties of a class that can be set, decorated or made by a call."""
    found = {
        one.name
        for one in node.body
        if isinstance(one, ast.FunctionDef) and _is_setter(text, node, one)
    }
    times = Counter(
        name
        for one in node.body
        for each in (one, *getattr(one, "targets", ()))
        for name in bound_by(each)
    )
    for one in node.body:
        match one:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(
                    func=ast.Name(id="property"),
                    args=[ast.Name(), ast.Name(), *_],
                    keywords=[],
                ),
            ) if times[name] == 1 and not _has_own_property(text):
                found.add(name)
    return found


def _has_own_property(text: Text) -> bool:
    return any("property" in bound_by(one) for one in walked(text.tree))


def _is_setter(text: Text, node: ast.ClassDef, method: ast.FunctionDef) -> bool:
    """Tell whether a method of a class is the setter of a property that has its name.

    The property is Python's, in the same class.
    """
    marks = {
        ast.unparse(mark)
        for one in node.body
        if isinstance(one, ast.FunctionDef) and one.name == method.name
        for mark in one.decorator_list
    }
    marks.discard(f"{method.name}.deleter")
    own = _has_own_property(text)
    return marks == {"property", f"{method.name}.setter"} and not own


def is_ordinary(text: Text, base: ast.expr) -> bool:
    """Tell whether a base is `object`, or one beside which TObject may be."""
    return (
        last_name(base) == "object"
        or is_abstract(text, base)
        or is_of_typing(text, base, "Generic", "Protocol")
    )


def is_of_typing(text: Text, base: ast.expr, *names: str) -> bool:
    """Tell whether an expression is one of these names of `typing`."""
    return any(
        ast.unparse(base) in names_of_standard(text.tree, "typing", name)
        for name in names
    )


def is_abstract(text: Text, base: ast.expr) -> bool:
    """Tell whether an expression is `abc.ABC`, or its metaclass."""
    return any(
        ast.unparse(base) in names_of_standard(text.tree, "abc", name)
        for name in ("ABC", "ABCMeta")
    )


def shows_attributes(text: Text) -> bool:
    """Tell whether a module, or a text in it, may ask for all that an object has."""
    return _SHOWING.search(text.source) is not None

"""What the source and the templates say about objects that the scan does not have.

The application may be made after the scan; what it will hold is then guessed from what
the source stores under the same name. And templates may call what no module does.
"""

from __future__ import annotations

import ast
import os
from types import MappingProxyType
from typing import TYPE_CHECKING

from txloop.scan.live_objects import UNKNOWN
from txloop.scan.references import names_in_template
from txloop.scan.syntax import last_name, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

DISPLAYS: Mapping[type, object] = MappingProxyType(
    {
        ast.Dict: {},
        ast.DictComp: {},
        ast.List: [],
        ast.ListComp: [],
        ast.Set: set(),
        ast.SetComp: set(),
    }
)
_MAKERS: Mapping[str, object] = MappingProxyType(
    {
        "Counter": {},
        "OrderedDict": {},
        "bytearray": bytearray(),
        "defaultdict": {},
        "deque": [],
        "dict": {},
        "list": [],
        "set": set(),
    }
)


def evidence(tree: ast.Module) -> Iterator[tuple[str, object]]:
    """Yield names with an object like the one stored under them, or UNKNOWN."""
    for name, value in _stored(tree):
        if type(value) in DISPLAYS:
            yield name, DISPLAYS[type(value)]
        elif isinstance(value, ast.Call):
            maker = last_name(value.func)
            yield name, _MAKERS.get(maker, UNKNOWN)


def _stored(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yield what is stored as an attribute, or passed by keyword or key."""
    for node in walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                for each in targets:
                    if isinstance(each, ast.Attribute):
                        yield each.attr, value
            case ast.AnnAssign(ast.Attribute(attr=name), value=ast.expr() as value):
                yield name, value
            case ast.keyword(arg=str(name), value=value):
                yield name, value
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        yield key.value, value


_SUFFIXES = (
    *(".css", ".htm", ".html", ".j2", ".jinja", ".jinja2", ".js", ".json", ".mako"),
    *(".md", ".svg", ".template", ".tmpl", ".tpl", ".txt", ".xml"),
)
_FOLDERS = ("templates", "template", "views")

_MOST_FILES = 2_000
_LARGEST = 1 << 20  # bytes


def words_in_templates(
    code_folders: Iterable[str],
    template_folders: Iterable[str],
    names: Callable[[str], set[str]] = names_in_template,
) -> set[str] | None:
    """Return the names in all templates; None if there are too many to look at.

    Args:
        code_folders: Where modules lie: templates may lie beside them.
        template_folders: Where nothing but templates lies.
        names: Returns those of a template's text.
    """
    words: set[str] = set()
    for text in texts_of_templates(code_folders, template_folders):
        if text is None:
            return None
        words |= names(text)
    return words


def texts_of_templates(
    code_folders: Iterable[str], template_folders: Iterable[str]
) -> Iterator[str | None]:
    """Yield the texts of all templates; None at last if there are too many of them."""
    for number, file in enumerate(_files(set(code_folders), set(template_folders))):
        if number >= _MOST_FILES:
            yield None
            return
        try:
            with open(file, encoding="utf-8", errors="replace") as text:
                yield text.read(_LARGEST)
        except OSError:
            continue  # it is of no use to the program, either


def _files(code: set[str], templates: set[str]) -> Iterator[str]:
    for folder in code:
        yield from _with_suffix(folder, _names(folder))
        templates.update(os.path.join(folder, name) for name in _FOLDERS)
    for folder in templates:
        for inner, _, names in os.walk(folder):
            yield from _with_suffix(inner, names)


def _with_suffix(folder: str, names: Iterable[str]) -> Iterator[str]:
    return (
        os.path.join(folder, name) for name in names if name.lower().endswith(_SUFFIXES)
    )


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []

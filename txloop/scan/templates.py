"""What the program's templates name: they may call what no module does."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from txloop.scan.references import names_in_template

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SUFFIXES = (
    *(".css", ".htm", ".html", ".j2", ".jinja", ".jinja2", ".js", ".json", ".mako"),
    *(".md", ".svg", ".template", ".tmpl", ".tpl", ".txt", ".xml"),
)
_FOLDERS = ("templates", "template", "views")

_MOST_FILES = 2_000
_LARGEST = 1 << 20  # bytes


def words_in_templates(
    code_folders: Iterable[str], template_folders: Iterable[str]
) -> set[str] | None:
    """Return the names in all templates; None if there are too many to look at.

    Args:
        code_folders: Where modules lie: templates may lie beside them.
        template_folders: Where nothing but templates lies.
    """
    words: set[str] = set()
    for number, file in enumerate(_files(set(code_folders), set(template_folders))):
        if number >= _MOST_FILES:
            return None
        try:
            with open(file, encoding="utf-8", errors="replace") as text:
                words |= names_in_template(text.read(_LARGEST))
        except OSError:
            continue  # it is of no use to the program, either
    return words


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

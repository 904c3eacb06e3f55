"""What templates and format strings name: `share` changes modules only, and not these.

``{{ handler.hits }}`` would show a TVar in the place of its value.
"""

from __future__ import annotations

import ast
import os
import re
from typing import TYPE_CHECKING

from txloop.scan.evidence import words_in_templates
from txloop.scan.references import attributes_in_template
from txloop.sharing.scopes import walked
from txloop.web.targets import applications

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Set

    from txloop.sharing.texts import Text

__all__ = ["names_in_files", "why_in_templates"]

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


def _names_in(text: str) -> set[str]:
    if "{" not in text and "<%" not in text:
        return set()
    fields = {part for one in _FIELD.findall(text) for part in one.split(".")}
    return attributes_in_template(text) | fields

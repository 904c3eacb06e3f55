"""The names that a program's templates use: what they reach of what they are given.

A template is code that no function shows. Where a handler renders any, all names that
stand in the templates of its application count as its own.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["names_in_templates"]

_MOST_FILES = 300
_MOST_BYTES = 200_000  # of one file

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
    left = _MOST_FILES
    for parent, _, files in os.walk(folder):
        for file in files:
            if file.endswith((".py", ".pyc", ".so")):
                continue
            left -= 1
            if left < 0:
                return
            try:
                with open(os.path.join(parent, file), encoding="utf-8") as opened:
                    yield opened.read(_MOST_BYTES)
            except (OSError, ValueError):
                continue  # it is not text

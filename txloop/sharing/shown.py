"""Expressions of which an f-string shows how they are written: ``f"{name=}"``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from txloop.sharing.scopes import nodes_of_kinds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from txloop.sharing.texts import Text

__all__ = ["why_as_written"]

_SHOWN = re.compile(r"[\s)]*=\s*[!:}]")
"""What follows such an expression, which the tree tells as text and a value."""


def why_as_written(uses: Iterable[tuple[Text, ast.AST]]) -> str:
    """Return which line shows how one of these is written; "" if none does."""
    found: dict[str, set[ast.AST]] = {}
    for text, use in uses:
        if text.file not in found:
            found[text.file] = _shown_in(text)
        if use in found[text.file]:
            return f"{text.place(use)}, shows how it is written"
    return ""


def _shown_in(text: Text) -> set[ast.AST]:
    return {
        inner
        for node in nodes_of_kinds(text.tree, ast.FormattedValue)
        if _SHOWN.match(text.source, text.end(node.value))
        for inner in ast.walk(node.value)
    }

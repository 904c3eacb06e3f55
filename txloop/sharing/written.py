"""The text as it is written into a file: with its import, and with marks.

In memory neither is there: both would move lines.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.sharing.hook import call_like_plain, place_of_imports
from txloop.sharing.texts import Edits, Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from txloop.sharing.planning import Plan
    from txloop.sharing.survey import Verb

__all__ = ["as_written", "with_marks"]

_MARK = '@txloop.transactional(on_error="commit")'
"""As in stock Tornado, what was written before an exception stays."""


def as_written(text: Text, original: str, live: bool = False) -> str:
    """Return a text with what it imports, and without the lines that it has emptied.

    Args:
        text: As it is in memory.
        original: What its file has, with as many lines.
        live: Whether loops have to see what their bodies do to containers.
    """
    source = "".join(
        line
        for line, old in zip(*map(_lines, (text.source, original)), strict=True)
        if line.strip() or not old.strip()
    )
    shorter = Text(text.file, text.name, text.label, source)
    return _with_import(shorter, call_like_plain(live))


def _lines(source: str) -> list[str]:
    return source.splitlines(keepends=True)


def _with_import(text: Text, call: str) -> str:
    statements = text.tree.body
    imports = any(
        isinstance(one, ast.Import) and "txloop" in [name.name for name in one.names]
        for one in statements
    )
    if imports and (not call or call in text.source):
        return text.source
    end = "\r\n" if "\r\n" in text.source else "\n"
    place = place_of_imports(text.tree)
    while place < len(statements) and isinstance(
        statements[place], ast.Import | ast.ImportFrom
    ):
        place += 1
    lines = [] if imports else ["import txloop"]
    if call:
        lines += ["", call] if lines else [call]
    if place == 0:
        first = text.start(statements[0]) if statements else 0
        at = text.source.rfind("\n", 0, first) + 1
        new = end.join([*lines, "", ""])
    else:
        last = text.end(statements[place - 1])
        line_end = text.source.find("\n", last)
        at = len(text.source) if line_end < 0 else line_end + 1
        before = "" if line_end >= 0 else end
        blank = (
            []
            if isinstance(statements[place - 1], ast.Import | ast.ImportFrom)
            else [""]
        )
        new = before + end.join([*blank, *lines, ""])
    return text.source[:at] + new + text.source[at:]


def with_marks(plan: Plan, new: Mapping[str, str]) -> dict[str, str]:
    """Return the texts, and those of others, with verbs marked that run in parallel."""
    marked = dict(new)
    for text in plan.all_texts:
        verbs = [one for one in plan.after.verbs if _may_be_marked(one, text)]
        edits = Edits()
        current = Text(
            text.file, text.name, text.label, new.get(text.file, text.source)
        )
        for method in _methods(current, verbs):
            first = min([method.lineno, *(one.lineno for one in method.decorator_list)])
            start = current.line_start(first)
            indent = current.source[start : current.start(method)]
            indent = indent[: len(indent) - len(indent.lstrip())]
            end = "\r\n" if "\r\n" in current.source else "\n"
            edits.replace(start, start, f"{indent}{_MARK}{end}")
        if edits:
            current.change(edits.applied(current.source))
            marked[text.file] = _with_import(current, "")
    return marked


def _may_be_marked(verb: Verb, text: Text) -> bool:
    return verb.would and not verb.noted and verb.module in text.names


def _methods(text: Text, verbs: list[Verb]) -> Iterator[ast.FunctionDef]:
    """Yield the methods of these verbs that are not marked yet."""
    wanted = {(one.handler, one.verb.lower()) for one in verbs}
    classes = (one for one in ast.walk(text.tree) if isinstance(one, ast.ClassDef))
    for cls in classes:
        for method in cls.body if not _is_marked(cls) else ():
            if (
                isinstance(method, ast.FunctionDef)
                and (cls.name, method.name) in wanted
                and not _is_marked(method)
            ):
                yield method


def _is_marked(node: ast.ClassDef | ast.FunctionDef) -> bool:
    return any("transactional" in ast.unparse(one) for one in node.decorator_list)

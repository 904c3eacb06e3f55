"""Parts of a changed text are where they stood before, for tracebacks."""

from __future__ import annotations

import ast

import pytest

from txloop.scan import Columns
from txloop.sharing.texts import Edits, Text

TEXTS = {
    "a suffix": ("a = n + 1\nb = n[0]\n", "a = n.value + 1\nb = n.value[0]\n"),
    "parentheses": ("a = [1, 2]\n", "a = txloop.share([1, 2])\n"),
    "several lines": (
        "a = [1,\n  n]\nb = n\n",
        "a = txloop.share([1,\n  n.value])\nb = n.value\n",
    ),
    "wide characters": (
        "é = 'ä', n, 'ö'; b = n\n",
        "é = 'ä', n.value, 'ö'; b = n.value\n",
    ),
    "line ends": ("a = n\r\nb = n + n\r\n", "a = n.value\r\nb = n.value + n.value\r\n"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_all_parts_of_the_text_before_are_where_they_were(case):
    before, after = TEXTS[case]
    text = Text("app.py", "app", "app", before)

    text.change(edits_of(text))
    moved = Columns(before, text.source, text.came).move(ast.parse(text.source))

    assert after == text.source
    assert {*places(ast.parse(before))} == {*places(moved)}


def test_after_two_rounds_too():
    before = "a = n + m[0]\n"
    text = Text("app.py", "app", "app", before)

    for name in ("n", "m"):
        edits = Edits()
        for node in ast.walk(text.tree):
            if isinstance(node, ast.Name) and node.id == name:
                edits.append(text, node, ".value")
        text.change(edits)
    moved = Columns(before, text.source, text.came).move(ast.parse(text.source))

    assert "a = n.value + m.value[0]\n" == text.source
    assert {*places(ast.parse(before))} == {*places(moved)}


def test_what_is_in_the_place_of_something_is_where_that_was():
    before = "a = itertools.count(3)\n"
    text = Text("app.py", "app", "app", before)
    edits = Edits()
    edits.replace(4, 19, "txloop.TCount")

    text.change(edits)
    moved = Columns(before, text.source, text.came).move(ast.parse(text.source))

    call = next(node for node in ast.walk(moved) if isinstance(node, ast.Call))
    assert (4, 22) == (call.col_offset, call.end_col_offset)
    assert (4, 19) == (call.func.col_offset, call.func.end_col_offset)


def edits_of(text):
    """Put a suffix behind each `n`, and lists into parentheses."""
    edits = Edits()
    for node in ast.walk(text.tree):
        if isinstance(node, ast.Name) and node.id == "n":
            edits.append(text, node, ".value")
        elif isinstance(node, ast.List):
            edits.wrap(text, node, "txloop.share")
    return edits


def places(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr):
            yield node.lineno, node.col_offset, node.end_lineno, node.end_col_offset

"""The page "What happens when": its tests exist, its log lines are in the source."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "what-happens-when.md"

COLUMNS = ("what", "client", "log", "tests")


def rows():
    """Return the rows of all tables, by column."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    cells = [line.strip("| ").split(" | ") for line in lines]
    return [
        dict(zip(COLUMNS, row, strict=True))
        for row in cells
        if row[0] not in ("what happens", "---")
    ]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


@functools.cache
def functions_of(path):
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@functools.cache
def texts():
    """Return every string in txloop, as the parser puts its parts together."""
    return [
        node.value
        for path in (ROOT / "txloop").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["what"])
def test_each_row_names_tests_that_exist(row):
    names = quoted(row["tests"])

    assert names
    for name in names:
        path, _, function = name.partition("::")
        assert function in functions_of(path), name


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["what"])
def test_what_the_log_says_is_in_the_source(row):
    for line in quoted(row["log"]):
        for part in re.split(r"\s*\.\.\.\s*", line):
            wanted = part.strip(" ;,")
            assert any(wanted in text for text in texts()), (line, wanted)


def test_a_log_column_without_a_quotation_says_so():
    said = {row["log"] for row in rows() if not quoted(row["log"])}

    assert said == {"nothing", "as above", "as any error", "as in stock Tornado"}


LISTS = PAGE.read_text().split("\n## Runs on the loop thread\n")[1]


def test_what_the_lists_quote_is_in_the_source():
    lines = [one for one in quoted(LISTS) if " " in one]

    lost = [
        (line, part)
        for line in lines
        for part in parts_of(line)
        if not any(part in text for text in texts())
    ]
    assert lines
    assert [] == lost


def parts_of(line):
    """Return what is always there of a line of the page."""
    parts = [part.strip(" ;,:()'") for part in line.split("...")]
    return [part for part in parts if part]


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def warnings():
    """Yield the texts of all that is logged at WARNING and above, with their places."""
    for path in sorted((ROOT / "txloop").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(
                    func=ast.Attribute(
                        value=ast.Name("_log"),
                        attr="warning" | "error" | "exception" | "critical",
                    ),
                    args=[ast.Constant(str(text)), *_],
                ) if " " in text:
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", text


def phrases_of(text):
    """Return what is always there of a text for the log, of more than one word."""
    parts = [part.strip(" (),") for part in re.split(r"%[.\d]*\w|[;:(]", text)]
    return [part for part in parts if " " in part]


def test_a_reader_finds_each_line_of_the_log_by_its_words():
    pages = " ".join(" ".join(page.read_text().split()) for page in PAGES)
    found = {place: phrases_of(text) for place, text in warnings()}

    assert len(found) > 30
    assert {} == {
        place: phrases
        for place, phrases in found.items()
        if phrases and not any(phrase in pages for phrase in phrases)
    }

"""How often the program is looked at: in `scan_once`, once for many handlers."""

from __future__ import annotations

import linecache
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.unit.scan_programs.loading import loading, scan_handler
from txloop.scan import scan_once, source

if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Iterator
    from pathlib import Path

READER = """
rows = [1]

class Reader:
    def get(self):
        return list(rows)
"""
WRITER = """
from app import rows

class Writer:
    def post(self):
        rows.append(1)
"""


@dataclass
class Program:
    """A handler that reads a list, and a module to come that changes it."""

    reader: types.ModuleType
    write: Callable[[], types.ModuleType]


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """Load the first module of two."""
    with loading(tmp_path) as load:
        reader = load(READER)
        yield Program(reader, lambda: load(WRITER, "writer"))


def is_stale(program: Program) -> bool:
    return scan_handler(program.reader.Reader, "get") != ()


def test_a_module_that_comes_in_the_block_is_seen_after_it(program):
    with scan_once():
        before = is_stale(program)
        program.write()
        inside = is_stale(program)

    assert (False, False, True) == (before, inside, is_stale(program))


def test_a_block_begins_with_a_look(program):
    before = is_stale(program)
    program.write()

    with scan_once():
        inside = is_stale(program)

    assert (False, True) == (before, inside)


def test_a_block_in_a_block_looks_no_more_often(program):
    with scan_once():
        before = is_stale(program)
        program.write()
        with scan_once():
            inner = is_stale(program)
        outer = is_stale(program)

    assert [False] * 3 == [before, inner, outer]


def test_after_an_error_each_scan_looks_again(program):
    with suppress(ZeroDivisionError), scan_once():
        before = is_stale(program)
        raise ZeroDivisionError

    program.write()

    assert (False, True) == (before, is_stale(program))


def test_a_file_is_parsed_again_only_if_its_text_has_changed(program, monkeypatch):
    is_stale(program)
    parsed = []

    def note(file, lines):
        parsed.append(file)
        return parse(file, lines)

    parse = source._parse
    monkeypatch.setattr(source, "_parse", note)

    linecache.clearcache()  # as Tornado does when it has made a template
    same = is_stale(program)
    file = program.reader.__file__
    linecache.cache[file] = 0, None, [f"{READER}    rows = rows\n"], file
    is_stale(program)

    assert (False, [file]) == (same, parsed)

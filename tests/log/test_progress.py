"""How much has been read: told in bytes, shown on a terminal, never in a pipe."""

from __future__ import annotations

import io
from contextlib import redirect_stderr

import pytest

from conflict_log import load
from conflict_log.command_line import main

CASES = ["c7_threads.stm.gz", "c8_story_n16.stm"]


class Terminal(io.StringIO):
    """Standard error that is looked at."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("case", CASES)
def test_all_bytes_of_a_file_are_told(cases, case):
    told: list[int] = []

    report = load(case, progress=told.append)

    assert (cases / case).stat().st_size == sum(told)
    assert load(case) == report


@pytest.fixture
def export(cases, monkeypatch):
    """Return what exports a case and returns what a terminal has shown meanwhile."""
    monkeypatch.setattr("conflict_log.progress._LARGE_BYTES", 1)
    monkeypatch.setenv("TERM", "xterm")

    def run(terminal: io.StringIO) -> str:
        # Here, since pytest puts its own in place after the fixtures.
        with redirect_stderr(terminal):
            assert 0 == main(["export", CASES[1], "--format", "csv"])
        return terminal.getvalue()

    return run


def test_a_bar_is_shown_on_a_terminal(export, cases, capsys):
    shown = export(Terminal())

    size = f"{(cases / CASES[1]).stat().st_size / 1000:.1f}"
    assert f"{size}/{size} kB" in shown
    assert "kB" not in capsys.readouterr().out


def test_not_in_a_pipe(export):
    assert "" == export(io.StringIO())


def test_not_for_what_is_read_at_once(export, monkeypatch):
    monkeypatch.setattr("conflict_log.progress._LARGE_BYTES", 1 << 20)

    assert "" == export(Terminal())


def test_without_rich_there_is_none(export, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    assert "" == export(Terminal())


def test_a_missing_file_is_told_of_as_ever(export):
    terminal = Terminal()

    with redirect_stderr(terminal):
        assert 3 == main(["check", "no_such.stm", CASES[1], "--max-lost", "1"])

    assert "no_such.stm: No such file" in terminal.getvalue()

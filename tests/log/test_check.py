"""Budgets: the exit codes that a pipeline sees."""

from __future__ import annotations

import pytest

from conflict_log import formats
from conflict_log.budgets import check_baseline
from conflict_log.command_line import main
from conflict_log.comparing import Change, Comparison
from tests.log.writing import Log

CASE = "c8_story_n16.stm"  # 31 commits, 10 aborts, 54 % of the busy time lost


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--max-abort-rate", "25%"], 0),
        (["--max-abort-rate", "24"], 1),
        (["--max-lost-share", "54"], 0),
        (["--max-lost-share", "53"], 1),
        (["--max-lost", "0.3"], 0),
        (["--max-lost", "0.2"], 1),
        (["--min-commits", "31"], 0),
        (["--min-commits", "32"], 1),
        (["--forbid", "app.py:9"], 0),
        (["--forbid", "app.py:7"], 1),
        (["--forbid", "src/*.py"], 1),
        (["--max-lost", "10", "--min-commits", "32"], 1),
        (["--strict"], 0),
    ],
)
def test_budgets(cases, capsys, words, code):
    assert code == main(["check", CASE, *words])

    assert ("OVER" in capsys.readouterr().out) is (code == 1)


def test_a_damaged_log_is_an_error_when_strict(cases):
    words = ["check", "c7_corrupt_event.stm", "--max-lost", "1"]

    assert [0, 4] == [main(words), main([*words, "--strict"])]


def test_without_a_budget_nothing_is_checked(cases, capsys):
    assert 2 == main(["check", CASE])
    assert "check needs a budget" in capsys.readouterr().err


def test_no_log_is_not_within_budget(cases):
    assert 3 == main(["check", "no_such.stm", "--max-lost", "1"])


def log_of(folder, name: str, conflicts: int, commits: int = 500) -> str:
    """Write a log with so many conflicts at one line."""
    log, at = Log(), 0
    for _ in range(conflicts):
        marker = 'File "app.py", line 7, in get'
        log.start(at).put(at + 1, 1, formats.WRITE_WRITE, marker).abort(at + 2)
        at += 2
    for _ in range(commits):
        log.start(at).commit(at + 1)
        at += 1
    return log.save(folder, name)


@pytest.mark.parametrize(
    ("before", "now", "words", "code"),
    [
        (100, 100, [], 0),
        (100, 108, [], 0),  # 8 per cent more, and that by chance
        (100, 200, [], 1),
        (100, 200, ["--max-worse", "120%"], 0),
        (200, 100, ["--max-worse", "0"], 0),
        (0, 100, [], 1),  # a new conflict
        (1, 2, [], 0),  # twice as many, by chance
        (100, 100, ["--max-abort-rate", "1"], 1),
    ],
)
def test_a_baseline(tmp_path, capsys, before, now, words, code):
    old = log_of(tmp_path, "old.log", before)
    new = log_of(tmp_path, "new.log", now)

    assert code == main(["check", new, "--baseline", old, *words])

    shown = capsys.readouterr().out
    assert ("OVER" in shown) is (code == 1)
    assert "for 1000 commits" in shown


def test_the_line_that_became_worse_is_named(tmp_path, capsys):
    old, new = (log_of(tmp_path, f"{one}.log", one) for one in (50, 300))

    main(["check", new, "--baseline", old])

    lines = capsys.readouterr().out.splitlines()
    assert "OVER  app.py:7: worse, 1.200 s for 1000 commits, before 200 ms" == lines[1]


def test_a_baseline_of_another_length_is_compared_by_commits(tmp_path):
    old, new = log_of(tmp_path, "old", 50, 250), log_of(tmp_path, "new", 100, 500)

    assert 0 == main(["check", new, "--baseline", old, "--max-worse", "0"])


def test_a_baseline_that_is_no_log_is_an_error(tmp_path, cases):
    assert 3 == main(["check", CASE, "--baseline", "no_such.stm"])


def test_many_small_changes_are_worse_in_all():
    """Though none of them is so much worse as to be named."""
    changes = [Change(f"a.py:{n}", "", 10.0, 15.0, 50, 75, True) for n in range(10)]

    verdicts = check_baseline(Comparison(changes, 100.0, 150.0, 1e3, 1e3), 0.1)

    assert [False] == [one.kept for one in verdicts]

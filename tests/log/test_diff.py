"""What got better or worse between two logs."""

from __future__ import annotations

import pytest

from conflict_log import formats, load
from conflict_log.command_line import main
from conflict_log.comparing import compare
from conflict_log.sources import Sources
from tests.log.writing import Log


def run(folder, name: str, conflicts: dict[int, int], commits: int, function="get"):
    """Write a log with so many conflicts at some lines of app.py."""
    log, at = Log(), 0
    for line, count in conflicts.items():
        for _ in range(count):
            marker = f'File "app.py", line {line}, in {function}'
            log.start(at).put(at + 1, 1, formats.WRITE_WRITE, marker).abort(at + 2)
            at += 2
    for _ in range(commits):
        log.start(at).commit(at + 1)
        at += 1
    return load(log.save(folder, name))


def changes(old, new, old_root=None, new_root=None):
    before, after = (Sources([one] if one else []) for one in (old_root, new_root))
    return compare(old, new, before, after).changes


@pytest.mark.parametrize(
    ("before", "after", "state"),
    [
        ({7: 100}, {7: 300}, "worse"),
        ({7: 300}, {7: 100}, "better"),
        ({7: 100}, {}, "gone"),
        ({}, {7: 100}, "new"),
        ({7: 100}, {7: 105}, "same"),
        ({7: 1}, {7: 2}, "same"),
    ],
)
def test_states(tmp_path, before, after, state):
    (change,) = changes(
        run(tmp_path, "a", before, 1000), run(tmp_path, "b", after, 1000)
    )

    assert state == change.state


def test_a_run_of_double_length_is_the_same(tmp_path):
    old, new = run(tmp_path, "a", {7: 100}, 500), run(tmp_path, "b", {7: 200}, 1000)

    (change,) = changes(old, new)

    assert ("same", 0.0) == (change.state, change.change_ns)


def test_a_line_that_moved_is_found_by_its_text(tmp_path):
    for name, source in (("old", "\n" * 6), ("new", "\n" * 9)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "app.py").write_text(f"{source}hits += 1\nother()\n")
    old = run(tmp_path, "a", {7: 100, 8: 50}, 1000)
    new = run(tmp_path, "b", {10: 100, 11: 50}, 1000)

    moved = changes(old, new, tmp_path / "old", tmp_path / "new")

    assert {("app.py:10", "app.py:7"), ("app.py:11", "app.py:8")} == {
        (one.label, one.before) for one in moved
    }


def test_without_source_the_only_line_of_a_function_is_taken(tmp_path):
    old, new = run(tmp_path, "a", {7: 100}, 1000), run(tmp_path, "b", {9: 100}, 1000)

    (change,) = changes(old, new)

    assert ("app.py:9", "app.py:7") == (change.label, change.before)


def test_the_command(tmp_path, capsys):
    run(tmp_path, "a", {7: 300}, 1000)
    run(tmp_path, "b", {7: 100}, 1000)

    assert 0 == main(["diff", str(tmp_path / "a"), str(tmp_path / "b")])

    printed = capsys.readouterr().out
    assert "For 1000 commits 200 ms were lost, 600 ms before" in printed
    assert "better" in printed

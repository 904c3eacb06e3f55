"""What an attempt reads that nobody vouches for: not a file that is half written."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.engine import on
from tests.logs import expect_log
from txloop import TVar
from txloop.watch import limits, outside

HELD = r"^reader runs on the loop thread: it reads .*{}, which the program changes on"

noticed = TVar("")


@pytest.fixture(autouse=True)
def _nothing_changed():
    outside.note_changes()
    outside._changed.clear()
    noticed.set("")


def read(path):
    text = path.read_text()
    noticed.set(text)
    return text


def overlap(engine, function, path, meanwhile):
    """Run a guarded call, with something done on the loop thread before it commits."""
    result = engine.submit(
        function, path, profile=engine.profile("reader"), guarded=True
    )
    engine.turn()
    (number,) = engine.scripted.waiting
    engine.scripted.begin(number)
    meanwhile()
    engine.scripted.finish(number)
    engine.wait(result)
    return result.value


@on("scripted")
def test_a_file_that_was_written_meanwhile_is_read_again(engine, tmp_path):
    # GIVEN
    path = tmp_path / "file"
    path.write_text("half")
    outside._changed.clear()

    # WHEN
    with expect_log("txloop", HELD.format("file")):
        value = overlap(engine, read, path, lambda: path.write_text("whole"))

    # THEN
    assert ("whole", "whole") == (value, noticed.get())


@on("scripted")
def test_an_error_over_a_half_written_file_is_nobodys(engine, tmp_path):
    # GIVEN
    path = tmp_path / "file"
    path.write_text("")
    outside._changed.clear()

    # WHEN
    with expect_log("txloop", HELD.format("file")):
        value = overlap(
            engine, lambda p: int(p.read_text()), path, lambda: path.write_text("3")
        )

    # THEN
    assert value == 3


@on("scripted")
def test_from_then_on_its_function_runs_on_the_loop_thread(engine, tmp_path):
    # GIVEN
    path = tmp_path / "file"
    path.write_text("1")
    profile = engine.profile("reader")
    with expect_log("txloop", HELD.format("file")):
        result = engine.submit(read, path, profile=profile, guarded=True)
        engine.wait(result)

    # WHEN
    again = engine.submit(read, path, profile=profile, guarded=True)
    engine.wait(again)

    # THEN
    assert ("1", "1", 2) == (result.value, again.value, profile.inline)
    assert "mark it yourself with @txloop.transactional" in str(profile.on_loop_because)


def names_in(path):
    return sorted(os.listdir(path))


CHANGES = {
    "made": lambda folder: (folder / "new").write_text("x"),
    "removed": lambda folder: (folder / "old").unlink(),
    "renamed": lambda folder: (folder / "old").rename(folder / "new"),
    "made a folder": lambda folder: (folder / "new").mkdir(),
}


@on("scripted")
@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_so_does_who_lists_a_folder_in_which_files_come_and_go(
    engine, tmp_path, change
):
    # GIVEN
    (tmp_path / "old").write_text("x")
    outside._changed.clear()

    # WHEN
    with expect_log("txloop", HELD.format(tmp_path.name)):
        names = overlap(engine, names_in, tmp_path, lambda: change(tmp_path))

    # THEN
    assert names_in(tmp_path) == names


@on("scripted")
def test_who_looks_for_a_file_that_comes_meanwhile_finds_it(engine, tmp_path):
    # GIVEN
    path = tmp_path / "file"

    def read_if_there(path):
        try:
            return read(path)
        except FileNotFoundError:
            return None

    # WHEN
    with expect_log("txloop", HELD.format(tmp_path.name)):
        value = overlap(engine, read_if_there, path, lambda: path.write_text("there"))

    # THEN
    assert value == "there"


@on("scripted")
def test_only_so_many_changes_are_remembered(engine, tmp_path, monkeypatch):
    # GIVEN
    monkeypatch.setattr(limits, "MOST_CHANGED_FILES", 10)
    files = [tmp_path / str(number) for number in range(30)]

    # WHEN
    for file in files:
        file.write_text("x")

    # THEN
    assert list(map(str, files[-10:])) == list(outside._changed)


@on("scripted")
def test_other_files_do_not_matter(engine, tmp_path):
    # GIVEN
    path, other = tmp_path / "file", tmp_path / "other"
    path.write_text("mine")
    other.write_text("other's")
    outside._changed.clear()

    # WHEN
    value = overlap(engine, read, path, lambda: other.write_text("changed"))

    # THEN
    assert value == "mine"


AT_EXIT = """
import atexit, os, sys
from txloop.watch import outside

outside.note_changes()
atexit.register(os.remove, sys.argv[1])
"""


@pytest.mark.slow
def test_a_function_in_c_that_nothing_calls_may_change_a_file(tmp_path):
    """No frame is there then: at the end of the program, or of a thread."""
    path = tmp_path / "app.pid"
    path.touch()

    ended = subprocess.run(
        [sys.executable, "-c", AT_EXIT, path],
        capture_output=True,
        text=True,
        check=True,
    )

    assert "" == ended.stderr
    assert not path.exists()

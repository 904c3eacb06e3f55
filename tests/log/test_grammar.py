"""Formats told apart by what their packets would mean."""

from __future__ import annotations

import gzip

import pytest

from conflict_log import formats
from conflict_log.formats import FORMATS
from conflict_log.grammar import guess
from tests.log.conftest import CASES
from tests.log.writing import Log

MARKER = 'File "app.py", line 7, in get'


def story(name: str) -> Log:
    """Return a minute of a program's life, told in one of the formats."""
    log = Log(name)
    for at in range(0, 400, 40):
        log.start(at, 1).start(at, 2).put(at + 1, 3, formats.MINOR_START)
        log.put(at + 2, 3, formats.MINOR_DONE)
        kinds = log.form.kinds
        if name.startswith("n") and formats.INEVITABLE in kinds:
            log.put(at + 4, 1, formats.INEVITABLE, MARKER)
        if formats.WAIT_INEVITABLE in kinds:
            log.put(at + 5, 2, formats.WAIT_INEVITABLE)
        log.commit(at + 9, 1)
        if formats.WAIT_INEVITABLE in kinds:
            log.put(at + 10, 2, formats.WAIT_DONE)
        log.put(at + 11, 2, formats.WRITE_READ, MARKER).abort(at + 12, 2)
        log.wait(at + 13, at + 15, formats.WAIT_FREE, 1)
        if formats.DETACH in kinds:
            log.start(at + 16, 1).put(at + 17, 1, formats.DETACH)
            log.put(at + 18, 1, formats.REATTACH).commit(at + 19, 1)
        if formats.WAIT_SYNCING in kinds:
            log.start(at + 20, 1).wait(at + 21, at + 22, formats.WAIT_SYNCING, 1)
            log.commit(at + 23, 1)
        elif formats.WAIT_SYNC_PAUSE in kinds:
            log.start(at + 20, 1).wait(at + 21, at + 22, formats.WAIT_SYNC_PAUSE, 1)
            log.commit(at + 23, 1)
        log.put(at + 30, 1, formats.MAJOR_START).put(at + 31, 1, formats.MAJOR_DONE)
    return log


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_found_without_a_doubt(name):
    found = guess(story(name).data())

    assert (name, 0.0) == (found.format.name, found.breaks)
    assert found.margin > 0.1


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ("c7_blog.stm.gz", "c7"),
        ("c7_threads.stm.gz", "c7"),
        ("c7_txloop_option_a.stm", "c7"),
        ("c8_story_n11.stm", "n11"),
        ("c8_story_n13.stm", "n13"),
        ("c8_story_n16.stm", "n16"),
        ("c8_threads.stm.gz", "n16"),
        ("c8_inevitable.stm", "n16"),
        ("c8_fork.stm.fork4242", "n16"),
    ],
)
def test_every_case_is_found(case, name):
    data = (CASES / case).read_bytes()

    found = guess(gzip.decompress(data) if case.endswith(".gz") else data)

    assert name == found.format.name


def test_where_two_fit_the_newest_is_taken_and_the_margin_says_that_it_is_a_tie():
    data = Log("n11").start(0).commit(1).data()

    found = guess(data)

    assert ("n16", 0.0) == (found.format.name, found.margin)

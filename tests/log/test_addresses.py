"""Where workers are, if the log says so: in rows, tracks and exports."""

from __future__ import annotations

import json

import pytest

from conflict_log import formats, load, rows
from conflict_log.compat import print_log
from conflict_log.exports import export
from conflict_log.exports.page import report_part
from conflict_log.grammar import guess
from conflict_log.sources import Sources
from conflict_log.summary import summarize
from tests.log.test_reader import HERE, THERE, adds_up
from tests.log.writing import Log

ADDRESS = "tcp://10.0.0.7:40001"
OTHER = "tcp://10.0.0.8:40002"


def located(log: Log, at: float, address: str, thread: int = 1) -> Log:
    return log.put(at, thread, formats.INEVITABLE, f"Worker {address}")


def abort(log: Log, at: float, thread: int = 1) -> Log:
    log.start(at, thread).put(at + 1, thread, formats.WRITE_WRITE, HERE, THERE, 2)
    return log.abort(at + 2, thread)


@pytest.fixture
def log() -> Log:
    """Give a log of two workers, one of them on another machine."""
    return abort(abort(located(Log(), 0, ADDRESS), 0), 5, thread=2).start(8).commit(9)


def summary_of(log, tmp_path):
    return summarize(load(log.save(tmp_path)), Sources(), "thread")


def test_rows_say_where_a_worker_is(log, tmp_path):
    report = load(log.save(tmp_path))

    assert [f"worker 1 of {ADDRESS}", "worker 2"] == [
        row.label for row in rows(report, "thread")
    ]
    assert [ADDRESS, ""] == [one.address for one in report.workers]


def test_to_say_so_is_no_event(log, tmp_path):
    report = load(log.save(tmp_path))

    assert adds_up(report)
    assert 8 == report.events
    assert 0 == report.totals.unattributed_ns
    assert [1, 1] == [one.count for one in report.losses]
    assert 0.0 == guess(log.data()).breaks


def test_it_is_read_where_the_log_is_damaged_before(log, tmp_path):
    for at in range(20, 40, 4):
        abort(located(log, at, OTHER, 2), at, 2)
    log.parts.insert(3, b"\xff" * 50)

    report = load(log.save(tmp_path))

    assert report.damaged
    assert [ADDRESS, OTHER] == [one.address for one in report.workers]


def test_a_number_that_others_have_taken_over_names_the_last_ones(log, tmp_path):
    for at, address in enumerate((ADDRESS, "b", "c", "c", "d")):
        abort(located(log, 10 + 5 * at, address), 10 + 5 * at)

    report = load(log.save(tmp_path))

    assert ["worker 1 of b, then c, then d", "worker 2"] == [
        one.title for one in report.workers
    ]


@pytest.mark.parametrize("name", ["json", "csv", "html", "chrome"])
def test_exports_say_it(log, tmp_path, name):
    summary = summary_of(log, tmp_path)

    assert ADDRESS in export(name, summary, Sources())


def test_json_keeps_the_number_as_the_worker_s_name(log, tmp_path):
    document = json.loads(export("json", summary_of(log, tmp_path), Sources()))

    assert [("1", ADDRESS), ("2", "")] == [
        (one["name"], one["address"]) for one in document["workers"]
    ]


def test_on_the_live_page_it_is_a_worker_beyond_the_loop_s_number_too(tmp_path):
    log = abort(abort(located(Log(), 0, ADDRESS, 3), 0, 3), 5, 4)

    page = report_part(summary_of(log, tmp_path), Sources(), home=2)

    assert f">worker 3 of {ADDRESS}<" in page
    assert ">front 2<" in page


def test_pypys_tool_lists_it_last_and_charges_nothing_to_it(log, tmp_path):
    printed = print_log(log.save(tmp_path), None, None)

    assert None is printed.note
    last = printed.text.decode().partition("INEVITABLE")[0].splitlines()[-1]
    assert last.startswith("0.000s lost in aborts, 0.000s paused")

"""What a log's time went into, and what is made of damaged ones."""

from __future__ import annotations

import gzip
import io
import os
import threading
from types import SimpleNamespace

import pytest

from conflict_log import FormatError, UsageError, formats, load, rows
from conflict_log.formats import FORMATS
from conflict_log.framing import cut_packets
from conflict_log.strays import drop_strays
from tests.log.conftest import CASES
from tests.log.writing import MILLISECOND, Log

HERE = 'File "app.py", line 7, in get'
THERE = 'File "app.py", line 9, in put'

LOGS = sorted(
    one
    for one in CASES.iterdir()
    if ".stm" in one.name
    and one.name not in {"bad_magic.stm", "zero_bytes.stm", "c7_header_only.stm"}
)


def milliseconds(nanoseconds: int) -> float:
    return nanoseconds / MILLISECOND


def adds_up(report) -> bool:
    """Tell whether the parts of a report are its totals, to the nanosecond."""
    totals = report.totals
    parts = totals.committed_ns + totals.aborted_ns + totals.waiting_ns
    parts += totals.detached_ns + totals.idle_ns + totals.unattributed_ns
    lost = sum(one.lost_ns for one in report.losses)
    return (
        parts == totals.worker_ns
        and lost == totals.lost_ns
        and min(one.totals.idle_ns for one in report.workers) >= 0
        and all(sum(row.lost_ns for row in rows(report, by)) == lost for by in BY)
    )


BY = ("line", "pair", "handler", "cell", "thread", "kind")


@pytest.mark.parametrize("path", LOGS, ids=lambda one: one.name)
def test_the_totals_of_every_case_add_up(path):
    report = load(path, forks=False)

    assert adds_up(report)


def test_a_transaction_that_commits(tmp_path):
    path = Log().start(0).commit(10).start(12).commit(20).save(tmp_path)

    totals = load(path).totals

    assert (2, 18, 2) == (
        totals.commits,
        milliseconds(totals.committed_ns),
        milliseconds(totals.idle_ns),
    )


def test_an_abort_is_charged_to_the_contention_before_it(tmp_path):
    log = Log().start(0).put(4, 1, formats.WRITE_WRITE, HERE, THERE, 2).abort(5)
    path = log.start(5).commit(10).save(tmp_path)

    (loss,) = load(path).losses

    assert ("write-write", 1, 1, 5.0) == (
        loss.kind,
        loss.count,
        loss.aborts,
        milliseconds(loss.aborted_ns),
    )
    assert loss.victim is not None
    assert loss.culprit is not None
    assert ("app.py:7", "app.py:9") == (loss.victim.place, loss.culprit.place)


def test_the_winner_of_a_contention_makes_the_other_pay(tmp_path):
    """PyPy's write-read: the marker is the winner's, the time that of the other."""
    log = Log().start(0, 1).start(1, 2).put(4, 1, formats.WRITE_READ, HERE, "", 2)
    path = log.put(4, 1, formats.ABORTING_OTHER).commit(5, 1).abort(6, 2).save(tmp_path)

    (loss,) = load(path).losses

    assert (None, "2", 5.0) == (loss.victim, loss.worker, milliseconds(loss.lost_ns))
    assert loss.culprit is not None
    assert 7 == loss.culprit.line


def test_a_wait_and_the_abort_after_it_are_one_conflict(tmp_path):
    """PyPy's tool forgets who the abort belongs to."""
    log = Log().start(0).put(2, 1, formats.INEVITABLE, HERE, THERE)
    path = log.wait(2, 5, formats.WAIT_CONTENTION).abort(6).save(tmp_path)

    (loss,) = load(path).losses

    assert (1, 3.0, 3.0) == (
        loss.count,
        milliseconds(loss.paused_ns),
        milliseconds(loss.aborted_ns),
    )


def test_an_inevitable_transaction_of_c8_that_nobody_held_is_no_conflict(tmp_path):
    path = Log("n16").start(0).put(1, 1, formats.INEVITABLE, HERE).commit(5)

    assert [] == load(path.save(tmp_path)).losses


@pytest.mark.parametrize("ends", ["commit", "abort"])
def test_one_of_c8_that_was_held_is_charged_for_it(tmp_path, ends):
    log = Log("n16").start(0).put(1, 1, formats.INEVITABLE, HERE)
    log.wait(1, 4, formats.WAIT_INEVITABLE)
    path = getattr(log, ends)(5).save(tmp_path)

    (loss,) = load(path).losses

    assert ("inevitable", 1, 3.0) == (
        loss.kind,
        loss.count,
        milliseconds(loss.paused_ns),
    )
    assert (2.0 if ends == "abort" else 0.0) == milliseconds(loss.aborted_ns)


def test_a_wait_before_a_transaction_counts(tmp_path):
    """PyPy's tool loses it."""
    path = Log().wait(0, 4, formats.WAIT_FREE).start(4).commit(6).save(tmp_path)

    report = load(path)

    assert {"no free worker": 4 * MILLISECOND} == report.totals.paused_ns
    assert ["(no line) no free worker"] == [row.label for row in rows(report)]


def test_detached_time_is_neither_run_nor_waited(tmp_path):
    log = Log("n16").start(0).put(1, 1, formats.DETACH).put(4, 1, formats.REATTACH)
    log.commit(5).start(5).put(6, 1, formats.DETACH).commit(9)

    totals = load(log.save(tmp_path)).totals

    assert (3.0, 6.0) == (
        milliseconds(totals.committed_ns),
        milliseconds(totals.detached_ns),
    )


def test_one_line_is_one_row_whatever_the_bytecode_offset(cases):
    """PyPy's tool shows app.py:7 twice, 10 times each."""
    report = load("c8_write_read.stm")

    assert [("src/app.py:7", 20), ("src/app.py:8", 10)] == [
        (row.label, row.count) for row in rows(report)
    ]


def test_the_logs_of_forks_belong_to_the_log(cases):
    report = load("c8_fork.stm")

    assert 3 == len(report.sources)
    assert 6 == report.totals.commits
    assert ["1", "1.1", "2.1"] == [one.name for one in report.workers]
    assert adds_up(report)
    assert 1 == len(load("c8_fork.stm", forks=False).sources)


def test_a_fork_begins_in_the_midst_of_a_transaction(cases):
    report = load("c8_fork.stm.fork4242")

    assert 2 == report.totals.commits
    assert ["c8_fork.stm.fork4242: 1 transactions end that have not started"] == list(
        report.notes
    )


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_read_when_it_is_named(tmp_path, name):
    log = Log(name)
    for at in range(0, 100, 10):
        log.start(at).put(at + 5, 1, formats.WRITE_READ, HERE).abort(at + 6)

    report = load(log.save(tmp_path), numbering=name)

    assert 10 == report.totals.aborts
    assert 60.0 == milliseconds(report.losses[0].aborted_ns)


def test_a_numbering_of_the_other_magic_is_refused(cases):
    with pytest.raises(FormatError, match="not written as n16"):
        load("c7_blog.stm.gz", numbering="n16")
    with pytest.raises(UsageError, match="no numbering 'n17'"):
        load("c7_blog.stm.gz", numbering="n17")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("bad_magic.stm", "not an stm.log"),
        ("zero_bytes.stm", "an empty file"),
        ("c7_header_only.stm", "no event in it"),
    ],
)
def test_foreign_files_are_refused(cases, name, why):
    with pytest.raises(FormatError, match=why):
        load(name)


def story(rounds: int = 200) -> Log:
    log = Log()
    for at in range(0, rounds * 10, 10):
        log.start(at, 1).start(at, 2).put(at + 5, 2, formats.WRITE_WRITE, HERE, THERE)
        log.abort(at + 6, 2).commit(at + 8, 1)
    return log


def test_a_log_may_end_anywhere(tmp_path):
    data = story(8).data()
    whole = load(story(8).save(tmp_path))

    for size in range(16 + 19, len(data)):
        (tmp_path / "cut.log").write_bytes(data[:size])
        report = load(tmp_path / "cut.log")
        assert adds_up(report)
        assert report.totals.aborts <= whole.totals.aborts


def test_after_damage_the_report_goes_on(tmp_path):
    data = story().data()
    middle = len(data) // 2
    for name, broken in {
        "overwritten": data[:middle] + b"\xff" * 300 + data[middle + 300 :],
        "inserted": data[:middle] + b"hello" * 100 + data[middle:],
        "lost": data[: middle - 3] + data[middle + 310 :],
    }.items():
        (tmp_path / name).write_bytes(broken)

        report = load(tmp_path / name)

        assert adds_up(report)
        assert 190 <= report.totals.commits <= 200
        assert any("are no events" in note for note in report.notes)


@pytest.mark.parametrize(
    ("one", "other"),
    [(20_000, 3), (12345 + 40, 12345 - 40), (12345 - 40, 12345 + 40)],
    ids=["far", "near", "nearer"],
)
def test_one_wild_clock_does_not_cost_an_hour(tmp_path, one, other):
    log = story(20)
    for index, seconds in ((30, one), (50, other)):
        head = log.parts[index]
        log.parts[index] = seconds.to_bytes(4, "little") + head[4:]

    report = load(log.save(tmp_path))

    assert any("2 events left out" in note for note in report.notes)
    assert milliseconds(report.real_ns) == 198
    assert adds_up(report)


@pytest.mark.parametrize(("seconds", "strays"), [(9, 0), (11, 1), (-2, 1)])
def test_a_packet_alone_is_held_against_the_last_one(seconds, strays):
    """As the first one of what was read at once is."""
    log = Log(begin_seconds=1000 + seconds).start(0)
    batch = cut_packets(log.data(), 16, log.form)

    assert strays == drop_strays(batch, log.form, 1000 * 10**9)


def test_a_long_silence_is_no_damage(tmp_path):
    log = story(3)
    log.start(60_000_000).commit(60_000_001)

    report = load(log.save(tmp_path))

    assert [] == report.notes
    assert 4 == report.totals.commits


def test_clocks_that_step_back_make_no_time_negative(tmp_path):
    log = Log().start(0, 1).start(0.002, 2).commit(5.004, 1).commit(5.001, 2)

    report = load(log.save(tmp_path))

    assert adds_up(report)
    assert 2 == report.totals.commits


@pytest.mark.parametrize("name", ["c7", "c7-15", "n16"])
def test_collections_are_added_up_also_over_the_end_of_a_second(tmp_path, name):
    log = Log(name).start(0)
    for begin, end in ((1, 3), (998, 1004), (1999, 2001), (2500, 2500)):
        log.put(begin, 1, formats.MINOR_START).put(end, 1, formats.MINOR_DONE)
    log.put(2600, 1, formats.MINOR_DONE)  # whose start nobody has seen
    log.put(2700, 1, formats.MINOR_START)  # and whose end
    log.commit(2800)

    report = load(log.save(tmp_path), numbering=name)

    assert milliseconds(report.totals.minor_ns) == 2 + 6 + 2
    assert adds_up(report)


@pytest.mark.parametrize("name", ["c7", "c7-15"])
def test_a_contention_may_have_one_marker_none_or_both(tmp_path, name):
    log = Log(name)
    markers = [(HERE, THERE), ("", THERE), (HERE, ""), ("", "")]
    for at, (one, other) in enumerate(markers * 5):
        kind = formats.WRITE_READ
        log.start(10 * at).put(10 * at + 4, 1, kind, one, other, 2).abort(10 * at + 5)

    report = load(log.save(tmp_path), numbering=name)

    assert [] == report.notes
    assert {(7, 9, 5), (0, 9, 5), (7, 0, 5), (0, 0, 5)} == {
        (line_of(one.victim), line_of(one.culprit), one.aborts) for one in report.losses
    }


def line_of(place):
    return place.line if place is not None else 0


@pytest.mark.parametrize("second", [1, 30])
def test_other_packets_have_no_second_marker(second):
    log = story(20)
    log.parts[30] = log.parts[30][:-1] + bytes([second])

    batch = cut_packets(log.data(), 16, log.form)

    assert batch.damaged
    assert b"".join(part[:19] for part in log.parts[:30]) == batch.records


def test_a_piece_of_time(tmp_path):
    path = story(20).save(tmp_path)

    report = load(path, begin_seconds=0.05, end_seconds=0.1)

    assert 5 == report.totals.commits
    assert 50.0 == milliseconds(report.real_ns)
    assert adds_up(report)


def test_a_compressed_log_that_is_cut(tmp_path):
    data = gzip.compress(story().data(), mtime=0)
    (tmp_path / "stm.log.gz").write_bytes(data[: len(data) // 2])

    assert 0 < load(tmp_path / "stm.log.gz").totals.commits < 200


def test_a_pipe_gives_a_log_in_pieces(tmp_path):
    reading, writing = os.pipe()
    data = story(2000).data()

    def write() -> None:
        with os.fdopen(writing, "wb") as file:
            file.write(data)

    writer = threading.Thread(target=write)
    writer.start()
    report = load(f"/dev/fd/{reading}", forks=False)
    writer.join()
    os.close(reading)

    assert 2000 == report.totals.commits


def test_standard_input(monkeypatch):
    stdin = SimpleNamespace(buffer=io.BytesIO(story(3).data()))
    monkeypatch.setattr("sys.stdin", stdin)

    assert 3 == load("-").totals.commits


def test_any_number_of_threads_and_lines_takes_little_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("conflict_log.ledger.MOST_THREADS", 50)
    monkeypatch.setattr("conflict_log.ledger.MOST_COSTS", 60)
    log = Log()
    for index in range(500):
        log.start(index, index)
        log.put(index + 0.2, index, formats.WRITE_WRITE, f"line {index}", THERE)
        log.abort(index + 0.5, index)

    report = load(log.save(tmp_path))

    assert adds_up(report)
    assert 500 == report.totals.aborts
    assert 50 == len(report.workers)
    assert any("some share a row" in note for note in report.notes)

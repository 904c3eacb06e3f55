"""A log that grows while it is looked at."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conflict_log import Loss, Report, formats, load, rows
from conflict_log.command_line import main
from conflict_log.following import Follower
from tests.log.test_reader import adds_up, story
from tests.log.writing import Log


@pytest.fixture
def path(tmp_path):
    return tmp_path / "stm.log"


def look(follower: Follower) -> int:
    report = follower.look()
    assert report is not None
    assert adds_up(report)
    return report.totals.commits


@pytest.mark.parametrize("chunk", [100, 1 << 20], ids=["further", "again"])
def test_what_was_added_is_seen(path, monkeypatch, chunk):
    """Long logs are read further from where the last look ended."""
    monkeypatch.setattr("conflict_log.following.CHUNK", chunk)
    data, follower = story(40).data(), Follower(str(path))
    seen = []

    for share in (0.3, 0.301, 0.5, 0.99, 1.0):
        path.write_bytes(data[: round(len(data) * share)])
        seen.append(look(follower))
    follower.close()

    assert sorted(seen) == seen
    assert [11, 40] == [seen[0], seen[-1]]


def test_before_the_first_event_there_is_nothing(path):
    follower = Follower(str(path))

    path.write_bytes(b"")
    assert None is follower.look()
    path.write_bytes(story(1).data()[:10])
    assert None is follower.look()
    path.write_bytes(story(1).data())
    assert 1 == look(follower)


def test_a_log_may_be_away_for_a_moment(path):
    """It is renamed when it is full, and begun anew."""
    follower = Follower(str(path))
    assert None is follower.look()
    path.write_bytes(story(40).data())
    assert 40 == look(follower)

    path.rename(path.with_suffix(".log.1"))
    assert None is follower.look()
    path.write_bytes(story(5).data())
    assert 5 == look(follower)


def test_a_name_that_is_wrong_is_an_error_at_once(path, capsys):
    assert 3 == main(["top", str(path)])

    assert "No such file" in capsys.readouterr().err


def test_a_log_that_starts_again_is_read_again(path, monkeypatch):
    monkeypatch.setattr("conflict_log.following.CHUNK", 100)
    follower = Follower(str(path))
    path.write_bytes(story(40).data())
    look(follower)

    path.write_bytes(story(5).data())

    assert 5 == look(follower)
    follower.close()


def test_what_top_shows_at_the_end_is_the_report(path):
    path.write_bytes(story(40).data())
    follower = Follower(str(path))

    assert load(path) == follower.look()


def busy_log(seconds: int) -> Log:
    """Return a log of four workers in which things last beyond the ends of seconds."""
    log = Log()
    for at in range(0, seconds * 1000, 70):
        line = f'File "app.py", line {1 + at // 1000}, in get'
        log.start(at).start(at + 1, 2).wait(at + 2, at + 30, formats.WAIT_FREE, 3)
        log.start(at + 31, 3).put(at + 40, 3, formats.WAIT_CONTENTION)
        log.put(at + 50, 2, formats.WRITE_READ, line).abort(at + 51, 2)
        log.put(at + 52, 1, formats.MINOR_START).put(at + 53, 1, formats.MINOR_DONE)
        log.put(at + 60, 3, formats.WAIT_DONE).commit(at + 61, 3)
        if at % 300 == 0:
            log.start(at + 62, 4)  # long ones: each is cut into by the next
        log.commit(at + 69)
    return log


def _without_curves(report: Report) -> list[Loss]:
    """Return the losses in an order of their own: that of equals may differ."""
    losses = [replace(one, curve={}) for one in report.losses]
    return sorted(losses, key=lambda one: (one.kind, str(one.site), one.worker))


@pytest.mark.parametrize("chunk", [100, 1 << 20], ids=["further", "again"])
def test_slices_add_up_to_the_whole(path, monkeypatch, chunk):
    """Cut at each second, a log tells the same, in all its sums and time lines."""
    monkeypatch.setattr("conflict_log.following.CHUNK", chunk)
    monkeypatch.setattr("conflict_log.following._SLICES", 10**9)
    data, follower = busy_log(12).data(), Follower(str(path), "c7", 1e6)
    for share in (0.2, 0.5, 0.50001, 1.0):
        path.write_bytes(data[: round(len(data) * share)])
        sliced = follower.look()
    follower.close()

    whole = load(path, numbering="c7")
    assert sliced is not None
    assert whole.totals == sliced.totals
    assert _without_curves(whole) == _without_curves(sliced)
    for one, other in zip(whole.workers, sliced.workers, strict=True):
        assert one.totals == other.totals
        # Where the pieces of time begin differs.
        sums = (
            [sum(part) for part in zip(*each.curve, strict=True)]
            for each in (one, other)
        )
        assert next(sums) == next(sums)


def test_what_is_older_than_the_last_minutes_is_let_go(path):
    path.write_bytes(busy_log(40).data())

    report = Follower(str(path), last_seconds=10).look()

    assert report is not None
    assert adds_up(report)
    assert 10 <= report.real_seconds <= 11.2
    lines = {int(one.label.split(":")[1]) for one in rows(report) if "app" in one.label}
    assert set(range(31, 41)) <= lines <= set(range(30, 41))


def test_a_silence_longer_than_what_is_kept_leaves_nothing_before_it(path):
    log = busy_log(3)
    path.write_bytes(log.start(900_000).commit(900_001).data())

    report = Follower(str(path), last_seconds=300).look()

    assert report is not None
    assert (1, 0) == (report.totals.commits, report.totals.aborts)


def test_what_is_let_go_takes_no_later_loss_along(path):
    """A wait is older than what is kept, the abort for the same conflict is not."""
    line = 'File "app.py", line 7, in get'
    log = Log().start(0).put(100, 1, formats.WRITE_WRITE, line)
    log.wait(200, 500, formats.WAIT_CONTENTION)
    for at in range(1000, 9000, 1000):
        log.start(at, 2).commit(at + 10, 2)
    path.write_bytes(log.abort(9500).data())

    report = Follower(str(path), last_seconds=5).look()

    assert report is not None
    assert adds_up(report)
    (row,) = rows(report)
    assert ("app.py:7", 1, 9_200_000_000) == (row.label, row.aborts, row.lost_ns)


def test_a_transaction_counts_where_it_ends(path):
    """With all its time, though most of it is older than what is kept."""
    path.write_bytes(
        Log().start(0).start(1000, 2).commit(9000, 2).commit(18_500).data()
    )

    report = Follower(str(path), last_seconds=5).look()

    assert report is not None
    assert adds_up(report)
    assert (1, 18_500_000_000) == (report.totals.commits, report.totals.committed_ns)


def test_the_command(path, capsys):
    path.write_bytes(story(40).data())

    assert 0 == main(["top", str(path), "--looks", "2", "--interval", "0"])

    assert "app.py:7 in get" in capsys.readouterr().out

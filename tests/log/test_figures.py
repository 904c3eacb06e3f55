"""What the live page shows of the program: the last minute, from two looks."""

from __future__ import annotations

import dataclasses

import pytest
from tornado.web import Application, RequestHandler

import txloop
from conflict_log import words
from conflict_log.exports.page import figures_part
from conflict_log.figures import WINDOW_SECONDS, Window
from conflict_log.web import ConflictLogHandler
from tests.serving import serving
from txloop.stm.measuring import BOUNDS

EVIL = "GET </code><script>alert(1)</script>"
STATS = txloop.Stats(
    executor="processes",
    workers=2,
    gil=True,
    rounds=0,
    marked=0,
    unmarked=0,
    commits=0,
    errors=0,
    aborts=0,
    attempts=0,
    inline=0,
    transport_seconds=0.0,
    version=0,
    labels=(),
)


def times(count: int, seconds: float) -> txloop.Distribution:
    counts = [0] * (len(BOUNDS) + 1)
    counts[BOUNDS.index(seconds)] = count
    return txloop.Distribution(tuple(counts), count * seconds)


class Program:
    """A loop whose figures the test decides on, and its time."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.labels: dict[str, tuple[int, int, txloop.Distribution]] = {}
        self.window = Window(self.stats, lambda: self.now)

    def stats(self) -> txloop.Stats:
        labels = tuple(
            txloop.LabelStats(
                name, count, 0, aborts, count, 0, 0.0, "", latency=latency
            )
            for name, (count, aborts, latency) in self.labels.items()
        )
        return dataclasses.replace(STATS, labels=labels)


@pytest.fixture
def program():
    return Program()


def test_the_first_look_shows_all_since_the_start(program):
    program.labels = {"GET A": (10, 1, times(10, 0.01)), "GET B": (0, 0, times(0, 1))}

    figures = program.window.look()

    assert 0.0 == figures.seconds
    assert ["GET A"] == [one.label for one in figures.rows]
    assert (None, 10, 1) == (
        figures.rows[0].rate,
        figures.rows[0].commits,
        figures.rows[0].conflicts,
    )


def test_later_ones_show_what_has_happened_since(program):
    # GIVEN slow ones before, which are over
    program.labels = {"GET A": (100, 5, times(100, 1.0))}
    program.window.look()

    # WHEN
    program.now += 10
    latency = times(100, 1.0) + times(40, 0.001)
    program.labels = {"GET A": (140, 7, latency), "GET B": (1, 0, times(1, 0.5))}
    figures = program.window.look()

    # THEN
    first, second = figures.rows
    assert 10.0 == figures.seconds
    assert (4.0, 2) == (first.rate, first.conflicts)
    assert first.latency.quantile(0.99) <= 0.001
    assert 0.1 == second.rate


def test_what_is_older_than_a_minute_is_forgotten(program):
    for _ in range(200):
        program.now += 2
        count = int(program.now)
        program.labels = {"GET A": (count, 0, times(count, 0.01))}
        figures = program.window.look()

    assert figures.seconds <= WINDOW_SECONDS
    assert pytest.approx(1.0) == figures.rows[0].rate
    assert len(program.window._looks) <= WINDOW_SECONDS / 2 + 2


def test_many_looks_at_once_are_one(program):
    program.labels = {"GET A": (3, 0, times(3, 0.01))}
    for _ in range(50):
        program.window.look()

    assert 1 == len(program.window._looks)


def test_two_functions_of_one_name_are_one_row():
    one = txloop.LabelStats("go", 3, 0, 1, 4, 0, 0.0, "", latency=times(3, 0.01))
    stats = dataclasses.replace(STATS, labels=(one, one))

    (row,) = Window(lambda: stats).look().rows

    assert (6, 2, 6) == (row.commits, row.conflicts, row.latency.count)


def test_nothing_in_it_becomes_a_tag(program):
    program.labels = {EVIL: (3, 0, times(3, 0.01))}

    page = figures_part(program.window.look())

    assert "alert(1)" in page
    assert "<script" not in page


def test_without_anything_that_ran_there_is_no_table_of_handlers(program):
    page = figures_part(program.window.look())

    assert "Handlers" not in page
    assert "Processes" in page


@txloop.transactional
class Add(RequestHandler):
    def get(self):
        self.write("added")


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_the_page_shows_the_loop_it_runs_on(executor):
    def make_application():
        return Application([("/add", Add), ("/_txloop/", ConflictLogHandler)])

    with serving(executor, make_application) as server:
        server.get("/_txloop/")
        for _ in range(5):
            server.get("/add")
        page = server.get("/_txloop/?part=report").body.decode()

    assert "<code>GET Add</code>" in page
    assert ">serves</td>" in page
    assert ("worker 1" in page) == (executor == "processes")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0"),
        (0.00004, "40 us"),
        (0.0042, "4.2 ms"),
        (0.0999, "100 ms"),
        (0.9999, "1.0 s"),
        (12.34, "12 s"),
    ],
)
def test_times_have_two_digits(seconds, text):
    assert text == words.brief(seconds)


@pytest.mark.parametrize(
    ("part", "text"),
    [(0, "0%"), (0.0001, "<0.1%"), (0.042, "4.2%"), (0.42, "42%"), (1, "100%")],
)
def test_shares_have_no_more_digits_than_they_need(part, text):
    assert text == words.share(part)

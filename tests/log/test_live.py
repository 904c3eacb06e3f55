"""The report of the last minutes, made between other things."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from conflict_log import live, load
from conflict_log.exports.page import report_part
from conflict_log.live import LiveReport
from tests.log.test_reader import adds_up, story
from tests.log.writing import Log
from txloop.stmlog.process_log import Hub

if TYPE_CHECKING:
    from conflict_log import Report
    from conflict_log.sources import Sources
    from conflict_log.summary import Summary


class Clock:
    """Time that goes on only when it is told to, in both ways of telling it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.time = SimpleNamespace(monotonic=self.read, perf_counter=self.read)

    def read(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(live, "time", clock.time)
    return clock


class Recorder:
    """What a program has recorded, and how often it was asked."""

    def __init__(self, log: Log) -> None:
        self.data = log.data()
        self.asked = 0

    def recent(self) -> bytes:
        self.asked += 1
        return self.data


def text_of(page: LiveReport, by: str = "line") -> str | None:
    return asyncio.run(page.text(by, by, lambda summary, _: summary.verdict))


def report_of(page: LiveReport) -> Report:
    seen: list[Report] = []

    def render(summary: Summary, _: Sources) -> str:
        seen.append(summary.report)
        return ""

    asyncio.run(page.text("", "line", render))
    return seen[0]


def test_it_is_the_report_of_the_same_log(tmp_path):
    log = story(2000)  # 260 kB, read in many pieces
    report = report_of(LiveReport(log.data))

    whole = load(log.save(tmp_path), numbering="c7")
    assert adds_up(report)
    assert (whole.totals, whole.losses) == (report.totals, report.losses)


def test_others_run_between_the_pieces(monkeypatch):
    """As many times as there are pieces, if each has had enough."""
    monkeypatch.setattr(live, "_AT_ONCE_SECONDS", 0.0)
    log, turns = story(2000), 0

    async def run() -> None:
        nonlocal turns
        reading = asyncio.create_task(
            LiveReport(log.data).text("", "line", report_part)
        )
        while not reading.done():
            turns += 1
            await asyncio.sleep(0)

    asyncio.run(run())

    assert turns > len(log.data()) / live._ShortReader.chunk


def test_all_viewers_see_one_report(clock):
    recorder = Recorder(story(10))
    page, rendered = LiveReport(recorder.recent), []

    def render(summary, _):
        rendered.append(summary.by)
        return summary.by

    async def run() -> list[str | None]:
        ways = ["line", "line", "kind", "line", "kind"]
        return await asyncio.gather(*(page.text(one, one, render) for one in ways))

    assert ["line", "line", "kind", "line", "kind"] == asyncio.run(run())
    assert (1, ["line", "kind"]) == (recorder.asked, rendered)


def test_after_a_while_there_is_a_new_one(clock):
    recorder = Recorder(story(10))
    page = LiveReport(recorder.recent, seconds=3)
    first = text_of(page)

    recorder.data = Log().start(0).commit(10).data()
    clock.now += 2.9
    assert first == text_of(page)
    clock.now += 0.2
    assert "Conflicts cost 0.0%" in str(text_of(page))
    assert 2 == recorder.asked


def test_the_more_work_it_is_the_longer_it_is_shown(clock):
    recorder = Recorder(story(10))
    page = LiveReport(recorder.recent, seconds=1)

    def render(*_: object) -> str:
        clock.now += 2.0
        return ""

    asyncio.run(page.text("", "line", render))
    clock.now += 1 + 20 * 2 - 2.1
    text_of(page)
    assert 1 == recorder.asked
    clock.now += 0.2
    text_of(page)
    assert 2 == recorder.asked


def test_before_the_first_event_there_is_none(clock):
    assert None is text_of(LiveReport(Log().data))


def test_what_an_excerpt_cuts_needs_no_note(clock):
    log = Log().commit(1).start(2, 2).commit(3, 2).start(4)

    assert [] == report_of(LiveReport(log.data)).notes


def test_a_viewer_that_leaves_takes_nothing_along(monkeypatch):
    monkeypatch.setattr(live, "_AT_ONCE_SECONDS", 0.0)
    recorder = Recorder(story(2000))
    page = LiveReport(recorder.recent)

    async def run() -> str | None:
        leaving, staying = (
            asyncio.create_task(page.text("", "line", lambda one, _: one.verdict))
            for _ in range(2)
        )
        while not recorder.asked:  # noqa: ASYNC110 # no event tells of it
            await asyncio.sleep(0)
        leaving.cancel()
        with suppress(asyncio.CancelledError):
            await leaving
        return await staying

    assert "of the busy time was lost" in str(asyncio.run(run()))
    assert 1 == recorder.asked


def test_a_loop_that_ended_meanwhile_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(live, "_AT_ONCE_SECONDS", 0.0)
    recorder = Recorder(story(2000))
    page = LiveReport(recorder.recent)
    loop = asyncio.new_event_loop()
    looking = loop.create_task(page.text("", "line", report_part))
    while not recorder.asked:
        loop.run_until_complete(asyncio.sleep(0))

    assert "of the busy time was lost" in str(text_of(page))
    assert not looking.done()

    left = asyncio.all_tasks(loop)
    for one in left:
        one.cancel()
    loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    loop.close()


def test_what_cannot_be_read_is_told_to_each_who_asks(clock):
    page = LiveReport(lambda: b"no log")

    for _ in range(2):
        with pytest.raises(ValueError, match=r"not an stm\.log"):
            text_of(page)


class Source:
    """The scribe of a loop, as far as the hub knows it."""

    def __init__(self) -> None:
        self.retired = False

    def catch_up(self, until: int) -> None:
        """Nothing is certain."""

    def retire(self) -> None:
        self.retired = True


@pytest.fixture
def hub():
    """Return a hub whose time goes on when it is told to, and what it is told by."""
    clock = SimpleNamespace(now=10**12)
    hub, source = Hub(lambda: clock.now), Source()
    hub.enter(source)
    return hub, source, clock


def test_what_nobody_looks_at_any_more_is_not_recorded(hub):
    hub, source, clock = hub
    hub.keep(300, unasked_ns=600)

    clock.now += 600
    hub.recent(300)
    clock.now += 600
    hub.flush()
    assert (True, False) == (hub.wanted, source.retired)

    clock.now += 1
    hub.flush()
    assert (False, True) == (hub.wanted, source.retired)

    hub.keep(300, unasked_ns=600)
    assert hub.wanted


@pytest.mark.parametrize("first", [None, 600])
def test_unless_the_program_wants_it(hub, first):
    """Whoever comes first, and however often it is looked at."""
    hub, source, clock = hub
    for unasked_ns in (first, None, 600):
        hub.keep(300, unasked_ns)

    clock.now += 10**9
    hub.flush()

    assert (True, False) == (hub.wanted, source.retired)

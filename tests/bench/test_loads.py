"""The loads of the cases under fire, on real servers."""

from __future__ import annotations

import time
import urllib.request

import pytest

from bench import processes
from bench.burn import burn
from bench.case import load_case
from bench.cases.blocking import IdealLoad
from bench.cases.mixed import compare as compare_p99
from bench.errors import LoadError, WrongAnswerError
from bench.load import Latency, Load
from bench.loads.counted import CountedLoad
from bench.loads.kills import KillsLoad
from bench.loads.mixed import MixedLoad
from bench.loads.overload import OverloadLoad
from bench.server import server_for
from tests.bench.samples import make_measurement

ELSEWHERE = 64
"""A core that there is not: the load goes where it likes."""


def serving(name, competitor, **values):
    """Return a server of a case, not yet started."""
    case = load_case(name)
    defaults = {one.name: one.default for one in case.parameters}
    (selected,) = case.select(competitor)
    return server_for(case, selected, {**defaults, **values}, 2)


def pids(server):
    generations = processes.generations(server.pid)
    return [{process.pid for process in generation} for generation in generations]


def load_of(server, clients, paths=("/",)):
    return Load(server.url, paths, clients, 1, server.pid)


def test_burning_takes_processor_time():
    before = time.thread_time()

    burn(3)

    assert time.thread_time() - before >= 0.003


def test_the_ratio_of_mixed_is_of_the_p99s():
    quick = Latency(100.0, (0.001,) * 98 + (0.002, 0.003), 0.1)
    slow = Latency(100.0, (0.002,) * 98 + (0.5, 0.7), 0.1)
    own = make_measurement("own", 0, rate=9, latency=quick).throughput
    baseline = make_measurement("stock", 0, rate=9, latency=slow).throughput

    assert compare_p99(own, baseline) == 250


@pytest.mark.slow
def test_light_and_heavy_requests_are_measured_side_by_side():
    with serving("mixed", "txloop-light-unmarked", heavy=20) as server:
        result = MixedLoad("/heavy", "/light", 50, ELSEWHERE).run(load_of(server, 4))
        with pytest.raises(LoadError, match="50 of the client's requests failed"):
            MixedLoad("/heavy", "/missing", 50, ELSEWHERE).run(load_of(server, 4))

    assert result.transactions > 1
    assert result.latency is not None
    assert (50, 50.0) == (len(result.latency.seconds), result.latency.rate)
    assert result.spent_seconds >= result.elapsed_seconds > 1


@pytest.mark.slow
def test_sleepers_are_compared_with_the_ideal():
    with serving("blocking", "txloop-processes", sleep=20) as server:
        result = IdealLoad(2 / 0.020, ELSEWHERE).run(load_of(server, 8))

    assert {"share": result.rate / 100} == result.figures
    assert 0 < result.figures["share"] <= 1


@pytest.mark.slow
@pytest.mark.parametrize("competitor", ["stock", "txloop-processes"])
def test_every_addition_is_counted_and_one_too_many_is_told(competitor):
    with serving("contention", competitor) as server:
        generator = CountedLoad("/add", "/value", 5, ELSEWHERE)
        result = generator.run(load_of(server, 8))
        checked = generator.check(load_of(server, 8))
        urllib.request.urlopen(f"{server.url}/add").close()
        with pytest.raises(WrongAnswerError, match="the number is 201, not 200"):
            generator.check(load_of(server, 8))

    assert (200, 200) == (result.transactions, checked.answers)
    assert (competitor == "stock") == (checked.conflicts is None)


@pytest.mark.slow
def test_what_a_full_queue_refuses_is_counted():
    with serving("overload", "txloop-max_queue=50", cpu=5) as server:
        result = OverloadLoad(8, 50, 2).run(load_of(server, 4))

    figures = result.figures
    assert figures["refused"] > 0
    assert figures["bound"] == 1000 * 52 / result.rate
    assert result.rate == pytest.approx(figures["share"] * figures["capacity"])
    assert figures["after"] > 10  # a Python has more than so many megabytes
    assert result.latency is not None
    assert result.latency.rate == 8 * figures["capacity"]


@pytest.mark.slow
def test_a_server_without_a_bound_answers_all_at_last_and_has_no_worker_to_kill():
    with serving("overload", "stock", cpu=20) as server:
        result = OverloadLoad(2, 50, 2).run(load_of(server, 4))
        with pytest.raises(LoadError, match="no workers that could be killed"):
            KillsLoad(100, ELSEWHERE).run(load_of(server, 2))

    figures = result.figures
    assert figures["refused"] == 0
    assert "bound" not in figures
    assert result.latency is not None
    assert len(result.latency.seconds) == round(result.latency.rate)


@pytest.mark.slow
@pytest.mark.parametrize("competitor", ["prefork", "txloop-processes"])
def test_workers_are_killed_and_nobody_else(competitor):
    with serving("kills", competitor, number=500) as server:
        while len((before := pids(server))[-1]) < 2:
            time.sleep(0.01)  # the first request is answered before all are forked
        result = KillsLoad(100, ELSEWHERE).run(load_of(server, 4, ("/500",)))
        while list(map(len, pids(server))) != list(map(len, before)):
            time.sleep(0.01)  # the last one killed has yet to be replaced
        after, said = pids(server), server.said()

    figures = result.figures
    assert 1 <= figures["kills"] < 100  # without the pauses there would be far more
    assert figures["share"] == result.rate / figures["undisturbed"] > 0
    if competitor == "prefork":
        assert figures["failed"] > 0
    else:  # each only with its third worker, if these hardly get a turn between kills
        assert figures["failed"] == said.count("3 workers died while they ran GET")
    assert before[:-1] == after[:-1]
    assert before[-1] != after[-1]

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from bench.builtin_load import BuiltInLoad, LatencyProbe
from bench.case import Competitor, load_case
from bench.errors import HungLoadError, LoadError, WrongAnswerError
from bench.load import Load
from bench.measure import Settings, collect, run_load, schedule
from bench.server import Server, server_for
from bench.siege import find_siege
from tests.bench.samples import make_measurement
from tests.programs import require_program

HELLO = load_case("hello")


@pytest.fixture(scope="module")
def url():
    """Return the address of a running hello server."""
    stock = Competitor("stock", "stock", "plain")
    with server_for(HELLO, stock, {}, 1) as server:
        yield server.url


@pytest.fixture(params=["siege", "builtin"])
def generator(request):
    if request.param == "builtin":
        return BuiltInLoad(spare_from=64)
    require_program("siege")
    return find_siege(spare_from=64)


def test_competitors_take_turns_and_each_is_first_once():
    competitors = [Competitor(name, "stock", "plain") for name in "ABC"]

    turns = schedule(competitors, 4)

    assert "ABC BCA CAB ABC".replace(" ", "") == "".join(one.name for _, one in turns)
    assert [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3] == [number for number, _ in turns]


class RestingServer(Server):
    """Counts how often somebody waited for it to come to rest."""

    def __init__(self):
        self.rests = 0

    def wait_until_idle(self):
        self.rests += 1

    def cpu_seconds(self):
        return 0.0


class HangingLoad:
    """Hangs so many times, then measures."""

    title = "test"

    def __init__(self, times):
        self.times = times

    def run(self, load):
        self.times -= 1
        if self.times >= 0:
            raise HungLoadError("hung")
        return make_measurement("any", 0, rate=7).throughput

    def check(self, load):
        return None


@pytest.mark.parametrize("times", [0, 1, 2])
def test_a_load_that_hung_is_run_again_on_a_server_at_rest(times):
    server = RestingServer()

    throughput, _ = run_load(server, Load("", (), 1, 1), HangingLoad(times))

    assert throughput.rate == 7
    assert server.rests == times + 1


def test_a_load_that_always_hangs_is_given_up():
    with pytest.raises(HungLoadError):
        run_load(RestingServer(), Load("", (), 1, 1), HangingLoad(3))


class LyingLoad(HangingLoad):
    """Measures, and finds that an answer was wrong."""

    def check(self, load):
        raise WrongAnswerError("1 of 7 answers is wrong")


def settings_for(repeat):
    return Settings(
        seconds=1,
        clients=2,
        repeat=repeat,
        workers=1,
        latency_seconds=0,
        latency_share=0.0,
        values={},
    )


@pytest.mark.slow
def test_a_wrong_answer_ends_the_run_and_names_the_competitor():
    stock = HELLO.select("stock")
    said: list[str] = []

    with pytest.raises(WrongAnswerError, match=r"^stock: 1 of 7 answers is wrong"):
        collect(HELLO, stock, settings_for(1), LyingLoad(0), said.append)

    assert ["stock, repeat 1 of 1"] == said


class NotingLoad(HangingLoad):
    """Notes which servers it was to load."""

    def __init__(self):
        super().__init__(0)
        self.servers = []

    def run(self, load):
        self.servers.append(load.pid)
        return super().run(load)


@pytest.mark.slow
@pytest.mark.parametrize(("long_seconds", "servers"), [(2, 2), (1, 1)])
def test_only_a_server_that_warms_up_for_long_is_kept(
    long_seconds, servers, monkeypatch
):
    warmed: list[float] = []
    monkeypatch.setattr("bench.measure.warm_up", lambda one: warmed.append(one.seconds))
    monkeypatch.setattr("bench.measure._LONG_WARM_UP_SECONDS", long_seconds)
    (stock,) = HELLO.select("stock")
    stock, load = replace(stock, warm_up_seconds=1), NotingLoad()

    measured = collect(HELLO, [stock], settings_for(2), load, lambda _: None)

    assert [0, 1] == [one.repeat for one in measured]
    assert [1] * servers == warmed
    assert servers == len(set(load.servers))
    assert not any(Path(f"/proc/{pid}").exists() for pid in load.servers)


def run(generator, load):
    """Run a load; again if it hangs, as siege does once in a while."""
    with suppress(HungLoadError):
        return generator.run(load)
    return generator.run(load)


@pytest.mark.slow
def test_each_generator_measures_a_real_server(generator, url):
    throughput = run(generator, Load(url, ("/",), clients=2, seconds=2))

    assert throughput.transactions > 0
    assert 1.6 < throughput.elapsed_seconds < 2.6
    assert 0 < throughput.client_cpu_seconds < throughput.elapsed_seconds


@pytest.mark.slow
def test_each_generator_fails_when_its_requests_do(generator, url):
    with pytest.raises(LoadError, match=r"requests (failed|were answered with 4xx)"):
        run(generator, Load(url, ("/", "/missing"), clients=2, seconds=1))


@pytest.mark.slow
def test_each_generator_fails_when_nobody_answers(generator, free_port):
    nobody = f"http://127.0.0.1:{free_port}"

    with pytest.raises(LoadError, match=r"refuses connections|requests failed"):
        generator.run(Load(nobody, ("/",), clients=2, seconds=1))


@pytest.mark.slow
def test_latency_is_measured_at_the_asked_rate(url):
    latency = LatencyProbe(spare_from=64).run(Load(url, ("/",), 2, 1), rate=50.0)

    assert len(latency.seconds) == 50
    assert latency.rate == 50.0
    assert 0 < latency.client_cpu_cores < 1

"""Collecting: each competitor in turn, in each repeat, on a server of its own.

Within a repeat the competitors follow each other closely, and their order is rotated
from repeat to repeat, so that a machine that slows down slows all of them. A server is
started for its turn and gone before the next begins: nothing that the load left queued
in it takes processor time from another. Only where a JIT has to get warm for minutes,
it is kept for the next repeat, at rest meanwhile.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bench import processes
from bench.builtin_load import LatencyProbe, warm_up
from bench.errors import HungLoadError, LoadError, WrongAnswerError
from bench.load import Checked, Latency, Load, LoadGenerator, Throughput
from bench.server import Server, server_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bench.case import Case, Competitor, Sample, Values

_SHOWN_BODY = 60
_CHECKING_THREADS = 8
_RUNS_OF_HUNG_LOAD = 3
_WARM_UP_CLIENTS_PER_WORKER = 4
_LONG_WARM_UP_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Settings:
    """How a case is measured. `latency_seconds` 0 leaves latency out."""

    seconds: int
    clients: int
    repeat: int
    workers: int
    latency_seconds: int
    latency_share: float
    values: Values


@dataclass(frozen=True, slots=True)
class Measurement:
    """One competitor's turn in one repeat.

    `other_cpu_cores` is what neither the server nor the load used: other programs, and
    other guests of a virtual machine's host.
    `checked` is None where the answers to the load itself were not kept.
    """

    competitor: str
    repeat: int
    throughput: Throughput
    server_cpu_cores: float
    other_cpu_cores: float
    latency: Latency | None
    checked: Checked | None = None


def schedule(
    competitors: Sequence[Competitor], repeat: int
) -> list[tuple[int, Competitor]]:
    """Return who is measured when: A B C, B C A, C A B, ...

    Each turn comes with the number of its repeat.
    """
    turns = []
    for number in range(repeat):
        shift = number % len(competitors)
        turns += [(number, one) for one in competitors[shift:]]
        turns += [(number, one) for one in competitors[:shift]]
    return turns


def collect(
    case: Case,
    competitors: Sequence[Competitor],
    settings: Settings,
    generator: LoadGenerator,
    progress: Callable[[str], None],
) -> list[Measurement]:
    """Measure every competitor `settings.repeat` times, in turns.

    `progress` is told what happens next.

    Raises:
        BenchmarkError: a server or the load failed, or an answer was wrong.
    """
    measurements = []
    with ExitStack() as stack:
        servers = _Servers(case, settings, stack)
        for number, competitor in schedule(competitors, settings.repeat):
            progress(f"{competitor.name}, repeat {number + 1} of {settings.repeat}")
            try:
                with servers.warm(competitor) as server:
                    one = _measure(case, server, number, settings, generator)
            except (LoadError, WrongAnswerError) as error:
                raise type(error)(f"{competitor.name}: {error}") from None
            measurements.append(one)
    return measurements


class _Servers:
    """Starts the server of whose turn it is, and warms it up."""

    def __init__(self, case: Case, settings: Settings, stack: ExitStack) -> None:
        """Take what ends the servers that are kept."""
        self._case = case
        self._settings = settings
        self._stack = stack
        self._kept: dict[str, Server] = {}

    @contextmanager
    def warm(self, competitor: Competitor) -> Iterator[Server]:
        """Give a server that is warm; it ends with the block, if it is not kept."""
        name = competitor.name
        if name in self._kept:
            yield self._kept[name]
            return
        settings = self._settings
        server = server_for(self._case, competitor, settings.values, settings.workers)
        if competitor.warm_up_seconds >= _LONG_WARM_UP_SECONDS:
            self._kept[name] = self._stack.enter_context(server)
            self._warm_up(competitor, server)
            yield server
            return
        with server:
            self._warm_up(competitor, server)
            yield server

    def _warm_up(self, competitor: Competitor, server: Server) -> None:
        # Few clients, because what they leave queued has to be waited for; but enough
        # that every worker gets some.
        workers = competitor.workers or self._settings.workers
        clients = min(self._settings.clients, _WARM_UP_CLIENTS_PER_WORKER * workers)
        paths = self._case.load(self._settings.values)
        seconds = competitor.warm_up_seconds
        warm_up(Load(server.url, paths, clients, seconds, server.pid))


def check_answers(server: Server, samples: Sequence[Sample]) -> None:
    """Ask for the samples, several at a time, and compare what comes.

    Raises:
        WrongAnswerError: a status was not 200, or a body not what it should be.
    """
    with ThreadPoolExecutor(_CHECKING_THREADS) as executor:
        answers = executor.map(lambda sample: server.get(sample.path), samples)
        for sample, (status, body) in zip(samples, answers, strict=True):
            if status != 200 or not sample.is_right(body):
                raise WrongAnswerError(
                    f"wrong answer to {sample.path}: {status} {body[:_SHOWN_BODY]!r}"
                )


@dataclass(frozen=True, slots=True)
class Usage:
    """Who used the processor during a load, beside the load generator."""

    server_seconds: float
    other_seconds: float


def run_load(
    server: Server, load: Load, generator: LoadGenerator
) -> tuple[Throughput, Usage]:
    """Run the load on the server once it is at rest; again where the generator hung.

    Raises:
        LoadError: the load failed, or hung every time.
        ServerError: the server did not come to rest.
    """
    for _ in range(_RUNS_OF_HUNG_LOAD - 1):
        with suppress(HungLoadError):
            return _run_once(server, load, generator)
    return _run_once(server, load, generator)


def _run_once(
    server: Server, load: Load, generator: LoadGenerator
) -> tuple[Throughput, Usage]:
    server.wait_until_idle()
    before, all_before = server.cpu_seconds(), processes.machine_seconds()
    throughput = generator.run(load)
    by_server = server.cpu_seconds() - before
    by_all = processes.machine_seconds() - all_before
    by_others = max(0.0, by_all - by_server - throughput.client_cpu_seconds)
    return throughput, Usage(by_server, by_others)


def _measure(
    case: Case,
    server: Server,
    number: int,
    settings: Settings,
    generator: LoadGenerator,
) -> Measurement:
    samples = case.samples(settings.values)
    paths = case.load(settings.values)
    clients, seconds = settings.clients, settings.seconds
    load = Load(server.url, paths, clients, seconds, server.pid, repeat=number)
    check_answers(server, samples)
    throughput, usage = run_load(server, load, generator)
    server.wait_until_idle()
    checked = generator.check(load)
    latency = throughput.latency or _latency(load, throughput.rate, settings)
    check_answers(server, samples)
    return Measurement(
        competitor=server.name,
        repeat=number,
        throughput=throughput,
        server_cpu_cores=usage.server_seconds / throughput.spent_seconds,
        other_cpu_cores=usage.other_seconds / throughput.spent_seconds,
        latency=latency,
        checked=checked,
    )


def _latency(load: Load, saturation: float, settings: Settings) -> Latency | None:
    if not settings.latency_seconds:
        return None
    return LatencyProbe(settings.workers).run(
        replace(load, seconds=settings.latency_seconds),
        saturation * settings.latency_share,
    )

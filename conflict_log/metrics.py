"""`txloop.stats` for Prometheus: what was committed, thrown away and refused, by label.

Needs the extra `metrics`: it stands apart from `web`, whose page needs nothing.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

from tornado.web import RequestHandler

import txloop

try:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import (
        CounterMetricFamily,
        GaugeMetricFamily,
        HistogramMetricFamily,
        InfoMetricFamily,
    )
    from prometheus_client.exposition import choose_encoder
    from prometheus_client.registry import Collector
except ImportError as error:
    raise ImportError(
        "prometheus_client is missing: pip install 'txloop[metrics]'"
    ) from error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from prometheus_client.core import Metric

__all__ = ["MetricsHandler", "TransactionCollector"]

# The name in Prometheus, the attribute of `txloop.LabelStats`, and what it counts.
_BY_LABEL: Final = (
    ("commits", "commits", "Transactions that ended, with a result or an exception."),
    ("errors", "errors", "Transactions that ended with an exception."),
    ("attempts", "attempts", "Runs of transactions, whatever became of them."),
    ("conflicts", "aborts", "Runs aborted by a conflict."),
    ("inline_attempts", "inline", "Runs on the loop thread."),
    ("retries", "retries", "Runs that gave up until something changes."),
    ("waits", "waits", "Retries after which nothing had changed yet."),
    ("refused", "refused", "Calls rejected because the queue was full."),
)
# The same of `txloop.Stats`.
_OF_LOOP: Final = (
    ("rounds", "rounds", "Loop iterations that handed transactions over."),
    ("writes", "version", "Commits that wrote, those of unmarked code included."),
    ("unmarked", "unmarked", "Callbacks and fd events that ran as in stock Tornado."),
    ("worker_deaths", "worker_deaths", "Workers that ended, and should not have."),
    ("front_deaths", "front_deaths", "Fronts that ended, and should not have."),
    ("restarts", "restarts", "Workers and fronts that took the place of others."),
    ("timeouts", "timeouts", "Calls that were ended because they took too long."),
    ("fork_failures", "fork_failures", "Workers and fronts that could not be made."),
)
_TIMES: Final = (
    ("latency_seconds", "latency", "From the call, or the request, to the commit."),
    ("queue_seconds", "queue", "How long calls waited before they first ran."),
    ("run_seconds", "body", "How long runs took, those thrown away included."),
)
_GAUGES: Final = (
    ("workers", "workers", "Attempts that can run at once."),
    ("pending", "pending", "Transactions that have not ended."),
    ("queued", "queued", "Calls for which there is no worker yet."),
    ("fronts", "fronts", "Fronts, which serve HTTP and run what is short."),
    ("waiting", "waiting", "Transactions that wait for a change just now."),
    ("transport_seconds", "transport_seconds", "What sending a call away costs."),
)


class TransactionCollector(Collector):
    """Makes metrics of the figures of a loop whenever it is asked; keeps none.

    Args:
        stats: Returns the figures; called on the thread that collects, which has to be
            the loop's.
    """

    def __init__(self, stats: Callable[[], txloop.Stats] = txloop.stats) -> None:
        self._stats = stats

    def collect(self) -> Iterator[Metric]:
        """Yield each metric, with its labels."""
        stats = self._stats()
        labels = _by_label(stats.labels)
        for name, field, text in _BY_LABEL:
            counter = CounterMetricFamily(f"txloop_{name}", text, labels=["label"])
            for label, same in labels.items():
                total = sum(getattr(one, field) for one in same)
                counter.add_metric([label], total)
            yield counter
        for name, field, text in _OF_LOOP:
            yield CounterMetricFamily(f"txloop_{name}", text, getattr(stats, field))
        for name, field, text in _GAUGES:
            yield GaugeMetricFamily(f"txloop_{name}", text, getattr(stats, field))
        for name, field, text in _TIMES:
            yield _histogram(f"txloop_{name}", text, field, labels)
        memory = GaugeMetricFamily(
            "txloop_process_memory_bytes",
            "Resident memory; what processes share counts in each.",
            labels=["process"],
        )
        for process in stats.processes:
            if process.pid and not process.address:
                memory.add_metric([process.name], process.memory_bytes)
        yield memory
        body = GaugeMetricFamily(
            "txloop_body_seconds", "How long a run takes on average.", labels=["label"]
        )
        for label, same in labels.items():
            body.add_metric([label], max(one.body_seconds for one in same))
        yield body
        info = {"executor": stats.executor, "gil": str(stats.gil).lower()}
        yield InfoMetricFamily("txloop", "How transactions run.", info)


def _histogram(
    name: str, text: str, field: str, labels: dict[str, list[txloop.LabelStats]]
) -> HistogramMetricFamily:
    """Return how long something took of each label, in buckets that add up."""
    family = HistogramMetricFamily(name, text, labels=["label"])
    for label, same in labels.items():
        times = txloop.Distribution()
        for one in same:
            times += getattr(one, field)
        bounds = [*map(repr, times.bounds), "+Inf"]
        buckets = [*zip(bounds, itertools.accumulate(times.counts), strict=True)]
        family.add_metric([label], buckets, times.seconds)
    return family


def _by_label(
    labels: Sequence[txloop.LabelStats],
) -> dict[str, list[txloop.LabelStats]]:
    """Return the figures of each label: several functions can have one name."""
    found: dict[str, list[txloop.LabelStats]] = {}
    for one in labels:
        found.setdefault(one.label, []).append(one)
    return found


class MetricsHandler(RequestHandler):
    """Writes metrics as Prometheus reads them, of the loop that it runs on.

    Args of the route:
        registry: What to write; by default a `TransactionCollector` alone. To have the
            program's own metrics beside it, register one with their registry.
    """

    def initialize(self, registry: CollectorRegistry | None = None) -> None:
        """Take the registry."""
        if registry is None:
            registry = CollectorRegistry()
            registry.register(TransactionCollector())
        self._registry = registry

    def get(self) -> None:
        """Write all metrics, as text or as OpenMetrics, whichever is accepted."""
        encode, content_type = choose_encoder(self.request.headers.get("Accept", ""))
        self.set_header("Content-Type", content_type)
        self.set_header("Cache-Control", "no-store")
        self.write(encode(self._registry))

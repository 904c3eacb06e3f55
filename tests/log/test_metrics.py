"""What Prometheus reads: names, labels, values, and that counters only grow."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys

import pytest
from tornado.web import Application, RequestHandler

import txloop
from tests.scripts import ROOT
from tests.serving import serving

pytest.importorskip("prometheus_client", reason="it is not installed")

from prometheus_client import CollectorRegistry, Counter  # see above
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from conflict_log.metrics import MetricsHandler, TransactionCollector

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


@txloop.transactional
class Add(RequestHandler):
    def get(self):
        hits.value += 1


hits = txloop.TVar(0)


def make_application():
    return Application([("/add", Add), ("/metrics", MetricsHandler)])


@pytest.fixture
def server():
    with serving("serial", make_application) as server:
        yield server


def values_of(text: str) -> dict[tuple[str, ...], float]:
    """Return the value of each sample by its name and the values of its labels."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def read(server) -> dict[tuple[str, ...], float]:
    answer = server.get("/metrics")
    assert 200 == answer.status
    return values_of(answer.body.decode())


def test_what_was_done_is_counted_by_label(server):
    before = read(server).get(("txloop_commits_total", "GET Add"), 0)

    for _ in range(3):
        server.get("/add")

    values = read(server)
    assert before + 3 == values["txloop_commits_total", "GET Add"]
    assert before + 3 == values["txloop_attempts_total", "GET Add"]
    assert 0 == values["txloop_conflicts_total", "GET Add"]
    stats = server.stats()
    assert stats.workers == values["txloop_workers",]
    assert 1 == values["txloop_info", "serial", str(stats.gil).lower()]


def test_times_are_histograms_by_label(server):
    server.get("/add")

    text = server.get("/metrics").body.decode()
    families = {one.name: one for one in text_string_to_metric_families(text)}

    for name in ("latency", "queue", "run"):
        family = families[f"txloop_{name}_seconds"]
        samples = [one for one in family.samples if "GET Add" in one.labels.values()]
        buckets = [one.value for one in samples if one.name.endswith("_bucket")]
        count = [one.value for one in samples if one.name.endswith("_count")]
        assert "histogram" == family.type
        assert sorted(buckets) == buckets
        assert [buckets[-1]] == count
        assert buckets[-1] >= 1


def test_what_becomes_of_processes_is_written():
    stats = dataclasses.replace(
        figures(),
        worker_deaths=3,
        front_deaths=2,
        restarts=5,
        timeouts=7,
        fork_failures=1,
        processes=(
            txloop.ProcessStats("owner", 1, os.getpid(), "serves"),
            txloop.ProcessStats("worker", 1, os.getpid(), "idle"),
            txloop.ProcessStats("worker", 2, 0, "starts"),
        ),
    )
    registry = CollectorRegistry()
    registry.register(TransactionCollector(lambda: stats))

    with serving("stock", lambda: application_of(registry)) as server:
        values = read(server)

    assert (3, 2) == (
        values["txloop_worker_deaths_total",],
        values["txloop_front_deaths_total",],
    )
    assert [5, 7, 1] == [
        values[f"txloop_{one}_total",]
        for one in ("restarts", "timeouts", "fork_failures")
    ]
    memory = {one[1] for one in values if one[0] == "txloop_process_memory_bytes"}
    assert {"owner", "worker 1"} == memory
    assert values["txloop_process_memory_bytes", "owner"] > 1 << 20


def test_counters_only_grow(server):
    seen = []
    for _ in range(3):
        server.get("/add")
        seen.append(read(server))

    counters = [one for one in seen[0] if one[0].endswith("_total")]
    assert len(counters) > 8
    for one in counters:
        history = [values[one] for values in seen]
        assert sorted(history) == history


def test_both_formats_are_written_as_asked(server):
    text, other = (server.get("/metrics", Accept=one) for one in ("", OPEN_METRICS))

    assert text.header("Content-Type").startswith("text/plain; version=0.0.4")
    assert other.header("Content-Type").startswith("application/openmetrics-text")
    assert other.body.endswith(b"# EOF\n")
    families = list(openmetrics.text_string_to_metric_families(other.body.decode()))
    assert "txloop_commits" in {one.name for one in families}
    assert "no-store" == text.header("Cache-Control")


def figures(*labels: txloop.LabelStats) -> txloop.Stats:
    """Return the figures of a loop that has done what the labels say."""
    return txloop.Stats(
        executor="threads",
        workers=4,
        gil=False,
        rounds=7,
        marked=9,
        unmarked=11,
        commits=sum(one.commits for one in labels),
        errors=0,
        aborts=0,
        attempts=0,
        inline=0,
        transport_seconds=0.001,
        version=5,
        labels=labels,
        waiting=2,
        pending=8,
        queued=3,
    )


def labelled(label: str, commits: int, seconds: float) -> txloop.LabelStats:
    return txloop.LabelStats(label, commits, 0, 1, commits + 1, 0, seconds, "")


def test_two_functions_of_one_name_are_one_line():
    """Two lines of one name and label would make Prometheus refuse all."""
    stats = figures(labelled("go", 3, 0.5), labelled("go", 4, 0.25))
    registry = CollectorRegistry()
    registry.register(TransactionCollector(lambda: stats))

    with serving("stock", lambda: application_of(registry)) as server:
        lines = server.get("/metrics").body.decode().splitlines()

    assert ['txloop_commits_total{label="go"} 7.0'] == [
        one for one in lines if one.startswith("txloop_commits_total")
    ]
    assert 'txloop_body_seconds{label="go"} 0.5' in lines
    gauges = {"txloop_waiting 2.0", "txloop_pending 8.0", "txloop_queued 3.0"}
    assert gauges <= set(lines)
    assert 'txloop_info{executor="threads",gil="false"} 1.0' in lines


def application_of(registry: CollectorRegistry) -> Application:
    return Application([("/metrics", MetricsHandler, {"registry": registry})])


def test_a_label_may_hold_anything():
    name = 'GET /"a"\\b\n# HELP x\n'
    registry = CollectorRegistry()
    registry.register(TransactionCollector(lambda: figures(labelled(name, 3, 0.5))))

    with serving("stock", lambda: application_of(registry)) as server:
        values = read(server)

    assert 3 == values["txloop_commits_total", name]


def test_beside_the_metrics_of_the_program():
    registry = CollectorRegistry()
    Counter("orders", "Of the program.", registry=registry).inc()
    registry.register(TransactionCollector(lambda: figures()))

    with serving("stock", lambda: application_of(registry)) as server:
        values = read(server)

    assert 1 == values["orders_total",]
    assert 4 == values["txloop_workers",]


def test_without_the_extra_the_import_says_what_to_do():
    """The page needs nothing, and asking for the metrics says what they need."""
    proof = (
        "import sys; sys.modules['prometheus_client'] = None; "
        "from conflict_log.web import ConflictLogHandler; print('the page'); "
        "from conflict_log.web import MetricsHandler"
    )

    ended = subprocess.run(
        [sys.executable, "-c", proof], cwd=ROOT, capture_output=True, text=True
    )

    assert "the page\n" == ended.stdout
    assert (
        "ImportError: prometheus_client is missing: pip install 'txloop[metrics]'"
        == ended.stderr.splitlines()[-1]
    )

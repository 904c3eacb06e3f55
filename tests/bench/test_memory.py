"""The trial `memory`: its servers, and what it makes of their memory."""

from __future__ import annotations

import json
from functools import partial

import pytest
from tornado.web import Application

from bench.trials import memory, timeline
from bench.trials.timeline import DataSet
from tests.serving import serving


def test_a_timeline_counts_every_record_once():
    data = DataSet(1000)

    timelines = [data.timeline(f"module{number}") for number in range(timeline.MODULES)]

    assert sum(sum(weeks) for weeks, _ in timelines) == 1000


def test_marked_or_not_the_answers_are_the_same():
    values = {"records": 2000}
    for application in timeline.plain(1, values), timeline.transactional(1, values):
        assert isinstance(application, Application)
        with serving("stock", partial(_itself, application)) as server:
            answer = json.loads(server.get("/module7").body)
        weeks, top = DataSet(2000).timeline("module7")
        assert {"weeks": weeks, "top": top} == answer


def _itself(application: Application) -> Application:
    return application


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_one_more_thread_costs_next_to_nothing():
    found = memory.take(memory.SERVERS["txloop threads"], 2, 50_000, 1)

    assert found["one"] > found["data"] > 2_500_000
    assert found["share"] == found["more"] / found["data"]
    assert found["share"] < 0.5  # 0.03 as a rule; a copy would be 1

"""Fronts that are opened when there have been commits, of which no worker was told."""

from __future__ import annotations

import json
import os

import pytest
from tornado.web import Application, RequestHandler

from tests.serving import FRONTS, serving
from txloop import TDict, TList, transactional

pytestmark = pytest.mark.skipif(not FRONTS, reason="there are no fronts here")

items = TList[int]()
counts = TDict[str, int]()


class Add(RequestHandler):
    """Is the owner's: it has no mark."""

    def post(self):
        items.append(len(items))
        counts["n"] = counts.get("n", 0) + 1


@transactional
class Show(RequestHandler):
    def get(self):
        self.write({"items": [*items], "n": counts.get("n", 0), "pid": os.getpid()})


def make_application():
    return Application([("/add", Add), ("/show", Show)])


@pytest.mark.parametrize("before", [0, 1, 7])
@pytest.mark.parametrize("forked", [False, True])
def test_they_know_each_commit_once(before, forked):
    items.clear()
    counts.clear()
    with serving("processes", make_application, early=forked) as server:
        # GIVEN
        for _ in range(before):
            assert 200 == server.fetch("POST", "/add", body=b"").status

        # WHEN
        server.run(server.open_fronts)
        for number in range(before, before + 5):
            # THEN
            expected = {"items": [*range(number)], "n": number}
            for _ in range(4):
                answer = json.loads(server.get("/show").body)
                assert expected == {key: answer[key] for key in expected}
            server.fetch("POST", "/add", body=b"")
        assert os.getpid() != answer["pid"]

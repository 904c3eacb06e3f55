"""Handlers write containers as they write plain objects, and keep state in them."""

from __future__ import annotations

import json

from tornado.escape import json_encode
from tornado.web import Application, RequestHandler

import txloop
from tests.logs import expect_log
from tests.messages import Request
from tests.serving import serving


class Account(txloop.TObject):
    owner: str
    money: int = 0


STATE = txloop.share({"rows": [[1, 2], [3]], "seen": {"a"}})
ACCOUNT = Account("ann", 5)
HITS = txloop.TCounter()


@txloop.transactional
class Written(RequestHandler):
    def get(self, what):
        chunks = {
            "dict": STATE,
            "object": ACCOUNT,
            "nested": {"account": ACCOUNT, "hits": HITS},
        }
        self.write(chunks.get(what) or json_encode(STATE["rows"]))  # type: ignore[arg-type] # see web/containers.py


@txloop.transactional
class Refused(RequestHandler):
    def get(self):
        self.write(STATE["rows"])


@txloop.transactional
class Grown(RequestHandler):
    def post(self):
        HITS.add()
        STATE["rows"].append([len(STATE["rows"])])
        STATE["seen"].add(str(HITS.value))
        ACCOUNT.money += 1
        self.write({"rows": STATE["rows"], "seen": STATE["seen"]})


def make_application():
    return Application(
        [("/refused", Refused), ("/grown", Grown), ("/(.*)", Written)],
        serve_traceback=False,
    )


def test_write_takes_containers_as_plain_objects(pair):
    # GIVEN
    rows, account = [[1, 2], [3]], {"owner": "ann", "money": 5}
    STATE.update(rows=rows, seen={"a"})
    ACCOUNT.money, HITS.value = 5, 0
    expected = {
        "/dict": {"rows": rows, "seen": ["a"]},
        "/object": account,
        "/nested": {"account": account, "hits": 0},
        "/list": rows,
    }

    # WHEN
    requests = [Request("GET", path) for path in expected]
    answers = pair.same(
        lambda server: server.fetch_together(requests), log_in_order=False
    )

    # THEN
    assert list(expected.values()) == [json.loads(answer.body) for answer in answers]
    assert "application/json; charset=UTF-8" == answers[0].header("Content-Type")


def test_write_refuses_a_list_as_stock_does(pair):
    with expect_log("tornado", "(exception|500) GET /refused", 2):
        answer = pair.server.get("/refused")

    assert 500 == answer.status


def test_what_a_request_changes_the_next_one_sees(kind):
    with serving(kind, make_application) as server:
        # GIVEN
        before, money = len(STATE["rows"]), ACCOUNT.money
        HITS.value = 0

        # WHEN
        answers = [server.fetch("POST", "/grown", body=b"") for _ in range(3)]

        # THEN
        rows = [json.loads(answer.body)["rows"] for answer in answers]
        assert [before + 1, before + 2, before + 3] == list(map(len, rows))
        assert [before] == rows[0][-1]
        assert money + 3 == ACCOUNT.money
        assert 3 == HITS

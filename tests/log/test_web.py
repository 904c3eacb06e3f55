"""The live page over HTTP, in any Tornado application."""

from __future__ import annotations

import json
import re

import pytest
from tornado.web import Application, HTTPError

from conflict_log.live import LiveReport
from conflict_log.rows import GROUPINGS
from conflict_log.web import ConflictLogHandler
from tests.log.test_reader import HERE, THERE, story
from tests.log.writing import Log
from tests.logs import allow_log, expect_log
from tests.messages import Request
from tests.serving import serving
from txloop import stmlog

EVIL = '</script><script>alert(1)</script><img src=x onerror="alert(2)">\x1b[0m'


class Guarded(ConflictLogHandler):
    """Asks who it is, as a program would."""

    def prepare(self):
        if self.request.headers.get("Authorization") != "Bearer secret":
            raise HTTPError(401)


def application_of(log: Log):
    """Return what makes an application whose page shows a log."""
    live = {"live": LiveReport(log.data)}
    routes = [("/_txloop/", ConflictLogHandler, live), ("/guarded", Guarded, live)]
    return lambda: Application(routes)


@pytest.fixture
def server():
    with serving("stock", application_of(story(10))) as server:
        yield server


def nonces_of(answer) -> list[str]:
    policy = answer.header("Content-Security-Policy")
    page = answer.body.decode()
    return [
        *re.findall(r"script-src 'nonce-(\S+)'", policy),
        *re.findall(r'<script nonce="(\S+)">', page),
    ]


def test_the_page_shows_the_report_and_runs_its_own_script_only(server):
    answer, again = server.get("/_txloop/"), server.get("/_txloop/")

    assert 200 == answer.status
    assert b"app.py:7" in answer.body
    used, allowed = nonces_of(answer)
    assert used == allowed
    assert used not in nonces_of(again)
    assert 1 == answer.body.count(b"<script")
    assert b"http" not in answer.body


def test_a_part_of_it_is_what_changes(server):
    answer = server.get("/_txloop/?part=report&by=kind")

    assert answer.body.startswith(b'<div class="dim">')
    assert b"write-write" in answer.body
    assert b"<script" not in answer.body


@pytest.mark.parametrize("by", GROUPINGS)
def test_rows_are_grouped_as_asked(server, by):
    answer = server.get(f"/_txloop/?by={by}")

    assert f"What was lost, by {by}</h2>".encode() in answer.body
    assert f"<option selected>{by}</option>".encode() in answer.body


@pytest.mark.parametrize("query", ["by=x%3Cscript%3E", "format=pdf", "by="])
def test_what_makes_no_sense_is_refused(server, query):
    with expect_log("tornado", "^400 GET /_txloop/", count=2):
        answer = server.get(f"/_txloop/?{query}")

    assert 400 == answer.status
    assert b"<script>" not in answer.body


@pytest.mark.parametrize(
    "path", ["/_txloop/", "/_txloop/?by=x", "/guarded", "/_txloop/?format=json"]
)
def test_nobody_else_may_keep_or_frame_any_answer(server, path):
    with allow_log("tornado", "^40[01] GET"):
        answer = server.get(path)

    assert "no-store" == answer.header("Cache-Control")
    assert "same-origin" == answer.header("Cross-Origin-Resource-Policy")
    assert "nosniff" == answer.header("X-Content-Type-Options")
    assert None is answer.header("Etag")
    policy = answer.header("Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "'unsafe-eval'" not in policy


def test_a_program_can_ask_who_it_is(server):
    secret = {"Authorization": "Bearer secret"}

    with expect_log("tornado.access", "^401 GET /guarded"):
        assert 401 == server.get("/guarded").status
    assert 200 == server.get("/guarded", **secret).status


@pytest.mark.parametrize("query", ["", "?part=report", "?by=pair", "?by=cell"])
def test_nothing_in_a_log_becomes_a_tag(query):
    """Not as a file, not as a handler or cell, not as the other side."""
    marker = f'File "{EVIL}", line 3, in {EVIL} [{EVIL[:30]}] {{{EVIL[:30]}}}'
    log = Log().start(0).put(1, 1, 3, marker[:250], f'File "{EVIL}", line 9, in f')
    log.abort(2).start(3).put(4, 1, 3, EVIL[:200], EVIL[:200]).abort(5)

    with serving("stock", application_of(log)) as server:
        page = server.get(f"/_txloop/{query}").body.decode()

    assert "alert(" in page
    assert not re.search(r"<(script>|img|/script>.*alert)", page)
    assert "\x1b" not in page


def test_the_log_itself_can_be_taken_along(server, tmp_path):
    answer = server.get("/_txloop/?format=stm")

    assert story(10).data() == answer.body
    assert 'attachment; filename="stm.log"' == answer.header("Content-Disposition")


def test_so_can_the_report(server):
    assert (
        10 == json.loads(server.get("/_txloop/?format=json").body)["rows"][0]["count"]
    )
    page = server.get("/_txloop/?format=html").body
    assert b"<!DOCTYPE html>" in page
    assert b"app.py:7" in page


def test_before_the_first_event_the_page_says_so():
    with serving("stock", application_of(Log())) as server:
        assert b"Nothing has happened yet" in server.get("/_txloop/").body
        assert 204 == server.get("/_txloop/?format=json").status


def test_many_viewers_at_once(server):
    answers = server.fetch_together([Request("GET", "/_txloop/?part=1", {}, None)] * 20)

    assert [200] * 20 == [one.status for one in answers]
    assert 1 == len({one.body for one in answers})


def test_it_is_off_unless_it_is_mounted(monkeypatch):
    """Importing or defining it records nothing; the first look does."""
    kept = []
    monkeypatch.setattr(stmlog, "keep", lambda **words: kept.append(words))
    monkeypatch.setattr(stmlog, "recent", story(10).data)

    def make_application():
        return Application([("/_txloop/", ConflictLogHandler)])

    with serving("stock", make_application) as server:
        assert [] == kept
        assert b"app.py:7" in server.get("/_txloop/").body
        assert [{"unasked_minutes": 10}] == kept


def test_the_other_side_of_a_conflict_is_named(server):
    assert HERE != THERE
    assert b"against" in server.get("/_txloop/?part=report").body

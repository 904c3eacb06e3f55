"""What a program has put into a `threading.local` at import: handlers find it."""

from __future__ import annotations

import threading

from tornado.web import Application, RequestHandler

from tests.logs import expect_log
from tests.serving import THREADED, pair_of
from txloop import transactional


class Connected(threading.local):
    """Gives each thread what it needs."""

    def __init__(self):
        self.number = 5


local = threading.local()
connected = Connected()
connected.number = 5


def make_application():
    return Application([("/speaking", Speaking), ("/numbered", Numbered)])


@transactional
class Speaking(RequestHandler):
    def get(self):
        self.write(local.language)


@transactional
class Numbered(RequestHandler):
    """Reads what there is in each thread, and what is in none."""

    def get(self):
        try:
            zone = local.zone
        except AttributeError:
            zone = None
        self.write({"number": connected.number, "zone": zone})


def test_what_was_set_for_the_loop_thread_is_found(kind):
    # GIVEN
    local.language = "de"
    held = kind in THREADED
    said = (
        r"GET Speaking runs on the loop thread: .*test_thread_locals\.py:\d+: "
        r"Speaking\.get\(\) reaches .*local\.language; it was set for this thread alone"
    )

    # WHEN
    with (
        expect_log("txloop", said, int(held)),
        pair_of(kind, make_application) as pair,
    ):
        bodies = [pair.same(lambda server: server.get("/speaking").body) for _ in "abc"]
        at_home = pair.server.at_home()

    # THEN
    assert [b"de"] * 3 == bodies
    assert (["GET Speaking"] if held else []) == list(at_home)


def test_what_each_thread_has_holds_nobody(kind):
    vars(local).clear()  # fronts look at all verbs at once
    with pair_of(kind, make_application) as pair:
        body = pair.same(lambda server: server.get("/numbered").body)
        assert pair.server.sent_away()

    assert b'{"number": 5, "zone": null}' == body

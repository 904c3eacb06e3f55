"""What the program keeps on objects of Tornado's classes, or of derived ones."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from tornado.routing import Router
from tornado.tcpserver import TCPServer
from tornado.web import Application, RequestHandler

from txloop.watch.reach import Roots, reach_of


class Handler(RequestHandler):
    def get(self):
        application: Any = self.application
        self.write(str(application.seen) + str(application.rows))


class OwnApplication(Application):
    pass


class OwnRouter(Router):
    pass


class OwnServer(TCPServer):
    pass


THINGS = {
    "an application": Application,
    "an own application": OwnApplication,
    "an own router": OwnRouter,
    "an own server": OwnServer,
}


def reach_by_handler(application):
    """Return what the handler above can reach of what it has as its application."""
    things = (("Handler", Handler), ("application", application))
    return reach_of(Roots("key", things, frozenset(["get"])), {})


@pytest.mark.parametrize("kind", THINGS)
def test_what_the_program_keeps_there_is_under_watch(kind):
    # GIVEN
    thing = THINGS[kind]()
    thing.seen, thing.others = {}, {}

    # WHEN
    found = reach_by_handler(thing)

    # THEN
    watched = [one.object for one in found.things]
    assert any(one is thing.seen for one in watched)
    assert not any(one is thing.others for one in watched), "no code names it"

    # WHEN
    thing.rows = sqlite3.connect(":memory:")
    found = reach_by_handler(thing)

    # THEN
    assert found.held is not None
    assert "application.rows" == found.held.name


def test_what_only_tornado_keeps_there_is_not():
    # GIVEN
    thing: Any = TCPServer()
    thing.seen = {}

    # WHEN
    found = reach_by_handler(thing)

    # THEN
    assert not any(one.object is thing.seen for one in found.things)

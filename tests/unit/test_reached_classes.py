"""What the program keeps on objects of Tornado's classes, or of derived ones."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
from tornado.routing import Router
from tornado.tcpserver import TCPServer
from tornado.web import Application, OutputTransform, RequestHandler

from txloop.watch.places import Roots
from txloop.watch.reach import reach_of
from txloop.web.targets import target_of
from txloop.web.watched import roots_of_verb


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
    watched = [one.thing.object for one in found.watched]
    assert any(one is thing.seen for one in watched)
    assert not any(one is thing.others for one in watched), "no code names it"

    # WHEN
    with closing(sqlite3.connect(":memory:")) as thing.rows:
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
    assert not any(one.thing.object is thing.seen for one in found.watched)


seen_by_transform: list[int] = []


class Transform(OutputTransform):
    def transform_first_chunk(self, status_code, headers, chunk, finishing):
        seen_by_transform.append(status_code)
        return status_code, headers, chunk


def test_what_transforms_of_responses_use_is_under_watch():
    application = Application([("/", Handler)], transforms=[Transform])
    target = target_of(application, Handler, {})

    found = reach_of(roots_of_verb(target, "get"), {})

    assert any(one.thing.object is seen_by_transform for one in found.watched)


def test_a_class_without_a_proper_module_is_one_as_any():
    # GIVEN a class as those of some extension modules
    odd = type("Odd", (), {"__module__": 5})

    # WHEN
    found = reach_by_handler(type("Derived", (odd,), {})())

    # THEN
    assert found.held is None

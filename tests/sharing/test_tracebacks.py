"""Tracebacks in answers are stock Tornado's, where state is shared too."""

from __future__ import annotations

import json
import re

import pytest

from tests.sharing.commanding import program, run
from tests.unchanged.running import Asked, running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

PROGRAM = """\
import sys
import traceback

import tornado.ioloop
import tornado.web

names = ["ann"]
rooms = {"hall": {"seats": 1}}
asked = 0


class Door:
    def __init__(self):
        self.opened = 0
        self.guests = {}

    def open(self, name):
        self.opened += 1
        return self.guests[name]


door = Door()


class Changes(tornado.web.RequestHandler):
    def get(self):
        global asked
        asked += 1
        names.append(str(asked))
        rooms["hall"]["seats"] += 1
        door.guests["ann"] = asked


def fail(how):
    if how == "index":
        return names[99] + "!"
    if how == "key":
        return names[0], rooms["attic"]["seats"]
    if how == "deep":
        return asked + rooms["hall"]["doors"]
    if how == "kind":
        return names["a"]
    if how == "sum":
        return asked + "a"
    if how == "method":
        return door.open("nobody")
    try:
        return names["a"]
    except TypeError:
        return rooms["attic"]


class Fails(tornado.web.RequestHandler):
    def get(self, how):
        self.write(str(fail(how)))


class Tells(tornado.web.RequestHandler):
    def get(self, how):
        try:
            fail(how)
        except Exception as error:
            told = traceback.format_exc(), traceback.format_tb(error.__traceback__)
            last = traceback.extract_tb(error.__traceback__)[-1]
            self.write({"told": told, "last": last.line, "because": str(last.name)})


class Answers(tornado.web.RequestHandler):
    def write_error(self, status_code, **kwargs):
        self.write({"lines": traceback.format_exception(*kwargs["exc_info"])})

    def get(self, how):
        fail(how)


def listen(routes):
    server = tornado.httpserver.HTTPServer(tornado.web.Application(routes, debug=True))
    sockets = tornado.netutil.bind_sockets(int((sys.argv[1:] or [0])[0]), "127.0.0.1")
    server.add_sockets(sockets)
    print("port", sockets[0].getsockname()[1], flush=True)


if __name__ == "__main__":
    listen(
        [
            ("/changes", Changes),
            ("/fails/(.*)", Fails),
            ("/tells/(.*)", Tells),
            ("/answers/(.*)", Answers),
        ]
    )
    tornado.ioloop.IOLoop.current().start()
"""

HOW = ("index", "key", "deep", "kind", "sum", "method", "twice")


@pytest.mark.parametrize("environment", [{}, {"TXLOOP_FAULTS": "away=1"}])
def test_clients_see_the_tracebacks_of_stock_tornado(tmp_path, environment):
    """The second page of an error in debug mode, too."""
    source = tmp_path / "program"
    source.mkdir()
    program(source, PROGRAM)
    paths = [f"/{what}/{how}" for what in ("fails", "tells", "answers") for how in HOW]
    asked = [Asked("GET", path) for path in ("/changes", *paths, "/changes", *paths)]

    with running(source, tmp_path, None, options=()) as stock:
        expected = stock.ask(asked)
    with running(
        source,
        tmp_path,
        "processes",
        environment,
        options=("--auto", "--share", "--workers", "2"),
    ) as shared:
        answers = shared.ask(asked)

    assert [steady(one) for one in expected] == [steady(one) for one in answers]


def steady(answer):
    status, page = answer
    return status, re.sub(r'File \\?"[^"]*"', "File", page)


ON_ONE_LINE = """\
import os
import tornado.ioloop
import tornado.web

asked = 0
read, remove = (lambda: asked), (lambda: os.remove("%d" % asked))


class Reads(tornado.web.RequestHandler):
    def get(self):
        global asked
        asked += 1
        self.write(str(read()))


class Removes(tornado.web.RequestHandler):
    def get(self):
        remove()


app = tornado.web.Application([("/reads", Reads), ("/removes", Removes)])
if __name__ == "__main__":
    app.listen(0, "127.0.0.1")
    tornado.ioloop.IOLoop.current().start()
"""


def test_functions_of_one_line_are_told_apart(tmp_path):
    program(tmp_path, ON_ONE_LINE)

    _, printed, _ = run(tmp_path, "check", "--json", "--auto", "--share", "app.py")
    runs = {one["handler"]: one["runs"] for one in json.loads(printed)["verbs"]}

    assert {"Reads": "in parallel", "Removes": "as in stock Tornado"} == runs

"""The one line that says at the start how a server's verbs run."""

from __future__ import annotations

import re

import pytest

from tests.scripts import run_script

PROGRAM = """\
import asyncio, logging
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler
import txloop

logging.basicConfig(level={level!r}, format="%(message)s")
seen = []

@txloop.transactional
class Marked(RequestHandler):
    def get(self):
        self.write("get")
    def post(self):
        seen.append(1)
    async def put(self):
        self.write("put")

class Other(RequestHandler):
    def get(self):
        self.write("other")

@txloop.transactional
class Room(WebSocketHandler):
    def on_message(self, message):
        self.write_message(message)

class OtherRoom(WebSocketHandler):
    async def on_message(self, message):
        self.write_message(message)

async def main():
    for _ in range(2):
        Application({routes}).listen(0, "127.0.0.1")
    await asyncio.sleep(0)
    await asyncio.sleep(0)

txloop.install({executor!r}, workers=2, fronts=0)
asyncio.run(main())
"""
ROUTES = """\
[("/", Marked), ("/other", Other), ("/room", Room), ("/other-room", OtherRoom)]"""
UNMARKED = '[("/other", Other), ("/other-room", OtherRoom)]'


@pytest.mark.parametrize(
    ("executor", "where"),
    [
        ("processes", "4 run in parallel, 2 on the loop thread"),
        ("serial", "0 run in parallel, 6 on the loop thread"),
    ],
)
def test_it_is_said_once_of_all_servers(executor, where, tmp_path):
    text = PROGRAM.format(level="INFO", executor=executor, routes=ROUTES)

    ended = run_script(tmp_path, text)

    line = (
        rf"^txloop \d\S* serves in process \d+: executor {executor}, workers \d, fronts"
        rf" 0; of the handlers' verbs {where}, 4 as coroutines, 2 are not marked; "
        r"'txloop check' says why$"
    )
    assert 1 == len(re.findall(line, ended.errors, re.MULTILINE)), ended.errors


def test_it_is_said_where_nothing_is_marked(tmp_path):
    text = PROGRAM.format(level="INFO", executor="processes", routes=UNMARKED)

    ended = run_script(tmp_path, text)

    line = (
        r" 0 run in parallel, 0 on the loop thread, 2 as coroutines, 2 are not marked"
    )
    assert 1 == len(re.findall(line, ended.errors)), ended.errors


def test_where_it_is_not_logged_nothing_is_said(tmp_path):
    text = PROGRAM.format(level="WARNING", executor="processes", routes=ROUTES)

    ended = run_script(tmp_path, text)

    assert "serves in process" not in ended.errors


COUNTING = """\
from txloop.scan.source import Sources
looks, refresh = [], Sources.refresh
def counted(self):
    looks.append(self)
    refresh(self)
Sources.refresh = counted
"""


def test_the_program_is_looked_at_once_for_all_verbs(tmp_path):
    text = PROGRAM.format(level="INFO", executor="processes", routes=ROUTES)

    ended = run_script(tmp_path, f"{COUNTING}{text}print(len(looks), 'looks')\n")

    assert "1 looks" in ended.output, ended

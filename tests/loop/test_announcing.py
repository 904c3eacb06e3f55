"""The one line that says at the start how a server's verbs run."""

from __future__ import annotations

import re

import pytest

from tests.scripts import run_script

PROGRAM = """\
import asyncio, logging
from tornado.web import Application, RequestHandler
import txloop

logging.basicConfig(level={level!r}, format="%(message)s")
seen = []

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

async def main():
    for _ in range(2):
        Application([("/", Marked), ("/other", Other)]).listen(0, "127.0.0.1")
    await asyncio.sleep(0)
    await asyncio.sleep(0)

{mark}
txloop.install({executor!r}, workers=2, fronts=0)
asyncio.run(main())
"""
MARK = "txloop.transactional(Marked)"


@pytest.mark.parametrize(
    ("executor", "where"),
    [
        ("processes", "2 run in parallel, 2 on the loop thread"),
        ("serial", "0 run in parallel, 4 on the loop thread"),
    ],
)
def test_it_is_said_once_of_all_servers(executor, where, tmp_path):
    text = PROGRAM.format(level="INFO", mark=MARK, executor=executor)

    ended = run_script(tmp_path, text)

    line = (
        rf"^txloop \d\S* serves in process \d+: executor {executor}, workers \d, fronts"
        rf" 0; of the handlers' verbs {where}, 2 as coroutines, 2 are not marked; "
        r"'txloop check' says why$"
    )
    assert 1 == len(re.findall(line, ended.errors, re.MULTILINE)), ended.errors


@pytest.mark.parametrize(("level", "mark"), [("INFO", ""), ("WARNING", MARK)])
def test_without_marks_or_readers_nothing_is_said(level, mark, tmp_path):
    text = PROGRAM.format(level=level, mark=mark, executor="processes")

    ended = run_script(tmp_path, text)

    assert "serves in process" not in ended.errors

"""A program that keeps its votes in a file, unchanged under ``python -m txloop``."""

from __future__ import annotations

import os
import re
import sys

import pytest

from tests import warm
from tests.serving import THREADS

pytestmark = pytest.mark.slow

PROGRAM = """
import asyncio, json
import tornado.httpserver, tornado.testing, tornado.web
from tornado.httpclient import AsyncHTTPClient

class Vote(tornado.web.RequestHandler):
    def get(self):
        name = self.get_argument("name")
        f = open("votes.json")
        text = f.read()
        f.close()
        votes = json.loads(text)
        votes[name] = votes.get(name, 0) + 1
        f = open("votes.json", "w")
        f.write(json.dumps(votes))
        f.close()
        self.write(str(sum(votes.values())))

class Total(tornado.web.RequestHandler):
    def get(self):
        with open("votes.json") as f:
            votes = json.load(f)
        self.write(str(sum(votes.values())))

async def main():
    application = tornado.web.Application([("/vote", Vote), ("/total", Total)])
    socket, port = tornado.testing.bind_unused_port()
    tornado.httpserver.HTTPServer(application).add_socket(socket)
    client = AsyncHTTPClient(force_instance=True, max_clients=100)
    url = f"http://127.0.0.1:{port}/"
    paths = []
    for number in range(200):
        paths += [f"vote?name={number % 3}", "total"]
    answers = await asyncio.gather(*[client.fetch(url + path) for path in paths])
    print(sorted(int(one.body) for one in answers[::2]) == list(range(1, 201)))
    print(len([one for one in answers[1::2] if 0 <= int(one.body) <= 200]))

with open("votes.json", "w") as f:
    f.write("{}")
asyncio.run(main())
"""

LINE = PROGRAM.splitlines().index('        f = open("votes.json", "w")') + 1


@pytest.mark.parametrize("faults", ["", "away=1"])
@pytest.mark.parametrize("executor", ["stock", "processes", *(["threads"] * THREADS)])
def test_each_vote_counts_and_no_total_is_half_written(executor, faults, tmp_path):
    # GIVEN
    (tmp_path / "app.py").write_text(PROGRAM)
    options = ["-m", "txloop", "--transactional=*", f"--executor={executor}"]
    command = [sys.executable, *(options if executor != "stock" else []), "app.py"]

    # WHEN
    done = warm.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "TXLOOP_FAULTS": faults},
        capture_output=True,
        text=True,
        timeout=60,
    )

    # THEN
    assert (0, "True\n200\n") == (done.returncode, done.stdout), done.stderr
    stops = re.findall(r"GET (\w+) runs on the loop thread: (.*?);", done.stderr)
    if executor == "stock":
        assert "" == done.stderr
    else:
        assert ("Vote", f"app.py:{LINE}: Vote.get() writes votes.json") in stops
        assert len(stops) == len(dict(stops))  # one line for each

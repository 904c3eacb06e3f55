"""examples/chat.py: many sockets, many who speak, and processes that die meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import urllib.parse

import pytest
from tornado.websocket import websocket_connect

from tests.examples import running_example
from tests.flags import until
from tests.messages import Request, read_answer
from tests.processes import descendants, gone
from tests.serving import FRONTS

pytestmark = pytest.mark.slow

SOCKETS = 200
POSTS = 50 * 3  # three seconds of them
INTERVAL_SECONDS = 1 / 50
KILL_EVERY = 30  # posts

PLACES = {
    "workers": {"TXLOOP_FRONTS": "0", "TXLOOP_FAULTS": "away=1"},
    **(
        {"fronts": {"TXLOOP_FRONTS": "2", "TXLOOP_FAULTS": "fronts=1"}}
        if FRONTS
        else {}
    ),
}
"""Where processes die, however many threads there might be."""


class Hearer:
    """A WebSocket, and what came over it."""

    def __init__(self, url):
        self.lines: list[dict[str, object]] = []
        self._url = url

    async def listen(self):
        self.socket = await websocket_connect(self._url)
        self.task = asyncio.ensure_future(self._hear())

    async def _hear(self):
        while (message := await self.socket.read_message()) is not None:
            self.lines.append(json.loads(message))

    async def end(self):
        self.socket.close()
        await self.task


async def post(host, port, name, text):
    """Say something; return its number, None if the connection was lost."""
    body = urllib.parse.urlencode({"name": name, "text": text}).encode()
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    with contextlib.suppress(OSError, asyncio.IncompleteReadError):
        reader, writer = await asyncio.open_connection(host, port)
        try:
            writer.write(Request("POST", "/say", kind, body).encoded())
            answer = await read_answer(reader, "POST")
        finally:
            writer.close()
        assert answer.status == 200, answer
        return json.loads(answer.body)["number"]
    return None


def kill_some(owner):
    """Kill every other process in which requests run; return which."""
    helpers = descendants(owner)
    # One has forked them all, and runs none.
    leaves = [one for one in helpers if not descendants(one) and not gone(one)]
    running = sorted(leaves)[::2]
    for pid in running:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return running


async def talk(owner, host, port):
    """Post while processes die; return numbers by text, the hearers and the dead."""
    url = f"ws://{host}:{port}/listen?name=hearer"
    hearers = [Hearer(url) for _ in range(SOCKETS)]
    for hearer in hearers:
        await hearer.listen()
    posts, killed = {}, set()
    for number in range(POSTS):
        text = f"line {number}"
        posts[text] = asyncio.ensure_future(post(host, port, "poster", text))
        if number % KILL_EVERY == KILL_EVERY // 2:
            killed.update(kill_some(owner))
        await asyncio.sleep(INTERVAL_SECONDS)
    answered = {text: await one for text, one in posts.items()}
    await hearers[0].socket.write_message("the end")
    await until(lambda: all(one.lines[-1:] and _ends(one) for one in hearers))
    for hearer in hearers:
        await hearer.end()
    return answered, [hearer.lines for hearer in hearers], killed


def _ends(hearer):
    return hearer.lines[-1]["text"] == "the end"


@pytest.mark.timeout(90)
@pytest.mark.parametrize("place", PLACES)
def test_each_hears_each_line_once_in_the_order_of_commits(place):
    # WHEN
    with running_example(
        "chat.py", "2", TXLOOP_EXECUTOR="processes", **PLACES[place]
    ) as (process, line):
        found = re.search(r"http://(\S+):(\d+)", line)
        assert found, line
        host, port = found[1], int(found[2])
        answered, heard, killed = asyncio.run(talk(process.pid, host, port))
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)

    # THEN
    numbers = [line["number"] for line in heard[0]]
    texts = {line["text"]: line["number"] for line in heard[0]}
    assert [*range(1, len(numbers) + 1)] == numbers
    assert len(texts) == len(numbers)
    assert all(lines == heard[0] for lines in heard)
    told = {text: number for text, number in answered.items() if number is not None}
    assert told.items() <= texts.items()
    assert len(told) >= POSTS * 0.9
    assert killed
    assert ("front" in errors) == (place == "fronts")
    assert "Traceback" not in errors

"""examples/chat.py: many sockets, many who speak, and processes that die meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import threading
import time
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
    """Say something; return its number, or its times if it was not answered."""
    began = time.monotonic()
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
    return began, time.monotonic()


def kill_some(owner):
    """Kill every other process in which requests run; return when, and which."""
    helpers = descendants(owner)
    # One has forked them all, and runs none.
    leaves = [one for one in helpers if not descendants(one) and not gone(one)]
    running = sorted(leaves)[::2]
    at = time.monotonic()
    for pid in running:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return at, set(running)


async def talk(owner, host, port):
    """Post while processes die; return answers by text, what was heard, and kills."""
    url = f"ws://{host}:{port}/listen?name=hearer"
    hearers = [Hearer(url) for _ in range(SOCKETS)]
    for hearer in hearers:
        await hearer.listen()
    posts, kills = {}, []
    for number in range(POSTS):
        text = f"line {number}"
        posts[text] = asyncio.ensure_future(post(host, port, "poster", text))
        if number % KILL_EVERY == KILL_EVERY // 2:
            kills.append(kill_some(owner))
        await asyncio.sleep(INTERVAL_SECONDS)
    answered = {text: await one for text, one in posts.items()}
    await hearers[0].socket.write_message("the end")
    await until(lambda: all(one.lines[-1:] and _ends(one) for one in hearers))
    for hearer in hearers:
        await hearer.end()
    return answered, [hearer.lines for hearer in hearers], kills


class Log(threading.Thread):
    """What a process writes to stderr, and when it was read."""

    def __init__(self, stream):
        super().__init__(daemon=True)
        self.lines: list[tuple[float, str]] = []
        self._stream = stream

    def run(self):
        for line in self._stream:
            self.lines.append((time.monotonic(), line))

    def deaths(self):
        """Return when it was told of each death, by process."""
        found = (
            (at, re.match(r"(?:front|worker) (\d+) died", line))
            for at, line in self.lines
        )
        return {int(match[1]): at for at, match in found if match}


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
        log = Log(process.stderr)
        log.start()
        answered, heard, kills = asyncio.run(talk(process.pid, host, port))
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)
        log.join(timeout=30)

    # THEN
    numbers = [line["number"] for line in heard[0]]
    texts = {line["text"]: line["number"] for line in heard[0]}
    assert [*range(1, len(numbers) + 1)] == numbers
    assert len(texts) == len(numbers)
    assert all(lines == heard[0] for lines in heard)
    told = {text: one for text, one in answered.items() if isinstance(one, int)}
    assert told.items() <= texts.items()
    assert told
    # What a process had when it was killed, or was given before that was seen, is lost.
    lost = [one for one in answered.values() if not isinstance(one, int)]
    seen = log.deaths()
    spans = [
        (at, max([at, *(seen.get(pid, at) for pid in pids)])) for at, pids in kills
    ]
    assert all(
        any(began <= told_at and at <= ended for at, told_at in spans)
        for began, ended in lost
    )
    assert place == "fronts" or not lost
    errors = "".join(line for _, line in log.lines)
    assert ("front" in errors) == (place == "fronts")
    assert "Traceback" not in errors

"""The loop thread helps workers with calls of medium length, and answers come first."""

from __future__ import annotations

import asyncio
import socket

import txloop
from tests.executors import ScriptedExecutor, register_all
from tests.serving import loop_of
from txloop import atomically


def test_what_is_ready_is_seen_to_before_it_helps(monkeypatch):
    # GIVEN an answer that comes while calls are sent
    seen: list[str] = []
    here, there = socket.socketpair()
    send = ScriptedExecutor.run

    def run(self, batch):
        send(self, batch)
        there.send(b"an answer")

    def take_back(self):
        seen.append("help")
        return self.waiting.pop(max(self.waiting)).number

    def read():
        here.recv(100)
        seen.append("an answer")

    async def main():
        loop.asyncio_loop.add_reader(here, read)
        futures = [atomically(int) for _ in range(5)]
        for _ in range(20):
            await asyncio.sleep(0)
        loop.asyncio_loop.remove_reader(here)
        loop.dispatcher.executor.run_all()  # type: ignore[attr-defined] # it is ours
        results = [await one for one in futures]
        return results, txloop.stats().inline

    register_all()
    monkeypatch.setattr(ScriptedExecutor, "run", run)
    monkeypatch.setattr(ScriptedExecutor, "take_back", take_back)

    # WHEN
    with here, there:
        loop = loop_of("scripted")
        results, inline = loop.run_sync(main)
        loop.close()

    # THEN
    assert ["an answer", "help"] == seen[:2]
    assert [0] * 5 == results
    queued = 5 - ScriptedExecutor().workers
    assert (queued, queued) == (inline, seen.count("help"))

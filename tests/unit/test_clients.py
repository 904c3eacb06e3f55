"""A stream whose client shuts down its side right after a request."""

from __future__ import annotations

import asyncio
import socket

import pytest
from tornado.iostream import IOStream, StreamClosedError

from txloop.web.clients import keep_open_always


async def ends_after_request(keep):
    """Return what a server's stream is then: before the answer, and after it."""
    ours, client = socket.socketpair()
    with client:
        stream = IOStream(ours)
        if keep:
            keep_open_always(stream)
        request = stream.read_until(b"\r\n\r\n")  # so that it listens
        client.sendall(b"GET / HTTP/1.1\r\n\r\n")
        await request
        client.shutdown(socket.SHUT_WR)
        for _ in range(10):
            await asyncio.sleep(0)
        if stream.closed():
            return "closed"
        await stream.write(b"answer")
        with pytest.raises(StreamClosedError):
            await stream.read_until(b"\r\n\r\n")
        return client.recv(100)


def test_it_stays_open_for_the_answer_in_a_front():
    found = [asyncio.run(ends_after_request(keep)) for keep in (False, True)]

    assert ["closed", b"answer"] == found


def test_a_loop_does_not_ask_for_the_end_again_and_again(monkeypatch):
    reads = []
    read = IOStream.read_from_fd

    def count_reads(self, buffer):
        reads.append(1)
        return read(self, buffer)

    monkeypatch.setattr(IOStream, "read_from_fd", count_reads)

    assert b"answer" == asyncio.run(ends_after_request(keep=True))
    assert len(reads) <= 5

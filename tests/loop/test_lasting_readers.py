"""Descriptors that a loop is told to leave alone, and then to read again."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import socket

import pytest
from tornado.ioloop import IOLoop
from tornado.iostream import IOStream
from tornado.platform.asyncio import AsyncIOLoop

from txloop import TransactionIOLoop
from txloop.loop.descriptors import LastingLoop

READ, ERROR = IOLoop.READ, IOLoop.ERROR


class Stream(IOStream):
    """Has the loop read a socket, and does what it is told when something is there."""

    def __init__(self, loop, one, handle):
        self.handle = handle
        loop.add_handler(one, self.handle_events, READ)

    def handle_events(self, one, events):
        self.handle(one, events)


class Reading:
    """One end of a pair of sockets that a loop reads, as it does those of streams."""

    def __init__(self, loop):
        self.loop, self.found = loop, []
        self.socket, self.other = socket.socketpair()
        self.stream = Stream(loop, self.socket, self.read)

    def read(self, one, events):
        assert READ == events
        self.found.append(one.recv(10))

    def turn(self):
        """Let the loop handle all that there is."""
        for _ in range(3):
            self.loop.asyncio_loop.run_until_complete(asyncio.sleep(0))

    def sent(self, data):
        """Return what is found when this is sent."""
        self.found.clear()
        self.other.send(data)
        self.turn()
        return self.found

    def listen(self, events):
        self.loop.update_handler(self.socket, events)

    def close(self):
        self.socket.close()
        self.other.close()


@contextlib.contextmanager
def reading(kind):
    options = {"executor": "serial"} if kind is TransactionIOLoop else {}
    loop = kind(make_current=False, **options)
    one = Reading(loop)
    try:
        yield one
    finally:
        one.close()
        loop.close()


@pytest.fixture(params=[AsyncIOLoop, LastingLoop, TransactionIOLoop])
def one(request):
    with reading(request.param) as one:
        yield one


def test_what_is_asked_for_again_is_read(one):
    for data in (b"1", b"2"):
        one.listen(ERROR)
        one.listen(READ)

        assert [data] == one.sent(data)


def test_what_is_left_alone_is_not_read_before_it_is_asked_for(one):
    for data in (b"1", b"2"):
        one.listen(ERROR)
        assert [] == one.sent(data)

        one.listen(READ)
        one.turn()
        assert [data] == one.found


def test_what_is_left_alone_may_be_written(one):
    one.listen(ERROR)
    written = []

    def write(found, events):
        assert IOLoop.WRITE == events
        written.append(found.send(b"ours"))
        one.listen(READ)

    one.stream.handle = write
    one.listen(IOLoop.WRITE)
    one.turn()

    assert [4] == written
    assert b"ours" == one.other.recv(10)


def test_a_descriptor_that_is_removed_may_come_again(one):
    one.listen(ERROR)
    one.loop.remove_handler(one.socket)
    number = one.socket.fileno()
    one.close()
    again, fresh = Reading(one.loop), [socket.socketpair() for _ in range(2)]
    try:
        assert number in [each.fileno() for each in (again.socket, again.other)]
        assert [b"1"] == again.sent(b"1")
    finally:
        one.loop.remove_handler(again.socket)
        again.close()
        for pair in fresh:
            for each in pair:
                each.close()


@pytest.mark.parametrize("kind", [LastingLoop, TransactionIOLoop])
def test_nothing_is_registered_anew_while_nothing_comes(kind, monkeypatch):
    with reading(kind) as one:
        asked = []
        asyncio_loop = one.loop.asyncio_loop

        def note(name, method, *args):
            asked.append(name)
            return method(*args)

        for name in ("add_reader", "remove_reader"):
            method = getattr(asyncio_loop, name)
            noted = functools.partial(note, name, method)
            monkeypatch.setattr(asyncio_loop, name, noted)

        # GIVEN nothing comes
        for _ in range(3):
            one.listen(ERROR)
            one.turn()
            one.listen(READ)
        assert [b"1"] == one.sent(b"1")
        assert [] == asked

        # WHEN something comes that is not wanted
        one.listen(ERROR)
        assert [] == one.sent(b"2")
        one.turn()

        # THEN it is taken out once, and comes back
        assert ["remove_reader"] == asked
        one.listen(READ)
        one.turn()
        assert [b"2"] == one.found
        assert ["remove_reader", "add_reader"] == asked

"""The socket between the owner and a front: frames and descriptors, to the end."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from typing import Any

import pytest

from txloop.executors.fronts.link import Link


@pytest.fixture
def ends():
    """Two ends of a connection."""
    first, second = socket.socketpair()
    yield first, second
    first.close()
    second.close()


def test_what_was_sent_before_the_end_arrives(ends):
    # GIVEN
    sender, receiver = map(Link, ends)
    sender.send(("first",))
    sender.send(("second",), os.open(os.devnull, os.O_RDONLY))

    # WHEN
    sender.close()
    arrived = list(receiver.receive())

    # THEN
    (first, no_descriptor), (second, descriptor) = arrived
    assert (("first",), None, ("second",)) == (first, no_descriptor, second)
    assert descriptor is not None
    os.close(descriptor)
    with pytest.raises(EOFError):
        list(receiver.receive())


def test_so_it_does_when_the_other_end_has_not_read_all(ends):
    # GIVEN an end that is closed while something has come for it: a reset
    sender, receiver = map(Link, ends)
    sender.send(("first",))
    receiver.send(("unread",))

    # WHEN
    sender.close()

    # THEN
    assert [(("first",), None)] == list(receiver.receive())
    with pytest.raises((EOFError, ConnectionResetError)):
        list(receiver.receive())


def test_what_cannot_be_sent_any_more_is_given_back(ends):
    # GIVEN
    sender, receiver = map(Link, ends)
    receiver.close()
    descriptor = os.open(os.devnull, os.O_RDONLY)

    # WHEN
    sender.send(("first",))
    sender.send(("second",), descriptor)

    # THEN
    assert [descriptor] == sender.take_unsent()
    sender.close()
    os.close(descriptor)  # it was not closed


def test_what_was_not_read_is_found_behind_a_frame_that_was_read_in_part(ends):
    # GIVEN
    sender, receiver = map(Link, ends)
    read, written = os.pipe()
    sender.send(("first", b"x" * 10_000))
    ends[1].recv(100)

    # WHEN
    sender.send(("second",), written)
    sender.send(("third",))
    (found,) = receiver.take_unread()

    # THEN
    os.write(found, b"it")
    assert b"it" == os.read(read, 9)
    for one in (sender, receiver):
        one.close()
    os.close(found)
    os.close(read)


class Crowded(socket.socket):
    """One on which too many descriptors are on their way, at first."""

    refusals = 2

    def sendmsg(self, *parts):
        """Send, or refuse to."""
        if self.refusals:
            self.refusals -= 1
            raise OSError(errno.ETOOMANYREFS, os.strerror(errno.ETOOMANYREFS))
        return super().sendmsg(*parts)


def test_too_many_descriptors_on_their_way_are_no_end(ends):
    async def main():
        # GIVEN
        crowded = Crowded(fileno=ends[0].detach())
        sender, receiver = Link(crowded), Link(ends[1])
        sender.attach(asyncio.get_running_loop(), lambda: None)

        # WHEN
        sender.send(("first",), os.open(os.devnull, os.O_RDONLY))
        sender.send(("second",))
        found: list[tuple[tuple[Any, ...], int | None]] = []
        while len(found) < 2:
            await asyncio.sleep(0)
            found += receiver.receive()
        sender.close()

        # THEN
        assert ["first", "second"] == [parts[0] for parts, _ in found]
        assert found[0][1] is not None
        os.close(found[0][1])
        assert 0 == crowded.refusals
        assert 0 == sender.unsent_bytes

    asyncio.run(main())

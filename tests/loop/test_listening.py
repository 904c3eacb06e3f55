"""Listening sockets that are given up: whom they still take, and who gets the rest."""

from __future__ import annotations

import asyncio
import socket

import pytest

from txloop.loop.closing import accept_and_close, turn_newcomers_away

BEFORE, AFTER = 20, 60


class Doorkeeper:
    """A loop that watches one listening socket."""

    def __init__(self, listening):
        self.accepted = []
        self.handlers = {listening.fileno(): (listening, self.accept)}

    def accept(self, listening, events):
        """Accept one connection."""
        self.accepted.append(listening.accept()[0])

    def remove_handler(self, fd):
        """Watch it no more."""
        del self.handlers[fd]

    def close(self):
        """Close what was accepted."""
        for connection in self.accepted:
            connection.close()


def listen(port=0, *, reuse_port=True):
    listening = socket.socket()
    listening.setblocking(False)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, reuse_port)
    listening.bind(("127.0.0.1", port))
    listening.listen(1000)
    return listening


def connect(port, count):
    """Begin to connect, without waiting for it."""
    clients = [socket.socket() for _ in range(count)]
    for client in clients:
        client.setblocking(False)
        client.connect_ex(("127.0.0.1", port))
    return clients


async def hear(clients):
    """Return what each client hears, at the latest when its SYN is sent again."""
    loop = asyncio.get_running_loop()

    async def one(client):
        writable = asyncio.Event()
        loop.add_writer(client, writable.set)
        await writable.wait()
        loop.remove_writer(client)
        return (await loop.sock_recv(client, 10)).decode()

    async with asyncio.timeout(10):
        return await asyncio.gather(*map(one, clients))


@pytest.mark.slow
def test_newcomers_go_to_the_successor_and_nobody_is_reset():
    # GIVEN a process with a queue, and its successor on the same port
    old = listen()
    port = old.getsockname()[1]
    keeper = Doorkeeper(old)
    first = connect(port, BEFORE)
    new = listen(port)

    # WHEN
    turned_away = turn_newcomers_away(keeper)
    later = connect(port, AFTER)
    accept_and_close(keeper)
    for connection in keeper.accepted:
        connection.sendall(b"old")

    async def greet(reader, writer):
        writer.write(b"new")
        writer.close()

    async def serve():
        server = await asyncio.start_server(greet, sock=new)
        heard = await hear(first), await hear(later)
        server.close()
        return heard

    heard_first, heard_later = asyncio.run(serve())

    # THEN
    assert turned_away
    assert ["old"] * BEFORE == heard_first
    assert ["new"] * AFTER == heard_later
    for client in (*first, *later):
        client.close()
    keeper.close()


def test_a_port_that_nobody_can_share_is_closed_at_once():
    old = listen(reuse_port=False)
    keeper = Doorkeeper(old)
    clients = connect(old.getsockname()[1], BEFORE)

    turned_away = turn_newcomers_away(keeper)
    accept_and_close(keeper)

    assert not turned_away
    assert BEFORE == len(keeper.accepted)
    assert ({}, -1) == (keeper.handlers, old.fileno())
    for client in clients:
        client.close()
    keeper.close()


def test_a_full_table_of_files_does_not_keep_the_socket_open(monkeypatch):
    old = listen()
    keeper = Doorkeeper(old)
    clients = connect(old.getsockname()[1], 3)

    def fail(listening, events):
        raise OSError(24, "Too many open files")

    keeper.handlers = {old.fileno(): (old, fail)}
    accept_and_close(keeper)

    assert ({}, -1) == (keeper.handlers, old.fileno())
    for client in clients:
        client.close()

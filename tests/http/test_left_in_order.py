"""Requests that one client sends in one go, and leaves: they commit in their order."""

from __future__ import annotations

import struct
from pathlib import Path
from socket import SO_LINGER, SOL_SOCKET

import pytest
from tornado.web import Application, RequestHandler

import txloop
from tests.engine import Gate
from tests.flags import until
from tests.messages import Request
from tests.serving import serving

committed: list[str] = []


def note(number):
    """Be an effect that tells the order of commits."""
    committed.append(number)


@txloop.transactional
class Note(RequestHandler):
    def get(self):
        folder, number = (self.get_query_argument(name) for name in ("folder", "n"))
        Gate(Path(folder) / f"started-{number}").open()
        if number in self.get_query_argument("held"):
            Gate(Path(folder) / f"gate-{number}").wait()
        txloop.on_commit(note, number)


def make_application():
    return Application([("/", Note)])


@pytest.mark.slow
def test_what_a_client_has_sent_that_has_left_commits_in_its_order(tmp_path):
    # GIVEN
    committed.clear()

    def request(number):
        return Request("GET", f"/?folder={tmp_path}&n={number}&held=0")

    async def send_and_leave(server):
        async with server.connection() as (_, writer):
            its_socket = writer.get_extra_info("socket")
            its_socket.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
            writer.write(request(0).encoded())
            await until((tmp_path / "started-0").exists)
            # The loop reads the others when it finds that the connection is closed.
            writer.write(b"".join(request(number).encoded() for number in (1, 2, 3)))

    # WHEN
    with serving("processes", make_application) as server:
        server.run(lambda: send_and_leave(server))
        server.run(lambda: until((tmp_path / "started-3").exists))
        server.fetch_together([request(9)])  # what could overtake has done so
        Gate(tmp_path / "gate-0").open()
        server.run(lambda: until(lambda: len(committed) == 5))

    # THEN
    assert ["0", "1", "2", "3"] == [number for number in committed if number != "9"]

"""Fronts serve what the owner's servers accept, however and whenever these listen."""

from __future__ import annotations

import socket

import pytest

from tests.fronts.serving import served

pytestmark = pytest.mark.slow

TELLS_ADDRESS = """
@transactional
class Address(Tells):
    def get(self):
        self.write(f"{self.request.remote_ip} {self.request.protocol}")

class Unmarked(Tells):
    def get(self):
        self.write(f"{self.request.remote_ip} {self.request.protocol}")

handlers += [("/address", Address), ("/unmarked", Unmarked)]
"""

WARM = ("GET", "/address", b"")


def test_a_unix_socket(tmp_path):
    with served(tmp_path, TELLS_ADDRESS, UNIX="1") as program:
        program.warm(WARM)
        client, _ = program.on_front()

        # WHEN
        marked, unmarked = program.in_front(client, "/address"), client.ask("/unmarked")

        # THEN
        assert b"0.0.0.0 http" == marked.body == unmarked.body
        assert program.owner == unmarked.pid


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as one:
            one.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="there is no ::1 here")
def test_ipv6(tmp_path):
    with served(tmp_path, TELLS_ADDRESS, HOST="::1", warm=False) as program:
        program.warm(WARM)
        client, _ = program.on_front()

        # WHEN
        marked, unmarked = program.in_front(client, "/address"), client.ask("/unmarked")

        # THEN
        assert b"::1 http" == marked.body
        assert (b"::1 http", program.owner) == (unmarked.body, unmarked.pid)


def test_what_a_proxy_says(tmp_path):
    with served(tmp_path, TELLS_ADDRESS + 'options["xheaders"] = True\n') as program:
        program.warm(WARM)
        client, _ = program.on_front()
        proxied = ("X-Real-Ip: 10.9.8.7", "X-Forwarded-Proto: https")

        # WHEN
        answers = [
            program.in_front(client, "/address", *proxied),
            program.in_front(client, "/address"),
            client.ask("/unmarked", *proxied),
            client.ask("/unmarked"),
        ]

        # THEN
        said, unsaid = b"10.9.8.7 https", b"127.0.0.1 http"
        assert [said, unsaid, said, unsaid] == [one.body for one in answers]
        assert program.owner == answers[2].pid


LISTENS = """
class Listens(RequestHandler):
    def get(self):
        sockets = bind_sockets(0, "127.0.0.1")
        old = self.get_argument("old") == "1"
        server = Listens.servers[0] if old else HTTPServer(self.application)
        server.add_sockets(sockets)
        Listens.servers.append(server)
        self.write(f"{sockets[0].getsockname()[1]}")

class Stops(Tells):
    def get(self):
        Listens.servers[0].stop()
        self.write("stopped")

Listens.servers = []
add_sockets = HTTPServer.add_sockets

def noting(self, sockets):
    Listens.servers.append(self)
    add_sockets(self, sockets)

HTTPServer.add_sockets = noting
handlers += [("/listens", Listens), ("/stops", Stops)]
"""


@pytest.mark.parametrize("old", ["1", "0"])
def test_sockets_that_are_added_later(tmp_path, old):
    with served(tmp_path, LISTENS) as program:
        client, _ = program.on_front()

        # WHEN
        program.running.port = int(client.text(f"/listens?old={old}"))

        # THEN the same server's connections go to fronts, a new one's are served
        client = program.connect()
        if old == "1":
            program.in_front(client, "/pid")
        else:
            assert not any(program.is_front(client.pid()) for _ in range(10))


def test_a_server_that_stops_refuses_new_connections_and_serves_the_old(tmp_path):
    with served(tmp_path, LISTENS) as program:
        client, _ = program.on_front()

        # WHEN
        program.ask("/stops")

        # THEN
        with pytest.raises(ConnectionRefusedError):
            program.connect()
        program.in_front(client, "/pid")
        assert client.ask("/owner").pid == program.owner
        program.in_front(client, "/pid")

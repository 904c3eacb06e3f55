"""What a front must not serve goes to the owner, and is answered as in Tornado."""

from __future__ import annotations

import gzip
import re
import socket
from contextlib import ExitStack

import pytest

from tests.fronts.serving import request, served, until

pytestmark = pytest.mark.slow

HANDLERS = """
@transactional
class Echo(Tells):
    def get(self):
        self.write(f"{self.request.version} {self.request.headers.get('X-Real-Ip')}")

    def head(self):
        self.set_header("Told", "yes")

    def post(self):
        body = self.request.body
        self.write(f"{len(body)} {hash_of(body)} {self.get_arguments('a')}")

class Unmarked(Tells):
    def get(self):
        self.write("unmarked")

    def post(self):
        body = self.request.body
        self.write(f"{len(body)} {hash_of(body)}")

@stream_request_body
class Streamed(Tells):
    def prepare(self):
        self.parts = []

    def data_received(self, chunk):
        self.parts.append(chunk)

    def post(self):
        body = b"".join(self.parts)
        self.write(f"streamed {len(body)} {hash_of(body)}")

class Socket(WebSocketHandler):
    def on_message(self, message):
        self.write_message(f"{threading.get_native_id()} {message}")

class Detached(RequestHandler):
    def get(self):
        stream = self.detach()
        stream.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 4\\r\\n\\r\\nheld")

def keep(name, body):
    with open(name, "ab") as file:
        file.write(body + b"\\n")

class Note(Tells):
    def post(self):
        keep("notesnote", self.request.body)

@transactional
class MarkedNote(Tells):
    def post(self):
        noted["last"] = self.request.body
        on_commit(keep, "notesmarked-note", self.request.body)

noted = TDict()

def hash_of(body):
    import zlib
    return zlib.crc32(body)

handlers += [
    ("/echo", Echo), ("/unmarked", Unmarked), ("/streamed", Streamed),
    ("/socket", Socket), ("/detached", Detached),
    ("/note", Note), ("/marked-note", MarkedNote),
]
options["decompress_request"] = True
options["max_body_size"] = 8_000_000
"""

LONG = bytes(range(256)) * 12_000  # 3 MB
CHUNKED = b"5\r\nhello\r\n3\r\n you"[:-1] + b"!\r\n0\r\n\r\n"
ZIPPED = gzip.compress(b"a=zipped", mtime=0)
FORM = "Content-Type: application/x-www-form-urlencoded"

REQUESTS = {
    "unmarked": request("/unmarked"),
    "unmarked with a body": request("/unmarked", method="POST", body=b"a" * 100),
    "unmarked with a long body": request("/unmarked", method="POST", body=LONG),
    "404": request("/nothing"),
    "404 with a body": request("/nothing", method="POST", body=b"a=1"),
    "405": request("/echo", method="DELETE"),
    "streamed": request("/streamed", method="POST", body=b"b" * 100_000),
    "chunked": request("/echo", "Transfer-Encoding: chunked", method="PUT").replace(
        b"PUT", b"POST"
    )
    + CHUNKED,
    "gzip": request(
        "/echo", "Content-Encoding: gzip", FORM, method="POST", body=ZIPPED
    ),
    "long body": request("/echo", method="POST", body=LONG),
    "form": request("/echo", FORM, method="POST", body=b"a=1&a=2"),
    "head": request("/echo", method="HEAD"),
    "upgrade": request("/echo", "Connection: Upgrade", "Upgrade: h2c"),
    "no such version": request("/echo").replace(b"HTTP/1.1", b"HTTP/3.7"),
    "options": request("*", method="OPTIONS"),
    "absolute": request("http://here/echo"),
    "empty header": request("/echo", "Empty:"),
    "leading lines": b"\r\n\r\n" + request("/echo"),
    "bad length": request("/echo", "Content-Length: 1x", method="PUT"),
    "two lengths": request("/echo", "Content-Length: 1", "Content-Length: 2"),
    "both lengths": request("/echo", "Content-Length: 1", "Transfer-Encoding: chunked"),
    "garbage": b"garbage\r\n\r\n",
    "too long": request("/echo", "Content-Length: 9000000"),
    "too long head": request("/echo", "Long: " + "x" * 70_000),
}
LAST = {
    "1.0": request("/echo").replace(b"HTTP/1.1", b"HTTP/1.0"),
    "close": request("/echo", "Connection: close"),
    "unmarked, 1.0": request("/unmarked").replace(b"HTTP/1.1", b"HTTP/1.0"),
    "unmarked, close": request("/unmarked", "Connection: close"),
}
CLOSES = request("/unmarked", "Connection: close")


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Serve with two fronts, and by stock Tornado."""
    with ExitStack() as stack:
        programs = [
            stack.enter_context(
                served(tmp_path_factory.mktemp(name), HANDLERS, stock=stock)
            )
            for name, stock in (("fronts", False), ("stock", True))
        ]
        programs[0].warm(
            ("GET", "/echo", b""), ("POST", "/echo", b""), ("HEAD", "/echo", b"")
        )
        yield programs


def plain(answers: bytes) -> bytes:
    """Leave out what differs from one answer to the next."""
    return re.sub(rb"(?im)^(date|pid): .*\r\n", b"", answers)


@pytest.mark.leaks_ok("the programs are for all tests")
@pytest.mark.parametrize("name", [*REQUESTS, *LAST])
def test_all_is_answered_as_in_stock(both, name):
    # GIVEN a connection that a front has
    found = []
    for program in both:
        client, _ = program.on_front() if program is both[0] else (program.connect(), 0)

        # WHEN
        client.send(REQUESTS[name] + CLOSES if name in REQUESTS else LAST[name])
        found.append(plain(client.rest()))

    # THEN
    answered, stock = found

    assert stock == answered


@pytest.mark.leaks_ok("the programs are for all tests")
def test_marked_requests_are_answered_by_the_front(both):
    # GIVEN
    program = both[0]
    client, _ = program.on_front()

    # WHEN
    answers = [
        program.in_front(client, "/echo"),
        program.in_front(client, "/echo", FORM, method="POST", body=b"a=1"),
        program.in_front(client, "/echo", method="HEAD"),
    ]

    # THEN
    assert [200, 200, 200] == [answer.status for answer in answers]
    assert program.owner == client.ask("/unmarked").pid


@pytest.mark.leaks_ok("the programs are for all tests")
@pytest.mark.parametrize("path", ["/echo", "/unmarked", "/streamed"])
def test_a_client_that_expects_it_is_told_to_continue(both, path):
    found = []
    for program in both:
        # GIVEN
        client, _ = program.on_front() if program is both[0] else (program.connect(), 0)
        whole = request(path, "Expect: 100-continue", method="POST", body=b"a=1")

        # WHEN
        client.send(whole.removesuffix(b"a=1"))
        told = client.answer()
        client.send(b"a=1")
        answer = client.answer()

        # THEN
        assert (100, 200) == (told.status, answer.status)
        found.append(plain(answer.headers) + answer.body)

    assert found[1] == found[0]


@pytest.mark.leaks_ok("the programs are for all tests")
def test_a_websocket_is_served_by_the_owner(both):
    # GIVEN
    client, _ = both[0].on_front()

    # WHEN the first frame comes with the request
    frame = b"\x81\x82\x00\x00\x00\x00hi"
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")
    client.send(request("/socket", key, *upgrade) + frame)
    answer = client.answer()
    expected = f"{both[0].owner} hi".encode()
    found = [client.read(len(expected) + 2)]
    client.send(frame)
    found.append(client.read(len(expected) + 2))

    # THEN
    assert 101 == answer.status
    assert [b"\x81" + bytes([len(expected)]) + expected] * 2 == found


@pytest.mark.leaks_ok("the programs are for all tests")
def test_a_handler_may_detach_the_connection(both):
    # GIVEN
    client, _ = both[0].on_front()

    # WHEN
    answer = client.ask("/detached")

    # THEN
    assert b"held" == answer.body


@pytest.mark.leaks_ok("the programs are for all tests")
def test_a_connection_goes_to_and_fro_many_times(both):
    # GIVEN
    program = both[0]
    client, _ = program.on_front()

    # WHEN
    served_by = []
    for _ in range(100):
        assert b"unmarked" == client.ask("/unmarked").body
        served_by.append([client.pid() for _ in range(20)])

    # THEN
    moved = [pids for pids in served_by if pids[-1] != program.owner]
    assert len(moved) > 50


@pytest.mark.leaks_ok("the programs are for all tests")
@pytest.mark.parametrize("path", ["/echo", "/unmarked", "/streamed"])
def test_half_a_request_and_then_no_more(both, path):
    # GIVEN
    program = both[0]
    whole = request(path, method="POST", body=b"a" * 1000)

    # WHEN
    for end in (1, 10, len(whole) - 1000, len(whole) - 1):
        client, _ = program.on_front()
        client.send(whole[:end])
        client.close()

    # THEN
    client, _ = program.on_front()
    assert 200 == client.ask(path, method="POST", body=b"a" * 1000).status


@pytest.mark.leaks_ok("the programs are for all tests")
@pytest.mark.parametrize("path", ["/echo", "/unmarked", "/streamed", "/nothing"])
def test_a_client_that_sends_no_more_reads_its_answer(both, path):
    found = []
    for program in both:
        # GIVEN
        client = program.connect()

        # WHEN
        client.send(request(path, method="POST", body=b"a=1"))
        client.socket.shutdown(socket.SHUT_WR)
        found.append(plain(client.rest()))

    # THEN
    assert found[1] == found[0]


@pytest.mark.leaks_ok("the programs are for all tests")
@pytest.mark.parametrize("path", ["/note", "/marked-note"])
def test_what_a_client_sends_that_leaves_at_once_is_run_once(both, path):
    # GIVEN
    program, rounds = both[0], 150
    program.warm(("POST", "/marked-note", b"warm"))
    notes = program.folder / f"notes{path[1:]}"
    notes.write_text("")

    # WHEN it is sent while a front is still busy with the last answer, or is not
    for number in range(rounds):
        client, _ = program.on_front()
        client.send(request(path, method="POST", body=b"%d" % number))
        client.close()
    until(lambda: len(notes.read_text().split()) >= rounds)

    # THEN
    assert sorted(map(int, notes.read_text().split())) == list(range(rounds))

"""Requests in one write, cut anywhere: no byte is lost or doubled in a hand-over."""

from __future__ import annotations

import itertools
import re
import time
from contextlib import ExitStack

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.fronts.serving import request, served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.leaks_ok("the programs are for all tests"),
]

HANDLERS = """
@transactional
class Marked(Tells):
    def get(self, number):
        self.write(f"marked {number}")

    def post(self, number):
        self.write(f"marked {number} {self.request.body}")

class Unmarked(Tells):
    def get(self, number):
        self.write(f"unmarked {number}")

    def post(self, number):
        self.write(f"unmarked {number} {self.request.body}")

@stream_request_body
class Streamed(Tells):
    def prepare(self):
        self.parts = []

    def data_received(self, chunk):
        self.parts.append(chunk)

    def post(self, number):
        self.write(f"streamed {number} {b''.join(self.parts)}")

class Slow(Tells):
    async def get(self, number):
        await asyncio.sleep(0.001)
        self.write(f"slow {number}")

handlers += [
    (r"/marked/(\\d+)", Marked), (r"/unmarked/(\\d+)", Unmarked),
    (r"/streamed/(\\d+)", Streamed), (r"/slow/(\\d+)", Slow),
]
"""

BODIES = [b"", b"a=1", b"x" * 1000, b"\r\n\r\nGET /marked/666 HTTP/1.1\r\n\r\n"]
CLOSES = request("/unmarked/9", "Connection: close")


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Serve with two fronts, and by stock Tornado."""
    with ExitStack() as stack:
        answered, stocks = (
            stack.enter_context(
                served(tmp_path_factory.mktemp(name), HANDLERS, stock=stock)
            )
            for name, stock in (("fronts", False), ("stock", True))
        )
        answered.warm(("GET", "/marked/0", b""), ("POST", "/marked/0", b""))
        yield answered, stocks


def one_request(kind: str, number: int, body: bytes, way: str) -> bytes:
    path = f"/{kind}/{number}"
    if way == "chunked":
        chunks = b"".join(
            b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:5], body[5:]) if part
        )
        head = request(path, "Transfer-Encoding: chunked").replace(b"GET", b"POST")
        return head + chunks + b"0\r\n\r\n"
    if way == "post":
        return request(path, method="POST", body=body)
    return request(path)


kinds = st.sampled_from(["marked", "marked", "unmarked", "streamed", "slow", "nothing"])
requests = st.builds(
    one_request,
    kinds,
    st.integers(0, 99),
    st.sampled_from(BODIES),
    st.sampled_from(["get", "get", "post", "post", "chunked"]),
)


def answers(program, parts, on_front):
    """Send parts, each in a segment of its own, and return all that is answered."""
    if on_front:
        client, _ = program.on_front()
    else:
        client = program.connect()
    client.socket.setsockopt(6, 1, 1)  # TCP_NODELAY
    for part in parts:
        client.send(part)
        time.sleep(0)  # it may be read before the next one is there, or not
    found = client.rest()
    client.close()
    return re.sub(rb"(?im)^(date|pid): .*\r\n", b"", found)


def cut(data, places):
    """Cut bytes at places from 0 to 1."""
    ends = sorted({round(place * len(data)) for place in places} | {0, len(data)})
    return [data[start:end] for start, end in itertools.pairwise(ends)]


@settings(suppress_health_check=list(HealthCheck))
@given(
    st.lists(requests, max_size=8), st.lists(st.floats(0, 1), max_size=8), st.booleans()
)
@example(
    [one_request("unmarked", 1, b"", "get"), one_request("marked", 2, b"a", "post")],
    [],
    True,
)
@example([one_request("marked", 1, BODIES[-1], "post")] * 3, [0.5], True)
def test_any_requests_are_answered_as_in_stock(both, whole, places, on_front):
    parts = cut(b"".join(whole) + CLOSES, places)
    answered, stock = both

    assert answers(stock, parts, False) == answers(answered, parts, on_front)


SEQUENCE = (
    one_request("marked", 1, b"abc", "post")
    + one_request("unmarked", 2, b"defg", "post")
    + one_request("marked", 3, b"", "get")
    + CLOSES
)


def test_cut_at_every_byte(both):
    answered, stock = both
    expected = answers(stock, [SEQUENCE], False)

    found = {
        answers(answered, [SEQUENCE[:place], SEQUENCE[place:]], True)
        for place in range(len(SEQUENCE))
    }

    assert {expected} == found


def test_each_byte_by_itself(both):
    answered, stock = both
    expected = answers(stock, [SEQUENCE], False)

    found = answers(answered, [SEQUENCE[n : n + 1] for n in range(len(SEQUENCE))], True)

    assert expected == found

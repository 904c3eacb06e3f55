"""Fronts see all that a callback of the owner has written, or nothing of it."""

from __future__ import annotations

import threading

import pytest

from tests.fronts.serving import request, served

pytestmark = pytest.mark.slow

TWO = """
one, other = TVar(0), TVar(0)

@transactional
class Both(Tells):
    def get(self):
        self.write(f"{one.get()} {other.get()}")

    def post(self):
        one.set(one.get() + 1)
        other.set(other.get() + 1)
        self.write(f"{one.get()} {other.get()}")

class Halves(Tells):
    def get(self):
        one.set(one.get() + 1000)
        self.write("half")
        self.flush()
        time.sleep(float(self.get_argument("seconds")))
        other.set(other.get() + 1000)
        self.write(" whole")

handlers += [("/both", Both), ("/halves", Halves)]
"""


def warmed(program):
    """Return connections of both fronts, which serve both verbs."""
    program.warm(("GET", "/both", b""), ("POST", "/both", b""))
    first, one = program.on_front()
    return first, program.on_front((one,))[0]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_one_that_is_asked_in_the_midst_of_a_callback_waits_for_its_end(
    tmp_path, method
):
    with served(tmp_path, TWO) as program:
        # GIVEN
        clients = warmed(program)
        writer = program.connect()
        seen = []

        # WHEN a client is told of the first half, and asks fronts before the other
        for number in range(1, 11):
            writer.send(request("/halves?seconds=0.02"))
            writer.until_body(b"half")
            answers = [client.ask("/both", method=method) for client in clients]
            writer.until_body(b" whole")
            writer.drop()
            seen += [(number, answer.body.split()) for answer in answers]

        # THEN
        for number, (one, other) in seen:
            assert one == other
            assert int(one) // 1000 == number


def test_fronts_race_with_a_callback_that_writes_twice(tmp_path):
    with served(tmp_path, TWO) as program:
        clients = [client for _ in range(2) for client in warmed(program)]
        stop = threading.Event()
        seen: list[list[bytes]] = []

        def ask(client, method):
            while not stop.is_set():
                seen.append(client.ask("/both", method=method).body.split())

        threads = [
            threading.Thread(target=ask, args=(client, method))
            for client, method in zip(
                clients, ("GET", "GET", "POST", "POST"), strict=True
            )
        ]
        for thread in threads:
            thread.start()

        # WHEN
        for _ in range(200):
            program.ask("/halves?seconds=0")
        stop.set()
        for thread in threads:
            thread.join()

        # THEN
        mixed = [found for found in seen if found[0] != found[1]]
        assert [] == mixed
        assert len(seen) > 200

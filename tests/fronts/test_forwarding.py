"""What is long: a front forwards it, a worker runs it, and the front answers."""

from __future__ import annotations

import os
import signal
import socket
import threading

import pytest

from tests.fronts.serving import (
    FORKED,
    Client,
    Served,
    niceness,
    served,
    until,
)

pytestmark = pytest.mark.slow

LONG = """
accounts = TDict(total=0, waits=0)
trouble = logging.getLogger("trouble")

class Long(Tells):
    def prepare(self):
        time.sleep(0.012)

@transactional
class Adds(Long):
    def post(self):
        accounts["total"] += len(self.request.body) or 1
        trouble.warning("added to make %d", accounts["total"])
        self.write(f"{accounts['total']}")

@transactional
class Waits(Long):
    def get(self):
        if not accounts["waits"]:
            txloop.retry()
        self.write("woken")

@transactional
class Fails(Long):
    def get(self, how):
        accounts["total"] += 1
        if how == "http":
            raise HTTPError(418)
        raise ValueError(how)

@transactional
class Large(Long):
    def get(self):
        self.write("x" * 3_000_000)

@transactional
class Alone(Long):
    def get(self):
        txloop.inevitable()
        self.write("alone")

@transactional(timeout=0.3)
class Late(Long):
    def get(self, seconds):
        time.sleep(float(seconds))
        self.write("in time")

class Total(Tells):
    def get(self):
        self.write(f"{accounts['total']}")

class Wake(Tells):
    def get(self):
        accounts["waits"] = 1

class Sleep(Tells):
    def get(self):
        accounts["waits"] = 0

class Waiting(Tells):
    def get(self):
        self.write(f"{txloop.stats().waiting}")

handlers += [
    ("/adds", Adds), ("/waits", Waits), (r"/fails/(\\w+)", Fails), ("/large", Large),
    ("/alone", Alone), (r"/late/([\\d.]+)", Late), ("/total", Total), ("/wake", Wake),
    ("/sleep", Sleep),
    ("/waiting", Waiting),
]
"""


def text(program: Served, path: str) -> str:
    """Return what is answered on a connection of its own."""
    client = program.connect()
    try:
        return client.text(path)
    finally:
        client.close()


def is_worker(program: Served, pid: int) -> bool:
    return (niceness(pid) or 0) > (niceness(program.owner) or 0)


def forwarding(program: Served, path: str, method: str = "GET") -> Client:
    """Return a connection of a front which forwards requests of that kind."""

    def is_forwarded() -> bool:
        client, front = program.on_front()
        answer = client.ask(path, method=method)
        found.append(client)
        # Were it handed over, the owner would serve what comes next.
        return is_worker(program, answer.pid) and front == client.ask("/pid").pid

    found: list[Client] = []
    until(is_forwarded)
    return found[-1]


def test_a_worker_runs_it_and_the_connection_stays_in_its_front(tmp_path):
    with served(tmp_path, LONG) as program:
        # GIVEN
        client = forwarding(program, "/adds", "POST")
        before = int(text(program, "/total"))

        # WHEN
        answers = [client.ask("/adds", method="POST", body=b"12345") for _ in range(5)]

        # THEN
        assert [b"%d" % (before + 5 * n) for n in range(1, 6)] == [
            one.body for one in answers
        ]
        assert all(is_worker(program, one.pid) for one in answers)
        assert program.is_front(client.pid())
        program.running.process.terminate()
        errors = program.running.wait().errors
    assert 1 == errors.count(f"added to make {before + 25}\n"), errors


def test_each_of_many_at_once_is_counted_once(tmp_path):
    with served(tmp_path, LONG) as program:
        # GIVEN
        forwarding(program, "/adds", "POST")
        before = int(text(program, "/total"))
        answers: list[int] = []

        def add() -> None:
            client, _ = program.on_front()
            answers.extend(
                int(client.ask("/adds", method="POST").body) for _ in range(10)
            )

        # WHEN
        threads = [threading.Thread(target=add) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        # THEN
        assert list(range(before + 1, before + 61)) == sorted(answers)
        assert before + 60 == int(text(program, "/total"))


def test_one_that_waits_is_woken_by_what_another_process_writes(tmp_path):
    with served(tmp_path, LONG) as program:
        # GIVEN a kind that is known to be long
        program.ask("/wake")
        client = forwarding(program, "/waits")
        text(program, "/sleep")

        # WHEN
        client.send(b"GET /waits HTTP/1.1\r\nHost: here\r\n\r\n")
        until(lambda: text(program, "/waiting") == "1")
        text(program, "/wake")

        # THEN
        assert client.answer().body == b"woken"
        assert program.is_front(client.pid())


@pytest.mark.parametrize("leave", ["close", "send no more"])
def test_one_that_waits_and_whose_client_leaves_is_dropped(tmp_path, leave):
    with served(tmp_path, LONG) as program:
        # GIVEN a kind that is known to be long
        program.ask("/wake")
        client = forwarding(program, "/waits")
        text(program, "/sleep")
        for _ in range(2):
            client.send(b"GET /waits HTTP/1.1\r\nHost: here\r\n\r\n")
            until(lambda: text(program, "/waiting") == "1")

            # WHEN
            if leave == "close":
                client.close()
            else:
                client.socket.shutdown(socket.SHUT_WR)
                assert b"" == client.rest()

            # THEN
            until(lambda: text(program, "/waiting") == "0")
            client, _ = program.on_front()


@pytest.mark.parametrize(("how", "status"), [("http", 418), ("value", 500)])
def test_an_error_is_answered_as_one_and_undoes_all(tmp_path, how, status):
    with served(tmp_path, LONG) as program:
        # GIVEN
        client = forwarding(program, f"/fails/{how}")
        before = text(program, "/total")

        # WHEN
        answer = client.ask(f"/fails/{how}")

        # THEN
        assert status == answer.status
        assert before == text(program, "/total")
        assert program.is_front(client.pid())


def test_a_large_answer_comes_whole(tmp_path):
    with served(tmp_path, LONG) as program:
        client = forwarding(program, "/large")

        assert 3_000_000 == len(client.ask("/large").body)


def test_what_must_not_be_undone_runs_at_the_owner(tmp_path):
    with served(tmp_path, LONG) as program:
        client, _ = program.on_front()

        assert {program.owner} == {client.ask("/alone").pid for _ in range(3)}


def test_a_timeout_ends_the_worker_and_not_the_front(tmp_path):
    with served(tmp_path, LONG) as program:
        # GIVEN
        client = forwarding(program, "/late/0.01")

        # WHEN
        answer = client.ask("/late/20")

        # THEN
        assert 503 == answer.status
        assert program.is_front(client.pid())
        assert client.text("/late/0") == "in time"


if FORKED:

    def test_the_death_of_a_front_loses_its_connections_and_nothing_else(tmp_path):
        with served(tmp_path, LONG) as program:
            # GIVEN
            client = forwarding(program, "/adds", "POST")
            other, _ = program.on_front((client.pid(),))
            before = int(text(program, "/total"))

            # WHEN
            front = client.pid()
            client.send(
                b"POST /adds HTTP/1.1\r\nHost: here\r\nContent-Length: 0\r\n\r\n"
            )
            os.kill(front, signal.SIGKILL)

            # THEN
            with pytest.raises((EOFError, ConnectionResetError)):
                client.answer()
            total = int(other.ask("/adds", method="POST").body)
            assert total - before in (1, 2)
            assert total == int(text(program, "/total"))

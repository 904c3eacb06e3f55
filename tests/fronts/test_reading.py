"""A front takes it that a verb only reads, and runs it again if it does not."""

from __future__ import annotations

import json
import threading

import pytest

from tests.fronts.serving import FORKED, Answer, served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FORKED, reason="what threads read may change meanwhile"),
]

PROGRAM = """
from txloop import TList, TVar, or_else, retry
from txloop.stm.store import committed

rows = TList([{"number": 0, "times": 0} for _ in range(20)])
gate = TVar(0)
ran = 0

@transactional
class Reads(Tells):
    def get(self):
        total = sum(row["times"] for row in rows)
        self.write({"noting": committed.noting, "total": total})

@transactional
class Adds(Tells):
    def get(self, number):
        # It reads all, and writes by what it has read.
        least = min(row["times"] for row in rows)
        for row in rows:
            if row["times"] == least:
                row["times"] += 1
                break
        self.write({"noting": committed.noting})

@transactional
class Swallows(Tells):
    def get(self):
        before = rows[0]["number"]
        try:
            rows[0]["number"] = before + 1
        except BaseException:
            pass
        self.write({"before": before, "after": rows[0]["number"]})

@transactional
class Fails(Tells):
    def get(self):
        raise HTTPError(404, reason=f"{committed.noting} {rows[1]['number']}")

@transactional
class Waits(Tells):
    def get(self):
        if gate.value == 0:
            retry(timeout=10)
        self.write({"gate": gate.value})

@transactional
class Chooses(Tells):
    def get(self):
        def first():
            if rows[2]["number"] == 0:
                retry()
            return "first"
        self.write(or_else(first, lambda: "second"))

class Opens(Tells):
    def get(self):
        gate.value += 1
        self.write("open")

class Holds(Tells):
    def get(self):
        rows[3]["held"] = threading.Lock()
        self.write("held")

@transactional
class Uses(Tells):
    def get(self):
        held = rows[3].get("held")
        self.write({"held": type(held).__name__, "noting": committed.noting})

handlers += [
    ("/reads", Reads), (r"/adds/(\\d+)", Adds), ("/swallows", Swallows),
    ("/fails", Fails), ("/waits", Waits), ("/chooses", Chooses), ("/opens", Opens),
    ("/holds", Holds), ("/uses", Uses),
]
"""


@pytest.fixture
def program(tmp_path):
    with served(tmp_path, PROGRAM, TXLOOP_FAULTS="fronts=1") as program:
        yield program


@pytest.fixture
def front(program):
    """Return a connection that a front has."""
    client, _ = program.on_front()
    return client


def json_of(client, program, path):
    """Return what a front has answered."""
    answer = client.ask(path)
    assert answer.status == 200
    assert program.is_front(answer.pid)
    return json.loads(answer.body)


def test_what_only_reads_is_not_noted(program, front):
    found = [json_of(front, program, "/reads") for _ in range(10)]

    assert [{"noting": False, "total": 0}] * 10 == found


def test_what_writes_runs_again_and_is_noted_from_then_on(program, front):
    found = [json_of(front, program, f"/adds/{one}") for one in range(10)]

    assert [{"noting": True}] * 10 == found
    assert {"noting": False, "total": 10} == json_of(front, program, "/reads")


def test_nothing_is_lost_where_many_write_by_what_they_have_read(program):
    # GIVEN
    clients = [program.connect() for _ in range(6)]
    failed: list[Answer] = []

    def add(client):
        answers = [client.ask(f"/adds/{number}") for number in range(50)]
        failed.extend(one for one in answers if one.status != 200)

    # WHEN
    threads = [threading.Thread(target=add, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    # THEN
    assert [] == failed
    answer = program.ask("/reads").body
    assert b'"total": 300' in answer


def test_one_that_catches_that_it_is_given_up_runs_again_all_the_same(program, front):
    found = [json_of(front, program, "/swallows") for _ in range(3)]

    assert [{"before": one, "after": one + 1} for one in range(3)] == found


def test_an_error_is_answered(program, front):
    answer = front.ask("/fails")

    assert (404, True) == (answer.status, program.is_front(answer.pid))
    assert b"404 False 0" in answer.headers


def test_what_waits_is_woken(program, front):
    # GIVEN
    front.send(b"GET /waits HTTP/1.1\r\nHost: here\r\n\r\n")
    other = program.connect()
    other.ask("/reads")

    # WHEN
    other.ask("/opens")

    # THEN
    assert b'{"gate": 1}' == front.answer().body


def test_or_else_chooses(front):
    assert "second" == front.text("/chooses")


def test_where_something_is_held_it_is_sought(program, front):
    # GIVEN
    assert not json_of(front, program, "/reads")["noting"]
    program.ask("/holds")

    # WHEN
    answer = front.ask("/uses")

    # THEN it has run where that means something
    assert program.owner == answer.pid
    assert b'{"held": "lock"' in answer.body

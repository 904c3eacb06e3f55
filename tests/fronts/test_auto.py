"""``fronts="auto"``: there are some when the loop thread has much to do."""

from __future__ import annotations

import pytest

from tests.fronts.serving import FORKED, served, until
from txloop.web.fronts.opening import Load


class Clocks:
    """The time, and how much of it the thread has worked."""

    def __init__(self) -> None:
        self.time = self.worked = 100.0

    def spend(self, seconds: float, share: float) -> None:
        self.time += seconds
        self.worked += share * seconds


@pytest.fixture
def clocks():
    return Clocks()


@pytest.fixture
def load(clocks):
    return Load(lambda: clocks.time, lambda: clocks.worked)


def is_high_in(load, clocks, requests, seconds, share):
    """Return whether it was ever high while so many requests came."""
    found = []
    for _ in range(requests):
        clocks.spend(seconds / requests, share)
        found.append(load.note_request())
    return any(found)


def test_a_busy_thread_is_one(load, clocks):
    assert is_high_in(load, clocks, 500, 1.0, 0.5)


def test_one_that_waits_is_none(load, clocks):
    assert not is_high_in(load, clocks, 500, 1.0, 0.2)


def test_a_short_burst_is_none(load, clocks):
    assert not is_high_in(load, clocks, 500, 0.4, 1.0)


def test_a_long_pause_before_it_does_not_count(load, clocks):
    clocks.spend(3600, 0)

    assert is_high_in(load, clocks, 2000, 2.0, 0.5)


BUSY = """
total = TVar(0)

@transactional
class Add(Tells):
    def post(self):
        total.value += 1
        self.write(f"{total.value}")

class Burn(RequestHandler):
    def get(self):
        until = time.thread_time() + 0.05
        while time.thread_time() < until:
            pass

handlers += [("/add", Add), ("/burn", Burn)]
"""


@pytest.mark.slow
def test_nothing_is_said_where_there_can_be_none(tmp_path):
    with served(
        tmp_path, BUSY, fronts="auto", warm=False, TXLOOP_ORDER="arrival"
    ) as program:
        client = program.connect()
        for _ in range(40):
            client.text("/burn")
            client.ask("/add", method="POST")
        assert 0 == program.json("/stats")["fronts"]
        program.running.process.terminate()
        assert "fronts" not in program.running.wait().errors


if FORKED:

    @pytest.mark.slow
    def test_a_busy_program_gets_fronts_and_loses_nothing(tmp_path):
        with served(tmp_path, BUSY, fronts="auto", warm=False) as program:
            # GIVEN
            client, count = program.connect(), 0
            assert 0 == program.json("/stats")["fronts"]

            def some():
                nonlocal count
                client.text("/burn")
                for _ in range(10):
                    count += 1
                    assert str(count) == client.ask("/add", method="POST").body.decode()
                return program.json("/stats")["fronts"]

            # WHEN
            until(some)

            # THEN
            client.close()
            client = program.connect()
            count += 1
            answer = program.in_front(client, "/pid")
            assert program.is_front(answer.pid)
            assert str(count) == client.ask("/add", method="POST").body.decode()

    @pytest.mark.slow
    def test_threads_that_share_a_gil_are_no_fronts(tmp_path):
        says = BUSY + "logging.basicConfig(level=logging.INFO)\n"
        with served(tmp_path, says, warm=False, EXECUTOR="threads") as program:
            program.ask("/add", method="POST")
            assert 0 == program.json("/stats")["fronts"]
            program.running.process.terminate()
            errors = program.running.wait().errors
        assert 1 == errors.count("there are no fronts: the GIL is on"), errors

else:

    @pytest.mark.slow
    def test_threads_have_to_be_asked_for(tmp_path):
        with served(tmp_path, BUSY, fronts="auto", warm=False) as program:
            client = program.connect()
            for _ in range(40):
                client.text("/burn")
                client.ask("/add", method="POST")
            assert 0 == program.json("/stats")["fronts"]

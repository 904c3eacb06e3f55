"""Fronts that die, at any moment: what was answered is there, and nothing twice."""

from __future__ import annotations

import os
import re
import signal
import time
from contextlib import suppress

import pytest

from tests.fronts.adding import ADDS, Adders
from tests.fronts.serving import FORKED, request, served, until
from tests.processes import descendants, gone

pytestmark = pytest.mark.slow


def test_answered_increments_survive_fronts_that_are_killed(tmp_path):
    with served(tmp_path, ADDS) as program:
        # GIVEN
        program.warm(("POST", "/add/warm", b""))
        victims = set[int]()

        # WHEN
        with Adders(program) as adders:
            for _ in range(5):
                # When three have died while they ran it, it runs in workers. It may do
                # so before, where a front was slow.
                until(
                    lambda: (
                        adders.fronts() - victims
                        or (len(victims) >= 3 and adders.workers())
                    )
                )
                if not adders.fronts() - victims:
                    break
                (victim, *_) = adders.fronts() - victims
                victims.add(victim)
                os.kill(victim, signal.SIGKILL)

        # THEN
        assert len(victims) >= 3
        program.fronts()  # there are two again
        found = program.json("/done")
        assert found["total"] == len(found["names"]) - 1  # without that for warming up
        assert set(adders.answered) <= set(found["names"])
        assert len(set(adders.answered)) == len(adders.answered)


def test_another_front_is_there_soon(tmp_path):
    with served(tmp_path, ADDS) as program:
        # GIVEN
        fronts = program.fronts()

        # WHEN
        for pid in fronts:
            os.kill(pid, signal.SIGKILL)
        started = time.monotonic()

        # THEN new connections are served meanwhile, too
        until(lambda: not (program.fronts() & fronts))
        assert time.monotonic() - started < 5  # it takes a tenth of a second


KILLS = """
class Kills(Tells):
    def get(self):
        pids = [int(pid) for pid in self.get_arguments("pid")]
        open("begun", "w").close()
        while not os.path.exists("go"):
            time.sleep(0.001)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        while not all(map(is_dead, pids)):
            time.sleep(0.001)

def is_dead(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True

handlers.append(("/kills", Kills))
"""


@pytest.mark.skipif(not FORKED, reason="threads are not killed")
def test_connections_that_came_before_a_death_was_seen_are_served(tmp_path):
    with served(tmp_path, KILLS) as program:
        # GIVEN connections that wait for the owner, as fronts die
        fronts = program.fronts()
        killer = program.connect()
        killer.send(request("/kills?" + "&".join(f"pid={pid}" for pid in fronts)))
        until((tmp_path / "begun").exists)
        clients = [program.connect() for _ in range(20)]
        for client in clients:
            client.send(request("/pid"))

        # WHEN
        (tmp_path / "go").touch()

        # THEN
        assert [200] * 20 == [client.answer().status for client in clients]


def test_a_request_that_ends_fronts_runs_elsewhere_at_last(tmp_path):
    with served(tmp_path, ADDS) as program:
        # GIVEN
        program.warm(("GET", "/ends", b""))

        # WHEN a client asks again and again
        def ask():
            client, _ = program.on_front()
            with suppress(OSError, EOFError):
                return client.ask("/ends?end=1").status

        statuses = []

        def answered():
            statuses.append(ask())
            return statuses[-1]

        until(answered)

        # THEN it is answered with an error when it has ended three workers, too
        assert 500 == statuses[-1]
        client, _ = program.on_front()
        assert client.ask("/ends").status == 200
        program.running.process.terminate()
        errors = program.running.wait().errors
    assert 3 <= len(re.findall(r"(?m)^front \d+ died: it exited with 7", errors)) <= 4
    assert "3 workers died while they ran GET Ends" in errors


def test_a_front_that_is_stopped_is_replaced(tmp_path):
    with served(tmp_path, ADDS) as program:
        # GIVEN
        _, front = program.on_front()

        # WHEN
        os.kill(front, signal.SIGSTOP)

        # THEN
        until(lambda: gone(front))
        assert front not in program.fronts()


def test_fronts_end_with_the_owner(tmp_path):
    with served(tmp_path, ADDS) as program:
        # GIVEN
        fronts = program.fronts()
        others = descendants(program.owner)
        assert fronts < others

        # WHEN
        os.kill(program.owner, signal.SIGKILL)

        # THEN
        until(lambda: all(map(gone, others)))

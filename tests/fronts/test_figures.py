"""What happens in fronts is counted, logged and done once, where the owner is."""

from __future__ import annotations

import os
import re
import signal
from contextlib import suppress

import pytest

from tests.fronts.serving import FORKED, served, until

pytestmark = pytest.mark.slow

TELLS = """
seen, effects = TVar(0), []
logging.basicConfig(level=logging.INFO, format="%(process)d %(name)s %(message)s")
log = logging.getLogger("mine")

@transactional
class Reads(Tells):
    def get(self):
        log.info("read %s", self.get_argument("name"))
        on_commit(done, "read " + self.get_argument("name"))
        self.write(f"{seen.get()}")

@transactional
class Writes(Tells):
    def post(self):
        seen.set(seen.get() + 1)
        log.info("wrote %d", seen.get())
        on_commit(done, f"wrote {seen.get()}")
        self.write(f"{seen.get()}")

@transactional
class Fails(Tells):
    def post(self):
        seen.set(-1000)
        on_commit(done, "never")
        raise ValueError("on purpose")

def done(what):
    effects.append(f"{threading.get_native_id()} {what}")

class Effects(RequestHandler):
    def get(self):
        self.write({"effects": effects, "seen": seen.get()})

handlers += [
    ("/reads", Reads), ("/writes", Writes), ("/effects", Effects), ("/fails", Fails)
]
"""


def test_stats_count_what_fronts_did(tmp_path):
    with served(tmp_path, warm=False) as program:
        client = program.connect()

        # WHEN
        pids: list[int] = []

        def enough():
            pids.append(client.pid())
            return sum(map(program.is_front, pids)) == 100

        until(enough)

        # THEN a front counts a moment after it has answered
        expected = {"commits": len(pids), "attempts": len(pids), "fronts": 2}
        until(lambda: expected == program.json("/stats"))


def test_effects_and_records_come_once_from_the_owner(tmp_path):
    with served(tmp_path, TELLS) as program:
        # GIVEN
        program.warm(("GET", "/reads?name=warm", b""), ("POST", "/writes", b""))
        client, front = program.on_front()
        begun = program.json("/effects")["seen"]

        # WHEN
        answers = [
            answer
            for number in range(50)
            for answer in (
                client.ask(f"/reads?name={number}"),
                client.ask("/writes", method="POST"),
            )
        ]
        until(lambda: len(program.json("/effects")["effects"]) >= 100)
        effects = program.json("/effects")["effects"]
        program.running.process.terminate()
        errors = program.running.wait().errors

        # THEN
        assert front in {answer.pid for answer in answers}
        wanted = {f"{program.owner} read {number}" for number in range(50)}
        wanted |= {
            f"{program.owner} wrote {begun + 1 + number}" for number in range(50)
        }
        assert wanted == set(effects[-100:])
        assert len(effects) == len(set(effects)) + effects.count(
            f"{program.owner} read warm"
        ) - (f"{program.owner} read warm" in effects)
        for number in range(50):
            read = rf"(?m)^\d+ mine read {number}$"
            assert 1 == len(re.findall(read, errors))
            access = rf"(?m)^\d+ tornado.access 200 GET /reads\?name={number} "
            assert 1 == len(re.findall(access, errors))
            wrote = rf"(?m)^\d+ mine wrote {begun + 1 + number}$"
            assert 1 == len(re.findall(wrote, errors))


def test_what_fails_in_a_front_is_answered_and_logged_as_ever(tmp_path):
    with served(tmp_path, TELLS) as program:
        # GIVEN
        program.warm(("POST", "/fails", b""))
        client, _ = program.on_front()

        # WHEN
        answer = program.in_front(client, "/fails", method="POST")
        found = program.json("/effects")
        program.running.process.terminate()
        errors = program.running.wait().errors

    # THEN
    assert 500 == answer.status
    assert {"effects": [], "seen": 0} == found
    assert errors.count("ValueError: on purpose") == errors.count("500 POST /fails")
    assert "in post" in errors


WATCHED = """
import txloop

@transactional(timeout=0.3)
class Late(Tells):
    def get(self, seconds):
        time.sleep(float(seconds))

class Figures(RequestHandler):
    def get(self):
        stats = txloop.stats()
        latency = {one.label: one.latency.count for one in stats.labels}
        self.write({
            "deaths": stats.front_deaths,
            "timeouts": stats.timeouts,
            "processes": [[one.name, one.pid] for one in stats.processes],
            "commits": {one.label: one.commits for one in stats.labels},
            "latency": latency,
        })

handlers += [(r"/late/([\\d.]+)", Late), ("/figures", Figures)]
"""


if FORKED:  # what has a timeout runs in no thread of fronts

    def test_what_becomes_of_fronts_is_counted(tmp_path):
        with served(tmp_path, WATCHED) as program:
            # GIVEN
            client = program.connect()
            program.in_front(client, "/late/0")
            victim, other = program.fronts()
            found = program.json("/figures")
            fronts = {pid for name, pid in found["processes"] if "front" in name}

            # WHEN one is killed, and a call takes too long in another
            os.kill(victim, signal.SIGKILL)

            def counted():
                with suppress(OSError, EOFError):  # connections of the one that died
                    return program.json("/figures")["deaths"] == 1

            until(counted)
            until(lambda: len(program.fronts()) == 2)
            client = program.connect()
            program.in_front(client, "/late/0")
            late = client.ask("/late/20")

            # THEN
            assert {victim, other} == fronts
            assert 503 == late.status
            assert 1 == program.json("/figures")["timeouts"]
            assert 1 == program.json("/figures")["deaths"]

    def test_times_of_fronts_are_counted_with_their_transactions(tmp_path):
        with served(tmp_path, WATCHED) as program:
            client = program.connect()
            for _ in range(20):
                program.in_front(client, "/late/0")

            def equal():
                found = program.json("/figures")
                label = "GET Late"
                return found["commits"][label] == found["latency"][label] >= 20

            until(equal)

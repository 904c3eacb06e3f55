"""A program with fronts ends, or begins anew: nothing is lost, and none is left."""

from __future__ import annotations

import itertools
import os
import select
import signal
import time

import pytest

from tests.fronts.adding import ADDS, Adders
from tests.fronts.serving import served, until
from tests.processes import descendants, gone

pytestmark = pytest.mark.slow


# On a busy machine a client may need longer than usual to ask again.
PATIENT = (
    ADDS
    + """
from txloop.loop import shutdown
shutdown.LINGER_SECONDS = 10.0
"""
)


# What is on its way from a front to the owner takes its time.
SLOW_WAY = (
    ADDS
    + """
import time
from txloop.web.fronts import front
take_idle = front.take_idle

def take_slowly(connection):
    taken = take_idle(connection)
    time.sleep(0.3)
    return taken

front.take_idle = take_slowly
"""
)


def test_sigterm_waits_for_connections_that_leave_a_front(tmp_path):
    with served(tmp_path, SLOW_WAY) as program:
        # GIVEN
        program.warm(("POST", "/add/warm", b""))
        client = program.connect()
        until(lambda: program.is_front(client.ask("/ends").pid))

        # WHEN
        program.running.signal(signal.SIGTERM)
        time.sleep(0.1)  # the front has let go of it
        last = client.ask("/add/last", method="POST")

    # THEN
    assert 200 == last.status


def test_sigterm_under_load_answers_all_that_was_begun(tmp_path):
    with served(tmp_path, PATIENT) as program:
        # GIVEN
        program.warm(("POST", "/add/warm", b""))
        failed: list[str] = []

        class Patient(Adders):
            def _add(self, number):
                client, count = program.connect(), 0
                while True:
                    name = f"n{number}x{count}"
                    count += 1
                    try:
                        answer = client.ask(f"/add/{name}", method="POST")
                    except (OSError, EOFError) as error:
                        failed.append(f"{name}: {error!r}")
                        return
                    self.answered.append(name)
                    self.pids.add(answer.pid)
                    if b"Connection: close" in answer.headers:
                        return

        # WHEN
        with Patient(program, 8) as adders:
            until(lambda: len(adders.answered) > 500)
            program.running.signal(signal.SIGTERM)
        ended = program.running.wait()

        # THEN each connection was told of its end with an answer
        assert any(pid != program.owner for pid in adders.pids)
        assert [] == failed
        said = [
            line for line in ended.errors.splitlines() if " conflicted " not in line
        ]
        assert (0, []) == (ended.exit_code, said)


def test_autoreload_leaves_no_process_behind(tmp_path):
    reloads = ADDS + "settings['autoreload'] = True\n"
    with served(tmp_path, reloads) as program:
        # GIVEN
        program.fronts()
        before = descendants(program.owner)

        # WHEN it changes after Tornado's first look
        stdout = program.running.process.stdout
        assert stdout is not None
        times = itertools.count(2_000_000_000)

        def reloaded():
            moment = next(times)
            os.utime(tmp_path / "script.py", (moment, moment))
            return select.select([stdout], [], [], 0.3)[0]

        until(reloaded)
        line = stdout.readline()

        # THEN
        program.running.port = int(line.removeprefix("port "))
        until(lambda: all(map(gone, before)))
        program.warm()
        assert not program.fronts() & before

"""The conflict log has what runs in fronts, with the lines of both sides."""

from __future__ import annotations

import threading

import pytest

import conflict_log
from tests.fronts.serving import served, until

pytestmark = pytest.mark.slow

COUNTS = """
both = TVar(0)

@transactional
class Reads(Tells):
    def get(self):
        self.write(f"{both.get()}")

@transactional
class Adds(Tells):
    def post(self):
        before = both.get()
        time.sleep(0.002)
        both.set(before + 1)

@transactional
class Long(Tells):
    def get(self):
        time.sleep(0.02)
        self.write(f"{both.get()}")

@transactional
class Outside(Tells):
    def get(self):
        asyncio.get_running_loop().time()
        self.write("here")

handlers += [("/reads", Reads), ("/adds", Adds), ("/long", Long), ("/outside", Outside)]
"""

FIRST_FRONT = 4
"""There are two workers, and the loop thread."""


def test_all_commits_are_in_the_log_and_where_they_ran(tmp_path):
    with served(tmp_path, COUNTS, PYPYSTM="stm.log") as program:
        # GIVEN
        program.warm(("GET", "/reads", b""), ("POST", "/adds", b""))
        client, _ = program.on_front()

        # WHEN
        in_fronts = 0
        for _ in range(20):
            for answer in (client.ask("/reads"), client.ask("/adds", method="POST")):
                in_fronts += program.is_front(answer.pid)
            client.ask("/long")

        # THEN
        assert in_fronts
        found = program.json("/stats")
        until(lambda: program.json("/stats") == found)
        program.running.process.terminate()
        program.running.wait()
    report = conflict_log.load(program.folder / "stm.log")
    assert found["commits"] == report.totals.commits
    assert not report.notes
    commits = {one.number: one.totals.commits for one in report.workers}
    assert sum(commits[one] for one in commits if one >= FIRST_FRONT) >= in_fronts
    assert sum(commits.get(one, 0) for one in (1, 2)) > 0  # what is long


def test_a_conflict_of_fronts_is_in_the_log_with_both_lines(tmp_path):
    with served(tmp_path, COUNTS, PYPYSTM="stm.log") as program:
        # GIVEN
        program.warm(("POST", "/adds", b""))
        one, first = program.on_front()
        another, _ = program.on_front((first,))

        # WHEN both fronts add to the same at the same time
        def add(client):
            for _ in range(100):
                client.ask("/adds", method="POST")

        threads = [
            threading.Thread(target=add, args=(each,)) for each in (one, another)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        program.running.process.terminate()
        program.running.wait()

    # THEN
    report = conflict_log.load(program.folder / "stm.log")
    places = {
        (loss.victim.line, loss.culprit.line)
        for loss in report.losses
        if loss.victim and loss.culprit and int(loss.worker) >= FIRST_FRONT
    }
    lines = (program.folder / "script.py").read_text().splitlines()
    writes = 1 + lines.index("        both.set(before + 1)")
    assert (writes, writes) in places


def test_what_cannot_run_in_a_front_is_in_the_log_with_its_line(tmp_path):
    with served(tmp_path, COUNTS, PYPYSTM="stm.log") as program:
        # GIVEN a verb that is switched on before it is known what it does
        client, _ = program.on_front()

        # WHEN
        for _ in range(20):
            client.ask("/outside")
        program.running.process.terminate()
        program.running.wait()

    # THEN
    report = conflict_log.load(program.folder / "stm.log")
    lines = (program.folder / "script.py").read_text().splitlines()
    line = 1 + lines.index("        asyncio.get_running_loop().time()")
    assert line in {loss.victim.line for loss in report.losses if loss.victim}

"""Fronts that cannot load what is shared: they end, and nothing waits for them."""

from __future__ import annotations

import re

import pytest

from tests.fronts.serving import Served, served, until
from tests.processes import children_of

pytestmark = pytest.mark.slow

POINTS = """
from dataclasses import dataclass

points = TDict()

def point(pid):
    if os.getpid() != pid:
        raise ValueError("a point of another process")
    return Point(pid)

@dataclass(frozen=True)
class Point:
    pid: int

    def __reduce__(self):
        return point, (self.pid,)

class Put(RequestHandler):
    def get(self, name):
        points[name] = Point(os.getpid())
        self.write("put")

@transactional
class Count(Tells):
    def get(self):
        self.write(f"{len(points)}")

handlers += [(r"/put/(\\w+)", Put), ("/count", Count)]
"""


def grandchildren(program: Served) -> set[int]:
    """Return the processes that spawners have forked."""
    spawners = children_of(program.owner)
    return {pid for spawner in spawners for pid in children_of(spawner)}


def test_what_cannot_be_loaded_in_fronts_is_served_by_the_owner(tmp_path):
    with served(tmp_path, POINTS) as program:
        # GIVEN a connection of each front
        program.warm(("GET", "/count", b""))
        first, one = program.on_front()
        second, _ = program.on_front((one,))
        for client in (first, second):
            assert "0" == client.text("/count")
        count = 0

        def lost():
            nonlocal count
            assert "put" == program.ask(f"/put/n{count}").body.decode()
            count += 1
            # THEN every request is answered, and rightly
            for client in (first, second, program.connect()):
                assert str(count) == client.text("/count")
            # While one is forked in the place of another, there may be none, too.
            none = program.json("/stats")["fronts"] == 0
            return none and not any(map(program.is_front, grandchildren(program)))

        # WHEN
        until(lost)

        # THEN
        assert program.owner == program.connect().pid()
        program.running.process.terminate()
        errors = program.running.wait().errors
    told = re.findall(r"(?m)^there are no fronts any more, since (.*)$", errors)
    assert 1 == len(told)
    assert "a point of another process" in told[0]
    assert "Traceback" not in errors

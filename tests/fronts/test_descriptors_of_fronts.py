"""Without descriptors, in the owner or in fronts, connections are lost, no process."""

from __future__ import annotations

import os
import resource
from contextlib import suppress

import pytest

from tests.fronts.serving import served, until
from tests.processes import descendants

pytestmark = pytest.mark.slow


def limit(pid, more):
    """Let a process open so many descriptors more."""
    most = max(map(int, os.listdir(f"/proc/{pid}/fd"))) + 1 + more
    _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, hard))


def ask(client, path):
    """Return the answer's status, or 0 if there is none."""
    try:
        return client.ask(path).status
    except (OSError, EOFError):
        return 0


@pytest.mark.parametrize("whose", ["fronts", "owner"])
def test_running_out_of_descriptors_ends_nothing(tmp_path, whose):
    with served(tmp_path) as program:
        # GIVEN
        fronts = program.fronts()
        others = descendants(program.owner)
        for pid in fronts if whose == "fronts" else [program.owner]:
            limit(pid, 5)

        # WHEN
        clients = [program.connect() for _ in range(30)]
        for client in clients:
            client.socket.settimeout(0.1)
        path = "/pid" if whose == "fronts" else "/owner"
        statuses = [ask(client, path) for client in clients]
        for client in clients:
            client.close()

        # THEN
        assert 0 in statuses
        served_again = []

        def again():
            with suppress(OSError, EOFError):
                client = program.connect()
                client.socket.settimeout(1)
                served_again.append(client.pid())
                assert program.owner == client.ask("/owner").pid
                return program.is_front(served_again[-1])

        until(again)
        assert fronts <= others <= descendants(program.owner)
        assert served_again[-1] in fronts

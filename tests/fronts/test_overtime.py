"""What is short runs in fronts although it has a timeout, which ends it there, too."""

from __future__ import annotations

import pytest

from tests.fronts.serving import served, until
from tests.processes import gone

pytestmark = pytest.mark.slow

MAY_BE_LATE = """
log = TDict(begun=0)

@transactional(timeout=0.3)
class Late(Tells):
    def get(self, seconds):
        log["begun"] = log["begun"] + 1
        time.sleep(float(seconds))
        self.write(f"{log['begun']}")

@transactional(timeout=0.3)
class Deaf(Tells):
    def get(self, seconds):
        end = time.monotonic() + float(seconds)
        while (rest := end - time.monotonic()) > 0:
            try:
                time.sleep(rest)
            except BaseException:
                pass
        self.write("at last")

handlers += [(r"/late/([\\d.]+)", Late), (r"/deaf/([\\d.]+)", Deaf)]
"""


def test_what_has_a_timeout_and_is_short_runs_in_a_front(tmp_path):
    with served(tmp_path, MAY_BE_LATE) as program:
        client = program.connect()

        assert program.is_front(program.in_front(client, "/late/0").pid)


def test_what_takes_too_long_is_answered_and_another_front_goes_on(tmp_path):
    with served(tmp_path, MAY_BE_LATE) as program:
        # GIVEN
        client = program.connect()
        answer = program.in_front(client, "/late/0")
        front, count = answer.pid, int(answer.body)

        # WHEN
        answer = client.ask("/late/20")

        # THEN it is given up, its connection goes on, and it has done nothing
        assert 503 == answer.status
        assert front != client.pid()
        until(lambda: gone(front))
        assert len(program.fronts()) == 2

        # THEN it does not keep a front waiting again
        again = client.ask("/late/0")
        assert not program.is_front(again.pid)
        assert count + 1 == int(again.body)

        program.running.process.terminate()
        errors = program.running.wait().errors
    assert (
        "GET Late exceeded its 0.3 s timeout; the front that ran it is replaced"
        in errors
    )
    assert " in get\n" in errors


def test_what_does_not_let_itself_be_ended_costs_the_front(tmp_path):
    with served(tmp_path, MAY_BE_LATE) as program:
        # GIVEN
        client = program.connect()
        front = program.in_front(client, "/deaf/0").pid

        # WHEN
        client.send(b"GET /deaf/20 HTTP/1.1\r\nHost: here\r\n\r\n")

        # THEN
        with pytest.raises((EOFError, ConnectionResetError)):
            client.answer()
        assert front not in program.fronts()
        assert "at last" == program.ask("/deaf/0").body.decode()
        program.running.process.terminate()
        errors = program.running.wait().errors
    assert f"GET Deaf exceeded its 0.3 s timeout; front {front} was killed; " in errors

"""What is too much for the board that fronts read gets to them all the same."""

from __future__ import annotations

import pytest

from tests.fronts.serving import FORKED, served, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FORKED, reason="threads read the store itself"),
]

VALUES = """
import mmap
value = TVar("")
napping = mmap.mmap(-1, 1)  # all processes share it

@transactional
class Value(Tells):
    def get(self):
        self.write(f"{len(value.get())} {value.get()[:20]}")

    def post(self):
        letter, size = self.request.body.decode().split()
        value.set(letter * int(size))

@transactional
class Nap(Tells):
    def get(self):
        napping[0] = 1
        time.sleep(float(self.get_argument("seconds", "0")))
        self.write(f"{len(value.get())}")

class Napping(RequestHandler):
    def get(self):
        self.write(f"{napping[0]}")

    def post(self):
        napping[0] = 0

handlers += [("/value", Value), ("/nap", Nap), ("/napping", Napping)]
"""
LONG = 3_000_000  # too long for the board
MANY = 150  # of MEDIUM are more than there is room for
MEDIUM = 100_000


def warmed(program):
    """Return clients of two fronts, in which everything may run that takes no time."""
    program.warm(
        ("POST", "/value", b"a 1"), ("GET", "/value", b""), ("GET", "/nap", b"")
    )
    first, one = program.on_front()
    second, _ = program.on_front((one,))
    return first, second


def test_values_that_are_too_long_for_the_board_are_seen_in_order(tmp_path):
    with served(tmp_path, VALUES) as program:
        first, second = warmed(program)
        for size in (1, LONG, 2, 3, LONG + 1, LONG + 2, 4):
            # WHEN
            program.in_front(first, "/pid")
            assert 200 == first.ask("/value", method="POST", body=b"b %d" % size).status

            # THEN
            shown = f"{size} {'b' * min(size, 20)}"
            assert [shown, shown] == [one.text("/value") for one in (second, first)]


def test_a_front_that_reads_late_reads_what_there_was_no_room_for(tmp_path):
    with served(tmp_path, VALUES) as program:
        first, second = warmed(program)
        pid = second.pid()

        # WHEN one front runs something for long, and the other one writes all the time
        program.ask("/napping", method="POST")
        second.send(nap(1))
        until(lambda: program.ask("/napping").body == b"1")
        for number in range(MANY):
            body = b"c %d" % (MEDIUM + number)
            assert 200 == first.ask("/value", method="POST", body=body).status

        # THEN it has read from what was there at first, and reads what there is now
        answer = second.answer()
        assert (pid, b"1") == (answer.pid, answer.body)
        shown = f"{MEDIUM + MANY - 1} {'c' * 20}"
        assert [shown, shown] == [one.text("/value") for one in (second, first)]
        assert pid == second.pid()


def nap(seconds):
    """Return a request that takes so long."""
    return b"GET /nap?seconds=%d HTTP/1.1\r\nHost: h\r\n\r\n" % seconds

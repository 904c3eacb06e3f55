"""Pieces that change plain objects run on the calling thread, and a line says why."""

from __future__ import annotations

import functools
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest

import txloop
from tests.flags import Flag
from tests.logs import expect_log
from tests.transaction.conftest import PARALLEL, on
from tests.transaction.pieces import place, seen, total

if TYPE_CHECKING:
    from txloop.transaction import TransactionQueue

plain: list[int] = []


@pytest.fixture(autouse=True)
def _clean() -> None:
    plain.clear()


def append_plainly(number: int) -> None:
    plain.append(number)


def change_first(rows: list[int]) -> None:
    vars(list)["append"](rows, 1)


def fill(rows: list[int]) -> None:
    rows.append(1)


class Tally:
    """An object of the program, which its methods change."""

    def __init__(self) -> None:
        self.count = 0

    def add(self) -> None:
        """Count one."""
        self.count += 1

    def name(self) -> str:
        """Return something, and change nothing."""
        seen.append("name")
        return "tally"


class TestPlainObjects:
    """Rule 9: what changes them runs on the calling thread, and a line says why."""

    def test_global(self, queue: TransactionQueue, executor: str) -> None:
        for number in range(10):
            queue.add(append_plainly, number)

        self.run(
            queue, executor, r"append_plainly\(\) changes the module-level .*plain"
        )

        assert list(range(10)) == sorted(plain)

    def test_argument(self, queue: TransactionQueue, executor: str) -> None:
        rows: list[int] = []
        for _ in range(10):
            queue.add(fill, rows)

        self.run(queue, executor, r"fill\(\) changes its argument rows")

        assert [1] * 10 == rows

    def test_argument_that_the_scan_does_not_follow(
        self, queue: TransactionQueue, executor: str
    ) -> None:
        rows: list[int] = []
        for _ in range(10):
            queue.add(change_first, rows)

        self.run(queue, executor, "change_first changes an object that it was given")

        assert [1] * 10 == rows

    def test_object_of_a_method(self, queue: TransactionQueue, executor: str) -> None:
        tally = Tally()
        for _ in range(10):
            queue.add(tally.add)

        self.run(queue, executor, r"Tally.add\(\) changes the module-level .*count")

        assert tally.count == 10

    def test_object_of_a_method_in_c(
        self, queue: TransactionQueue, executor: str
    ) -> None:
        words: dict[int, int] = {}
        for number in range(10):
            queue.add(words.setdefault, number, number)

        self.run(queue, executor, "may change the dict that it belongs to")

        assert {number: number for number in range(10)} == words

    def test_partial(self, queue: TransactionQueue, executor: str) -> None:
        rows: list[int] = []
        for number in range(10):
            queue.add(functools.partial(rows.append, number))

        self.run(queue, executor, "may change the list")

        assert list(range(10)) == sorted(rows)

    @on(*PARALLEL)
    def test_what_only_looks_at_them_travels(self, queue: TransactionQueue) -> None:
        tally = Tally()
        for _ in range(3):
            queue.add(tally.name)
            queue.add(count_place_of, [1, 2], {"a": 1})

        queue.run()

        assert Counter({"name": 3, 2: 3}) == Counter(seen)

    @on(*PARALLEL)
    def test_trusted_functions_travel(self, queue: TransactionQueue) -> None:
        for number in range(3):
            queue.add(append_trusted, number)

        queue.run()

        assert "here" not in seen
        assert 3 == len(seen)

    def test_changes_are_seen_by_what_runs_later(
        self, queue: TransactionQueue, executor: str
    ) -> None:
        """A copy of a plain object is never older than the last change of it."""
        rows: list[int] = []

        def chain(left: int) -> None:
            rows.append(left)
            queue.add(note_length, rows)
            if left:
                queue.add(chain, left - 1)

        queue.add(chain, 9)

        self.run(queue, executor, r"chain\(\) changes the closure variable rows")

        assert 10 == len(seen) == max(seen)

    @on(*PARALLEL)
    def test_no_copy_is_in_use_while_they_change(
        self, queue: TransactionQueue, executor: str
    ) -> None:
        """Else each of two pieces could miss what the other one does."""
        written.clear()
        total.value = -1
        queue.add(look, plain)
        queue.add(txloop.on_commit, queue_write, queue)

        self.run(queue, executor, r"write\(\) changes the module-level .*plain")

        assert (0, []) == (total.value, plain)

    @on(*PARALLEL)
    def test_effect_on_plain_objects(self, queue: TransactionQueue) -> None:
        """An effect runs on the calling thread; what it is bound to may be a copy."""
        rows: list[int] = []

        def tell_later(number: int) -> None:
            txloop.on_commit(rows.append, number)

        for number in range(3):
            queue.add(tell_later, number)

        self.run(queue, "", "effect")

        assert [0, 1, 2] == sorted(rows)

    @on(*PARALLEL)
    def test_copies_are_not_added_from_workers(self, queue: TransactionQueue) -> None:
        queue.add(add_with_a_list, queue)
        queue.add(add_with_a_list, queue)

        self.run(queue, "", "it adds note_length with a list")

        assert [3, 3] == seen

    @staticmethod
    def run(queue: TransactionQueue, executor: str, line: str) -> None:
        """Run it; one line says why it is not parallel."""
        with expect_log("txloop", line, 0 if executor == "serial" else 1):
            queue.run()


def count_place_of(rows: list[int], names: dict[str, int]) -> None:
    seen.append(len(rows) * len(names))


@txloop.transactional(trust=True)
def append_trusted(number: int) -> None:
    plain.append(number)
    seen.append(place())


written = Flag()


def look(rows: list[int]) -> None:
    """Tell how much there is, after some time in which nobody may write."""
    for _ in range(100):
        if written.is_set():
            break
        time.sleep(0.0005)
    total.value = len(rows)


def write() -> None:
    if total.value == -1:
        plain.append(1)
    written.set()


def queue_write(queue: TransactionQueue) -> None:
    queue.add(write)


def note_length(rows: list[int]) -> None:
    seen.append(len(rows))


def add_with_a_list(queue: TransactionQueue) -> None:
    queue.add(note_length, [1, 2, 3])

"""Where the pieces of a queue run, and how they travel there."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

import txloop
from tests.logs import allow_log, expect_log
from tests.transaction.conftest import ON_THIS_THREAD, PARALLEL, on
from tests.transaction.pieces import add_to_total, count_place, place, seen, total
from txloop.transaction import groups, runs

if TYPE_CHECKING:
    from txloop.transaction import TransactionQueue


class TestPlaces:
    """Where pieces run, and what is said of it."""

    def test_away_where_there_are_workers(
        self, queue: TransactionQueue, executor: str
    ) -> None:
        places: txloop.TDict[str, int] = txloop.TDict()
        for _ in range(20):
            queue.add(count_place, places)

        queue.run()

        where = {"serial": "here", "processes": "process", "threads": "thread"}
        assert {where[executor]: 20} == places

    def test_one_worker_is_the_calling_thread(
        self, queue: TransactionQueue, executor: str
    ) -> None:
        places: txloop.TDict[str, int] = txloop.TDict()
        for _ in range(3):
            queue.add(count_place, places)

        queue.run(1)

        assert {"here": 3} == places

    @on(*PARALLEL)
    def test_short_work_stays(
        self, queue: TransactionQueue, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Once it is known how short it is, no worker is started for it."""
        places: txloop.TDict[str, int] = txloop.TDict()
        monkeypatch.setattr(runs, "START_SECONDS", 10.0)
        for _ in range(2):
            queue.add(count_place, places)
        queue.run()
        places.clear()
        for _ in range(5):
            queue.add(count_place, places)

        queue.run()

        assert {"here": 5} == places

    @on(*PARALLEL)
    def test_the_shortest_work_never_travels(
        self, queue: TransactionQueue, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        places: txloop.TDict[str, int] = txloop.TDict()
        monkeypatch.setattr(runs, "SHORT_SECONDS", 10.0)
        for _ in range(40):
            queue.add(count_place, places)

        queue.run()

        assert places["here"] > 40 / 2

    @on(*PARALLEL)
    def test_one_piece_stays(
        self, queue: TransactionQueue, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        places: txloop.TDict[str, int] = txloop.TDict()
        monkeypatch.setattr(runs, "START_SECONDS", 0.01)
        queue.add(count_place, places)

        queue.run()

        assert {"here": 1} == places

    @on(*PARALLEL)
    def test_what_does_not_pickle_stays(self, queue: TransactionQueue) -> None:
        lock = threading.Lock()

        def use() -> None:
            with lock:
                seen.append(place())

        for _ in range(3):
            queue.add(use)

        with expect_log("txloop", "does not pickle"):
            queue.run()

        assert ["here"] * 3 == seen

    @on(*PARALLEL)
    def test_what_must_not_be_undone_stays(self, queue: TransactionQueue) -> None:
        def print_it() -> None:
            txloop.inevitable()
            seen.append(place())

        for _ in range(3):
            queue.add(print_it)

        with allow_log("txloop", ON_THIS_THREAD):
            queue.run()

        assert ["here"] * 3 == seen


@on(*PARALLEL)
class TestChunks:
    """Short pieces travel together, and nobody can tell."""

    def test_they_travel_together(
        self, queue: TransactionQueue, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sizes = self.sizes_of_chunks(monkeypatch)
        for _ in range(300):
            queue.add(seen.append, None)

        queue.run()

        # A chunk that conflicts too often is taken apart, and its pieces once more.
        assert max(sizes) > 10
        assert len(seen) == 300
        assert queue.number_of_transactions_executed() == 300

    def test_one_that_raises_among_many(self, queue: TransactionQueue) -> None:
        """What came before it stays, and nothing that came after."""
        for number in range(200):
            queue.add(note_until, number, 150)

        with pytest.raises(ValueError, match="150"):
            queue.run()

        assert 150 in seen
        assert len(seen) == queue.number_of_transactions_executed()
        assert len(set(seen)) == len(seen)

    def test_some_that_wait_among_many(self, queue: TransactionQueue) -> None:
        for number in range(100):
            queue.add(note_or_wait, number)
        queue.add(add_to_total, 1)

        queue.run()

        assert list(range(100)) == sorted(seen)

    @staticmethod
    def sizes_of_chunks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
        sizes: list[int] = []
        take = groups.Group.take

        def noting(group: groups.Group, workers: int) -> tuple[object, ...]:
            pieces = take(group, workers)
            sizes.append(len(pieces))
            return pieces

        monkeypatch.setattr(groups.Group, "take", noting)
        return sizes


def note_until(number: int, last: int) -> None:
    seen.append(number)
    if number == last:
        raise ValueError(number)


def note_or_wait(number: int) -> None:
    if number % 10 == 3 and not total.value:
        txloop.retry()
    seen.append(number)

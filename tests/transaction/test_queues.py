"""What txloop promises of a queue beyond PyPy's tests, on every executor."""

from __future__ import annotations

import asyncio
import functools
import os
import threading
import time
from collections import Counter
from typing import Any

import pytest

import txloop
from tests.flags import Flag
from tests.logs import allow_log, expect_log
from tests.transaction.conftest import PARALLEL, on
from txloop import transaction
from txloop.errors import TxThreadError
from txloop.transaction import TransactionError, TransactionQueue, groups, runs

ON_THIS_THREAD = "runs on the calling thread"

plain: list[int] = []
total = txloop.TVar(0)
seen: txloop.TList[Any] = txloop.TList()
told: list[tuple[object, ...]] = []


@pytest.fixture(autouse=True)
def _clean() -> None:
    plain.clear()
    told.clear()
    seen.clear()
    total.value = 0


def tell(*things: object) -> None:
    """Note something down: an effect."""
    told.append(things)


def place() -> str:
    """Return where this runs, in words that are the same for all workers' calls."""
    if os.getpid() != runs_in:
        return "process"
    return "here" if threading.current_thread() is threading.main_thread() else "thread"


runs_in = os.getpid()


def count_place(places: txloop.TDict[str, int]) -> None:
    where = place()
    places[where] = places.get(where, 0) + 1


def add_to_total(amount: int) -> None:
    total.value += amount


def append_plainly(number: int) -> None:
    plain.append(number)


def change_first(*things: list[int]) -> None:
    things[0].append(1)


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


class TestPlaces:
    """Where pieces run, and what is said of it."""

    def test_away_where_there_are_workers(
        self, queue: TransactionQueue, executor: str
    ) -> None:
        places: txloop.TDict[str, int] = txloop.TDict()
        for _ in range(20):
            queue.add(count_place, places)

        with allow_log("txloop", "was in vain"):
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


class TestTransactions:
    """Conflicts, effects, and adds at commit."""

    def test_conflicting_pieces(self, queue: TransactionQueue) -> None:
        for _ in range(60):
            queue.add(add_to_total, 1)

        with allow_log("txloop", "was in vain"):
            queue.run()

        assert total.value == 60
        assert queue.number_of_transactions_executed() == 60

    def test_effects_come_once_each(self, queue: TransactionQueue) -> None:
        for number in range(40):
            queue.add(add_and_tell, number)

        with allow_log("txloop", "was in vain"):
            queue.run()

        assert Counter((number,) for number in range(40)) == Counter(told)
        assert sum(range(40)) == total.value

    def test_adds_of_what_runs_again_come_once(self, queue: TransactionQueue) -> None:
        for _ in range(20):
            queue.add(add_to_total_and_queue, queue)

        with allow_log("txloop", "was in vain"):
            queue.run()

        assert total.value == 20
        assert ["child"] * 20 == seen
        assert queue.number_of_transactions_executed() == 40

    def test_effects_of_one_that_raises_come_and_no_others(
        self, queue: TransactionQueue
    ) -> None:
        queue.add(tell_and_raise)
        queue.add(tell_and_raise)

        with pytest.raises(ValueError, match="told"):
            queue.run()

        assert [("raising",)] == told

    def test_an_effect_may_add(self, queue: TransactionQueue) -> None:
        queue.add(txloop.on_commit, add_seen, queue)

        with allow_log("txloop", ON_THIS_THREAD):
            queue.run()

        assert ["effect"] == seen

    def test_queues_do_not_mix(self, queue: TransactionQueue) -> None:
        other = TransactionQueue()
        queue.add(other.add, seen.append, "other")
        queue.add(seen.append, "own")

        queue.run()
        assert ["own"] == seen
        other.run()
        assert ["own", "other"] == seen


def add_and_tell(number: int) -> None:
    total.value += number
    txloop.on_commit(tell, number)


def add_to_total_and_queue(queue: TransactionQueue) -> None:
    queue.add(seen.append, "child")
    total.value += 1


def tell_and_raise() -> None:
    txloop.on_commit(tell, "raising")
    raise ValueError("told")


def add_seen(queue: TransactionQueue) -> None:
    queue.add(seen.append, "effect")


def wait_for(number: int) -> None:
    if total.value < number:
        txloop.retry()
    seen.append(number)
    total.value = number + 1


def wait_in_time() -> None:
    if not total.value:
        txloop.retry(timeout=0.01)
    seen.append("in time")


class TestWaiting:
    """Pieces that retry wait aside, and hold up neither chunk nor worker."""

    def test_they_wake_one_another(self, queue: TransactionQueue) -> None:
        for number in reversed(range(8)):
            queue.add(wait_for, number)

        with allow_log("txloop", "was in vain"):
            queue.run()

        assert list(range(8)) == seen

    def test_timeout(self, queue: TransactionQueue) -> None:
        queue.add(wait_in_time)

        queue.run()

        assert ["in time"] == seen

    def test_nobody_is_left_to_wake_them(self, queue: TransactionQueue) -> None:
        queue.add(wait_for, 1)
        queue.add(wait_for, 2)

        with pytest.raises(TransactionError, match="2 transactions wait"):
            queue.run()

        assert [] == seen


class TestCalling:
    """Where `run` may be called, and where not."""

    def test_not_in_a_transaction(self, queue: TransactionQueue) -> None:
        queue.add(queue.run)

        with pytest.raises(TransactionError, match="in a transaction"):
            queue.run()

    def test_not_in_an_atomic_block(self, queue: TransactionQueue) -> None:
        queue.add(seen.append, 1)

        with (
            transaction.atomic,
            pytest.raises(TransactionError, match="atomic block"),
        ):
            queue.run()

    def test_not_in_an_effect(self, queue: TransactionQueue) -> None:
        queue.add(txloop.on_commit, run_and_tell, queue)

        with allow_log("txloop", ON_THIS_THREAD):
            queue.run()

        assert [("recursive",)] == told

    def test_a_queue_is_not_made_in_a_transaction(
        self, queue: TransactionQueue
    ) -> None:
        queue.add(TransactionQueue)

        with pytest.raises(TransactionError, match="cannot be made in a transaction"):
            queue.run()

    def test_in_a_callback_of_a_loop(self, queue: TransactionQueue) -> None:
        async def main() -> None:
            for number in range(5):
                queue.add(seen.append, number)
            queue.run()

        asyncio.run(main())

        assert list(range(5)) == sorted(seen)

    def test_on_another_thread_than_a_loop(
        self, queue: TransactionQueue, executor: str
    ) -> None:
        """One thread commits; a second one is told so."""
        other = TransactionQueue()
        other.add(seen.append, 1)
        queue.add(txloop.on_commit, run_elsewhere, other)

        queue.run()

        assert [("TxThreadError",)] == told
        assert [] == seen

    def test_an_empty_queue(self, queue: TransactionQueue) -> None:
        queue.run()

        assert queue.number_of_transactions_executed() == 0

    def test_unknown_executor(self) -> None:
        with pytest.raises(txloop.TxConfigurationError, match="unknown executor"):
            TransactionQueue(executor="elsewhere")

    def test_limit(self, executor: str) -> None:
        assert (1 if executor == "serial" else 2) == transaction.getsegmentlimit()


def run_elsewhere(queue: TransactionQueue) -> None:
    def run() -> None:
        try:
            queue.run()
        except TxThreadError as error:
            tell(type(error).__name__)

    thread = threading.Thread(target=run)
    TransactionQueue._running, running = None, TransactionQueue._running
    thread.start()
    thread.join()
    TransactionQueue._running = running


def run_and_tell(queue: TransactionQueue) -> None:
    try:
        queue.run()
    except TransactionError:
        tell("recursive")


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

        assert sum(sizes) == 300
        assert max(sizes) > 10
        assert len(seen) == 300

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

        with allow_log("txloop", "was in vain"):
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

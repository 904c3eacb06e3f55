"""PyPy's containers, clocks, numbers and per-thread attributes."""

from __future__ import annotations

import gc
import os
import pickle
import threading
import weakref
from typing import TYPE_CHECKING, Any

import pytest

import txloop
from tests.logs import expect_log
from tests.transaction.conftest import PARALLEL, on
from txloop import transaction
from txloop.transaction import (
    Empty,
    TransactionError,
    stmdict,
    stmiddict,
    stmidset,
    stmset,
    threadlocalproperty,
)

if TYPE_CHECKING:
    from txloop.transaction import TransactionQueue


class Node(txloop.TObject):
    """A key that is known by its identity in every worker."""

    name: str


class Thing:
    """A key that is known by its identity in its own process only."""


class TestByValue:
    """`stmdict` and `stmset`."""

    def test_iterators_of_a_dict(self) -> None:
        words: stmdict[str, str] = stmdict({"abc": "def"})

        assert ["abc"] == list(words.iterkeys())
        assert ["def"] == list(words.itervalues())
        assert [("abc", "def")] == list(words.iteritems())

    def test_set(self) -> None:
        words: stmset[str] = stmset()
        words.add("abc")

        assert ["abc"] == list(words)

    def test_they_are_shared(self, queue: TransactionQueue) -> None:
        counts: stmdict[int, int] = stmdict()
        found: stmset[int] = stmset()
        for number in range(20):
            queue.add(fill, counts, found, number)

        queue.run()

        assert {number: -number for number in range(20)} == counts
        assert set(range(20)) == found


def fill(counts: stmdict[int, int], found: stmset[int], number: int) -> None:
    counts[number] = -number
    found.add(number)


KEYS = pytest.mark.parametrize("make", [list, Thing, lambda: Node(name="a")])


class TestByIdentity:
    """`stmiddict` and `stmidset`: equal keys are not the same key."""

    @KEYS
    def test_set(self, make: Any) -> None:
        keys = stmidset()
        one, other = make(), make()

        keys.add(one)
        assert (True, False) == (one in keys, other in keys)
        keys.add(other)
        keys.remove(one)
        assert (False, True) == (one in keys, other in keys)
        with pytest.raises(KeyError):
            keys.remove(one)
        keys.discard(one)
        keys.discard(other)
        assert other not in keys

    @KEYS
    def test_dict(self, make: Any) -> None:
        values: stmiddict[int | None] = stmiddict()
        one, other = make(), make()

        with pytest.raises(KeyError):
            values[one]
        values[one] = 5
        assert (5, True, 5, 5) == (
            values[one],
            one in values,
            values.get(one),
            values.get(one, 42),
        )
        del values[one]
        assert (False, None, 42) == (
            one in values,
            values.get(one),
            values.get(one, 42),
        )
        with pytest.raises(KeyError):
            values[one]
        with pytest.raises(KeyError):
            del values[one]
        assert (42, 42) == (values.setdefault(one, 42), values.setdefault(one, 43))
        assert values.setdefault(other) is None
        assert values[other] is None

    def test_keys_are_kept_alive(self) -> None:
        values: stmiddict[int] = stmiddict()
        thing = Thing()
        values[thing], alive = 1, weakref.ref(thing)

        del thing
        gc.collect()
        assert alive() is not None
        del values[alive()]
        gc.collect()
        assert alive() is None

    def test_containers_are_the_same_key_everywhere(
        self, queue: TransactionQueue, executor: str
    ) -> None:
        values: stmiddict[bool] = stmiddict()
        node, other = Node(name="a"), Node(name="a")
        values[node] = False
        for _ in range(3):
            queue.add(mark, values, node)

        queue.run()

        away = executor == "processes"
        assert (away, False) == (values[node], other in values)

    @on(*PARALLEL)
    def test_other_keys_are_looked_up_here(self, queue: TransactionQueue) -> None:
        values: stmiddict[bool] = stmiddict()
        thing = Thing()
        values[thing] = False
        for _ in range(3):
            queue.add(mark, values, thing)

        with expect_log("txloop", "it looks a Thing up by its identity"):
            queue.run()

        assert values[thing] is False


def mark(values: stmiddict[bool], key: object) -> None:
    values[key] = values[key] or os.getpid() != main_process


main_process = os.getpid()


def produce(jobs: transaction.queue[int], number: int) -> None:
    jobs.put(number)


def consume(jobs: transaction.queue[int], sums: txloop.TCounter[int]) -> None:
    sums.add(jobs.get())
    jobs.task_done()


def note_after_join(jobs: transaction.queue[int], sums: Any, found: Any) -> None:
    jobs.join()
    found.append(sums.value)


def take_nothing(jobs: transaction.queue[int], found: txloop.TList[str]) -> None:
    for block, timeout in ((False, None), (True, 0.01)):
        try:
            jobs.get(block, timeout)
        except Empty:
            found.append("block" if timeout is None else "timeout")


class TestQueue:
    """A queue between transactions, where getting waits."""

    def test_producers_and_consumers(self, queue: TransactionQueue) -> None:
        jobs: transaction.queue[int] = transaction.queue()
        sums = txloop.TCounter()
        found: txloop.TList[int] = txloop.TList()
        for number in range(10):
            queue.add(consume, jobs, sums)
            queue.add(produce, jobs, number)
        queue.add(produce, jobs, 0)
        queue.add(note_after_join, jobs, sums, found)
        queue.add(consume, jobs, sums)

        queue.run()

        assert sum(range(10)) == sums.value
        assert len(found) == 1
        jobs.join()

    def test_empty_in_a_transaction(self, queue: TransactionQueue) -> None:
        found: txloop.TList[str] = txloop.TList()
        queue.add(take_nothing, transaction.queue(), found)

        queue.run()

        assert ["block", "timeout"] == found

    def test_outside_of_transactions(self) -> None:
        jobs: transaction.queue[int] = transaction.queue()
        jobs.put(1)

        assert jobs.get() == 1
        with pytest.raises(TransactionError, match="join"):
            jobs.join()
        with pytest.raises(Empty):
            jobs.get(block=False)
        with pytest.raises(Empty):
            jobs.get(timeout=100)
        with pytest.raises(TransactionError, match="get"):
            jobs.get()
        jobs.task_done()
        jobs.join()

    def test_done_too_often(self) -> None:
        jobs: transaction.queue[int] = transaction.queue()
        jobs.task_done()

        with pytest.raises(ValueError, match="more often"):
            jobs.join()


def take_number(found: txloop.TList[int]) -> None:
    found.append(transaction.count())


class TestNumbers:
    """Clocks, and numbers that nobody else has."""

    def test_clocks(self) -> None:
        assert isinstance(transaction.time(), float)
        assert isinstance(transaction.clock(), float)

    def test_no_number_comes_twice(self, queue: TransactionQueue) -> None:
        found: txloop.TList[int] = txloop.TList([transaction.count()])
        for _ in range(30):
            queue.add(take_number, found)

        queue.run()

        assert 31 == len(set(found))


class Parser:
    """Has what each thread has for itself."""

    last = threadlocalproperty[int]()
    buffer = threadlocalproperty[list[int]](list)


def use_parser(parser: Parser, found: txloop.TList[int]) -> None:
    parser.buffer.append(1)
    parser.last = len(parser.buffer)
    found.append(parser.last)


class TestThreadLocalProperty:
    """Each thread, and each worker, has its own value."""

    def test_with_and_without_a_default(self) -> None:
        parser = Parser()

        with pytest.raises(AttributeError, match=r"Parser\.last was not assigned"):
            parser.last  # noqa: B018
        assert [] == parser.buffer
        assert parser.buffer is parser.buffer
        parser.last, parser.buffer = 42, [43]
        assert (42, [43]) == (parser.last, parser.buffer)
        del parser.last
        del parser.buffer
        with pytest.raises(AttributeError):
            del parser.last
        assert [] == parser.buffer

    def test_objects_do_not_mix(self) -> None:
        one, other = Parser(), Parser()
        one.buffer.append(1)

        assert [] == other.buffer

    def test_threads_do_not_mix(self) -> None:
        parser = Parser()
        parser.buffer.append(1)
        found: list[list[int]] = []

        other = threading.Thread(target=lambda: found.append(parser.buffer))
        other.start()
        other.join()

        assert [[]] == found

    def test_clear(self) -> None:
        parser = Parser()
        parser.buffer.append(1)

        Parser.buffer.clear(parser)

        assert [] == parser.buffer

    def test_it_goes_with_its_object(self) -> None:
        parser = Parser()
        parser.buffer.append(1)
        gc.collect()
        kept = vars(Parser)["buffer"]._own
        before = len(kept)

        del parser
        gc.collect()

        assert before - 1 == len(kept)

    def test_it_pickles_without_its_values(self) -> None:
        made = pickle.loads(pickle.dumps(threadlocalproperty(list)))

        assert made.default_factory is list

    def test_workers_may_use_it(self, queue: TransactionQueue) -> None:
        """It is no plain state: what uses it travels, and nothing is said."""
        found: txloop.TList[int] = txloop.TList()
        parser = Parser()
        for _ in range(6):
            queue.add(use_parser, parser, found)

        queue.run()

        assert len(found) == 6

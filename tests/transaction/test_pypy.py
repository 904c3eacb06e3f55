"""What PyPy's own tests ask of the module, on shared and on plain objects.

The cases are those of ``test_transaction.py`` beside PyPy-STM's module: order, nested
adds, exceptions, counts, and the small things. PyPy tracks plain objects; here what
changes them runs on the calling thread, and the results are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

import txloop
from tests.logs import expect_log
from txloop import transaction
from txloop.transaction import TransactionError, TransactionQueue

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Lists: TypeAlias = tuple[txloop.TList[Any], ...]

REPEATS = 3

ON_THIS_THREAD = "runs on the calling thread"


class FooError(Exception):
    """What a piece raises."""


class BarError(Exception):
    """What another piece raises."""


def step(chains: TransactionQueue, lists: Lists, chain: int, number: int, last: int):
    lists[chain].append(number)
    if number + 1 < last:
        chains.add(step, chains, lists, chain, number + 1, last)


def fall(queue: TransactionQueue, lists: Lists, chain: int, number: int):
    lists[chain].append(number)
    if number + 1 < 5:
        queue.add(fall, queue, lists, chain, number + 1)
    else:
        lists[chain].append("foo")
        raise FooError


def nothing() -> None:
    pass


def raise_it(error: type[Exception]) -> None:
    raise error


def add_tree(queue: TransactionQueue, widths: tuple[int, ...]) -> None:
    if widths:
        for _ in range(widths[0]):
            queue.add(add_tree, queue, widths[1:])


class TestOrder:
    """There is none, but between a transaction and those that it adds."""

    @pytest.mark.parametrize("_", range(REPEATS))
    def test_all_run_once(self, queue: TransactionQueue, _: int) -> None:
        done: txloop.TList[int] = txloop.TList()
        for number in range(10):
            queue.add(done.append, number)

        queue.run()

        assert list(range(10)) == sorted(done)

    @pytest.mark.parametrize("_", range(REPEATS))
    def test_chain(self, queue: TransactionQueue, _: int) -> None:
        done: txloop.TList[int] = txloop.TList()
        queue.add(step, queue, (done,), 0, 0, 10)

        queue.run()

        assert list(range(10)) == done

    @pytest.mark.parametrize("_", range(REPEATS))
    def test_five_chains(self, queue: TransactionQueue, _: int) -> None:
        lists = tuple(txloop.TList[int]() for _ in range(5))
        for chain in range(5):
            queue.add(step, queue, lists, chain, 0, 10)

        queue.run()

        assert [list(range(10))] * 5 == [list(one) for one in lists]


class TestExceptions:
    """The failing one's writes stay, the rest is dropped, `run` raises."""

    @staticmethod
    def check(lists: Sequence[Sequence[object]]) -> None:
        finished = [list(one) for one in lists if len(one) >= 5]
        begun = [list(one) for one in lists if len(one) < 5]

        assert [[0, 1, 2, 3, 4, "foo"]] == finished
        assert all(one == list(range(len(one))) for one in begun)

    @pytest.mark.parametrize("_", range(REPEATS))
    def test_one_failing_takes_effect(self, queue: TransactionQueue, _: int) -> None:
        lists = tuple(txloop.TList[object]() for _ in range(10))
        for chain in range(10):
            queue.add(fall, queue, lists, chain, 0)

        with pytest.raises(FooError):
            queue.run()

        self.check(lists)

    def test_the_rest_is_dropped(self, queue: TransactionQueue) -> None:
        seen: txloop.TList[int] = txloop.TList()
        queue.add(raise_it, FooError)
        queue.add(raise_it, BarError)
        for _ in range(2):
            queue.add(seen.append, 42)
        with pytest.raises((FooError, BarError)):
            queue.run()
        before = list(seen)

        queue.run()

        assert before == seen

    @pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
    def test_whatever_is_raised(
        self, queue: TransactionQueue, error: type[BaseException]
    ) -> None:
        queue.add(raise_it, error)
        queue.add(raise_it, error)

        with pytest.raises(error):
            queue.run()

    def test_after_an_exception_the_queue_is_as_new(
        self, queue: TransactionQueue
    ) -> None:
        seen: txloop.TList[int] = txloop.TList()
        queue.add(raise_it, FooError)
        queue.add(raise_it, FooError)
        with pytest.raises(FooError):
            queue.run()
        queue.add(seen.append, 1)
        queue.add(seen.append, 2)

        queue.run()

        assert [1, 2] == sorted(seen)


class TestCounts:
    """How many transactions there were."""

    def test_they_add_up(self, queue: TransactionQueue) -> None:
        for expected, pieces in [(2, 2), (2, 0), (3, 1)]:
            for _ in range(pieces):
                queue.add(nothing)
            queue.run()

            assert expected == queue.number_of_transactions_executed()

    def test_one_that_raises_counts(self, queue: TransactionQueue) -> None:
        queue.add(raise_it, FooError)
        with pytest.raises(FooError):
            queue.run()

        assert queue.number_of_transactions_executed() == 1

    def test_they_are_not_known_while_it_runs(self, queue: TransactionQueue) -> None:
        queue.add(queue.number_of_transactions_executed)

        with pytest.raises(TransactionError, match="is known when"):
            queue.run()

    def test_those_that_were_added_on_the_way(self, queue: TransactionQueue) -> None:
        queue.add(add_tree, queue, (5, 5, 5))

        queue.run()

        assert 1 + 5 + 25 + 125 == queue.number_of_transactions_executed()


class TestPlainObjects:
    """PyPy's tests as they are: the functions change lists of the test."""

    def quietly(self, queue: TransactionQueue, executor: str) -> None:
        """Run the queue, of which one function says why it stays here."""
        with expect_log("txloop", ON_THIS_THREAD, 0 if executor == "serial" else 1):
            queue.run()

    def test_all_run_once(self, queue: TransactionQueue, executor: str) -> None:
        done: list[int] = []
        for number in range(10):
            queue.add(done.append, number)

        self.quietly(queue, executor)

        assert list(range(10)) == sorted(done)

    def test_five_chains(self, queue: TransactionQueue, executor: str) -> None:
        lists: tuple[list[int], ...] = ([], [], [], [], [])

        def do_stuff(chain: int, number: int) -> None:
            lists[chain].append(number)
            if number + 1 < 10:
                queue.add(do_stuff, chain, number + 1)

        for chain in range(5):
            queue.add(do_stuff, chain, 0)

        self.quietly(queue, executor)

        assert ([*range(10)],) * 5 == lists

    def test_one_failing_takes_effect(
        self, queue: TransactionQueue, executor: str
    ) -> None:
        lists: tuple[list[object], ...] = tuple([] for _ in range(10))

        def do_stuff(chain: int, number: int) -> None:
            lists[chain].append(number)
            if number + 1 < 5:
                queue.add(do_stuff, chain, number + 1)
            else:
                lists[chain].append("foo")
                raise FooError

        for chain in range(10):
            queue.add(do_stuff, chain, 0)

        with pytest.raises(FooError):
            self.quietly(queue, executor)

        TestExceptions.check(lists)


class TestGenerators:
    """Each part up to a `yield` is one transaction."""

    def test_parts_run_in_order(self, queue: TransactionQueue, executor: str) -> None:
        seen: list[tuple[str, int]] = []
        counts: list[bool] = []

        def parts(name: str, number: int):
            for part in range(number):
                seen.append((name, part))
                counts.append(transaction.is_atomic())
                yield

        queue.add_generator(parts("a", 5))
        queue.add_generator(parts("b", 3))

        with expect_log("txloop", "generator", 0 if executor == "serial" else 1):
            queue.run()

        assert [0, 1, 2, 3, 4] == [part for name, part in seen if name == "a"]
        assert [0, 1, 2] == [part for name, part in seen if name == "b"]
        assert all(counts)
        assert (5 + 1) + (3 + 1) == queue.number_of_transactions_executed()

    def test_a_part_commits_as_a_whole(
        self, queue: TransactionQueue, executor: str
    ) -> None:
        number = txloop.TVar(0)
        versions: list[int] = []

        def parts():
            for _ in range(3):
                versions.append(txloop.store.committed.version)
                number.value += 1
                number.value += 1
                yield

        queue.add_generator(parts())

        with expect_log("txloop", "generator", 0 if executor == "serial" else 1):
            queue.run()

        first = versions[0]
        assert [first, first + 1, first + 2] == versions
        assert number.value == 6

    def test_one_that_raises(self, queue: TransactionQueue, executor: str) -> None:
        done: txloop.TList[int] = txloop.TList()

        def parts():
            done.append(1)
            yield
            done.append(2)
            raise FooError

        queue.add_generator(parts())

        with (
            expect_log("txloop", "generator", 0 if executor == "serial" else 1),
            pytest.raises(FooError),
        ):
            queue.run()

        assert [1, 2] == done


def add_here(function: Callable[..., object], *args: object) -> None:
    transaction.add(function, *args)


class TestModule:
    """The functions of 2012, and the `with` block of 2014."""

    def test_run(self, executor: str) -> None:
        done: txloop.TList[int] = txloop.TList()
        for number in range(10):
            transaction.add(done.append, number)

        transaction.run()

        assert list(range(10)) == sorted(done)
        assert transaction.number_of_transactions_in_last_run() == 10

    def test_nested_adds(self, executor: str) -> None:
        done: txloop.TList[int] = txloop.TList()
        transaction.add(add_here, add_here, done.append, 1)

        transaction.run()

        assert [1] == done
        assert transaction.number_of_transactions_in_last_run() == 3

    def test_the_last_run_only(self, executor: str) -> None:
        for pieces in (3, 1):
            for _ in range(pieces):
                transaction.add(nothing)
            transaction.run()

            assert pieces == transaction.number_of_transactions_in_last_run()

    def test_an_exception(self, executor: str) -> None:
        transaction.add(raise_it, FooError)
        with pytest.raises(FooError):
            transaction.run()

        assert transaction.number_of_transactions_in_last_run() == 1

    def test_a_run_cannot_be_nested(self, executor: str) -> None:
        transaction.add(transaction.run)

        with pytest.raises(TransactionError, match="in a transaction"):
            transaction.run()

    @pytest.mark.parametrize("number", [0, -1])
    def test_too_few_threads(self, number: int) -> None:
        with pytest.raises(ValueError, match="a number from 1"):
            transaction.set_num_threads(number)

    def test_threads_while_it_runs(self, executor: str) -> None:
        transaction.add(transaction.set_num_threads, 2)

        with pytest.raises(TransactionError, match="while run"):
            transaction.run()

    def test_with_block(self, executor: str) -> None:
        done: txloop.TList[int] = txloop.TList()

        with transaction.TransactionQueue():
            assert transaction.is_atomic()
            for number in range(10):
                transaction.add(done.append, number)
            assert not done

        assert list(range(10)) == sorted(done)

    def test_with_block_that_raises_runs_nothing(self, executor: str) -> None:
        done: txloop.TList[int] = txloop.TList()

        def add_and_raise() -> None:
            with transaction.TransactionQueue():
                transaction.add(done.append, 1)
                raise FooError

        with pytest.raises(FooError):
            add_and_raise()

        assert [] == done
        assert not transaction.is_atomic()

    def test_with_blocks_cannot_be_nested(self, executor: str) -> None:
        with (
            transaction.TransactionQueue() as queue,
            pytest.raises(TransactionError, match="recursive"),
        ):
            queue.__enter__()

"""What PyPy's own tests ask of the module, on the plain objects that they have.

PyPy tracks plain objects; here what changes them runs on the calling thread, and the
results are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import txloop
from tests.logs import expect_log
from tests.transaction.conftest import ON_THIS_THREAD
from tests.transaction.pieces import FooError, check_chains
from txloop import transaction
from txloop.stm.store import committed

if TYPE_CHECKING:
    from txloop.transaction import TransactionQueue


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

        check_chains(lists)


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
                versions.append(committed.version)
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

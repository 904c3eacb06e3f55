"""Atomic blocks: one commit, wherever they stand."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

import txloop
from txloop import transaction
from txloop.stm.store import committed
from txloop.transaction import TransactionError, atomic, is_atomic

if TYPE_CHECKING:
    from txloop.transaction import TransactionQueue


class FooError(Exception):
    """What a block raises."""


@pytest.fixture
def numbers() -> txloop.TList[int]:
    return txloop.TList([1, 2])


def test_a_block_commits_once(numbers: txloop.TList[int]) -> None:
    version = committed.version

    with atomic:
        numbers.append(3)
        numbers.append(4)
        assert [1, 2, 3, 4] == numbers
        assert version == committed.version

    assert [1, 2, 3, 4] == numbers
    assert version + 1 == committed.version


def test_a_block_that_only_reads_commits_nothing(numbers: txloop.TList[int]) -> None:
    version = committed.version

    with atomic:
        assert len(numbers) == 2

    assert version == committed.version
    assert not committed._snapshots


def test_blocks_stand_in_one_another(numbers: txloop.TList[int]) -> None:
    version = committed.version

    with atomic:
        with atomic:
            numbers.append(3)
        assert is_atomic()
        assert version == committed.version

    assert not is_atomic()
    assert version + 1 == committed.version


def test_what_a_block_wrote_before_an_exception_stays(
    numbers: txloop.TList[int],
) -> None:
    def fall() -> None:
        with atomic:
            numbers.append(3)
            raise FooError

    with pytest.raises(FooError):
        fall()

    assert [1, 2, 3] == numbers
    assert not is_atomic()


def test_effects_come_at_the_end(numbers: txloop.TList[int]) -> None:
    found: list[list[int]] = []

    with atomic:
        txloop.on_commit(lambda: found.append(list(numbers)))
        numbers.append(3)
        assert not found

    assert [[1, 2, 3]] == found


def test_a_block_cannot_retry(numbers: txloop.TList[int]) -> None:
    with atomic, pytest.raises(txloop.TxError, match="atomic block, which runs once"):
        txloop.retry(timeout=1)


def test_a_change_meanwhile_is_an_error(numbers: txloop.TList[int]) -> None:
    """Only another thread, or a loop inside the block, could have made it."""

    def change() -> None:
        other = threading.Thread(target=numbers.append, args=(3,))
        with atomic:
            numbers.append(len(numbers))
            other.start()
            other.join()

    with pytest.raises(TransactionError, match="cannot commit"):
        change()

    assert [1, 2, 3] == numbers
    assert not is_atomic()
    assert not committed._snapshots


def test_each_thread_has_its_own() -> None:
    found: list[bool] = []

    with atomic:
        other = threading.Thread(target=lambda: found.append(is_atomic()))
        other.start()
        other.join()

    assert [False] == found


def note(found: txloop.TList[bool]) -> None:
    before = is_atomic()
    with atomic:
        transaction.hint_commit_soon()
        inside = is_atomic()
    found.extend([before, inside, is_atomic()])


def test_a_transaction_is_a_block(queue: TransactionQueue) -> None:
    found: txloop.TList[bool] = txloop.TList()
    queue.add(note, found)

    queue.run()

    assert [True] * 3 == found


def test_adding_in_a_block_is_an_effect_of_it(queue: TransactionQueue) -> None:
    found: txloop.TList[bool] = txloop.TList()

    with atomic:
        queue.add(note, found)
        assert not queue._added

    queue.run()
    assert [True] * 3 == found


def test_signals_enabled_can_be_used_again() -> None:
    for _ in range(2):
        with transaction.signals_enabled, transaction.signals_enabled:
            pass

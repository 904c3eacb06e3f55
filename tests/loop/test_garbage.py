"""What is left of a loop when it has ended: nothing that waits for the collector."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from tornado.ioloop import IOLoop

from txloop import TransactionIOLoop, TVar, atomically, install
from txloop.executors.protocol import resolve_name

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(
    sys.implementation.name != "cpython", reason="only CPython counts references"
)

EXECUTORS = ("serial", "processes", "threads")

shared = TVar(0)


def add() -> None:
    shared.value += 1


async def use(transactions: int) -> None:
    IOLoop.current()
    for _ in range(transactions):
        await atomically(add)


def close_a_loop(executor: str, transactions: int) -> None:
    """Use a loop of Tornado's kind, and close it."""
    loop = TransactionIOLoop(make_current=False, executor=executor)
    loop.run_sync(lambda: use(transactions))
    loop.close()


def drop_a_loop(executor: str, transactions: int) -> None:
    """Use a loop beside one of asyncio, which alone is closed at the end."""
    asyncio.run(use(transactions))


def forget_closed_loops() -> None:
    """Do what Tornado does when the next loop is made: it lets closed ones go."""
    for asyncio_loop in list(IOLoop._ioloop_for_asyncio):
        if asyncio_loop.is_closed():
            del IOLoop._ioloop_for_asyncio[asyncio_loop]


@contextmanager
def collected() -> Iterator[Counter[str]]:
    """Count, by class, what of txloop only the collector finds after the block."""
    found: Counter[str] = Counter()
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield found
        forget_closed_loops()
        gc.collect()
        kinds = [type(one) for one in gc.garbage]
        found.update(one.__qualname__ for one in kinds if is_ours(one))
        gc.garbage.clear()
    finally:
        gc.set_debug(0)
        gc.enable()


def is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "txloop"


@pytest.fixture
def configured(request: pytest.FixtureRequest) -> Iterator[str]:
    """Install an executor for the loops that are made in the test."""
    before = IOLoop._save_configuration()
    install(request.param, 2)
    yield resolve_name(request.param)
    IOLoop._restore_configuration(before)


@pytest.mark.parametrize("transactions", [0, 5])
@pytest.mark.parametrize("end", [close_a_loop, drop_a_loop], ids=["closed", "dropped"])
@pytest.mark.parametrize("configured", EXECUTORS, indirect=True)
def test_a_loop_leaves_no_cyclic_garbage(configured, end, transactions, monkeypatch):
    # GIVEN
    monkeypatch.delenv("PYPYSTM", raising=False)
    end(configured, transactions)  # what is made once in a process

    # WHEN
    with collected() as found:
        end(configured, transactions)

    # THEN
    assert Counter() == found


@pytest.mark.parametrize("configured", EXECUTORS, indirect=True)
def test_neither_does_one_that_was_logged(configured, tmp_path, monkeypatch):
    # GIVEN
    monkeypatch.setenv("PYPYSTM", str(tmp_path / "stm.log"))
    drop_a_loop(configured, 5)

    # WHEN
    with collected() as found:
        drop_a_loop(configured, 5)

    # THEN
    assert Counter() == found

"""The parts of a run by themselves: the reactor, groups, and what is immutable."""

from __future__ import annotations

import contextvars
import functools
import os
import threading
import types
from collections import deque
from typing import TYPE_CHECKING, Any

import pytest

import txloop
from tests.naming import shown
from txloop.transaction import TransactionQueue
from txloop.transaction.groups import CHUNK_SECONDS, Group, key_of
from txloop.transaction.pieces import Piece, Report, is_immutable
from txloop.transaction.reactor import Reactor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def reactor() -> Iterator[Reactor]:
    made = Reactor()
    yield made
    made.close()
    made.close()
    assert made.is_closed()


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


class TestReactor:
    """It calls what is due, once."""

    def test_soon(self, reactor: Reactor) -> None:
        called: list[int] = []
        reactor.call_soon(called.append, 1)
        reactor.call_soon(reactor.call_soon, called.append, 3)
        reactor.call_soon(called.append, 2)

        assert reactor.has_ready
        reactor.turn()
        assert [1, 2] == called
        reactor.turn()
        assert [1, 2, 3] == called
        assert not reactor.has_ready

    def test_soon_in_a_context(self, reactor: Reactor) -> None:
        variable = contextvars.ContextVar("variable", default=0)
        context = contextvars.Context()
        context.run(variable.set, 1)
        found: list[int] = []
        reactor.call_soon(lambda: found.append(variable.get()), context=context)

        reactor.turn()

        assert [1] == found

    def test_later(self, reactor: Reactor) -> None:
        called: list[int] = []
        reactor.call_later(0.05, called.append, 2)
        reactor.call_later(0.001, called.append, 1)
        reactor.call_later(0.0, called.append, 0).cancel()

        while len(called) < 2:
            reactor.turn()

        assert [1, 2] == called

    def test_reading(self, reactor: Reactor, pipe: tuple[int, int]) -> None:
        called: list[bytes] = []
        reader, writer = pipe
        reactor.add_reader(reader, lambda: called.append(os.read(reader, 10)))
        os.write(writer, b"a")
        reactor.turn()
        os.write(writer, b"b")
        reactor.remove_reader(reader)
        reactor.remove_reader(reader)
        reactor.call_soon(called.append, b"c")

        reactor.turn()

        assert [b"a", b"c"] == called

    def test_writing(self, reactor: Reactor, pipe: tuple[int, int]) -> None:
        called: list[int] = []
        reactor.add_writer(pipe[1], called.append, 1)
        reactor.turn()
        reactor.add_writer(pipe[1], called.append, 2)
        reactor.turn()
        reactor.remove_writer(pipe[1])
        reactor.call_soon(called.append, 3)

        reactor.turn()

        assert [1, 2, 3] == called

    def test_one_callback_may_end_another(
        self, reactor: Reactor, pipe: tuple[int, int]
    ) -> None:
        other = os.pipe()
        called: list[int] = []

        def read(number: int) -> None:
            called.append(number)
            for end in (pipe[0], other[0]):
                reactor.remove_reader(end)

        for number, (reader, writer) in enumerate((pipe, other)):
            reactor.add_reader(reader, read, number)
            os.write(writer, b"x")

        reactor.turn()

        assert len(called) == 1
        for end in other:
            os.close(end)

    def test_another_thread_wakes_it(self, reactor: Reactor) -> None:
        called: list[int] = []
        other = threading.Thread(
            target=reactor.call_soon_threadsafe, args=(called.append, 1)
        )
        other.start()

        while not called:
            reactor.turn()

        other.join()
        assert [1] == called

    def test_many_wakes_are_no_trouble(self, reactor: Reactor) -> None:
        called: list[int] = []
        for number in range(2000):
            reactor.call_soon_threadsafe(called.append, number)

        reactor.turn()

        assert list(range(2000)) == called

    def test_nobody_wakes_one_that_is_closed(self) -> None:
        made = Reactor()
        made.close()

        with pytest.raises(RuntimeError, match="closed"):
            made.call_soon_threadsafe(print)

    def test_closing_in_a_callback(self, reactor: Reactor) -> None:
        called: list[int] = []
        reactor.call_soon(reactor.close)
        reactor.call_soon(called.append, 1)

        reactor.turn()

        assert [] == called


def work(number: int) -> None:
    pass


@pytest.fixture
def group() -> Group:
    made = Group(Piece(work, (0,), {}), 0.001)
    made.waiting.extend(Piece(work, (number,), {}) for number in range(10_000))
    return made


def run_chunk(group: Group, seconds: float = 0.001) -> int:
    pieces = group.take(workers=2)
    group.ended(pieces, Report(len(pieces), seconds * len(pieces)))
    return len(pieces)


class TestGroup:
    """How many pieces travel together."""

    def test_chunks_grow_until_they_last(self, group: Group) -> None:
        sizes = [run_chunk(group) for _ in range(8)]

        most = round(CHUNK_SECONDS / 0.001)
        assert [1, 2, 4, 8, 16, most, most, most] == sizes

    def test_one_by_one_while_their_time_is_unknown(self) -> None:
        group = Group(Piece(work, (0,), {}), None)
        group.waiting.extend([Piece(work, (0,), {})] * 100)

        assert [1, 1] == [len(group.take(2)), len(group.take(2))]
        assert group.seconds is None

    def test_long_ones_travel_alone(self, group: Group) -> None:
        sizes = [run_chunk(group, seconds=0.1) for _ in range(5)]

        assert [1] * 5 == sizes

    def test_a_fair_share_at_the_end(self, group: Group) -> None:
        for _ in range(6):
            run_chunk(group)
        while len(group) > 30:
            group.waiting.pop()
        sizes = []
        while group:
            sizes.append(run_chunk(group))

        assert [8, 6, 4, 3, 3, 2, 1, 1, 1, 1] == sizes

    def test_a_conflict_halves_them(self, group: Group) -> None:
        for _ in range(5):
            run_chunk(group)
        group.away.conflicts += 1

        run_chunk(group)

        assert 16 == run_chunk(group)

    def test_what_was_stopped_waits_again(self, group: Group) -> None:
        for _ in range(3):
            run_chunk(group)
        pieces = group.take(2)
        left = len(group)
        group.ended(pieces, Report(5, 0.005, stopped=True))

        assert (pieces[5],) == group.take(2)
        assert [*pieces[:5], *pieces[6:]] == list(group.waiting)[:7]
        assert left + 7 == len(group)
        assert not group.alone

    def test_what_retries_travels_alone(self, group: Group) -> None:
        for _ in range(3):
            run_chunk(group)
        group.ended(group.take(2), Report(0, stopped=True, retries=True))

        assert group.alone
        assert [1, 1, 1] == [run_chunk(group) for _ in range(3)]

    def test_what_has_a_timeout_travels_alone(self) -> None:
        @txloop.transactional(timeout=5)
        def limited() -> None:
            pass

        group = Group(Piece(limited, (), {}), 0.001)

        assert group.alone
        assert group.timeout_seconds == 5


def nested(*things: object) -> Callable[[], object]:
    def inner() -> object:
        return things

    return inner


def selfish() -> Callable[[], object]:
    def inner() -> object:
        return inner

    return inner


class TestImmutable:
    """What a copy of is as good as the original."""

    @pytest.mark.parametrize(
        "thing",
        [
            1,
            "a",
            None,
            (1, ("a", frozenset([b"b"]))),
            int,
            os,
            len,
            work,
            "abc".upper,
            selfish(),
            nested(1, 2),
            txloop.TList([1]),
            txloop.TList([1]).append,
            txloop.Channel(),
            TransactionQueue(),
            functools.partial(work, 1),
        ],
        ids=shown,
    )
    def test_it_is(self, thing: object) -> None:
        assert is_immutable(thing)

    @pytest.mark.parametrize(
        "thing",
        [
            [],
            (1, []),
            {},
            bytearray(),
            deque([1]),
            [].append,
            nested([]),
            functools.partial(print, []),
            types.SimpleNamespace(),
            threading.Lock(),
            iter([]),
            (0,) * 1000,
        ],
        ids=lambda thing: type(thing).__name__,
    )
    def test_it_is_not_or_not_known(self, thing: object) -> None:
        assert not is_immutable(thing)


class TestKeys:
    """Which pieces are judged alike."""

    @pytest.mark.parametrize(
        ("one", "other", "alike"),
        [
            (Piece(work, (1,), {}), Piece(work, (2,), {}), True),
            (Piece(work, (1,), {}), Piece(work, ("a",), {}), False),
            (Piece(work, (1,), {}), Piece(run_chunk, (1,), {}), False),
            (Piece(nested(1), (), {}), Piece(nested(2), (), {}), True),
            (Piece(nested(1), (), {}), Piece(nested([]), (), {}), False),
            (Piece([].append, (1,), {}), Piece([].append, (1,), {}), True),
            (Piece([].append, (1,), {}), Piece([].remove, (1,), {}), False),
            (Piece([].append, (1,), {}), Piece(deque().append, (1,), {}), False),
            (Piece(work, (), {"a": 1}), Piece(work, (), {"b": 1}), False),
        ],
    )
    def test_keys(self, one: Any, other: Any, alike: bool) -> None:
        assert alike == (key_of(one) == key_of(other))

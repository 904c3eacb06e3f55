"""The board of commits: a ring that one writes and several read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from txloop.executors.fronts.board import ABORTED, Board, Made, OverwrittenError

NEWEST = 1 << 62


class Reader:
    """One who repeats what stands on a board."""

    def __init__(self, board):
        self.board = board
        self.position = board.end
        self.seen = []
        self.version = 0

    def read(self, newest=NEWEST):
        """Read all that there is."""
        self.position, version, found = self.board.read(self.position, newest)
        self.seen += found
        self.version = version or self.version


def test_what_is_put_is_read_once_by_each():
    board = Board(1024)
    first, second = Reader(board), Reader(board)

    board.put(3, [b"one", b"two"], list)
    first.read()
    board.put(4, [b""], list)
    first.read()
    second.read()

    assert [b"one", b"two", b""] == first.seen == second.seen
    assert (4, 4) == (first.version, second.version)


def test_what_may_not_be_known_yet_is_not_read():
    board = Board(1024)
    reader = Reader(board)
    board.put(3, [b"one"], list)
    board.put(5, [b"two", b"three"], list)

    reader.read(newest=4)
    assert ([b"one"], 3) == (reader.seen, reader.version)

    reader.read(newest=5)
    assert ([b"one", b"two", b"three"], 5) == (reader.seen, reader.version)


def test_nothing_is_read_beyond_a_mark():
    board = Board(1024)
    reader = Reader(board)
    board.put(1, [b"one"], list)
    place = board.skip(2, list)
    board.put(3, [b"three"], list)

    reader.read()
    assert place is not None
    assert ([b"one"], place[0]) == (reader.seen, reader.position)

    reader.position = place[1]
    reader.read()
    assert [b"one", b"three"] == reader.seen


def test_what_is_too_long_is_not_put():
    board = Board(1024)

    assert not board.put(1, [b"x" * 200], list)
    assert (0, 0) == (board.end, board.version)


def test_nothing_is_written_over_that_is_not_read():
    board = Board(1024)
    slow, fast = Reader(board), Reader(board)

    def positions():
        return [slow.position, fast.position]

    put = 0
    while board.put(put + 1, [b"%03d" % put], positions):
        put += 1
        fast.read()
    marks = 0
    while board.skip(put + 1 + marks, positions):
        marks += 1

    assert 0 < put < 32
    assert 0 < marks
    slow.read()
    assert [b"%03d" % number for number in range(put)] == slow.seen == fast.seen


def test_who_is_not_waited_for_is_told():
    board = Board(1024)
    reader = Reader(board)
    for number in range(100):
        assert board.put(number + 1, [b"x" * 30], list)

    with pytest.raises(OverwrittenError):
        reader.read()


@given(
    st.lists(
        st.one_of(
            st.lists(st.binary(max_size=70), min_size=1, max_size=3),
            st.sampled_from(["first", "second", "skip"]),
        ),
        max_size=200,
    )
)
def test_every_reader_repeats_everything_in_order(steps):
    board = Board(1024)
    readers = [Reader(board), Reader(board)]
    expected: list[list[bytes]] = [[], []]

    def positions():
        return [reader.position for reader in readers]

    for version, step in enumerate(steps, start=1):
        if step in ("first", "second"):
            readers[step == "second"].read()
        elif step == "skip" or not board.put(version, step, positions):
            for reader in readers:
                reader.read()
            place = board.skip(version, positions)
            assert place is not None
            assert all(place[0] == one.position for one in map(at_mark, readers))
            for reader in readers:
                reader.position = place[1]
        else:
            for one in expected:
                one += step
        assert version == board.version or step in ("first", "second")
    for reader, one in zip(readers, expected, strict=True):
        reader.read()
        assert one == reader.seen


def at_mark(reader):
    """Return a reader that has read up to the mark."""
    reader.read()
    return reader


def alone(board, version, packed, kind=7):
    """Put one commit as a front does; return whether there was room."""
    end = board.put_alone(Made(version, packed, kind), board.end)
    if end is not None:
        board.publish(end)
    return end is not None


def test_what_fronts_put_is_read_by_all_and_tells_the_owner_its_kind():
    # GIVEN
    board = Board(1024)
    reader, begin = Reader(board), board.end
    board.open(list)

    # WHEN
    assert alone(board, 1, b"one", 5)
    assert alone(board, 2, b"x" * 16, 6)
    reader.read()

    # THEN
    assert ([b"one", b"x" * 16], 2) == (reader.seen, reader.version)
    made = [Made(1, b"one", 5), Made(2, b"x" * 16, 6)]
    assert made == board.read_made(begin, board.end)


def test_what_is_aborted_is_told_to_the_owner_only():
    # GIVEN
    board = Board(1024)
    reader, begin = Reader(board), board.end
    board.open(list)

    # WHEN
    assert alone(board, ABORTED, b"why")
    reader.read()
    position = reader.position
    assert alone(board, 1, b"one")
    assert alone(board, ABORTED, b"why")
    reader.read()

    # THEN
    assert begin < position < reader.position == board.end
    assert ([b"one"], 1) == (reader.seen, reader.version)
    versions = [one.version for one in board.read_made(begin, board.end)]
    assert [ABORTED, 1, ABORTED] == versions


def test_fronts_put_nothing_before_they_may_nor_beyond_the_limit():
    board = Board(1024)
    assert not alone(board, 1, b"one")

    board.open(list)
    put = 0
    while alone(board, put + 1, b"one"):
        put += 1

    assert 0 < put < 1024 // 8 // 32
    board.open(list)
    assert alone(board, put + 1, b"one")


def test_what_was_put_but_not_published_is_not_there():
    board = Board(1024)
    reader = Reader(board)
    board.open(list)

    assert board.put_alone(Made(1, b"one", 0), board.end) is not None
    reader.read()

    assert [] == reader.seen


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=60),
            st.lists(st.binary(max_size=60), min_size=1, max_size=3),
            st.sampled_from(["first", "second", "open", "abort"]),
        ),
        max_size=200,
    )
)
def test_the_owner_and_fronts_put_in_turns(steps):
    board = Board(1024)
    readers = [Reader(board), Reader(board)]
    expected: list[bytes] = []
    version, since = 0, board.end
    told: list[Made] = []
    known: list[Made] = []

    def positions():
        return [reader.position for reader in readers]

    for step in steps:
        match step:
            case "first" | "second":
                readers[step == "second"].read()
            case "open":
                told += board.read_made(since, board.end)
                board.open(positions)
                since = board.end
            case "abort":
                if alone(board, ABORTED, b"why", 3):
                    known.append(Made(ABORTED, b"why", 3))
            case bytes():
                if alone(board, version + 1, step, version % 5):
                    version += 1
                    expected.append(step)
                    known.append(Made(version, step, (version - 1) % 5))
            case _:
                told += board.read_made(since, board.end)
                if board.put(version + 1, step, positions):
                    version += 1
                    expected += step
                since = board.end
    told += board.read_made(since, board.end)

    assert known == told
    for reader in readers:
        reader.read()
        assert expected == reader.seen
        assert board.end == reader.position

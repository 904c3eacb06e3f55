"""Frames cut out of a byte stream, and what pickles."""

from __future__ import annotations

import pickle
import socket
import sys
import threading

import pytest

from txloop.executors.codec.frames import (
    UNPICKLABLE,
    Frames,
    dumps,
    frame,
    loads,
    numbered,
    receive_frame,
    split_number,
)

BODIES = [b"one", b"", b"three" * 1000]
STREAM = b"".join(map(frame, BODIES))


@pytest.mark.parametrize("size", [1, 7, 8, 9, 100, len(STREAM)])
def test_frames_are_put_together_from_pieces(size):
    # GIVEN
    frames = Frames()

    # WHEN
    found: list[bytes] = []
    for start in range(0, len(STREAM), size):
        found += frames.feed(STREAM[start : start + size])

    # THEN
    assert BODIES == found


def test_several_frames_arrive_at_once_and_a_part_waits():
    # GIVEN
    frames = Frames()
    last = frame(b"last")

    # THEN
    assert [*BODIES] == list(frames.feed(STREAM + last[:-1]))
    assert [] == list(frames.feed(b""))
    assert [b"last"] == list(frames.feed(last[-1:]))


def test_a_blocking_reader_gets_frames_until_the_end():
    # GIVEN
    ours, theirs = socket.socketpair()

    def write():
        for start in range(0, len(STREAM), 1000):
            theirs.sendall(STREAM[start : start + 1000])
        theirs.close()

    # WHEN
    thread = threading.Thread(target=write)
    thread.start()
    with ours:
        found = [receive_frame(ours) for _ in range(len(BODIES) + 1)]
    thread.join()

    # THEN
    assert [*BODIES, None] == found


@pytest.mark.parametrize("cut", [3, 8, 10])
def test_a_frame_that_ends_early_is_the_end(cut):
    # GIVEN
    ours, theirs = socket.socketpair()

    # WHEN
    with theirs:
        theirs.sendall(frame(b"body")[:cut])

    # THEN
    with ours:
        assert receive_frame(ours) is None


@pytest.mark.parametrize("number", [-1, 0, 1 << 40])
def test_a_number_travels_in_front_of_a_body(number):
    assert (number, 0.5, b"body") == split_number(numbered(number, b"body", 0.5))


def test_what_can_be_imported_pickles_by_name():
    assert frame is loads(dumps(frame))
    assert b"frame" in dumps(frame)


def test_what_cannot_be_imported_pickles_by_value():
    # GIVEN
    offset = 5

    class Local:
        def add(self, number):
            return number + offset

    # THEN
    assert 7 == loads(dumps(lambda number: number + offset))(2)
    assert 8 == loads(dumps(Local())).add(3)


class Rude:
    """An object whose own pickling raises whatever it likes."""

    def __init__(self, error):
        self.error = error

    def __reduce__(self):
        raise self.error


def nested():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    return deep


@pytest.mark.parametrize(
    "thing",
    [
        threading.Lock(),
        pytest.param(
            (number for number in range(3)),
            marks=pytest.mark.skipif(
                sys.implementation.name == "pypy", reason="PyPy pickles generators"
            ),
        ),
        Rude(RuntimeError("not between processes")),
        Rude(LookupError()),
        Rude(pickle.PicklingError()),
    ],
    ids=["lock", "generator", "RuntimeError", "LookupError", "PicklingError"],
)
def test_what_does_not_pickle_raises_what_callers_catch(thing):
    with pytest.raises(UNPICKLABLE):
        dumps(thing)


def test_what_is_nested_too_deep_does_not_pickle():
    with pytest.raises(UNPICKLABLE):
        dumps(nested())


@pytest.fixture
def file(tmp_path):
    with (tmp_path / "file").open("w+") as file:
        yield file


def test_an_open_file_does_not_travel(file):
    """One with its text in it, which cloudpickle would make, is another file."""
    with pytest.raises(TypeError, match="TextIO"):
        dumps(file)


def test_a_standard_stream_is_the_one_that_is_there(file, monkeypatch):
    monkeypatch.setattr(sys, "stderr", file)

    assert loads(dumps(file)) is file

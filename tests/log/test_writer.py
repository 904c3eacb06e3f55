"""The writer's parts: bytes, order, memory and files, each by itself."""

from __future__ import annotations

import fcntl
import os
import struct

import pytest

import conflict_log
from conflict_log.markers import parse_marker
from tests.logs import expect_log
from txloop.stmlog import file as files
from txloop.stmlog.c7_format import (
    ABORT,
    COMMIT,
    CONTENTION_WRITE_READ,
    HEADER,
    LONGEST_MARKER,
    START,
    marker,
    tail,
    timed,
)
from txloop.stmlog.file import LogFile, open_log
from txloop.stmlog.timeline import MemoryLog, Timeline

SECOND = 1_000_000_000

F_SETPIPE_SZ = 1031  # of Linux; PyPy's fcntl does not name it


# Bytes


def test_a_packet_is_laid_out_as_pypy_does():
    packet = timed(7 * SECOND + 5, tail(3, COMMIT))

    assert bytes.fromhex("07000000 05000000 03000000 00000000 01 00 00") == packet


def test_markers_follow_their_packet():
    packet = timed(SECOND, tail(2, CONTENTION_WRITE_READ, b"ours", b"other's", 9))

    head = struct.pack("<IIIIBBB", 1, 0, 2, 9, 4, 4, 7)
    assert head + b"oursother's" == packet


def test_times_beyond_32_bits_of_seconds_wrap():
    packet = timed((1 << 32) * SECOND + SECOND, tail(1, START))

    assert (1, 0) == struct.unpack_from("<II", packet)


def test_a_marker_is_pypys_text_and_what_we_add():
    text = marker("app.py", 7, "get", "GET /map", "grid[3]")

    assert b'File "app.py", line 7, in get [GET /map] {grid[3]}' == text
    site = parse_marker(text)
    assert site is not None
    assert ("app.py", 7, "get") == (site.file, site.line, site.function)
    assert ("GET /map", "grid[3]") == (site.handler, site.cell)


def test_what_is_too_long_is_cut_as_pypy_does():
    text = marker(f"{'a' * 100}/app.py", 12345, "f" * 60).decode()

    # 128 bytes of buffer less 32: half for the function's name, the rest for the file.
    assert f'File "<{"a" * 41}/app.py", line 12345, in {"f" * 48}>' == text
    assert len(text) < 128


@pytest.mark.parametrize("label", ["", "l" * 300])
@pytest.mark.parametrize("cell", ["", "c" * 300, "ü" * 200])
def test_no_marker_is_longer_than_its_length_can_say(label, cell):
    text = marker("d" * 300, 999_999_999, "f" * 300, label, cell)

    assert len(text) <= LONGEST_MARKER
    site = parse_marker(text)
    assert site is not None
    assert (bool(label), bool(cell)) == (bool(site.handler), bool(site.cell))


def test_strange_characters_do_no_harm():
    assert b'File "?.py", line 1, in f {x[??]}' == marker(
        "\udcff.py", 1, "f", "", "x[\ud800\udfff]"
    )


# Order


def times(packed):
    """Return the times and threads in packets without markers."""
    return [
        (seconds * SECOND + nanoseconds, thread)
        for seconds, nanoseconds, thread, *_ in struct.iter_unpack("<IIIIBBB", packed)
    ]


def test_events_are_written_in_the_order_of_time():
    # GIVEN
    timeline = Timeline()
    for moment, thread in ((30, 1), (10, 2), (20, 3)):
        timeline.add(moment, tail(thread, START))

    # WHEN
    last, packed = timeline.take()

    # THEN
    assert 30 == last
    assert [(10, 2), (20, 3), (30, 1)] == times(packed)
    assert (0, b"") == timeline.take()


def test_what_comes_too_late_does_not_break_the_order():
    # GIVEN
    timeline = Timeline()
    timeline.add(50, tail(1, START))
    timeline.take()

    # WHEN
    timeline.add(40, tail(2, START))
    timeline.add(55, tail(2, COMMIT))

    # THEN
    assert [(50, 2), (55, 2)] == times(timeline.take()[1])


def test_events_at_the_same_time_stay_in_their_order():
    timeline = Timeline()
    for thread in range(5):
        timeline.add(7, tail(thread, START))

    assert [(7, thread) for thread in range(5)] == times(timeline.take()[1])


# Memory


def test_memory_keeps_the_last_time_only():
    # GIVEN
    memory = MemoryLog(kept_ns=100)
    for moment in (10, 60, 120):
        memory.write(moment, b"%d." % moment)

    # THEN
    assert HEADER + b"60.120." == memory.since(0)
    assert HEADER + b"120." == memory.since(100)
    assert HEADER == memory.since(500)


def test_memory_is_bounded(monkeypatch):
    # GIVEN
    monkeypatch.setattr("txloop.stmlog.timeline.MOST_BYTES", 10)
    memory = MemoryLog(kept_ns=100)

    # WHEN
    for moment in range(5):
        memory.write(moment, b"12345")
    bounded = memory.since(0)
    memory.write(6, b"x" * 11)

    # THEN
    assert HEADER + b"12345" * 2 == bounded
    assert HEADER == memory.since(0)


# Files

BLOCK = timed(SECOND, tail(1, START)) + timed(2 * SECOND, tail(1, COMMIT))


@pytest.fixture(autouse=True)
def nothing_begun():
    """Let each test be a new process."""
    files.forget_begun()


def test_a_file_is_a_log(tmp_path):
    # WHEN
    log = open_log(str(tmp_path / "stm.log"), 1000, is_fork=False)
    assert log is not None
    log.write(BLOCK)
    log.close()

    # THEN
    assert HEADER + BLOCK == (tmp_path / "stm.log").read_bytes()
    assert 1 == conflict_log.load(tmp_path / "stm.log").totals.commits


def test_an_earlier_program_s_log_is_overwritten(tmp_path):
    # GIVEN
    path = tmp_path / "stm.log"
    path.write_bytes(b"x" * 1000)

    # WHEN
    LogFile(str(path)).close()

    # THEN
    assert HEADER == path.read_bytes()


def test_a_second_loop_goes_on_with_the_file_of_the_first(tmp_path):
    # GIVEN
    path = tmp_path / "stm.log"
    for _ in range(2):
        # WHEN
        log = LogFile(str(path))
        log.write(BLOCK)
        log.close()

    # THEN
    assert HEADER + 2 * BLOCK == path.read_bytes()


def test_a_full_file_is_put_aside(tmp_path):
    # GIVEN
    path = tmp_path / "stm.log"
    log = LogFile(str(path), most_bytes=len(HEADER) + 2 * len(BLOCK))

    # WHEN
    for _ in range(7):
        log.write(BLOCK)
    log.close()

    # THEN
    assert HEADER + BLOCK == path.read_bytes()
    assert HEADER + 2 * BLOCK == (tmp_path / "stm.log.1").read_bytes()
    assert {"stm.log", "stm.log.1"} == {one.name for one in tmp_path.iterdir()}


def test_a_full_disk_ends_the_log_with_one_warning():
    # GIVEN
    with expect_log("txloop", "the log /dev/full ends here: No space left on device"):
        log = LogFile("/dev/full")
        # WHEN
        for _ in range(3):
            log.write(BLOCK)

    # THEN
    assert log.ended
    log.close()


def test_a_folder_that_is_not_there_is_a_warning(tmp_path):
    with expect_log("txloop", "stm.log ends here: No such file or directory"):
        assert open_log(str(tmp_path / "no/stm.log"), 1000, is_fork=False) is None


def test_a_file_that_cannot_be_put_aside_ends_the_log(tmp_path):
    # GIVEN
    path = tmp_path / "stm.log"
    (tmp_path / "stm.log.1").mkdir()
    log = LogFile(str(path), most_bytes=len(HEADER) + len(BLOCK))

    # WHEN
    with expect_log("txloop", "stm.log ends here: Is a directory"):
        for _ in range(3):
            log.write(BLOCK)

    # THEN
    assert HEADER + BLOCK == path.read_bytes()


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def test_a_pipe_is_begun_when_somebody_reads_it(pipe):
    # GIVEN
    log = LogFile(str(pipe))
    log.write(BLOCK)  # into nowhere

    # WHEN
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    log.write(BLOCK)
    log.close()

    # THEN
    assert HEADER + BLOCK == os.read(reader, 1000)
    os.close(reader)


def test_a_reader_that_leaves_ends_the_log_with_one_warning(pipe):
    # GIVEN
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    log = LogFile(str(pipe))
    os.close(reader)

    # WHEN
    with expect_log("txloop", "pipe ends here: Broken pipe"):
        for _ in range(3):
            log.write(BLOCK)

    # THEN
    assert log.ended


def test_a_reader_that_does_not_keep_up_does_not_hold_the_loop_up(pipe, monkeypatch):
    # GIVEN a pipe that is full
    monkeypatch.setattr(files, "_MOST_UNREAD", 10_000)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reader, F_SETPIPE_SZ, 4096)
    log = LogFile(str(pipe))
    block = BLOCK * 100
    log.write(block)
    log.write(block)

    # WHEN it reads at last
    read = b""
    while len(read) < len(HEADER) + 2 * len(block):
        read += os.read(reader, 4096)
        log.write(b"")

    # THEN
    assert HEADER + 2 * block == read

    # WHEN it does not
    with expect_log("txloop", "pipe ends here: its reader has closed it"):
        for _ in range(10):
            log.write(block)

    # THEN
    assert log.ended
    os.close(reader)


def test_two_processes_do_not_write_to_one_file(tmp_path):
    # GIVEN
    path = str(tmp_path / "stm.log")
    first = LogFile(path)
    first.write(BLOCK)

    # WHEN
    with expect_log("txloop", r"writes no log: .*stm.log is another one's"):
        second = open_log(path, 1000, is_fork=False)
    third = open_log(f"{path}+", 1000, is_fork=False)
    assert third is not None

    # THEN
    assert second is None
    assert f"{path}.fork{os.getpid()}" == third.path
    for log in (first, third):
        log.close()
    assert HEADER + BLOCK == (tmp_path / "stm.log").read_bytes()


def test_forked_processes_write_only_if_asked(tmp_path):
    # WHEN
    path = str(tmp_path / "stm.log")
    with expect_log("txloop", r"PYPYSTM=.*stm.log\+ gives each process its own"):
        silent = open_log(path, 1000, is_fork=True)
    log = open_log(f"{path}+", 1000, is_fork=True)
    assert log is not None
    log.close()

    # THEN
    assert silent is None
    assert {f"stm.log.fork{os.getpid()}"} == {one.name for one in tmp_path.iterdir()}


def test_a_forked_process_lets_go_without_writing(tmp_path):
    # GIVEN
    path = tmp_path / "stm.log"
    log = LogFile(str(path))

    # WHEN
    log.abandon()
    log.write(timed(1, tail(1, ABORT)))

    # THEN
    assert HEADER == path.read_bytes()

"""Ten thousand damaged logs: each gives a report that adds up, or is refused."""

from __future__ import annotations

import gzip
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conflict_log import FormatError, load
from conflict_log.compat import print_log
from tests.log.conftest import CASES
from tests.log.test_reader import adds_up

SEEDS = [
    CASES / name
    for name in (
        "c7_inevitable_pause.stm",
        "c7_write_read_remote.stm",
        "c8_inevitable.stm",
        "c8_story_n11.stm",
        "c8_story_n16.stm",
        "c8_fork.stm",
    )
]
_LOGS_PER_EXAMPLE = 25


def mutated(data: bytes, choose: random.Random) -> bytes:
    """Return a log with a few bytes changed, lost, doubled or made up."""
    made = bytearray(data)
    for _ in range(choose.randint(1, 6)):
        first = 16 if choose.random() < 0.98 else 0
        at = choose.randrange(min(first, len(made)), len(made) + 1)
        size = choose.choice((1, 1, 2, 14, 19, 60, 400))
        what = choose.randrange(4)
        if what == 0:
            made[at : at + size] = choose.randbytes(len(made[at : at + size]))
        elif what == 1:
            del made[at : at + size]
        elif what == 2:
            made[at:at] = made[at : at + size]
        else:
            made[at:at] = choose.randbytes(size)
        if not made:
            break
    return bytes(made)


@pytest.mark.slow
@pytest.mark.timeout(120)
@settings(max_examples=120, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_damaged_log_is_reported_or_refused(tmp_path_factory, seed):
    choose = random.Random(seed)
    path = tmp_path_factory.getbasetemp() / "damaged.stm"
    for _ in range(_LOGS_PER_EXAMPLE):
        path.write_bytes(mutated(choose.choice(SEEDS).read_bytes(), choose))
        try:
            report = load(path)
        except FormatError:
            continue
        assert adds_up(report)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_pypys_text_about_a_damaged_log_ends_too(tmp_path_factory, seed):
    choose = random.Random(seed)
    path = tmp_path_factory.getbasetemp() / "damaged.stm"
    for _ in range(_LOGS_PER_EXAMPLE):
        path.write_bytes(mutated(choose.choice(SEEDS).read_bytes(), choose))
        try:
            printed = print_log(str(path), None, None)
        except FormatError:
            continue
        assert printed.text.startswith(b"\n")


@pytest.mark.slow
def test_megabytes_of_nothing_take_no_time_and_little_memory(tmp_path):
    good = gzip.decompress((CASES / "c7_blog.stm.gz").read_bytes())
    path = tmp_path / "stm.log"
    path.write_bytes(
        good[:100_000] + random.Random(1).randbytes(6_000_000) + good[100_000:]
    )
    tracemalloc = pytest.importorskip("tracemalloc", reason="PyPy has none")
    tracemalloc.start()

    report = load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert adds_up(report)
    assert report.totals.aborts > 1000
    assert peak < 30_000_000

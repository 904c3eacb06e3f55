"""What has only read so far, and then does more: workers noted none of its reads."""

from __future__ import annotations

import pytest

from tests.engine import note, noted
from txloop import TDict, TList, on_commit, retry

READS = 5


def read_or_write(shared, wanted):
    total = sum(shared[key] for key in ("a", "b"))
    on_commit(note, total)
    if wanted == "write":
        shared["a"] += 1
    elif wanted == "retry" and total < 3:
        retry()
    elif wanted == "raise":
        raise ValueError(total)
    return total


class Calls:
    """Calls of the function, which has read a few times, and nothing else."""

    def __init__(self, engine):
        self.engine = engine
        self.profile = engine.short()
        self.shared = TDict(a=0, b=1)
        for _ in range(READS):
            assert 1 == self.run("read").value
        noted.clear()

    def start(self, wanted):
        profile = self.profile
        return self.engine.submit(read_or_write, self.shared, wanted, profile=profile)

    def run(self, wanted):
        result = self.start(wanted)
        self.engine.wait(result)
        return result


@pytest.fixture
def calls(engine):
    return Calls(engine)


def test_one_that_writes_after_all_does_so_once(calls):
    assert calls.profile.only_reads

    result = calls.run("write")

    assert (1, {"a": 1, "b": 1}) == (result.value, calls.shared)
    assert [1] == noted
    assert not calls.profile.only_reads


def test_many_that_write_at_once_lose_nothing(calls):
    results = [calls.start("write") for _ in range(20)]
    calls.engine.wait(*results)

    assert {"a": 20, "b": 1} == calls.shared
    assert {*range(1, 21)} == {one.value for one in results}


def test_one_that_waits_after_all_is_woken(calls):
    waiting = calls.start("retry")
    calls.run("write")
    calls.run("write")
    calls.engine.wait(waiting)

    assert 3 == waiting.value


def test_one_that_raises_raises_that(calls):
    result = calls.run("raise")

    assert "ValueError(1)" == repr(result.error)
    assert [] == noted


def test_one_that_reads_in_all_ways_finds_the_same(engine):
    profile, shared, rows = engine.short(), TDict(a=0, b=1), TList([1, 2, 3])
    found = []
    for _ in range(READS):
        result = engine.submit(go_through, shared, rows, profile=profile)
        engine.wait(result)
        found.append(result.value)

    expected = [1, 2, 3], 2, 3, {"a": 0, "b": 1}, [("a", 0), ("b", 1)]
    assert [expected] * READS == found


def go_through(shared, rows):
    return [*rows], rows[1], len(rows), shared.copy(), [*shared.items()]

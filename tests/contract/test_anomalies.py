"""Eight of the ten anomalies of Hermitage (github.com/ept/hermitage): none may happen.

Rows 1 and 2 hold 10 and 20, in a dict, a list or an object. Transactions overlap truly:
see `tests.contract.interleaving`. The other two are in `test_phantoms`.
"""

from __future__ import annotations

import pytest

from tests.contract.interleaving import conflicts, during, together
from tests.engine import EXECUTORS, running
from txloop import TDict, TList, TObject


class Rows(TObject):
    row1: int = 10
    row2: int = 20

    def __getitem__(self, key):
        return getattr(self, f"row{key}")

    def __setitem__(self, key, value):
        setattr(self, f"row{key}", value)


KINDS = {
    "dict": lambda: TDict({1: 10, 2: 20}),
    "list": lambda: TList([0, 10, 20]),
    "object": Rows,
}


@pytest.fixture(params=EXECUTORS)
def engine(request):
    with running(request.param, workers=3) as engine:
        yield engine


@pytest.fixture(params=KINDS.values(), ids=list(KINDS))
def rows(request):
    return request.param()


def test_g0_writes_of_two_transactions_do_not_mix(engine, tmp_path, rows):
    def write(one, two):
        def body():
            rows[1] = one
            yield
            rows[2] = two
            yield

        return body

    together(engine, tmp_path, write(11, 21), write(12, 22))

    assert (rows[1], rows[2]) in {(11, 21), (12, 22)}
    assert conflicts(engine, 0)


class Abort(Exception):
    pass


def test_g1a_what_is_undone_is_never_read(engine, tmp_path, rows):
    def write():
        rows[1] = 101
        yield
        raise Abort

    def read():
        first = rows[1]
        yield first
        yield first, rows[1]

    written, read_ = together(engine, tmp_path, write, read)

    assert isinstance(written.error, Abort)
    assert (10, 10) == read_.value
    assert (10, 20) == (rows[1], rows[2])
    assert conflicts(engine, 0)


def test_g1b_what_is_only_for_a_moment_is_never_read(engine, tmp_path, rows):
    def write():
        rows[1] = 101
        yield
        rows[1] = 11
        yield

    def read():
        first = rows[1]
        yield first
        yield first, rows[1]

    _, read_ = together(engine, tmp_path, write, read)

    assert read_.value in {(10, 10), (11, 11)}
    assert conflicts(engine, 0)


def test_g1c_information_does_not_flow_in_a_circle(engine, tmp_path, rows):
    def write_and_read(key, value, other):
        def body():
            rows[key] = value
            yield
            yield rows[other]

        return body

    first, second = together(
        engine, tmp_path, write_and_read(1, 11, 2), write_and_read(2, 22, 1)
    )

    assert (first.value, second.value) in {(20, 11), (22, 10)}
    assert conflicts(engine, 1)


def test_otv_what_was_seen_of_a_transaction_does_not_vanish(engine, tmp_path, rows):
    def write(one, two):
        def body():
            rows[1] = one
            rows[2] = two

        return body

    def read(pause):
        seen = [rows[1]]
        pause()
        seen += [rows[2]]
        pause()
        return (*seen, rows[2], rows[1])

    found = during(engine, tmp_path, read, [write(11, 19), write(12, 18)])

    serial = {(10, 20, 20, 10), (11, 19, 19, 11), (12, 18, 18, 12)}
    assert found.value in serial
    assert (12, 18) == (rows[1], rows[2])
    assert conflicts(engine, 0)


def test_p4_no_update_is_lost(engine, tmp_path, rows):
    def add():
        seen = rows[1]
        yield
        rows[1] = seen + 1
        yield seen

    results = together(engine, tmp_path, add, add)

    assert [10, 11] == sorted(result.value for result in results)
    assert (12, 20) == (rows[1], rows[2])
    assert conflicts(engine, 1)


def test_g_single_two_reads_are_of_one_moment(engine, tmp_path, rows):
    def read(pause):
        first = rows[1]
        pause()
        return first, rows[2]

    def write():
        rows[1] = 12
        rows[2] = 18

    found = during(engine, tmp_path, read, [write])

    assert (10, 20) == found.value
    assert (12, 18) == (rows[1], rows[2])
    assert conflicts(engine, 0)


def test_g2_item_writes_do_not_skew(engine, tmp_path, rows):
    """Each takes from one row what both rows together must not lose."""

    def take(key):
        def body():
            total = rows[1] + rows[2]
            yield
            if total - 25 >= 0:
                rows[key] -= 25
            yield total

        return body

    results = together(engine, tmp_path, take(1), take(2))

    assert [5, 30] == sorted(result.value for result in results)
    assert 5 == rows[1] + rows[2]
    assert conflicts(engine, 1)

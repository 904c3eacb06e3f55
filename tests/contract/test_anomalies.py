"""The ten anomalies of Hermitage (github.com/ept/hermitage): none may happen.

Rows 1 and 2 hold 10 and 20. Transactions overlap truly: on the scripted executor the
steps interleave exactly, on processes the attempts wait for each other by files in
mid-body. On the other executors nothing overlaps, and the results must be serial too.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.engine import Gate, Meeting, running
from txloop import TDict

OVERLAPPING = ("scripted", "processes")


@pytest.fixture(params=["serial", "processes", "rehearsal", "scripted"])
def engine(request):
    with running(request.param, workers=3) as engine:
        yield engine


@pytest.fixture
def rows():
    return TDict({1: 10, 2: 20})


@dataclass(frozen=True)
class Pause:
    """Stops a body in its middle, the first time, until the test lets it go on."""

    started: Gate
    gate: Gate

    def __call__(self):
        self.started.open()
        self.gate.wait()


def together(engine, folder, *bodies):
    """Run transactions that have all read before any of them commits."""
    name = engine.executor.name
    meeting = Meeting(folder / "meeting", len(bodies) if name == "processes" else 0)
    calls = [(body, meeting, number) for number, body in enumerate(bodies)]
    if name == "scripted":
        sent = [engine.send(meet, *call) for call in calls]
        for _, number in sent:
            engine.scripted.begin(number)
        for _, number in sent:
            engine.scripted.finish(number)
        results = [result for result, _ in sent]
    else:
        results = [engine.submit(meet, *call) for call in calls]
    engine.wait(*results)
    return results


def meet(body, meeting, number):
    """Run a body in two steps, with all the others between them."""
    steps = body()
    found = next(steps, None)
    meeting.attend(number)
    for found in steps:  # noqa: B007
        pass
    return found


def during(engine, folder, outer, inner):
    """Run `outer`, which pauses, and commit the transactions `inner` in its pause."""
    if engine.executor.name == "processes":
        pause = Pause(Gate(folder / "started"), Gate(folder / "gate"))
        result = engine.submit(outer, pause)
        engine.until(lambda: pause.started.is_open)
        for body in inner:
            engine.wait(engine.submit(body))
        pause.gate.open()
    elif engine.executor.name == "scripted":
        bodies = list(inner)

        def run_inner():
            while bodies:
                _, number = engine.send(bodies.pop(0))
                engine.scripted.begin(number)
                engine.scripted.finish(number)

        result, number = engine.send(outer, run_inner)
        # The loop turns within the body of the outer attempt.
        engine.scripted.begin(number)
        engine.scripted.finish(number)
    else:
        result = engine.submit(outer, do_nothing)
        engine.wait(result, *[engine.submit(body) for body in inner])
    engine.wait(result)
    return result


def do_nothing():
    pass


def conflicts(engine, expected):
    """Tell whether as many conflicts came as must, where transactions overlap."""
    if engine.executor.name in OVERLAPPING:
        return expected == engine.aborts
    return 0 == engine.aborts


def test_g0_writes_of_two_transactions_do_not_mix(engine, tmp_path, rows):
    def write(one, two):
        def body():
            rows[1] = one
            yield
            rows[2] = two
            yield

        return body

    together(engine, tmp_path, write(11, 21), write(12, 22))

    assert tuple(rows.values()) in {(11, 21), (12, 22)}
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
    assert {1: 10, 2: 20} == rows
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
    assert {1: 12, 2: 18} == rows
    assert conflicts(engine, 0)


def test_pmp_no_row_comes_into_what_was_searched(engine, tmp_path, rows):
    def search(pause):
        first = [key for key, value in rows.items() if value == 30]
        pause()
        return first, [key for key, value in rows.items() if value % 3 == 0]

    def insert():
        rows[3] = 30

    found = during(engine, tmp_path, search, [insert])

    assert ([], []) == found.value
    assert {1: 10, 2: 20, 3: 30} == rows
    assert conflicts(engine, 0)


def test_pmp_holds_for_what_is_written_after_the_search(engine, tmp_path, rows):
    def delete_twenties(pause):
        found = [key for key, value in rows.items() if value == 20]
        pause()
        for key in found:
            del rows[key]
        return found

    def add_ten():
        for key in rows:
            rows[key] += 10

    found = during(engine, tmp_path, delete_twenties, [add_ten])

    overlapping = engine.executor.name in OVERLAPPING
    assert ([1] if overlapping else [2]) == found.value
    assert ({2: 30} if overlapping else {1: 20}) == rows
    assert conflicts(engine, 1)


def test_p4_no_update_is_lost(engine, tmp_path, rows):
    def add():
        seen = rows[1]
        yield
        rows[1] = seen + 1
        yield seen

    results = together(engine, tmp_path, add, add)

    assert [10, 11] == sorted(result.value for result in results)
    assert {1: 12, 2: 20} == rows
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
    assert {1: 12, 2: 18} == rows
    assert conflicts(engine, 0)


def test_g2_item_writes_do_not_skew(engine, tmp_path, rows):
    """Each takes from one row what both rows together must not lose."""

    def take(key):
        def body():
            total = sum(rows.get(one) for one in (1, 2))
            yield
            if total - 25 >= 0:
                rows[key] -= 25
            yield total

        return body

    results = together(engine, tmp_path, take(1), take(2))

    assert [5, 30] == sorted(result.value for result in results)
    assert 5 == sum(rows.values())
    assert conflicts(engine, 1)


PREDICATES = {
    "items": lambda rows: sum(value % 3 == 0 for value in rows.values()),
    "len": lambda rows: len(rows) - 2,
    "in": lambda rows: (3 in rows) + (4 in rows),
    "get": lambda rows: sum(rows.get(key) is not None for key in (3, 4)),
}


@pytest.mark.parametrize("count", PREDICATES.values(), ids=PREDICATES)
def test_g2_what_was_searched_does_not_come_beside(engine, tmp_path, rows, count):
    def insert_if_none(key, value):
        def body():
            found = count(rows)
            yield
            if not found:
                rows[key] = value
            yield found

        return body

    results = together(engine, tmp_path, insert_if_none(3, 30), insert_if_none(4, 42))

    assert [0, 1] == sorted(result.value for result in results)
    assert 3 == len(rows)
    assert conflicts(engine, 1)

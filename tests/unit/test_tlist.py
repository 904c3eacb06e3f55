"""TList without a loop; that it does what a list does is shown in `tests.model`."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable, MutableSequence, Sequence
from typing import Any

import pytest

from tests.comparing import RUNS, attempted
from tests.homebound import Homebound
from txloop import TList, TxValueError
from txloop.cells import list_chunks
from txloop.executors.codec.frames import loads
from txloop.executors.processes.replication import DeltaLog
from txloop.stm.run import run_attempt
from txloop.stm.store import Store, committed
from txloop.stm.types import Call, Key, Refusal, Unsendable


class Row(TList[int]):
    pass


def test_it_is_a_sequence():
    # GIVEN
    shared = TList([1, 2, 3])

    # THEN
    assert isinstance(shared, MutableSequence)
    assert isinstance(shared, Sequence)
    assert "TList([1, 2, 3])" == repr(shared)
    assert "Row([1])" == repr(Row([1]))
    match shared:
        case [first, *rest]:
            assert (1, [2, 3]) == (first, rest)
        case _:
            pytest.fail("no sequence")


@pytest.mark.parametrize("run", RUNS)
def test_it_can_be_gone_through_while_it_changes(run):
    def double(shared):
        for index, item in enumerate(shared):
            shared.append(item)
            shared[index] = 0
        return len(shared)

    # GIVEN
    shared = TList([1, 2])

    # THEN
    assert 4 == run(double, shared)
    assert [0, 0, 1, 2] == shared


@pytest.mark.parametrize("run", RUNS)
def test_rows_of_a_grid_are_containers(run):
    def draw(grid):
        grid[1][2] = "#"
        grid[0] += "!"
        grid.append([])
        grid[-1].append("x")

    # GIVEN
    grid: TList[Any] = TList([["."] * 3 for _ in range(2)])
    first, second = grid

    # WHEN
    run(draw, grid)

    # THEN
    assert [[".", ".", ".", "!"], [".", ".", "#"], ["x"]] == grid
    assert grid[0] is first
    assert grid[1] is second


@pytest.mark.parametrize("run", RUNS)
def test_it_may_contain_itself(run):
    def grow(shared):
        shared.append(shared)
        return repr(shared)

    # GIVEN
    shared: TList[Any] = TList([1])

    # THEN
    assert "TList([1, TList([...])])" == run(grow, shared)
    assert copy.deepcopy(shared)[1][1][0] == 1


def test_copies_are_containers_of_their_own_and_pickles_references():
    # GIVEN
    grid = TList([[1], [2]], whole=True)

    # WHEN
    shallow, deep = copy.copy(grid), copy.deepcopy(grid)
    grid[0].append(3)
    grid.append([4])

    # THEN
    assert [[1, 3], [2]] == shallow
    assert [[1], [2]] == deep
    assert (Row, Row) == (type(copy.copy(Row())), type(copy.deepcopy(Row())))
    assert grid is pickle.loads(pickle.dumps(grid))
    assert grid._whole is shallow._whole is deep._whole is True


def test_a_change_that_is_refused_changes_nothing():
    # GIVEN
    shared: TList[Any] = TList([1, 2])
    version = committed.version

    # THEN
    for change in (
        lambda: shared.extend([3, bytearray()]),
        lambda: shared.__setitem__(slice(0, 1), [3, bytearray()]),
        lambda: shared.__setitem__(0, bytearray()),
        lambda: shared.append(bytearray()),
        lambda: shared.insert(0, bytearray()),
    ):
        with pytest.raises(TxValueError, match=r"^bytearray .* store bytes$"):
            change()
    assert [1, 2] == shared
    assert version == committed.version


READS = {
    "list": list,
    "for": lambda row: [item for item in row],  # noqa: C416
    "slice": lambda row: row[:],
    "half": lambda row: row[: len(row) // 2],
    "most of it": lambda row: row[1:-1],
    "stepping": lambda row: row[::2],
    "equal": lambda row: row == [0] * len(row),
    "in": lambda row: 5 in row,
    "sum": sum,
    "unpack": lambda row: [*row],
    "sort": lambda row: row.sort(),
    "repr": repr,
    "JSON": lambda row: row._tx_as_json(),
}


@pytest.mark.parametrize("length", [30, 300, 2000])
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_reading_a_row_as_a_whole_is_one_or_two_cells(read, length):
    # GIVEN
    row = TList([0] * length)

    # WHEN
    outcome = attempted(lambda: read(row))

    # THEN
    assert outcome.error is None
    assert all(number == row._tx_number for number, _ in outcome.values)
    keys = {key for _, key in outcome.values}
    spans = {key for key in keys if isinstance(key, tuple)}
    assert keys - spans <= {Key.ALL, Key.KEYS}
    assert len(spans) <= 1
    assert set() == outcome.presences


@pytest.mark.parametrize("length", [10, 300, 2000])
@pytest.mark.parametrize("go", [range, lambda length: range(-1, -length - 1, -1)])
def test_reading_a_row_cell_by_cell_is_no_entry_for_each_cell(length, go):
    # GIVEN
    row = TList(range(length))

    # WHEN
    outcome = attempted(lambda: [row[index] for index in go(length)])

    # THEN
    assert [range(length)[index] for index in go(length)] == outcome.value
    assert len(outcome.values) + len(outcome.presences) <= 18 + length // 16


def test_reading_few_cells_of_a_row_is_not_reading_it():
    # GIVEN
    row = TList(range(2000))

    # WHEN
    outcome = attempted(lambda: [row[index] for index in (5, 7, 11)] + row[20:25])

    # THEN
    expected = {5, 7, 11, (20, 25)}
    assert {(row._tx_number, key) for key in expected} == outcome.values


@pytest.mark.parametrize(("length", "reads"), [(3, 9), (8, 9), (12, 13), (40, 16)])
def test_reading_more_items_than_there_are_or_many_is_reading_all(length, reads):
    # GIVEN
    row = TList(range(length))
    everything = (row._tx_number, Key.ALL)

    # WHEN
    before = attempted(lambda: [row[index % length] for index in range(reads - 1)])
    after = attempted(lambda: [row[index % length] for index in range(reads)])

    # THEN
    assert everything not in before.values
    assert everything in after.values


def test_a_short_list_is_shown_when_it_is_read_again_and_not_between_writes():
    # GIVEN
    row = TList(range(8))

    # WHEN
    for _ in range(10):
        row[3] += 1
    between = row._tx_view
    read = row[3], row[4]

    # THEN
    assert (13, 4) == read
    assert between is None
    assert [*range(3), 13, *range(4, 8)] == row._tx_view


def test_slices_of_one_list_are_one_span():
    # GIVEN
    row = TList(range(2000))

    # WHEN
    outcome = attempted(lambda: row[300:310] + row[250:260] + row[5:5] + row[255:290])

    # THEN
    found = [*range(300, 310), *range(250, 260), *range(255, 290)]
    assert found == outcome.value
    assert {(row._tx_number, (250, 310))} == outcome.values


def test_a_change_of_a_long_list_costs_one_chunk():
    # GIVEN
    row = TList(range(10 * list_chunks.CHUNK))
    log = DeltaLog(committed)
    before = {number: row._tx_cells[number] for number in range(10)}

    # WHEN
    row[5 * list_chunks.CHUNK + 3] = -1
    row[0:2] = [-2, -3]
    sizes = [len(delta) for delta in log.since(log.forked_at) or ()]
    log.close()

    # THEN
    changed = {
        number for number, one in before.items() if one is not row._tx_cells[number]
    }
    assert {0, 5} == changed
    assert sum(sizes) < 400


def test_reading_often_outside_transactions_keeps_nothing_alive():
    """What is shown to the loop thread is not held by more than the list."""
    # GIVEN
    lists = [TList(range(20)) for _ in range(10)]
    numbers = [one._tx_number for one in lists]

    # WHEN
    for one in lists:
        for round_ in range(3):
            assert sum(one[index] for index in range(20)) >= 0
            one[0] = round_
            assert sum(one[index] for index in range(20)) >= 0
    shown = len(committed._views)
    del lists, one
    gc.collect()

    # THEN
    assert [None] * 10 == [committed.find(number) for number in numbers]
    assert set() == committed._views.intersection(numbers)
    assert shown


CHANGES: dict[str, Callable[[TList[int]], object]] = {
    "an item is set": lambda shared: shared.__setitem__(0, 1),
    "items are added": lambda shared: shared.extend([1, 2]),
    "one is deleted": lambda shared: shared.pop(0),
    "all are": lambda shared: shared.clear(),
    "some are replaced": lambda shared: shared.__setitem__(slice(0, 2), [1]),
}


@pytest.mark.parametrize("kept", [False, True], ids=["alone", "beside a snapshot"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_was_read_often_is_not_shown_when_it_has_changed(change, kept):
    """What was attempted elsewhere commits between two reads of unmarked code."""
    # GIVEN
    shared, plain = TList([0] * 40), [0] * 40
    outcome = attempted(lambda: change(shared))
    if kept:
        snapshot = committed.open_snapshot()

    # WHEN
    assert {0} == {shared[0] for _ in range(100)}
    assert shared._tx_view is not None, "reading often does not lead to a view"
    committed.install(outcome.writes)  # type: ignore[arg-type] # containers
    if kept:
        committed.close_snapshot(snapshot)

    # THEN
    change(plain)
    assert plain == [shared[index] for index in range(len(shared))]


def test_an_item_that_does_not_pickle_is_refused_alone():
    # GIVEN
    log = DeltaLog(committed)
    row = TList([1, Homebound(), 3])
    contents, _ = loads(log.dump())
    log.close()

    # WHEN
    replica, twin = Store(), TList.__new__(TList)
    replica.adopt(twin)
    replica.load([(twin, items) for _, items in contents], 1)

    # THEN
    assert {row._tx_number} == {one._tx_number for one, _ in contents}
    outcome = attempted(lambda: [twin[0], twin[2], len(twin)])
    assert [1, 3, 3] == outcome.value
    assert isinstance(twin[1], Unsendable)


@pytest.mark.parametrize("where", [slice(None, None, 2), slice(None, None, -1)])
def test_a_slice_with_a_step_is_set_and_deleted_as_in_a_list(where):
    row, expected = TList(range(5)), [*range(5)]
    new = [7] * len(expected[where])

    row[where] = expected[where] = new
    assert expected == list(row)
    del row[where], expected[where]
    assert expected == list(row)


@pytest.mark.parametrize("read", [lambda row: row[0], list, lambda row: row[0:1]])
def test_an_attempt_that_reads_what_did_not_travel_is_abandoned(read):
    # GIVEN
    row = TList([1, 2, 3])
    committed.install([(row, 0, (Unsendable("a reason"), 2, 3))])

    # WHEN
    refusal = run_attempt(Call(read, (row,)), speculative=True)

    # THEN
    assert isinstance(refusal, Refusal)
    assert "it reads a value that does not pickle (a reason)" == refusal.reason

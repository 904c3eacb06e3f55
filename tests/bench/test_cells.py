"""The benchmark of the containers: what it runs, computes and shows."""

from __future__ import annotations

import dataclasses
import functools
import json
import random
import sys

import pytest

import txloop
from bench.__main__ import main
from bench.cells.large import large_operations
from bench.cells.operations import Operation, SharedPoint, operations
from bench.cells.report import CellsRun, make_json, make_text, show_seconds
from bench.cells.search import find_path_cell_by_cell
from bench.cells.sizes import Size, SizeRow, sizes, weigh
from bench.cells.timing import Sample, collect, in_attempt, make_row, take_sample
from handlers.astar_search import find_path
from tests.bench.samples import MACHINE

OPERATIONS = (*operations(), *large_operations(2000))
CAN_WEIGH = sys.implementation.name != "pypy"


def of_containers(*names):
    return [one for one in OPERATIONS if one.container in names]


def named(operation):
    return f"{operation.container}: {operation.name}"


def test_every_container_and_both_searches_are_there():
    containers = {one.container for one in OPERATIONS}

    expected = {"TVar", "TDict", "TList", "TSet", "TObject", "TCounter"}
    expected |= {"construction", "of 2,000", "A* search", "control"}
    assert expected == containers
    assert 2 == len(of_containers("A* search"))


def test_no_operation_is_there_twice():
    names = [named(one) for one in OPERATIONS]

    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize(
    "operation", of_containers("TDict", "TList", "TSet"), ids=named
)
def test_both_sides_come_to_the_same(operation):
    plain, shared = dict(operation.make_plain()), dict(operation.make_shared())
    (name,) = plain

    for names in (plain, shared):
        exec(operation.statement, names)

    assert shared[name] == plain[name]
    assert type(shared[name]) is not type(plain[name])


@pytest.mark.parametrize(
    "operation", of_containers("TVar", "TObject", "TCounter"), ids=named
)
def test_both_sides_have_the_same_attributes(operation):
    plain, shared = dict(operation.make_plain()), dict(operation.make_shared())
    (name,) = plain

    exec(operation.plain_statement or operation.statement, plain)
    exec(operation.statement, shared)

    for attribute, value in vars(plain[name]).items():
        assert getattr(shared[name], attribute) == value


def test_the_search_that_reads_cell_by_cell_finds_what_the_games_finds():
    chance = random.Random(1)
    size = 15
    cells = [(x, y) for x in range(size) for y in range(size)]
    walls = [[int(chance.random() < 0.4) for _ in range(size)] for _ in range(size)]
    free = [(x, y) for x, y in cells if not walls[y][x]]
    found = []
    for _ in range(100):
        start, goal = chance.choice(free), chance.choice(cells)
        path = find_path(walls, start, goal)
        cost = find_path_cell_by_cell(walls, start, goal)

        assert cost == (None if path is None else pytest.approx(path.cost))
        found.append(cost is not None)
    assert {True, False} == set(found)


@pytest.mark.parametrize("operation", of_containers("construction"), ids=named)
def test_both_sides_make_the_same(operation):
    made = []
    for names in (dict(operation.make_plain()), dict(operation.make_shared())):
        exec(f"made = {operation.statement}", names)
        made.append(names["made"])

    plain, shared = made
    if isinstance(shared, SharedPoint):
        plain, shared = (plain.x, plain.y), (shared.x, shared.y)
    assert shared == plain


@pytest.mark.parametrize("operation", of_containers("of 2,000"), ids=named)
def test_both_sides_make_the_same_of_many(operation):
    made = []
    for names in (dict(operation.make_plain()), dict(operation.make_shared())):
        exec(operation.statement, names)
        made.append(names["made"])

    plain, shared = made
    assert shared == plain
    assert len(plain) >= 2
    assert isinstance(shared, txloop.TDict | txloop.TList | txloop.TSet)


def test_the_control_is_the_same_on_both_sides():
    for operation in of_containers("control"):
        assert operation.make_plain is operation.make_shared
        assert operation.plain_statement is None


@pytest.mark.skipif(not CAN_WEIGH, reason="PyPy cannot tell what is allocated")
def test_what_is_weighed_is_what_each_side_allocates():
    many = [object() for _ in range(1000)]
    size = Size("list", lambda: None, lambda: list(many), len(many))

    (row,) = weigh([size])

    assert "list" == row.name
    assert 0 <= row.plain_bytes < 1
    assert 8 <= row.shared_bytes < 9


def operation_on(make, statement, **more):
    return Operation("T", "one", statement, make, make, **more)


def test_each_sort_is_timed_on_objects_of_its_own():
    made: list[set[int]] = []

    def make():
        made.append(set())
        return {"seen": made[-1]}

    operation = operation_on(make, "seen.add(len(seen))", number=7)
    sample = take_sample(operation, seconds=0.0)

    assert [7, 7, 7] == [len(seen) for seen in made]
    assert min(sample.plain, sample.outside, sample.inside) > 0


def test_a_sample_takes_as_long_as_it_should():
    counts: list[int] = []
    operation = operation_on(lambda: {"counts": counts}, "counts.append(1)", number=100)

    take_sample(operation, seconds=0.0)
    few = len(counts)
    take_sample(operation, seconds=0.001)

    assert few == 3 * 100
    assert len(counts) - few > few


def test_the_plain_statement_may_be_another():
    said: list[str] = []
    operation = operation_on(
        lambda: {"said": said},
        "said.append('shared')",
        plain_statement="said.append('plain')",
        number=1,
    )

    take_sample(operation, seconds=0.0)

    assert ["plain", "shared", "shared"] == said


def test_what_is_timed_inside_of_a_transaction_is_thrown_away():
    number = txloop.TVar(1)

    def change():
        number.value += 1
        return float(number.value)

    assert in_attempt(change) == 2.0
    assert number.value == 1


def test_what_fails_inside_of_a_transaction_fails_the_benchmark():
    def fail():
        raise KeyError("no such key")

    with pytest.raises(KeyError):
        in_attempt(fail)


def test_each_operation_is_timed_in_every_repeat():
    told: list[str] = []
    runs: list[str] = []
    pair = [
        dataclasses.replace(
            operation_on(lambda name=name: {"runs": runs}, f"runs.append({name!r})"),
            name=name,
            number=1,
        )
        for name in "ab"
    ]

    rows = collect(pair, 2, 0.0, told.append)

    assert ["warming up", "repeat 1 of 2", "repeat 2 of 2"] == told
    assert list("aaabbb" * 3) == runs
    assert ["a", "b"] == [row.name for row in rows]


RAW = [
    Sample(plain=10e-9, outside=20e-9, inside=30e-9),
    Sample(plain=20e-9, outside=20e-9, inside=90e-9),
    Sample(plain=10e-9, outside=50e-9, inside=30e-9),
]


@pytest.fixture
def row():
    return make_row(operation_on(dict, "pass"), RAW)


def test_a_row_has_medians_and_each_repeats_own_ratio(row):
    assert (10e-9, 20e-9, 30e-9) == (
        row.plain_seconds,
        row.outside_seconds,
        row.inside_seconds,
    )
    assert pytest.approx((2.0, 1.0, 5.0)) == dataclasses.astuple(row.outside)
    assert pytest.approx((3.0, 3.0, 4.5)) == dataclasses.astuple(row.inside)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.5e-9, "0.50 ns"),
        (12.34e-9, "12.3 ns"),
        (99.96e-9, "100 ns"),
        (999.4e-9, "999 ns"),
        (999.6e-9, "1.00 us"),
        (4.321e-3, "4.32 ms"),
        (2.0, "2.00 s"),
    ],
)
def test_times_are_shown_with_three_digits(seconds, shown):
    assert shown == show_seconds(seconds)


def make_run(row, **fields):
    run = CellsRun(
        machine=MACHINE,
        command="python -m bench cells",
        repeat=3,
        other_cpu_cores=0.0,
        rows=[row],
    )
    return dataclasses.replace(run, **fields)


GOLDEN = """\
cells: what each operation of a container costs

| operation |   plain | outside | ratio |   min..max |  inside | ratio |   min..max |
|-----------|---------|---------|-------|------------|---------|-------|------------|
| T: one    | 10.0 ns | 20.0 ns |  2.00 | 1.00..5.00 | 30.0 ns |  3.00 | 3.00..4.50 |

2026-11-20, Test CPU, 2 cores
CPython 3.11.7, commit 0123456789ab
median of 3 interleaved repeats, one thread; plain: on a dict, list, set or object of Python's
outside: of any transaction, each write commits; inside: in one transaction, without its commit
ratio: to plain, median of each repeat's own ratio
"""  # noqa: E501  a golden table is as wide as it is


GOLDEN_SIZES = """\
cells: the bytes that each takes, beside those of what is in it

| of   | plain | shared |
|------|-------|--------|
| TVar |    48 |    502 |

of TObject: beside an object with slots; measured by tracemalloc
"""


def test_the_table(row):
    assert GOLDEN == make_text(make_run(row))


def test_the_caption_tells_when_the_machine_did_other_work(row):
    text = make_text(make_run(row, other_cpu_cores=0.4))

    assert "NOT ALONE: others used 40% of a core meanwhile" in text


def test_the_sizes_have_a_table_of_their_own(row):
    run = make_run(row, sizes=[SizeRow("TVar", 47.6, 502.2)])

    assert GOLDEN + "\n" + GOLDEN_SIZES == make_text(run)


def test_json_has_everything(row):
    document = json.loads(make_json(make_run(row)))

    assert ("txloop-bench-cells", 1) == (document["format"], document["version"])
    assert dataclasses.asdict(MACHINE) == document["machine"]
    assert [dataclasses.asdict(row)] == document["rows"]


@pytest.mark.slow
def test_a_run_prints_the_table_and_writes_the_figures(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("bench.cells.timing.SAMPLE_SECONDS", 0.0)
    few = functools.partial(large_operations, 2000)
    monkeypatch.setattr("bench.cells.large.large_operations", few)
    result = tmp_path / "result.json"

    code = main(["cells", "--repeat", "1", "--json", str(result)])

    assert code == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    lines = captured.out.splitlines()
    assert lines[2].startswith("| operation ")
    rows = [line.split("|")[1].strip() for line in lines[4 : 4 + len(OPERATIONS)]]
    assert [named(one) for one in OPERATIONS] == rows
    document = json.loads(result.read_text())
    assert f"python -m bench cells --repeat 1 --json {result}" == document["command"]
    assert len(OPERATIONS) == len(document["rows"])
    weighed = [one.name for one in sizes()] if CAN_WEIGH else []
    assert weighed == [one["name"] for one in document["sizes"]]

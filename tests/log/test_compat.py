"""`--compat` against what PyPy's own tools printed, under Python 2.7, for each case."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conflict_log import formats
from conflict_log.compat import print_log
from conflict_log.compat.newer import NewerTally
from conflict_log.compat.older import OlderTally
from conflict_log.compat.order import slot_order
from conflict_log.compat.text import tally_log
from conflict_log.errors import FormatError
from tests.log.conftest import CASES

LOGS = sorted(one.name for one in CASES.iterdir() if ".stm" in one.name)
EXPECTED: dict[str, dict[str, Any]] = json.loads(
    (CASES / "expected/expected.json").read_text()
)

# How many rows PyPy's tool was asked for.
ROWS = {"c8_threads.stm": 15}

REFUSED = {
    "bad_magic.stm": "not an stm.log",
    "zero_bytes.stm": "not an stm.log",
    "c7_header_only.stm": "an empty log",
}
CRASHES = {
    "c7_corrupt_event.stm": "event 200 does not exist",
    "c8_decreasing.stm": "decreasing timestamps: 12345.505000000 -> 12345.504000000",
    "c8_conflict_last.stm": "a conflict at the last moment",
    "c8_truncated_marker.stm": "a conflict at the last moment",
    "c8_no_transactions.stm": "divides by zero",
}


def wanted(log: str) -> dict[str, Any]:
    return EXPECTED.get(log.removesuffix(".gz"), {})


def expected(name: str) -> bytes:
    return (CASES / f"expected/{name.removesuffix('.gz')}.out").read_bytes()


@pytest.mark.parametrize("log", [one for one in LOGS if one not in REFUSED | CRASHES])
def test_the_text_is_pypys(cases, log):
    name = log.removesuffix(".gz")

    printed = print_log(log, None, ROWS.get(name))

    assert (expected(name), None) == (printed.text, printed.note)


@pytest.mark.parametrize("log", CRASHES)
def test_where_pypys_tool_crashes_the_text_goes_on_and_a_note_says_so(cases, log):
    printed = print_log(log, None, None)

    assert printed.text.startswith(expected(log))
    assert printed.text
    assert printed.note is not None
    assert CRASHES[log] in printed.note


@pytest.mark.parametrize("log", REFUSED)
def test_what_is_no_log_is_refused(cases, log):
    with pytest.raises(FormatError, match=REFUSED[log]):
        print_log(log, None, None)


@pytest.mark.parametrize("log", [one for one in LOGS if "conflicts" in wanted(one)])
def test_the_numbers_are_pypys(cases, log):
    want = wanted(log)

    _, tally, _ = tally_log(log, None)

    assert want["total_time"] == pytest.approx(tally.stop - tally.start, abs=1e-9)
    got = {
        (one.kind, one.markers): (one.count, one.aborted, one.paused)
        for one in tally.tolls.values()
    }
    assert want["n_conflict_rows"] == len(got)
    for row in want["conflicts"]:
        markers = [bytes.fromhex(one) for one in row["markers"]]
        key = _kind(row["event"]), tuple(markers if any(markers[1:]) else markers[:1])
        assert (row["n"], row["aborted"], row["paused"]) == pytest.approx(
            got[key], abs=1e-8
        )
    if isinstance(tally, NewerTally):
        for name in ("committed", "aborted", "paused", "gc_minor", "gc_major"):
            figure = tally.total(name.removeprefix("gc_"))
            assert want[f"total_cpu_time_{name}"] == pytest.approx(figure, abs=1e-8)
    if isinstance(tally, OlderTally):
        assert want["total_cpu_time"] == pytest.approx(tally.cpu, abs=1e-8)


def _kind(name: str) -> int:
    if name.endswith("INEVITABLE"):
        return formats.INEVITABLE
    return formats.WRITE_WRITE if name.endswith("WRITE_WRITE") else formats.WRITE_READ


def test_every_case_of_pypys_is_here():
    names = {one.removesuffix(".gz") for one in LOGS}

    assert names >= set(EXPECTED)
    assert names == {one.stem for one in (CASES / "expected").glob("*.out")}


def test_rows_that_cost_the_same_stand_in_the_order_of_a_dict_of_python_2():
    """What Python 2.7.18 printed for list() of a dict with these keys."""
    keys: list[tuple[int | bytes, ...]] = [
        (6, b'File "a.py", line %d, in f' % line) for line in range(1, 8)
    ]

    assert [3, 7, 4, 5, 2, 6, 1] == [keys.index(key) + 1 for key in slot_order(keys)]

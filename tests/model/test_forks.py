"""Replicas that are forked, ask and get dumps at any time have what the owner has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.comparing import as_plain
from tests.model.replica import Fork
from txloop import TCounter, TDict, TList, TVar
from txloop.executors.codec.plain_cells import Known, pack_commits
from txloop.executors.codec.plain_values import agree_on_kinds
from txloop.executors.processes.replication import DeltaLog
from txloop.stm.store import committed
from txloop.stm.types import Key

if TYPE_CHECKING:
    from collections.abc import Hashable

    from txloop.stm.container import Container

KINDS = ["change", "elsewhere", "fork", "ask", "others", "dump", "trim"]
STEPS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, 5)),
    max_size=40,
)


@settings(max_examples=300)
@given(steps=STEPS)
def test_all_replicas_have_the_same(steps):
    rows: TList[int] = TList()
    table: TDict[int, int] = TDict()
    total, last = TCounter(), TVar(0)
    boxes: TDict[int, TDict[str, int]] = TDict()
    containers: list[Container] = [rows, table, total, last, boxes]
    kinds = agree_on_kinds()
    log = DeltaLog(committed)
    replicas = [Fork(log, containers) for _ in range(2)]

    def change(number):
        rows.append(number)
        table[number] = len(rows)
        total.add(number)
        last.set(number)
        for box in boxes.values():
            box["number"] += 1

    def repeat(number):
        """Repeat a commit that was made, and packed, elsewhere."""
        log.mark()
        box: TDict[str, int] = TDict()
        containers.append(box)
        writes: list[tuple[Any, Hashable, object]] = [
            (table, number, -number),
            (last, Key.VALUE, -number),
            (boxes, number, box),
            (box, "number", number),
        ]
        packed = pack_commits([writes], Known(box._tx_number, (), kinds))
        assert packed is not None
        committed.replay(writes)
        assert log.repeat(packed, writes)

    try:
        for step, number in steps:
            one = replicas[number % len(replicas)]
            match step:
                case "change":
                    change(number)
                case "elsewhere":
                    repeat(number)
                case "fork":
                    replicas.append(Fork(log, containers))
                case "ask":
                    one.catch_up()
                case "dump":
                    one.load_afresh()
                case "others":
                    for other in replicas:
                        if other is not one:
                            other.catch_up()
                case "trim":
                    log.trim(min(replica.version for replica in replicas))
        for one in replicas:
            one.catch_up()

            for container in containers:
                assert one.shows(container) == as_plain(container, lambda it: it)
    finally:
        log.close()

"""Plain scripts, as PyPy's users wrote them: no loop, no install."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import conflict_log
from tests.scripts import run_script

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

SCRIPT = """
    import os
    import time
    import txloop
    from txloop import transaction

    squares = transaction.stmdict()
    total = txloop.TVar(0)
    pids = transaction.stmset()

    def square(number):
        time.sleep(0.005)
        squares[number] = number * number
        total.value += number
        pids.add(os.getpid())

    transaction.set_num_threads(2)
    for number in range(200):
        transaction.add(square, number)
    transaction.run()

    print(transaction.number_of_transactions_in_last_run(), total.value)
    print(sorted(squares.items()) == [(number, number ** 2) for number in range(200)])
    print(os.getpid() in pids)
"""


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_script(executor: str, tmp_path: Path) -> None:
    ended = run_script(tmp_path, SCRIPT, TXLOOP_EXECUTOR=executor)

    assert ["200 19900", "True", str(executor == "serial")] == ended.lines
    assert ended.exit_code == 0


def test_script_with_a_log(tmp_path: Path) -> None:
    ended = run_script(tmp_path, SCRIPT, TXLOOP_EXECUTOR="processes", PYPYSTM="stm.log")

    assert ended.exit_code == 0
    log = conflict_log.load(str(tmp_path / "stm.log"))
    assert log.totals.commits > 0
    assert any("script.py" in str(one) for one in log.losses)


def test_script_that_is_interrupted(tmp_path: Path) -> None:
    """Ctrl-C ends it, and nothing of it stays behind."""
    ended = run_script(
        tmp_path,
        """
        import os, signal, time
        from txloop import transaction

        def interrupt(parent):
            os.kill(parent, signal.SIGINT)
            time.sleep(60)

        for _ in range(4):
            transaction.add(interrupt, os.getpid())
        try:
            transaction.run()
        except KeyboardInterrupt:
            print("interrupted")
        """,
        TXLOOP_EXECUTOR="processes",
        TXLOOP_WORKERS="2",
    )

    assert ["interrupted"] == ended.lines
    assert ended.exit_code == 0

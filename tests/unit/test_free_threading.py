"""Without the GIL: what `auto` means there, and that nothing turns it on again."""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import txloop
from tests.cluster import DASK
from tests.logs import expect_log
from txloop.errors import TxConfigurationError
from txloop.executors import protocol
from txloop.executors.protocol import available_cores, executor_named, resolve_name
from txloop.stm.threads import _AskedByAll, asked_by_all, gil_enabled

ROOT = Path(__file__).parents[2]

IMPORT_ALL = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
sys.exit(sys._is_gil_enabled())
"""


@pytest.mark.slow
@pytest.mark.skipif(gil_enabled(), reason="there is a GIL")
def test_nothing_turns_the_gil_on():
    # GIVEN
    modules = [
        one.name
        for one in pkgutil.walk_packages(txloop.__path__, "txloop.")
        if not one.name.endswith("__main__")
        and (DASK or not one.name.startswith("txloop.executors.dask."))
    ]
    assert "txloop.executors.threads.executor" in modules
    others = ["handlers.primes", "handlers.astar", "conflict_log"]

    # WHEN
    command = [sys.executable, "-W", "error", "-c", IMPORT_ALL, *modules, *others]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )

    # THEN
    assert (0, "") == (done.returncode, done.stderr)


@pytest.mark.parametrize(
    ("gil", "cores", "fork", "name"),
    [
        (False, 2, True, "threads"),
        (False, 1, False, "threads"),
        (True, 2, True, "processes"),
        (True, 1, True, "serial"),
    ],
)
def test_what_auto_means(monkeypatch, gil, cores, fork, name):
    # GIVEN
    monkeypatch.setattr(protocol, "gil_enabled", lambda: gil)
    monkeypatch.setattr(protocol, "available_cores", lambda: cores)
    if not fork:
        monkeypatch.delattr(os, "fork")

    # THEN
    assert name == resolve_name("auto")


def test_without_a_fork_auto_is_serial_and_says_so(monkeypatch):
    # GIVEN
    monkeypatch.setattr(protocol, "gil_enabled", lambda: True)
    monkeypatch.delattr(os, "fork")

    # THEN
    with expect_log("txloop", "^transactions run serially: there is no safe fork"):
        assert "serial" == resolve_name("auto")
    with pytest.raises(TxConfigurationError, match="'threads' without the GIL"):
        resolve_name("processes")


def test_max_calls_means_nothing_for_threads():
    executor = executor_named("threads", max_calls=5)

    assert (available_cores(), 0) == (executor.workers, len(executor.running()))


class Troublesome:
    """A key whose comparison fails."""

    def __hash__(self):
        return hash("b")

    def __eq__(self, other):
        raise KeyError("of the key itself")


def test_a_dict_that_all_threads_ask_is_a_dict():
    # WHEN
    rows = _AskedByAll({"a": 1})
    rows["b"] = 2

    # THEN
    assert isinstance(rows, dict)
    assert {"a": 1, "b": 2} == rows
    assert (1, 2, None, 3) == (*map(rows.get, "abc"), rows.get("c", 3))
    with pytest.raises(KeyError, match="of the key itself"):
        rows.get(Troublesome())


@pytest.mark.parametrize("make", [lambda: txloop.TDict(a=1), lambda: txloop.TVar(1)])
def test_the_cells_of_a_container_are_asked_by_all(make):
    # WHEN
    cells = make()._tx_cells

    # THEN
    assert type(cells) is type(asked_by_all({}))
    assert (type(cells) is dict) == gil_enabled()

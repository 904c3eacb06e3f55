"""Locks for which nothing waits become what is always free; others stay."""

from __future__ import annotations

import copy
import pickle

import pytest

import txloop
from tests.sharing.commanding import PROGRAM, program, run
from tests.sharing.rounds import shared
from txloop.cells import FreeLock

PLAIN = """
import threading
lock = threading.Lock()
rows = []
def add(row):
    with lock:
        rows.append(row)
"""

FREE = {
    "of a module": PLAIN,
    "by its name": PLAIN.replace(
        "import threading", "from threading import Lock"
    ).replace("threading.Lock()", "Lock()"),
    "that may be taken twice": PLAIN.replace("Lock()", "RLock()"),
    "declared": PLAIN.replace("lock =", "lock: threading.Lock ="),
    "of an object": """
        import threading as t
        class Store:
            def __init__(self):
                self.lock = t.Lock()
                self.rows = []
            def add(self, row):
                with self.lock, open("x"):
                    self.rows.append(lambda: (yield))
        store = Store()
        def rows():
            with store.lock:
                return store.rows
        """,
    "given back at the end": """
        import threading
        lock = threading.Lock()
        def add(row):
            lock.acquire()
            try:
                return row
            finally:
                lock.release()
        """,
}


@pytest.mark.parametrize("case", FREE)
def test_a_lock_for_which_nothing_waits_is_always_free(case):
    text = shared(FREE[case])

    assert "txloop.cells.FreeLock()" in text
    assert "Lock()" not in text.replace("FreeLock()", "")


def test_a_lock_of_another_module_is_free_too():
    text = shared(
        "from b import lock\ndef f():\n    with lock: pass\n", others={"b": PLAIN}
    )

    assert "lock = txloop.cells.FreeLock()" in text


@pytest.mark.parametrize(
    "lines",
    [
        "threading.Thread(target=add).start()",
        "threading.Timer(1, add)",
        "import concurrent.futures",
        "import multiprocessing.dummy as m",
        "from http import server",
        "import library",
        "import library.threads as json",
        "from threading import Thread",
        "from threading import *",
        "t = threading",
        "exec('add(1)')",
        "async def f(loop): await loop.run_in_executor(None, add)",
        "lock.acquire()",
        "lock.acquire()\ntry: pass\nfinally: print(lock.release())",
        "lock.acquire(False)\ntry: pass\nfinally: lock.release()",
        "async def f():\n  lock.acquire()\n  try: await g()\n  finally: lock.release()",
        "async def f():\n  with lock: await g()",
        "async def f():\n  with lock: return [x async for x in g()]",
        "def f():\n  with lock: yield",
        "def f():\n  with lock as taken: print(taken)",
        "print(lock)",
        "print(lock.locked())",
        "class A:\n  def f(self): self.lock = other()",
        "def f(lock):\n  with lock: pass",
        "f(lock=1)",
        "import x.lock as lock",
        "from library import lock",
        "import copy; copy.deepcopy(add)",
        "import pickle",
        "getattr(add, 'lock')",
    ],
)
def test_a_lock_for_which_something_may_wait_stays(lines):
    source = f"{PLAIN}\n{lines}\n"

    assert "FreeLock" not in shared(source, "rows")


def test_a_lock_that_a_function_is_given_stays():
    source = "import threading\nlocks = {}\nlocks[1] = threading.Lock()\n"

    assert "threading.Lock()" in shared(source, "locks")


def test_a_free_lock_is_always_free():
    lock = FreeLock()
    held = txloop.TVar(lock)

    with lock as taken, held.value, pickle.loads(pickle.dumps(copy.copy(lock))):
        lock.release()

        assert (taken, lock.acquire(timeout=1)) == (True, True)


ALL_AFTER = "Of 3 verbs, 0 would run in parallel before, 3 after."

LOCKED = PROGRAM.replace("import sys", "import sys, threading").replace(
    "asked = 0", "asked = 0\nlock = threading.Lock()"
)
LOCKED = LOCKED.replace("        asked += 1\n", "        with lock: asked += 1\n")


@pytest.mark.slow
def test_verbs_that_take_a_lock_run_in_parallel(tmp_path):
    code, printed, _ = run(program(tmp_path, LOCKED), "share", "app.py")

    assert (
        code,
        "Of 3 verbs, 0 would run in parallel before, 3 after." in printed,
    ) == (
        0,
        True,
    )

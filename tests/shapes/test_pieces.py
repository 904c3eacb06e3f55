"""Pieces of a script's work that change plain state: as a plain loop leaves it."""

from __future__ import annotations

import json

import pytest

from tests.scripts import run_script
from tests.serving import THREADS

pytestmark = pytest.mark.slow

EXECUTORS = ("serial", "processes", *(["threads"] * THREADS))

SCRIPT = """
import collections, functools, itertools, json, sys, time
from txloop.transaction import TransactionQueue

def burn():
    end = time.perf_counter() + 0.001
    while time.perf_counter() < end:
        pass

class Account:
    total = 0
    def __init__(self):
        self.rows = []
        self.by_name = {"ann": 0}
    def pay(self, amount):
        burn()
        self.rows.append(amount)
        self.by_name["ann"] += amount

account, given, nested = Account(), [], {"rooms": [[0], [0]]}
tally, words, ids = collections.Counter(), [], itertools.count()
add_word = words.append
number = 0

def global_number(n):
    global number
    burn()
    number += n

def class_attribute(n):
    burn()
    Account.total += n

def nested_rows(n):
    burn()
    for row, by in zip(nested["rooms"], (n, 1)):
        row[0] += by

def counter(n):
    burn()
    tally.update({"all": n})

def bound_method(n):
    burn()
    add_word(n)

def iterator(n):
    burn()
    next(ids)

def default_argument(n, seen=[0]):
    burn()
    seen[0] += n

def argument(n, rows):
    burn()
    rows.append(n)

pieces = []
for n in range(1, 21):
    for function in (global_number, class_attribute, nested_rows, counter,
                     bound_method, iterator, default_argument, account.pay):
        pieces.append((function, n))
    pieces.append((argument, n, given))

if not EXECUTOR:
    for function, *args in pieces:
        function(*args)
else:
    queue = TransactionQueue()
    for function, *args in pieces:
        queue.add(function, *args)
    queue.run()

print(json.dumps({
    "global_number": number, "class_attribute": Account.total, "nested_rows": nested,
    "counter": tally["all"], "bound_method": sorted(words), "iterator": next(ids),
    "default_argument": default_argument.__defaults__[0][0], "argument": sorted(given),
    "method": [sorted(account.rows), account.by_name["ann"]],
}))
"""


def left_by(folder, executor):
    text = f"EXECUTOR = {executor!r}\n{SCRIPT}"
    environment = {"TXLOOP_EXECUTOR": executor, "TXLOOP_WORKERS": "2"}
    ended = run_script(folder, text, **(environment if executor else {}))
    assert ended.exit_code == 0, ended.errors
    return json.loads(ended.output), ended.errors


@pytest.mark.parametrize("executor", EXECUTORS)
def test_pieces_leave_what_a_plain_loop_leaves(executor, tmp_path):
    # GIVEN
    expected, _ = left_by(tmp_path, "")

    # WHEN
    left, said = left_by(tmp_path, executor)

    # THEN
    assert expected == left, said

"""What pickle and the like are given is a plain copy, of what they keep no part."""

from __future__ import annotations

import pickle
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import pytest

import txloop
from tests.sharing.commanding import PROGRAM, program, run
from tests.sharing.rounds import left, shared
from txloop.cells import plainly


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "import pickle; pickle.dump(items, f)",
            "dump(txloop.cells.plainly(items), f)",
        ),
        (
            "from pickle import dumps; dumps(items, 4)",
            "(txloop.cells.plainly(items), 4)",
        ),
        ("import marshal as m; m.dumps([items])", "(txloop.cells.plainly([items]))"),
        (
            "import pickle; pickle.dumps(txloop.cells.plainly(items))",
            "pickle.dumps(txloop.cells.plainly(items))",
        ),
    ],
)
def test_encoders_are_given_plain_copies(line, expected):
    text = shared(f"items = []\ndef f(): items.append(1)\n{line}\n", "items")

    assert expected in text
    assert "items = txloop.share([])" in text


@pytest.mark.parametrize(
    "line",
    [
        "import pickle; pickle.dump(*items)",
        "import pickle; pickle.dump(obj=items)",
        "import pickle; pickle.Pickler(f).dump(items)",
        "import pickle\nclass A: pass\nitems.append(A())\npickle.dumps(items)",
        "import pickle\nclass A:\n    def f(self): items.append(pickle.dumps(self))",
        "import dill; dill.dumps(items)",
    ],
)
def test_where_copies_would_not_do_it_stays_plain(line):
    source = f"items = []\ndef f(): items.append(1)\n{line}\n"

    assert "plainly" not in shared(source, "items")
    assert left(source, "items")


def test_a_copy_is_plain_however_deep_containers_are_in_it():
    row = txloop.TList([1])
    defaults: defaultdict[str, Any] = defaultdict(list, a=row)
    held = [
        {"row": row, "rows": [row], "tuple": (row, 1)},
        OrderedDict(a=row),
        Counter(a=2),
        defaults,
        deque([row], maxlen=3),
        {1, 2},
        txloop.TDict(a=row),
        1,
    ]
    held.append(held)
    copied = plainly(held)
    read = pickle.loads(pickle.dumps(copied))

    assert read[:-1] == [
        {"row": [1], "rows": [[1]], "tuple": ([1], 1)},
        OrderedDict(a=[1]),
        Counter(a=2),
        defaultdict(list, a=[1]),
        deque([[1]]),
        {1, 2},
        {"a": [1]},
        1,
    ]
    assert (read[-1] is read, read[4].maxlen, type(read[3])) == (True, 3, defaultdict)
    assert copied[0]["row"] is copied[1]["a"]
    assert type(copied[0]["row"]) is list


DUMPED = PROGRAM.replace("import sys", "import pickle, sys").replace(
    "str(asked)", "str(pickle.loads(pickle.dumps([names, asked])))"
)


@pytest.mark.slow
def test_verbs_that_pickle_what_they_share_run_in_parallel(tmp_path):
    code, printed, _ = run(program(tmp_path, DUMPED), "share", "app.py")

    expected = "Of 3 verbs, 0 would run in parallel before, 3 after."
    assert (code, printed.splitlines()[-1]) == (0, expected)

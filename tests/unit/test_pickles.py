"""Where pickles are read: from our own children, and what this process has made."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

READERS = {
    "executors/codec/frames.py": "of the sockets between a loop's process and workers",
    "executors/codec/packing.py": "what the loop's process and its workers send",
    "executors/codec/plain_cells.py": "commits, which the loop's process sends",
    "executors/codec/plain_values.py": "dates and the like, in what a replica sends",
    "executors/processes/feed.py": "what the loop's process sends",
    "executors/fronts/desk.py": "log records, which a front sends its owner",
    "executors/codec/answers.py": "an error just pickled, or one in a worker's answer",
    "cells/kinds.py": "a value just pickled, to see what comes back",
    "executors/threads/isolation.py": "a call just pickled, to copy it",
    "executors/dask/forks.py": "the program's image, which its owner has sent",
    "executors/dask/pickling.py": "the code of a function, in a program's image",
    "executors/dask/host.py": "of a process just forked, whether it has begun",
    "executors/dask/loading.py": "a program that was sent to a Dask worker",
    "sharing/survey.py": "of a pipe, what a child that ran the program has found",
    "web/frozen.py": "a request just pickled, to copy it",
    "web/leftovers.py": "attributes of a handler, in a worker's answer",
}
"""The modules that may load pickles, and where these come from."""

LOADING = {"load", "loads", "Unpickler", "find_class"}
OTHERS = {"shelve", "marshal", "dill", "jsonpickle"}


def modules():
    return sorted((ROOT / "txloop").rglob("*.py"))


def loads_pickles(tree):
    """Tell whether a module's code names a way to read a pickle."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
            if node.module in OTHERS or names & LOADING or names & OTHERS:
                return True
        elif isinstance(node, ast.Import):
            if {alias.name for alias in node.names} & OTHERS:
                return True
        elif isinstance(node, ast.Attribute) and node.attr in LOADING:
            owner = node.value
            if not (isinstance(owner, ast.Name) and owner.id == "json"):
                return True
    return False


@pytest.mark.parametrize(
    "path", modules(), ids=lambda path: str(path.relative_to(ROOT / "txloop"))
)
def test_pickles_are_read_in_few_places_only(path):
    name = str(path.relative_to(ROOT / "txloop"))

    tree = ast.parse(path.read_text())
    # A `load` of our own is no pickle's: that of the store, of a worker's queue.
    own = name in {
        "executors/dask/crew.py",
        "executors/dask/relay.py",
        "executors/processes/crew.py",
        "executors/processes/executor.py",
        "executors/processes/replication.py",
    }

    assert own or (name in READERS) >= loads_pickles(tree), name


def test_each_reader_still_reads():
    found = {name for name in READERS if loads_pickles(parse(name))}

    assert set(READERS) == found


def parse(name):
    return ast.parse((ROOT / "txloop" / name).read_text())


def test_nothing_in_txloop_listens_or_makes_files():
    """The transport is a pair of sockets that only a fork hands on."""
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                assert node.func.attr not in {"bind", "listen", "bind_sockets"}, path

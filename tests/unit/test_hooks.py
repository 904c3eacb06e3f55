"""Loggers, handlers, and the program's own code that others call: what leads there."""

from __future__ import annotations

import copyreg
import json
import logging
import logging.handlers
import pickle
import sys
import types
import warnings

import pytest

from tests.reached import reached, subject_of
from txloop.executors.processes.spawner_process import flush_output
from txloop.watch.in_worker import _reach
from txloop.watch.places import Roots
from txloop.watch.reach import reach_of

log = logging.getLogger("tests.hooks")


def nothing():
    return 1


def logs():
    log.info("hello")


def warns():
    warnings.warn("old", stacklevel=1)


# Loggers and handlers


class Keeping(logging.Handler):
    def __init__(self):
        super().__init__()
        self.kept = []

    def emit(self, record):
        self.kept.append(record)
        logs()


keeping = Keeping()
buffering = logging.handlers.MemoryHandler(10)


def reads_kept():
    return keeping.kept


def logs_and_reads_kept():
    logs()
    return keeping.kept


def logs_and_reads_buffer():
    logs()
    return buffering.buffer


def logs_and_sets_level():
    logs()
    keeping.setLevel(1)


@pytest.mark.parametrize(
    ("function", "held"),
    [
        (logs, None),
        (reads_kept, None),
        (logs_and_sets_level, None),
        (logs_and_reads_kept, "tests.unit.test_hooks.keeping.kept"),
        (logs_and_reads_buffer, "tests.unit.test_hooks.buffering.buffer"),
    ],
)
def test_who_reads_what_it_logs_is_held(function, held):
    found = subject_of(function)
    name = None if found.reach.held is None else found.reach.held.name

    assert held == name
    assert held is None or "after it has committed" in str(found.held)


def test_what_a_handler_keeps_is_reached_by_its_name_only():
    assert id(keeping.kept) in reached(subject_of(reads_kept).reach)
    log.addHandler(keeping)
    try:
        assert id(keeping.kept) not in reached(subject_of(logs).reach)
    finally:
        log.removeHandler(keeping)


class Numbering(logging.LoggerAdapter["logging.Logger"]):
    def process(self, msg, kwargs):
        seen.append(msg)
        return msg, kwargs


seen: list[object] = []
extra: dict[str, object] = {}
numbering = Numbering(log, extra)


def logs_by_adapter():
    numbering.info("hello")


def test_an_adapter_is_gone_into():
    found = reached(subject_of(logs_by_adapter).reach)

    assert {id(seen), id(extra)} <= set(found)


# What others call


class Tee:
    """Has no `closed`, as streams have."""

    def __init__(self):
        self.lines = []
        self.flushed = 0

    def write(self, text):
        self.lines.append(text)

    def flush(self):
        self.flushed += 1


class Reduced:
    pass


counted: list[object] = []


def count(*arguments, **more):
    counted.append(1)


def prints():
    print("hello")  # noqa: T201


def dumps():
    return pickle.dumps(Reduced())


def patched():
    return json.loads("1")


def in_stdout(monkeypatch):
    tee = Tee()
    monkeypatch.setattr(sys, "stdout", tee)
    return tee.lines


def in_copyreg(monkeypatch):
    monkeypatch.setitem(copyreg.dispatch_table, Reduced, count)
    return counted


def in_warnings(monkeypatch):
    monkeypatch.setattr(warnings, "showwarning", count)
    return counted


def in_logging(monkeypatch):
    monkeypatch.setattr(logging, "_logRecordFactory", count)
    return counted


def in_module(monkeypatch):
    monkeypatch.setattr(json, "loads", count)
    return counted


def in_registry_of_module(monkeypatch):
    monkeypatch.setattr(json, "hooks", {"hit": [(1, count)]}, raising=False)
    return counted


@pytest.mark.parametrize(
    ("function", "put", "on_loop"),
    [
        (prints, in_stdout, True),
        (nothing, in_stdout, False),
        (dumps, in_copyreg, True),
        (nothing, in_copyreg, False),
        (warns, in_warnings, True),
        (logs, in_logging, True),
        (nothing, in_logging, False),
        (patched, in_module, True),
        (patched, in_registry_of_module, True),
    ],
)
def test_what_others_call_is_gone_into(function, put, on_loop, monkeypatch):
    # GIVEN
    state = put(monkeypatch)

    # WHEN
    on_loop_thread = reached(subject_of(function).reach)
    roots = Roots("key", ((function.__name__, function),))
    in_worker = reached(_reach(roots))

    # THEN
    assert on_loop == (id(state) in on_loop_thread)
    assert id(state) in in_worker


def test_what_is_patched_counts_where_code_names_it(monkeypatch):
    monkeypatch.setattr(json, "dumps", count)

    found = reached(subject_of(patched).reach)

    assert id(counted) not in found


def test_what_libraries_keep_of_their_own_is_not_gone_into(monkeypatch):
    cache: dict[object, object] = {}
    monkeypatch.setattr(json, "cache", cache, raising=False)

    found = reached(reach_of(Roots("key", (("patched", patched),)), {}))

    assert id(cache) not in found


@pytest.mark.parametrize(
    ("tag", "is_there"),
    [
        ("import a_module_of_templates", True),
        ("from a_module_of_templates import visits", True),
        ("set visits = 1", False),
    ],
)
def test_what_templates_import_counts_where_one_is_rendered(tag, is_there, monkeypatch):
    # GIVEN
    module = types.ModuleType("a_module_of_templates")
    visits: list[int] = []
    vars(module).update(__file__=__file__, visits=visits)
    monkeypatch.setitem(sys.modules, module.__name__, module)

    def renders(handler):
        handler.render("page.html")

    # WHEN
    names = {*tag.split(), "visits"}
    roots = Roots("key", (("renders", renders),), template_names=lambda: names)

    # THEN
    assert is_there == (id(visits) in reached(reach_of(roots, {})))


def test_an_own_stream_needs_no_more_than_print_does(monkeypatch):
    # GIVEN
    tee = Tee()
    monkeypatch.setattr(sys, "stdout", tee)
    monkeypatch.setattr(sys, "stderr", types.SimpleNamespace(write=len))

    # WHEN
    flush_output()

    # THEN
    assert tee.flushed == 1

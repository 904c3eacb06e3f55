"""Attempts see all that one piece of unmarked code has written, or nothing of it.

Such code runs on the loop thread and commits each of its writes at once. Worker threads
begin attempts meanwhile, by themselves: never at a version from the middle of it.
"""

from __future__ import annotations

from tests.engine import Gate, running
from txloop import TDict

EXECUTOR = "threads"


def read_and_tell(shared, done):
    found = shared["a"], shared["b"]
    done.open()
    return found


def test_a_thread_begins_no_attempt_in_the_middle_of_unmarked_code(tmp_path):
    with running("threads", 1) as engine:
        # GIVEN a thread that runs one call, and has another one at hand
        shared, short = TDict(a=0, b=0), engine.short()
        gate, done = Gate(tmp_path / "gate"), Gate(tmp_path / "done")
        first = engine.submit(gate.wait, profile=short, watched=False)
        second = engine.submit(
            read_and_tell, shared, done, profile=short, watched=False
        )
        engine.turn()

        # WHEN it begins that one between two writes
        def write_both():
            shared["a"] = 1
            gate.open()
            done.wait()  # until it has read
            shared["b"] = 1

        engine.loop.call_soon(write_both)
        engine.wait(first, second)

        # THEN
        assert (0, 0) == second.value


def read_both(shared):
    return shared["a"], shared["b"]


def test_threads_race_with_unmarked_code_that_writes_twice(engine):
    # GIVEN
    shared, short = TDict(a=0, b=0), engine.short()

    def write_both(number):
        shared["a"] = number
        shared["b"] = number

    # WHEN
    results = []
    for number in range(300):
        engine.loop.call_soon(write_both, number)
        results += [engine.submit(read_both, shared, profile=short) for _ in range(3)]
        if number % 5 == 0:
            engine.turn()
    engine.wait(*results)

    # THEN
    mixed = [found for found in (one.value for one in results) if found[0] != found[1]]
    assert [] == mixed


def count_both(shared):
    shared["a"] += 1
    shared["b"] += 1


def test_neither_do_those_that_write(engine):
    # GIVEN
    shared, short = TDict(a=0, b=0), engine.short()

    def add_to_both():
        shared["a"] += 10
        shared["b"] += 10

    # WHEN
    results = []
    for _ in range(100):
        engine.loop.call_soon(add_to_both)
        results.append(engine.submit(count_both, shared, profile=short))
        engine.turn()
    engine.wait(*results)

    # THEN
    assert (1100, 1100) == (shared["a"], shared["b"])

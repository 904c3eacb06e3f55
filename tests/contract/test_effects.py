"""Effects and log records: at the commit, in order, once; none of an aborted run."""

from __future__ import annotations

import io
import logging
import threading

import pytest

from tests.engine import Gate, Tally, note, noted, on
from tests.logs import expect_log, listing
from txloop import TDict, TVar, on_commit
from txloop.stm.types import Call

log = logging.getLogger("tests.contract.effects")


class Kept(logging.Handler):
    """Keeps what is logged, and where."""

    def __init__(self):
        super().__init__()
        self.texts: list[str] = []
        self.threads: set[int] = set()

    def emit(self, record):
        self.texts.append(self.format(record))
        self.threads.add(threading.get_ident())


@pytest.fixture
def kept():
    handler = Kept()
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    yield handler
    log.removeHandler(handler)


def ask(name):
    on_commit(note, name, "first")
    on_commit(note, name, "second")
    return name


def test_effects_run_in_the_order_in_which_they_were_asked_for(engine):
    # WHEN
    results = [engine.submit(ask, name) for name in "abc"]
    engine.wait(*results)

    # THEN
    pairs = [tuple(noted[start : start + 2]) for start in (0, 2, 4)]
    expected = [((name, "first"), (name, "second")) for name in "abc"]
    assert expected == sorted(pairs)


def test_effects_run_before_the_result_is_handed_out(engine):
    # GIVEN
    call = Call(ask, ("a",))

    # WHEN
    seen: list[int] = []
    engine.dispatcher.submit(call, engine.profile(), lambda *_: seen.append(len(noted)))
    engine.until(lambda: bool(seen))

    # THEN
    assert [2] == seen


begun, ended = TVar(0), TVar(0)


def begin():
    begun.value += 1


def end(*_):
    ended.value += 1


def unfinished():
    return begun.value - ended.value


def test_no_attempt_begins_between_a_commit_and_what_follows_it(engine):
    # GIVEN
    begun.value = ended.value = 0
    call, rounds = Call(begin, followed=True), 4 * engine.workers

    # WHEN
    results = []
    for _ in range(rounds):
        engine.dispatcher.submit(call, engine.profile(), end)
        results.append(engine.submit(unfinished))
    engine.wait(*results)
    engine.until(lambda: ended.value == rounds)

    # THEN
    assert [0] * rounds == [result.value for result in results]


def note_thread():
    note(threading.get_ident())


def test_effects_run_on_the_loop_thread(engine):
    # WHEN
    engine.run(on_commit, note_thread)

    # THEN
    assert [threading.get_ident()] == noted


def see(variable):
    note(variable.value)


def change_and_see(variable):
    variable.value = 2
    on_commit(see, variable)
    on_commit(variable.set, 3)
    on_commit(see, variable)


def test_effects_see_the_commit_and_may_write_directly(engine):
    # GIVEN
    variable = TVar(1)

    # WHEN
    engine.run(change_and_see, variable)

    # THEN
    assert [2, 3] == noted
    assert 3 == variable.value


def burst():
    raise OSError("burst")


def ask_for_trouble():
    on_commit(note, "before")
    on_commit(burst)
    on_commit(note, "after")
    return "fine"


def test_an_effect_that_raises_is_logged_and_the_others_run(engine):
    # WHEN
    with expect_log("txloop", "an effect failed: .*burst.*test_effects.py") as records:
        value = engine.run(ask_for_trouble)

    # THEN
    assert "fine" == value
    assert ["before", "after"] == noted
    assert "OSError: burst" in listing(records)


# Aborted attempts


def read_wait_write(shared, tally, gates):
    """Conflict, in the first attempt, with whoever writes between the gates."""
    tally.mark()
    seen = shared["n"]
    log.info("saw %d", seen)
    on_commit(note, "saw", seen)
    for gate in gates[:1]:
        gate.open()
    for gate in gates[1:]:
        gate.wait()
    shared["n"] = seen + 1


@on("processes", "threads")
def test_an_aborted_attempt_leaves_no_effects_and_no_records(engine, tmp_path, kept):
    # GIVEN
    shared, tally = TDict(n=0), Tally(tmp_path / "tally")
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    result = engine.submit(read_wait_write, shared, tally, (started, gate))
    engine.until(lambda: started.is_open)

    # WHEN
    shared["n"] = 10
    gate.open()
    engine.wait(result)

    # THEN
    assert (2, 1) == (tally.count, engine.aborts)
    assert [("saw", 10)] == noted
    assert ["saw 10"] == kept.texts
    assert {"n": 11} == shared


@on("scripted")
def test_an_aborted_attempt_leaves_no_effects_and_no_records_scripted(
    engine, tmp_path, kept
):
    # GIVEN
    shared, tally = TDict(n=0), Tally(tmp_path / "tally")
    result, number = engine.send(read_wait_write, shared, tally, ())
    engine.scripted.begin(number)

    # WHEN
    shared["n"] = 10
    engine.scripted.finish(number)
    noted_before_commit = list(noted)
    engine.wait(result)

    # THEN
    assert (2, 1) == (tally.count, engine.aborts)
    assert ([], [("saw", 10)]) == (noted_before_commit, noted)
    assert ["saw 10"] == kept.texts


def test_a_call_that_failed_has_no_effects_but_records(engine, kept):
    """What was logged before an error helps to find it, as in a serial program."""

    # GIVEN
    def body():
        log.warning("here it comes")
        on_commit(note, "never")
        raise OSError("there")

    # WHEN
    with pytest.raises(OSError, match="there"):
        engine.run(body)

    # THEN
    assert ([], ["here it comes"]) == (noted, kept.texts)


# Log records


def speak(name):
    log.info("%s: %s", name, {"a": 1})
    log.debug("%s: not at this level", name)
    try:
        raise KeyError(name)
    except KeyError:
        log.exception("failed")


def test_records_reach_the_handlers_once_on_the_loop_thread(engine, kept):
    # WHEN
    engine.run(speak, "me")

    # THEN
    first, second = kept.texts
    assert "me: {'a': 1}" == first
    assert second.startswith("failed\nTraceback (most recent call last):")
    assert second.endswith("KeyError: 'me'")
    assert f'File "{__file__}", line' in second
    assert {threading.get_ident()} == kept.threads


def test_filters_of_the_logger_see_them(engine, kept):
    # GIVEN
    def hide(record):
        return "secret" not in record.getMessage()

    log.addFilter(hide)

    # WHEN
    engine.run(say, "a secret", "a word")

    # THEN
    log.removeFilter(hide)
    assert ["a word"] == kept.texts


def say(*words):
    for word in words:
        log.info(word)


def misspeak():
    log.info("%d", "no number")
    return "done"


def test_a_record_that_cannot_be_formatted_does_no_harm(engine, kept, monkeypatch):
    # GIVEN
    stream = logging.StreamHandler(io.StringIO())
    troubles: list[logging.LogRecord] = []
    monkeypatch.setattr(stream, "handleError", troubles.append)
    monkeypatch.setattr(log, "handlers", [stream])
    monkeypatch.setattr(log, "propagate", False)

    # WHEN
    value = engine.run(misspeak)

    # THEN
    assert ("done", 1) == (value, len(troubles))

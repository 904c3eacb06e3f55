"""Attempts: what they see, what they remember, and how they end."""

from __future__ import annotations

import asyncio
import inspect

import pytest

from txloop import Channel
from txloop.errors import BecomeInevitable, TxForgottenError, TxInternalError
from txloop.stm.attempt import Attempt, current
from txloop.stm.container import Container
from txloop.stm.primitives import inevitable, on_commit
from txloop.stm.run import _forbidden_loop, run_attempt
from txloop.stm.store import committed
from txloop.stm.types import MISSING, Call, Effect, Key, Outcome, Refusal, Unsendable


@pytest.fixture
def box():
    """A container with the keys a and b."""
    container = Container()
    committed.adopt(container)
    committed.install([(container, "a", 1), (container, "b", 2)])
    return container


@pytest.fixture
def attempt():
    return Attempt(committed.version, speculative=True)


def now():
    """Return the attempt that runs."""
    attempt = current()
    assert attempt is not None
    return attempt


def cells(box, *keys):
    return {(box._tx_number, key) for key in keys}


def run(function, *args, speculative=True, keep_reads=True, **options):
    call = Call(function, args, **options)
    return run_attempt(call, speculative=speculative, keep_reads=keep_reads)


# Reading


@pytest.fixture
def attempt_at_box(box):
    """An attempt that can see the container, which was made before it."""
    return Attempt(committed.version, speculative=True)


def test_reading_sees_the_snapshot_and_is_remembered(box, attempt_at_box):
    # GIVEN
    attempt = attempt_at_box
    snapshot = committed.open_snapshot()
    committed.install([(box, "a", 10), (box, "c", 3)])

    # WHEN
    found = [attempt.read(box, key) for key in "abc"]

    # THEN
    assert [1, 2, MISSING] == found
    assert cells(box, "a", "b", "c") == attempt.values
    assert set() == attempt.presences
    committed.close_snapshot(snapshot)


def test_reading_own_writes_is_no_read(box, attempt_at_box):
    # GIVEN
    attempt = attempt_at_box
    attempt.write(box, "a", 5)
    attempt.write(box, "b", MISSING)

    # WHEN
    found = [attempt.read(box, "a"), attempt.has(box, "a"), attempt.has(box, "b")]

    # THEN
    assert [5, True, False] == found
    assert set() == attempt.values | attempt.presences


def test_presence_is_less_than_a_value(box, attempt_at_box):
    # GIVEN
    attempt = attempt_at_box
    attempt.write(box, "other", 1)

    # WHEN
    found = [attempt.has(box, "a"), attempt.has(box, "never")]

    # THEN
    assert [True, False] == found
    assert cells(box, "a", "never") == attempt.presences
    assert set() == attempt.values


def test_size_counts_own_insertions_and_deletions(box, attempt_at_box):
    # GIVEN
    attempt = attempt_at_box
    assert 2 == attempt.size(box)

    # WHEN
    attempt.write(box, "a", 5)
    attempt.write(box, "c", 5)
    attempt.write(box, "d", 5)
    attempt.write(box, "b", MISSING)
    attempt.write(box, "never", MISSING)

    # THEN
    assert 3 == attempt.size(box)
    assert cells(box, Key.KEYS) == attempt.values


def test_keys_are_in_the_order_that_a_dict_would_have(box, attempt_at_box):
    # GIVEN
    attempt = attempt_at_box
    assert ["a", "b"] == attempt.keys(box)

    # WHEN
    attempt.write(box, "c", 1)
    attempt.write(box, "a", MISSING)
    attempt.write(box, "d", 1)
    attempt.write(box, "a", 1)
    attempt.write(box, "b", 5)
    attempt.write(box, "e", 1)
    attempt.write(box, "e", MISSING)

    # THEN
    assert ["b", "c", "d", "a"] == attempt.keys(box)
    assert cells(box, Key.KEYS) == attempt.values


def test_writes_are_in_the_order_of_the_keys(box, attempt_at_box):
    # GIVEN
    attempt = attempt_at_box

    # WHEN
    attempt.write(box, "c", 1)
    attempt.write(box, "a", MISSING)
    attempt.write(box, "d", 1)
    attempt.write(box, "a", 1)
    attempt.write(box, "c", 2)

    # THEN
    expected = [("c", 2), ("d", 1), ("a", MISSING), ("a", 1)]
    writes = attempt.outcome(None, None, 0.0).writes
    assert expected == [(key, value) for _, key, value in writes]


def test_many_writes_are_one(box, attempt_at_box):
    # GIVEN
    many = dict.fromkeys(range(100), "new")

    # WHEN
    attempt_at_box.write(box, "a", 5)
    attempt_at_box.write_all(box, many)
    (write,) = attempt_at_box.writes[box._tx_number].in_order()

    # THEN
    container, key, update = write
    assert (box, Key.ALL) == (container, key)
    assert [("a", 5), *many.items()] == list(update.items.items())


def test_many_writes_to_what_was_deleted_stay_in_order(box, attempt_at_box):
    # GIVEN
    many: dict[object, object] = {**dict.fromkeys(range(100), "new"), "a": 7}

    # WHEN
    attempt_at_box.write(box, "a", MISSING)
    attempt_at_box.write_all(box, {})
    attempt_at_box.write_all(box, many)
    committed.install(list(attempt_at_box.writes[box._tx_number].in_order()))

    # THEN
    assert ["b", *many] == list(committed.contents_at(box, committed.version))


def test_a_value_that_does_not_pickle_sends_the_call_home(box):
    # GIVEN
    committed.install([(box, "a", Unsendable("cannot pickle it"))])

    # WHEN
    answer = run(lambda: now().read(box, "a"))

    # THEN
    reason = "it reads a value that does not pickle (cannot pickle it)"
    assert Refusal(reason, warn=False) == answer


def test_nor_does_one_leave_a_channel_elsewhere():
    # GIVEN
    channel = Channel[object]()
    channel._things.put(Unsendable("cannot pickle it"))

    # WHEN
    answer = run(channel.get)

    # THEN
    reason = "it reads a value that does not pickle (cannot pickle it)"
    assert Refusal(reason, warn=False) == answer
    assert 1 == len(channel)


USES = {
    "read": lambda box, key: now().read(box, key),
    "has": lambda box, key: now().has(box, key),
    "size": lambda box, _: now().size(box),
    "keys": lambda box, _: now().keys(box),
    "contents": lambda box, _: now().contents(box),
    "write": lambda box, key: now().write(box, key, 1),
    "write all": lambda box, key: now().write_all(box, {key: 1}),
    "clear": lambda box, _: now().clear(box),
}


@pytest.mark.parametrize("use", ["read", "has", "keys", "contents", "write"])
def test_so_does_a_key(box, use):
    # GIVEN
    key = Unsendable("cannot pickle it")
    committed.install([(box, key, 1)])

    # WHEN
    answer = run(USES[use], box, key)

    # THEN
    reason = "it reads a value that does not pickle (cannot pickle it)"
    assert Refusal(reason, warn=False) == answer


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_forgotten_container_can_no_longer_be_used(box, use):
    # GIVEN
    box._tx_forgotten = True

    # WHEN
    outcome = run(use, box, "a")

    # THEN
    assert isinstance(outcome.error, TxForgottenError)
    assert "keep it in a module global" in str(outcome.error)


# Effects


def test_effects_wait_in_order_with_the_place_that_asked_for_them():
    # GIVEN
    def body():
        on_commit(print, 1, end="")
        on_commit(repr, 2)

    # WHEN
    outcome = run(body)

    # THEN
    lines, first = inspect.getsourcelines(body)
    origins = [f'File "{__file__}", line {first + number}' for number in (1, 2)]
    assert 3 == len(lines)
    expected = (
        Effect(print, (1,), {"end": ""}, origins[0]),
        Effect(repr, (2,), {}, origins[1]),
    )
    assert expected == outcome.effects


def test_outside_a_transaction_an_effect_runs_at_once():
    # GIVEN
    found: list[int] = []

    # WHEN
    on_commit(found.append, 1)

    # THEN
    assert [1] == found


# Running


def test_an_outcome_tells_all(box):
    # GIVEN
    def body(key, value):
        attempt = now()
        attempt.has(box, key)
        attempt.write(box, key, value + attempt.read(box, key))
        return "done"

    # WHEN
    outcome = run_attempt(Call(body, ("a",), {"value": 10}), speculative=True)

    # THEN
    assert isinstance(outcome, Outcome)
    assert outcome.body_seconds > 0
    expected = Outcome(
        committed.version,
        "done",
        values=frozenset(cells(box, "a")),
        presences=frozenset(cells(box, "a")),
        writes=((box, "a", 11),),
        body_seconds=outcome.body_seconds,
    )
    assert expected == outcome
    assert 1 == committed.read_at(box, "a", committed.version)


def fail(box):
    now().read(box, "b")
    now().write(box, "a", 5)
    on_commit(print)
    raise KeyError("wanted")


def test_an_error_undoes_writes_and_effects_and_keeps_the_reads(box):
    outcome = run(fail, box, keep_reads=False)

    assert isinstance(outcome.error, KeyError)
    assert ((), ()) == (outcome.writes, outcome.effects)
    assert cells(box, "b") == outcome.values


def test_an_error_that_commits_keeps_them(box):
    outcome = run(fail, box, commits_on=(LookupError,))

    assert isinstance(outcome.error, KeyError)
    assert ((box, "a", 5),) == outcome.writes
    assert 1 == len(outcome.effects)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_even_what_is_no_exception_is_an_answer(error):
    def body():
        raise error

    assert isinstance(run(body).error, error)


@pytest.mark.parametrize(
    ("ordered", "writes", "kept"),
    [(False, False, 0), (True, False, 1), (False, True, 1)],
)
def test_reads_that_cannot_matter_are_dropped(box, ordered, writes, kept):
    # GIVEN
    def body():
        now().read(box, "a")
        now().has(box, "b")
        if writes:
            now().write(box, "c", 1)

    # WHEN
    outcome = run(body, ordered=ordered, keep_reads=False)

    # THEN
    assert (kept, kept) == (len(outcome.values), len(outcome.presences))


def test_an_attempt_is_known_to_its_thread_while_it_runs():
    # GIVEN
    def body():
        outer = current()
        inner = run(current).value
        return outer is current(), inner is not outer

    # WHEN
    outcome = run(body)

    # THEN
    assert (True, True) == outcome.value
    assert current() is None


# Giving up


def test_what_cannot_be_undone_sends_the_call_home():
    assert Refusal("it asks to be inevitable", warn=False) == run(inevitable)


def test_on_the_loop_thread_an_attempt_is_inevitable_already():
    outcome = run(inevitable, speculative=False)

    assert isinstance(outcome, Outcome)
    assert outcome.error is None


def test_outside_a_transaction_inevitable_does_nothing():
    inevitable()


def test_an_attempt_that_catches_everything_is_given_up_all_the_same():
    # GIVEN
    def body():
        try:
            inevitable()
        except BecomeInevitable:
            return "caught"

    # THEN
    assert isinstance(run(body), Refusal)


@pytest.mark.parametrize(
    "use",
    [
        lambda: asyncio.get_running_loop().call_soon(print),
        asyncio.Future,
        lambda: asyncio.get_event_loop().time(),
        lambda: asyncio.get_running_loop().create_future(),
    ],
)
def test_the_running_loop_is_out_of_reach(use):
    expected = Refusal("it uses the running event loop", warn=False)

    assert expected == run(use)


def test_on_the_loop_thread_the_running_loop_is_there():
    async def main():
        loop = asyncio.get_running_loop()
        speculative = run(loop.time).value is not None
        found = run(asyncio.get_running_loop, speculative=False).value
        return speculative, found is loop, asyncio.get_running_loop() is loop

    assert (True, True, True) == asyncio.run(main())


def test_a_hidden_loop_that_got_out_says_whose_fault_it_is():
    with pytest.raises(TxInternalError, match="the loop's call_soon is hidden"):
        _forbidden_loop.call_soon(print)

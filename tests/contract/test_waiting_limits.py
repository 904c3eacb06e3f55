"""Where a transaction cannot wait, or only on the loop thread."""

from __future__ import annotations

import os

import pytest

from tests.contract.waiting import await_for, await_open, until_waiting
from tests.engine import on
from tests.logs import expect_log
from txloop import TDict, TVar, TxError, inevitable, retry


def test_outside_a_transaction():
    with pytest.raises(TxError, match=r"^retry\(\) waits until .*; call it in one: "):
        retry()


def test_having_read_nothing(engine):
    with pytest.raises(TxError, match=r"would wait for ever: .* has read nothing"):
        engine.run(retry)


def test_having_read_only_what_it_wrote_itself(engine):
    variable = TVar(0)

    def body():
        variable.value = 1
        if variable.value == 1:
            retry()

    with pytest.raises(TxError, match=r"would wait for ever: .* has read nothing"):
        engine.run(body)


def test_after_it_became_inevitable(engine):
    # GIVEN
    open_ = TVar(False)

    def body():
        inevitable()
        await_for(open_, 0)

    # THEN
    with pytest.raises(TxError, match=r"again, but it has become inevitable; call re"):
        engine.run(body)


def test_before_it_becomes_inevitable(engine):
    # GIVEN
    open_ = TVar(False)

    def body():
        await_open(open_)
        inevitable()
        return os.getpid()

    result = engine.submit(body)
    until_waiting(engine, 1)

    # WHEN
    open_.value = True
    engine.wait(result)

    # THEN
    assert os.getpid() == result.value


@on("processes")
def test_a_key_that_does_not_pickle_is_waited_for_on_the_loop_thread(engine):
    # GIVEN
    shared = TDict[object, int]()

    class Key:
        def __reduce__(self):
            raise TypeError("no pickle")

    def body():
        if Key() not in shared:
            retry()

    # WHEN
    with expect_log("txloop", "a key that it waits for does not pickle"):
        engine.submit(body)
        until_waiting(engine, 1)

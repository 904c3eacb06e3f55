"""Objects of Tornado in containers: held for the loop thread, never copied."""

from __future__ import annotations

import pytest
from tornado.ioloop import PeriodicCallback
from tornado.locks import Condition, Event
from tornado.queues import Queue
from tornado.web import Application

from txloop import TDict, TSet, TVar
from txloop.executors.codec.frames import dumps

TIED = {
    "application": Application,
    "condition": Condition,
    "event": Event,
    "queue": Queue,
    "callback": lambda: PeriodicCallback(print, 1000),
}


@pytest.mark.parametrize("make", TIED.values(), ids=TIED)
def test_it_is_itself_here_and_does_not_travel(make):
    # GIVEN
    tied = make()

    # WHEN
    found = TVar(tied).value, next(iter(TSet([tied]))), TDict({tied: 1})[tied]

    # THEN
    assert found == (tied, tied, 1)
    with pytest.raises(TypeError, match="means something on the loop thread only"):
        dumps([tied])

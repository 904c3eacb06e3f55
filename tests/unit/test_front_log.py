"""When a front has its log records logged: before its clients are answered."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

from txloop.web.fronts.front import Front

if TYPE_CHECKING:
    from collections.abc import Callable


class Owner:
    """Counts what it is sent; a front's carrier, and its loop."""

    def __init__(self):
        self.kept = 0
        self.sent: list[int] = []
        self.later: list[Any] = []
        self.on_flush: Callable[[], object] = lambda: None
        self.on_receive: Callable[[], object] = lambda: None

    def log(self, record):
        self.kept += 1
        return self.kept == 1

    def flush(self):
        self.sent.append(self.kept)
        self.kept = 0
        self.on_flush()

    def receive(self):
        self.on_receive()
        return []

    trouble = None

    def call_soon(self, callback, context=None):
        self.later.append(callback)


def front_of(owner: Owner) -> Front:
    return Front(cast("Any", owner), cast("Any", owner), {}, None)


RECORD = logging.makeLogRecord({"msg": "what has come is no HTTP"})


def test_a_record_is_sent_at_once():
    owner = Owner()
    front = front_of(owner)

    front.log(RECORD)

    assert [1] == owner.sent
    assert not owner.later


def test_records_of_many_answers_are_sent_together():
    # GIVEN two answers that come in one frame
    owner = Owner()
    front = front_of(owner)

    def answer() -> None:
        front.log(RECORD)
        front.log(RECORD)

    owner.on_receive = answer

    # WHEN
    front.receive()
    assert not owner.sent

    # THEN
    (flush,) = owner.later
    flush()
    assert [2] == owner.sent


def test_a_record_made_by_sending_waits():
    """As of a record whose parts are logged when they are pickled: without an end."""
    owner = Owner()
    front = front_of(owner)

    def pickle() -> None:
        if len(owner.sent) == 1:
            front.log(RECORD)

    owner.on_flush = pickle

    front.log(RECORD)

    assert [1] == owner.sent
    (flush,) = owner.later
    flush()
    assert [1, 1] == owner.sent

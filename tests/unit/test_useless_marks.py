"""Marks that change nothing are spoken of, once, where they are made."""

from __future__ import annotations

import pytest
from tornado.web import RequestHandler
from tornado.websocket import WebSocketHandler

import txloop
from tests.logs import expect_log


class Plain:
    """Not a handler."""


class Socket(WebSocketHandler):
    """One whose messages are transactions already where it wants them to be."""

    async def on_message(self, message):
        """Wait for something."""


async def wait():
    """Not something that can run again."""


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (Plain, r"^Plain is marked @transactional, .*: it is no RequestHandler$"),
        (Socket, r"^Socket is marked .*: its on_message is a coroutine, which runs"),
        (wait, r"^wait is marked .* it is a coroutine, which runs as in stock Tornado"),
    ],
)
def test_what_a_mark_does_not_change(target, reason):
    with expect_log("txloop", reason):
        assert target is txloop.transactional(target)


class Mixin:
    """For handlers to inherit from."""

    def get(self):
        """Answer."""


class Echo(WebSocketHandler):
    """One whose messages can be transactions."""

    def on_message(self, message):
        """Answer."""


class Handler(RequestHandler):
    """One without verbs yet: its subclasses have them."""


class Waiting(RequestHandler):
    """One whose verb may wait."""

    async def get(self):
        """Answer."""


@pytest.mark.parametrize(
    "target", [Mixin, Handler, Waiting, Waiting.get, Echo, lambda: None]
)
def test_no_word_of_what_is_of_use(target):
    assert target is txloop.transactional(target)


@pytest.mark.parametrize("target", [3, "get", ("get",)])
def test_what_cannot_be_marked(target):
    with pytest.raises(TypeError, match=r"^transactional\(\) marks a RequestHandler"):
        txloop.transactional(target)

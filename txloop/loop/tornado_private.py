"""The private names of Tornado on which loops rely, and what is relied upon.

The web room has a list of its own, `txloop.web.tornado_private`. A test compares both
with the installed Tornado, and with what the code of the two rooms uses.
"""

from __future__ import annotations

from typing import NamedTuple

from tornado import autoreload
from tornado.http1connection import HTTP1Connection, HTTP1ServerConnection
from tornado.ioloop import IOLoop, PeriodicCallback
from tornado.iostream import BaseIOStream
from tornado.platform.asyncio import BaseAsyncIOLoop
from tornado.web import RequestHandler

__all__ = ["PRIVATE", "Private", "of_objects"]


class Private(NamedTuple):
    """One name that Tornado does not promise to keep.

    Attributes:
        owner: The module or class that has it.
        name: The name.
        reliance: What is relied upon.
        takes: The parameters of a function; None for anything else.
        of_objects: Whether it is the objects of the class that have it, not the class.
    """

    owner: object
    name: str
    reliance: str
    takes: str | None = None
    of_objects: bool = False


def of_objects(owner: type, name: str, reliance: str) -> Private:
    """Return the row of something that the objects of a class have."""
    return Private(owner, name, reliance, of_objects=True)


PRIVATE: tuple[Private, ...] = (
    Private(IOLoop, "_save_configuration", "the class and options of `configure`", ""),
    Private(IOLoop, "_ioloop_for_asyncio", "the IOLoops by their asyncio loops"),
    # What `TransactionLoop` extends.
    Private(
        BaseAsyncIOLoop,
        "_run_callback",
        "all callbacks, timers and futures go through it, each as a functools.partial",
        "self, callback",
    ),
    Private(
        BaseAsyncIOLoop,
        "_handle_events",
        "all events of file descriptors go through it",
        "self, fd, events",
    ),
    of_objects(BaseAsyncIOLoop, "handlers", "objects and functions by descriptor"),
    of_objects(BaseAsyncIOLoop, "readers", "the descriptors watched for reading"),
    of_objects(BaseAsyncIOLoop, "selector_loop", "where these are registered"),
    of_objects(BaseAsyncIOLoop, "writers", "the descriptors watched for writing"),
    # What a marked `PeriodicCallback` does in a transaction.
    Private(PeriodicCallback, "_run", "it is what the loop calls", "self"),
    Private(PeriodicCallback, "_schedule_next", "it adds the next timer", "self"),
    of_objects(PeriodicCallback, "_running", "False as soon as it was stopped"),
    # How the connections of a loop that ends are found, and end.
    Private(
        HTTP1ServerConnection,
        "_server_request_loop",
        "a task of its own; the request's connection is its variable `conn`",
        "self, delegate",
    ),
    of_objects(HTTP1Connection, "_finish_future", "done when the answer is written"),
    of_objects(HTTP1Connection, "_request_start_line", "None before a request begins"),
    of_objects(HTTP1Connection, "_response_start_line", "None before the answer"),
    of_objects(HTTP1Connection, "_disconnect_on_finish", "if True, the last answer"),
    of_objects(BaseIOStream, "_read_buffer_size", "what has been read, and not used"),
    Private(
        RequestHandler,
        "_execute",
        "a task runs it, named so, until the request is answered",
        "self, transforms, *args, **kwargs",
    ),
    Private(autoreload, "_reload_hooks", "what `add_reload_hook` has added"),
)

"""Reads of what unmarked code changes of the process, or of what it logs to."""

from __future__ import annotations

import abc
import builtins
import logging
import logging.handlers
import mimetypes
import signal
import socket
from mimetypes import guess_type as guess

import tornado.options
from tornado.web import RequestHandler

from tests.shapes.shape import burn, reads

leveled = logging.getLogger("shapes.leveled")
leveled.setLevel(10)


@reads(lambda: leveled.setLevel(leveled.level + 1))
class ReadsLoggerLevel(RequestHandler):
    def get(self):
        burn()
        self.write(str(leveled.level))


handled = logging.getLogger("shapes.handled")


@reads(lambda: handled.addHandler(logging.NullHandler()))
class ReadsLoggerHandlers(RequestHandler):
    def get(self):
        burn()
        self.write(str(len(handled.handlers)))


tornado.options.define("shape_limit", default=0)


def raise_limit():
    tornado.options.options.shape_limit += 1


@reads(raise_limit, "handler")
class ReadsOption(RequestHandler):
    def get(self):
        burn()
        self.write(str(tornado.options.options.shape_limit))


builtins.shape_prices = {"n": 0}


def raise_price():
    builtins.shape_prices["n"] += 1


@reads(raise_price, "handler")
class ReadsBuiltin(RequestHandler):
    def get(self):
        burn()
        self.write(str(shape_prices["n"]))  # noqa: F821 # it is there


class Keeping(logging.Handler):
    """Keeps what was logged."""

    def __init__(self):
        super().__init__()
        self.kept = []

    def emit(self, record):
        self.kept.append(record.getMessage())


keeping = Keeping()
buffering = logging.handlers.MemoryHandler(1000)
kept_log = logging.getLogger("shapes.kept")
kept_log.propagate = False
kept_log.addHandler(keeping)
buffered_log = logging.getLogger("shapes.buffered")
buffered_log.propagate = False
buffered_log.addHandler(buffering)


@reads(lambda: kept_log.warning("hello"))
class ReadsOwnHandler(RequestHandler):
    def get(self):
        burn()
        self.write(str(len(keeping.kept)))


@reads(lambda: buffered_log.warning("hello"), "periodic")
class ReadsMemoryHandler(RequestHandler):
    def get(self):
        burn()
        self.write(str(len(buffering.buffer)))


def change_signal():
    ignored = signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN
    signal.signal(signal.SIGUSR1, signal.SIG_DFL if ignored else signal.SIG_IGN)


@reads(change_signal)
class ReadsSignalHandler(RequestHandler):
    def get(self):
        burn()
        self.write(str(signal.getsignal(signal.SIGUSR1)))


def change_types():
    before = mimetypes.guess_type("a.shapes")[0] or "shapes/a"
    mimetypes.add_type(before + "a", ".shapes")


@reads(change_types)
class ReadsTypeOfFile(RequestHandler):
    def get(self):
        burn()
        self.write(str(guess("a.shapes")[0]))


def change_timeout():
    socket.setdefaulttimeout((socket.getdefaulttimeout() or 100) + 1)


@reads(change_timeout)
class ReadsSocketTimeout(RequestHandler):
    def get(self):
        burn()
        self.write(str(socket.getdefaulttimeout()))


class Animal(abc.ABC):
    """Some are registered with it."""


strangers = [type(f"Stranger{n}", (), {}) for n in range(20)]
registered: list[type] = []


def change_registered():
    registered.append(Animal.register(strangers.pop()))


@reads(change_registered)
class ReadsRegistered(RequestHandler):
    kinds = tuple(strangers)

    def get(self):
        burn()
        self.write(str(sum(issubclass(one, Animal) for one in self.kinds)))


class Plugin:
    """Knows its subclasses."""


plugins = []


@reads(lambda: plugins.append(type("More", (Plugin,), {})))
class ReadsSubclasses(RequestHandler):
    def get(self):
        burn()
        self.write(str(len(Plugin.__subclasses__())))

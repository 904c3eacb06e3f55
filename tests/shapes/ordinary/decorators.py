"""Decorators that keep something: counts, times, results, listeners."""

from __future__ import annotations

import functools
import time

from tornado.web import RequestHandler

from tests.shapes.shape import burn, writes


def counted(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return function(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


@counted
def area(side):
    return side * side


@writes()
class CallCounter(RequestHandler):
    def get(self):
        burn()
        self.write(f"{area(3)} {area.calls}")


@writes()
class CountedVerb(RequestHandler):
    @counted
    def get(self):
        burn()
        self.write(str(type(self).get.calls))


def limited(most):
    def decorate(function):
        calls = []

        @functools.wraps(function)
        def wrapper(self):
            if len(calls) >= most:
                self.write("too many")
                return
            calls.append(time.time())
            function(self)

        return wrapper

    return decorate


@writes()
class RateLimit(RequestHandler):
    @limited(7)
    def get(self):
        burn()
        self.write("ok")


class Memo:
    def __init__(self, function):
        self.function = function
        self.known = {}

    def __call__(self, key):
        self.known.setdefault(key, []).append(self.function(key))
        return self.known[key]


@Memo
def square(n):
    return n * n


@writes()
class DecoratorClass(RequestHandler):
    def get(self):
        burn()
        self.write(str(len(square(4))))


class Emitter:
    def __init__(self):
        self.listeners = {}

    def on(self, event):
        def register(function):
            self.listeners.setdefault(event, []).append(function)
            return function

        return register

    def emit(self, event, *args):
        return [function(*args) for function in self.listeners.get(event, ())]


emitter = Emitter()
events = []


@emitter.on("visit")
def note_visit(name):
    events.append(name)
    return len(events)


@writes()
class EventEmitter(RequestHandler):
    def get(self):
        burn()
        self.write(str(emitter.emit("visit", "ann")[0]))


@functools.cache
def bucket(name):
    return [name]


@writes()
class CachedList(RequestHandler):
    def get(self):
        burn()
        bucket("x").append(1)
        self.write(str(len(bucket("x"))))

"""Coroutine verbs that never suspend, and such that do."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
import threading

from tornado import gen
from tornado.ioloop import IOLoop
from tornado.web import Application, HTTPError, RequestHandler, authenticated

from txloop import (
    TDict,
    TList,
    TVar,
    atomically,
    on_commit,
    or_else,
    retry,
    transactional,
)
from txloop.stm.attempt import current

log: TList[str] = TList()
seen: TVar[int] = TVar(0)
effects: list[str] = []
done: asyncio.Future[str] | None = None
variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="-")
places: TDict[str, TList[str]] = TDict()


def note(text: str) -> None:
    effects.append(text)


class Base(RequestHandler):
    """Tells in its answer all that a client could, and elsewhere where it ran."""

    def begin(self) -> None:
        """Do what has to happen once."""
        seen.value += 1
        log.append(self.request.path)
        on_commit(note, self.request.path)
        self.write(f"{seen.value} ")

    def end(self, *parts: object) -> None:
        """Answer."""
        place = "attempt" if current() is not None else "stock"
        places.setdefault(self.request.path, TList()).append(place)
        self.set_header("X-Parts", repr(parts))
        self.write("done")


async def inner(value: int) -> int:
    return value + 1


@gen.coroutine
def generator(value):
    return value + 1


class Never(Base):
    async def get(self):
        self.begin()
        self.end()


class Awaits(Base):
    """Awaits what is done."""

    async def prepare(self):
        self.prepared = await inner(0)

    async def get(self):
        self.begin()
        first = await inner(await inner(1))
        async with Manager() as second:
            numbers = [number async for number in count(3)]
        self.end(self.prepared, first, second, numbers)

    async def post(self):
        self.begin()
        self.flush()
        await self.flush()
        self.end()


class Manager:
    async def __aenter__(self):
        return await inner(1)

    async def __aexit__(self, *_):
        await inner(2)


async def count(number):
    for one in range(number):
        yield one


def greeting(function):
    @functools.wraps(function)
    @gen.coroutine
    def wrapper(self):
        self.begin()
        greeted = yield inner(function(self))
        self.end(greeted)

    return wrapper


class Decorated(Base):
    @greeting
    def get(self):
        return 1


class Generated(Base):
    @gen.coroutine
    def prepare(self):
        self.prepared = yield inner(5)

    @gen.coroutine
    def get(self):
        self.begin()
        several = yield [inner(1), inner(2)]
        named = yield {"a": inner(3)}
        try:
            yield fails()
        except ValueError as error:
            self.end(self.prepared, several, named, str(error))
            raise gen.Return(None) from None

    @gen.coroutine
    def post(self):
        self.begin()
        self.end()


async def fails():
    raise ValueError("as it should")


class Apart(Base):
    """Sets a variable in generators and what they yield, which have their contexts."""

    @gen.coroutine
    def prepare(self):
        variable.set("prepare")

    @gen.coroutine
    def get(self):
        self.begin()
        before = variable.get()
        variable.set("get")
        found = yield [self.change("one"), self.change("two")]
        self.end(before, found, variable.get())

    async def change(self, value):
        before = variable.get()
        variable.set(value)
        return before


class Prepared(Base):
    async def prepare(self):
        self.prepared = await inner(5)

    def get(self):
        self.begin()
        self.end(self.prepared)


class Guarded(Base):
    def get_current_user(self):
        return self.get_argument("user", None)

    def get_login_url(self):
        return "/login"

    @authenticated
    async def get(self):
        self.begin()
        self.end()


class Fails(Base):
    async def get(self):
        self.begin()
        await inner(1)
        raise HTTPError(409)


NEVER = {
    "/never": Never,
    "/awaits": Awaits,
    "/generated": Generated,
    "/apart": Apart,
    "/decorated": Decorated,
    "/prepared": Prepared,
    "/guarded": Guarded,
    "/fails": Fails,
}


class Sleeps(Base):
    async def get(self):
        self.begin()
        await asyncio.sleep(0)
        self.end()


class Flushes(Base):
    async def get(self):
        self.begin()
        await self.flush()
        await asyncio.sleep(0)
        self.end()


class Threads(Base):
    async def get(self):
        self.begin()
        ident = await IOLoop.current().run_in_executor(None, threading.get_ident)
        self.end(ident != threading.get_ident(), os.getpid() == owner)


class Task(Base):
    async def get(self):
        self.begin()
        before = asyncio.current_task()
        await inner(1)
        found = before is not None and before.get_name() != ""
        self.end(found, before is asyncio.current_task())


class Loop(Base):
    async def get(self):
        self.begin()
        asyncio.get_running_loop()
        loop = asyncio.get_running_loop()
        loop.call_soon(len, "")
        self.end(loop.is_running())


class Times(Base):
    async def get(self):
        self.begin()
        await asyncio.wait_for(inner(1), 5)
        self.end()


class Gathers(Base):
    async def get(self):
        self.begin()
        self.end(await asyncio.gather(inner(1), inner(2)))


class Variable(Base):
    async def get(self):
        self.begin()
        token = variable.set("here")
        await asyncio.sleep(0)
        found = variable.get()
        variable.reset(token)
        self.end(found)


class Future(Base):
    async def get(self):
        self.begin()
        self.end(await made())


async def made():
    future = asyncio.get_running_loop().create_future()
    future.set_result("made")
    return await future


class Moment(Base):
    @gen.coroutine
    def get(self):
        self.begin()
        yield gen.moment
        yield None
        self.end((yield generator(1)))


class Waits(Base):
    """Yields a coroutine that waits, and has made another one before."""

    @gen.coroutine
    def get(self):
        self.begin()
        self.end((yield self.wait()))

    async def wait(self):
        later = inner(1)
        await asyncio.sleep(0)
        return await later


class Transaction(Base):
    async def get(self):
        self.begin()
        self.end(await atomically(add, 5))


def add(number):
    seen.value += number
    return seen.value


class Retries(Base):
    async def get(self):
        self.begin()
        retry()


class Either(Base):
    async def get(self):
        self.begin()
        or_else(lambda: None, lambda: None)


class Stubborn(Base):
    """Awaits at its end, too."""

    async def get(self):
        self.begin()
        try:
            await asyncio.sleep(0)
        finally:
            await asyncio.sleep(0)
            log.append("finally")
        self.end()


class WaitsAmid(Base):
    """Waits while it is amid an async generator."""

    async def get(self):
        self.begin()
        async for _ in count(2):
            await asyncio.sleep(0)
        self.end()


class Breaks(Base):
    """Leaves an async generator, which the loop has to close."""

    async def get(self):
        self.begin()
        async for _ in logged():
            break
        self.end()


async def logged():
    try:
        yield 1
    finally:
        log.append("finally")


class FailsLater(Base):
    async def get(self):
        self.begin()
        await asyncio.sleep(0)
        raise HTTPError(409)


SOMETIMES = {
    "/sleeps": Sleeps,
    "/flushes": Flushes,
    "/threads": Threads,
    "/task": Task,
    "/loop": Loop,
    "/times": Times,
    "/gathers": Gathers,
    "/variable": Variable,
    "/future": Future,
    "/moment": Moment,
    "/waits": Waits,
    "/transaction": Transaction,
    "/stubborn": Stubborn,
    "/amid": WaitsAmid,
    "/breaks": Breaks,
    "/later": FailsLater,
}
ERRORS = {"/retries": Retries, "/either": Either}

owner = os.getpid()


def make_application() -> Application:
    for kind in (*NEVER.values(), *SOMETIMES.values(), *ERRORS.values()):
        transactional(kind)
    return Application([*NEVER.items(), *SOMETIMES.items(), *ERRORS.items()])


def clear():
    seen.value = 0
    log.clear()
    effects.clear()
    places.clear()

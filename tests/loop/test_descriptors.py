"""Marked handlers of file descriptors: transactions on the loop thread."""

from __future__ import annotations

import asyncio
import os
import socket
import threading

import pytest
from tornado.ioloop import IOLoop

from tests.flags import Flag, until
from tests.logs import expect_log
from txloop import TVar, transactional
from txloop.stm.attempt import current

started, go = Flag(), Flag()

received: TVar[tuple[bytes, ...]] = TVar(())
places: list[tuple[int, int, bool]] = []


@pytest.fixture(autouse=True)
def _clean():
    received.set(())
    places.clear()
    started.clear()
    go.clear()


@pytest.fixture(params=["serial", "processes"])
def kind(request):
    """Return where transactions run; a rehearsal would read what is there."""
    return request.param


@pytest.fixture
def ends():
    """Return two connected sockets, of which the first is watched."""
    watched, other = socket.socketpair()
    watched.setblocking(False)
    yield watched, other
    watched.close()
    other.close()


# `places` and `loop` belong to the loop thread, where handlers of files run.
@transactional(trust=True)
def receive(watched, events):
    assert events & IOLoop.READ
    attempt = current()
    places.append((os.getpid(), threading.get_ident(), attempt is not None))
    received.set((*received.get(), watched.recv(100)))


@transactional(trust=True)
def receive_and_fail(watched, events):
    received.set((*received.get(), watched.recv(100)))
    raise ValueError("a handler fails")


@transactional(trust=True)
def receive_once(watched, events):
    receive(watched, events)
    IOLoop.current().remove_handler(watched)


@transactional(trust=True)
def switch_to_writing(watched, events):
    if events & IOLoop.READ:
        receive(watched, events)
        IOLoop.current().update_handler(watched, IOLoop.WRITE)
    else:
        watched.send(b"answer")
        IOLoop.current().remove_handler(watched)


@transactional(trust=True)
def hold_up():
    started.set()
    go.wait()


async def until_received(count):
    await until(lambda: len(received.get()) == count)


async def until_errors(loop, count):
    await until(lambda: stats(loop).errors == count)


async def some_iterations():
    for _ in range(10):
        await asyncio.sleep(0)


def stats(loop):
    return loop.dispatcher.stats()


def test_it_is_a_transaction_on_the_loop_thread(loop, ends):
    watched, other = ends
    loop.add_handler(watched, receive, IOLoop.READ)
    other.send(b"hello")
    loop.run_sync(lambda: until(received.get))

    assert (b"hello",) == received.get()
    assert [(os.getpid(), threading.get_ident(), True)] == places
    assert 1 == stats(loop).commits


def test_it_is_still_watched_afterwards(loop, ends):
    watched, other = ends

    async def main():
        loop.add_handler(watched, receive, IOLoop.READ)
        for number in range(3):
            other.send(b"x")
            await until_received(number + 1)

    loop.run_sync(main)

    assert (b"x", b"x", b"x") == received.get()
    assert 3 == stats(loop).commits


def test_a_number_does_for_a_socket(loop, ends):
    watched, other = ends

    @transactional(trust=True)
    def read(number, events):
        received.set((os.read(number, 100),))

    loop.add_handler(watched.fileno(), read, IOLoop.READ)
    other.send(b"by number")
    loop.run_sync(lambda: until(received.get))

    assert (b"by number",) == received.get()


@pytest.mark.parametrize("kind", ["processes"])
def test_it_is_not_asked_again_before_it_ran(loop, ends):
    """It has to wait for the callback before it, and its socket stays readable."""
    watched, other = ends

    async def main():
        loop.add_callback(hold_up)
        await started.reached()
        loop.add_handler(watched, receive, IOLoop.READ)
        other.send(b"once")
        await until(lambda: stats(loop).marked == 2)
        await some_iterations()
        marked = stats(loop).marked
        go.set()
        await until(received.get)
        other.send(b"again")
        await until(lambda: len(received.get()) == 2)
        return marked

    assert 2 == loop.run_sync(main)
    assert (b"once", b"again") == received.get()


def test_a_handler_that_removes_itself_stays_removed(loop, ends):
    watched, other = ends

    async def main():
        loop.add_handler(watched, receive_once, IOLoop.READ)
        other.send(b"first")
        await until(received.get)
        other.send(b"second")
        await some_iterations()

    loop.run_sync(main)

    assert (b"first",) == received.get()
    assert watched.fileno() not in loop.handlers


@pytest.mark.parametrize("kind", ["processes"])
def test_a_handler_that_is_removed_before_it_ran_stays_removed(loop, ends):
    watched, other = ends

    async def main():
        loop.add_callback(hold_up)
        await started.reached()
        loop.add_handler(watched, receive, IOLoop.READ)
        other.send(b"first")
        await until(lambda: stats(loop).marked == 2)
        loop.remove_handler(watched)
        go.set()
        await until(received.get)
        other.send(b"second")
        await some_iterations()

    loop.run_sync(main)

    assert (b"first",) == received.get()
    assert not loop.readers


def test_a_handler_may_change_what_it_waits_for(loop, ends):
    watched, other = ends

    async def main():
        loop.add_handler(watched, switch_to_writing, IOLoop.READ)
        other.send(b"question")
        await until(lambda: watched.fileno() not in loop.handlers)

    loop.run_sync(main)

    assert (b"question",) == received.get()
    assert b"answer" == other.recv(100)


def test_an_error_is_logged_and_undone_and_the_handler_stays(loop, ends):
    watched, other = ends

    async def main():
        loop.add_handler(watched, receive_and_fail, IOLoop.READ)
        for count in (1, 2):
            other.send(b"x")
            await until_errors(loop, count)

    number = watched.fileno()
    with expect_log(
        "tornado.application", f"Exception in handler for fd {number}", 2
    ) as records:
        loop.run_sync(main)

    assert () == received.get()
    assert records[0].exc_info is not None
    assert "a handler fails" == str(records[0].exc_info[1])


def test_an_unmarked_handler_runs_as_in_stock_tornado(loop, ends):
    watched, other = ends

    def receive_plainly(watched, events):
        places.append((events, 0, current() is not None))
        watched.recv(100)

    loop.add_handler(watched, receive_plainly, IOLoop.READ)
    other.send(b"x")
    loop.run_sync(lambda: until(lambda: places))

    assert [(IOLoop.READ, 0, False)] == places
    assert 0 == stats(loop).marked

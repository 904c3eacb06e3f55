"""The lock of commits: the owner's while it runs, anybody's while it sleeps."""

from __future__ import annotations

import os
import signal
import time
from contextlib import contextmanager

import pytest

from txloop.executors.fronts.commit_lock import CommitLock
from txloop.executors.fronts.page import Page

SECONDS = 10  # what never comes fails the test


@pytest.fixture
def page():
    return Page()


@pytest.fixture
def lock(page):
    lock = CommitLock(page)
    yield lock
    lock.close()


@contextmanager
def front(body):
    """Run `body` in a forked process; give its pid, and what tells that it is there."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            body(lambda word: os.write(writing, word))
        finally:
            os._exit(1)
    os.close(writing)
    try:
        yield pid, lambda: os.read(reading, 1)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(reading)


def takes_and_stays(lock):
    """Return what takes the lock in a front, and keeps it."""

    def body(tell):
        lock.join()
        tell(b"y" if lock.take() else b"n")
        time.sleep(SECONDS)

    return body


def test_a_front_may_not_commit_while_the_owner_runs(lock):
    with front(takes_and_stays(lock)) as (_, told):
        assert b"n" == told()


def test_a_front_may_commit_while_the_owner_sleeps(lock):
    lock.give()

    with front(takes_and_stays(lock)) as (_, told):
        assert b"y" == told()


def test_the_word_in_the_page_is_not_what_keeps_fronts_out(lock, page):
    page.open = 1

    with front(takes_and_stays(lock)) as (_, told):
        assert b"n" == told()


def test_one_front_commits_at_a_time(lock):
    lock.give()

    with (
        front(takes_and_stays(lock)) as (_, first),
        front(lambda tell: first_then(first, takes_and_stays(lock), tell)) as (
            _,
            other,
        ),
    ):
        assert b"n" == other()


def first_then(told, body, tell):
    """Run a body when another one has the lock."""
    assert b"y" == told()
    body(tell)


def test_a_front_gives_it_back(lock):
    def body(tell):
        lock.join()
        assert lock.take()
        lock.release()
        tell(b"y")
        time.sleep(SECONDS)

    lock.give()
    with front(body) as (_, told):
        assert b"y" == told()
        lock.take_back(pytest.fail)


def test_the_owner_waits_for_the_front_that_commits(lock, page):
    def body(tell):
        lock.join()
        assert lock.take()
        tell(b"y")
        while page.open:  # until the owner wants it
            time.sleep(0.001)
        page.settled = 7
        lock.release()
        time.sleep(SECONDS)

    lock.give()
    with front(body) as (_, told):
        assert b"y" == told()
        lock.take_back(lambda: None)

        assert 7 == page.settled


def test_what_a_killed_front_had_is_free(lock):
    lock.give()
    with front(takes_and_stays(lock)) as (_, told):
        assert b"y" == told()

    lock.take_back(pytest.fail)


def test_the_owner_tells_of_a_front_that_keeps_it(lock):
    lock.give()
    with front(takes_and_stays(lock)) as (pid, told):
        assert b"y" == told()
        os.kill(pid, signal.SIGSTOP)

        ended = []

        def end():
            os.kill(pid, signal.SIGKILL)
            ended.append(pid)

        lock.take_back(end)

    assert ended


def test_where_the_lock_is_not_to_be_had_the_owner_commits_all(lock, monkeypatch):
    lock.give()
    monkeypatch.setattr(lock, "_path", "/nowhere")
    lock.join()

    assert not lock.take()

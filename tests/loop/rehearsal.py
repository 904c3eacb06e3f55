"""Every handler that can be one a transaction: each body run twice, or in a thread."""

from __future__ import annotations

import gc
import logging
import os
from typing import TYPE_CHECKING, ClassVar

import tornado.test
from tornado.ioloop import IOLoop
from tornado.testing import AsyncTestCase

from tests.executors import RehearsalExecutor
from txloop.engine.marks import Mark
from txloop.executors.fronts.desk import Desk
from txloop.executors.protocol import register_executor
from txloop.executors.threads.executor import ThreadsExecutor
from txloop.stm import origin
from txloop.web.eligible import mark_matching
from txloop.web.targets import applications

if TYPE_CHECKING:
    from collections.abc import Sequence

    from txloop.executors.protocol import Work


class CountingExecutor(RehearsalExecutor):
    """Rehearse, and count over all loops: Tornado's tests make one each."""

    name = "counting"
    rehearsed: ClassVar[int] = 0

    def run(self, batch: Sequence[Work]) -> None:
        """Run a batch, each body twice."""
        CountingExecutor.rehearsed += len(batch)
        super().run(batch)

    def close(self) -> None:
        """Leave no cycle behind: one of the suite's tests looks for them."""
        self._deliver = None


class CountingThreads(ThreadsExecutor):
    """Send everything to threads, and count it over all loops."""

    name = "counting threads"
    rehearsed: ClassVar[int] = 0

    def run(self, batch: Sequence[Work]) -> None:
        """Run a batch in threads."""
        CountingThreads.rehearsed += len(batch)
        super().run(batch)

    def _note_transport(self, seconds: float) -> None:
        pass


class Fronts:
    """Counts what has begun in fronts, over all loops."""

    rehearsed: ClassVar[int] = 0

    @staticmethod
    def close(desk: Desk) -> None:
        """Count, and close the owner's side."""
        Fronts.rehearsed += sum(front.calls for front in desk.fronts)
        _close_desk(desk)


_close_desk = Desk.close


MOST_APPLICATIONS = 2

_set_up = AsyncTestCase.setUp


def set_up_among_few(test: AsyncTestCase) -> None:
    """Begin a test, with the applications of earlier ones collected.

    Each that is left is scanned, and pictured, with the test's own. What is not
    collected then are caches, most of the process: later collections leave that out.
    """
    if len(applications()) > MOST_APPLICATIONS:
        gc.collect()
        gc.freeze()
    _set_up(test)


def rehearse_all_handlers() -> None:
    """Make loops transactional from now on, and handlers as if they were marked.

    They are trusted and keep the writes of a failed body: all as in stock Tornado.
    """
    _mark_all(CountingExecutor)


def send_all_handlers_to_threads() -> None:
    """Do the same, with bodies that run in worker threads."""
    _mark_all(CountingThreads)


def send_all_handlers_to_fronts() -> None:
    """Do the same, with bodies that run in fronts, one for each loop.

    They are not trusted: what they share with a test's own code shows in the watch,
    which says so; Tornado's runner takes any record for a failure.
    """
    _make_tests_the_program()
    AsyncTestCase.setUp = set_up_among_few  # type: ignore[method-assign, assignment] # of all
    Desk.close = Fronts.close  # type: ignore[method-assign, assignment] # to count
    logging.getLogger("txloop").setLevel(logging.ERROR)
    os.environ["TXLOOP_FAULTS"] = "fronts=1"
    mark_matching(lambda _: Mark(on_error="commit", vouched=False))
    IOLoop.configure(
        "txloop.TransactionIOLoop", executor="processes", workers=1, fronts=1
    )


def _make_tests_the_program() -> None:
    """Have Tornado's tests watched, which are Tornado's code: that is never watched."""
    folder = os.path.join(os.path.dirname(tornado.test.__file__), "")
    find_owner, is_own = origin._find_owner, origin._is_own

    def find_owner_of_tests(file: str, claimed: frozenset[str]) -> origin.Owner:
        if file.startswith(folder):
            return origin.Owner.PROGRAM
        return find_owner(file, claimed)

    def is_own_or_test(name: object, file: str) -> bool:
        return file.startswith(folder) or is_own(name, file)

    origin._find_owner, origin._is_own = find_owner_of_tests, is_own_or_test


def _mark_all(kind: type[CountingExecutor | CountingThreads]) -> None:
    register_executor(kind.name, f"{__name__}:{kind.__name__}")
    mark_matching(lambda _: Mark(on_error="commit", trust=True))
    IOLoop.configure("txloop.TransactionIOLoop", executor=kind.name)

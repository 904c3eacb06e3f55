"""Every handler that can be one a transaction: each body run twice, or in a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from tornado.ioloop import IOLoop

from tests.executors import RehearsalExecutor
from txloop.engine.marks import Mark
from txloop.executors.protocol import register_executor
from txloop.executors.threads.executor import ThreadsExecutor
from txloop.web import mark_matching

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


def rehearse_all_handlers() -> None:
    """Make loops transactional from now on, and handlers as if they were marked.

    They are trusted and keep the writes of a failed body: all as in stock Tornado.
    """
    _mark_all(CountingExecutor)


def send_all_handlers_to_threads() -> None:
    """Do the same, with bodies that run in worker threads."""
    _mark_all(CountingThreads)


def _mark_all(kind: type[CountingExecutor | CountingThreads]) -> None:
    register_executor(kind.name, f"{__name__}:{kind.__name__}")
    mark_matching(lambda _: Mark(on_error="commit", trust=True))
    IOLoop.configure("txloop.TransactionIOLoop", executor=kind.name)

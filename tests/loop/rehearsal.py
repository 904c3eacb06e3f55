"""Every handler that can be one a transaction, and each body run twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from tornado.ioloop import IOLoop

from tests.executors import RehearsalExecutor
from txloop.executors.base import register_executor
from txloop.marks import Mark
from txloop.web import mark_matching

if TYPE_CHECKING:
    from collections.abc import Sequence

    from txloop.executors.base import Work


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


def rehearse_all_handlers() -> None:
    """Make loops transactional from now on, and handlers as if they were marked.

    They are trusted and keep the writes of a failed body: all as in stock Tornado.
    """
    name = CountingExecutor.name
    register_executor(name, f"{__name__}:{CountingExecutor.__name__}")
    mark_matching(lambda _: Mark(on_error="commit", trust=True))
    IOLoop.configure("txloop.TransactionIOLoop", executor=name)

"""Run Tornado's own tests on a loop of choice, and write down how each ended.

    python -bb tests/loop/tornado_suite.py --mode loop --results FILE [TEST ...]
                                           [--collection-seconds S]

`stock` is Tornado as it comes, `loop` has every IOLoop made by txloop, `twice` also has
every handler that can be one run as a transaction, each body twice; `threads` has their
bodies run in worker threads. These two leave out modules that have no handler. `fronts`
has a front for each loop, which runs what can run there, and only the modules about
what serves HTTP. Warnings are errors and any log record fails the run: that is how
Tornado runs them, too. In all modes the ports that refuse connections are our own, and
requests that are to be answered within a second have as long as tests have.
"""

from __future__ import annotations

import argparse
import functools
import gc
import json
import socket
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tornado.httpclient import AsyncHTTPClient
from tornado.ioloop import IOLoop
from tornado.test import runtests, util

# tornado.testing.main looks for the whole suite under this name in __main__.
from tornado.test.runtests import all  # noqa: F401
from tornado.testing import get_async_test_timeout

if TYPE_CHECKING:
    import unittest
    from collections.abc import Callable, Mapping
    from typing import TextIO

WITHOUT_HANDLERS = [
    f"tornado.test.{name}_test"
    for name in (
        *("api", "autoreload", "escape", "locale", "log", "options", "property"),
        "template",
    )
]
"""Modules of the suite that have no handler, and make no loop in this process."""

SERVING = [
    f"tornado.test.{name}_test"
    for name in ("httpserver", "routing", "web", "websocket")
]
"""Modules of the suite about what serves HTTP."""


def configure(mode: str) -> None:
    """Choose the loop, before anything asks for one."""
    if mode == "loop":
        IOLoop.configure("txloop.TransactionIOLoop")
    if mode in ("twice", "threads"):
        left = [one for one in runtests.TEST_MODULES if one not in WITHOUT_HANDLERS]
        runtests.TEST_MODULES[:] = left
    if mode == "fronts":
        runtests.TEST_MODULES[:] = SERVING
    if mode == "twice":
        # Not before: importing txloop changes Tornado, if only to look on.
        from tests.loop.rehearsal import rehearse_all_handlers

        rehearse_all_handlers()
    elif mode == "threads":
        from tests.loop.rehearsal import send_all_handlers_to_threads

        send_all_handlers_to_threads()
    elif mode == "fronts":
        from tests.loop.rehearsal import send_all_handlers_to_fronts

        send_all_handlers_to_fronts()


def rehearsed() -> int:
    """Return how many bodies ran twice, in threads, or in fronts."""
    rehearsal = sys.modules.get("tests.loop.rehearsal")
    if rehearsal is None:
        return 0
    kinds = (rehearsal.CountingExecutor, rehearsal.CountingThreads, rehearsal.Fronts)
    return sum(kind.rehearsed for kind in kinds)


def counting(kind: Any, ended: Counter[str]) -> Any:
    """Return a class of results that also counts the tests that have ended, by module.

    `testsRun` would not do: in CPython 3.12.1, those that are skipped are not in it.
    """

    class Result(kind):  # type: ignore[misc] # whichever the runner has
        def stopTest(self, test: unittest.TestCase) -> None:
            super().stopTest(test)
            ended[type(test).__module__] += 1

    return Result


def write_results(
    result: unittest.TestResult, modules: Mapping[str, int], file: Path
) -> None:
    """Write the counts, and the names of the tests that did not pass.

    Args:
        result: How the tests ended.
        modules: How many of them are in each module.
        file: Gets it as JSON.
    """
    problems = [*result.failures, *result.errors]
    failed = {test.id(): text for test, text in problems}
    failed.update(
        {test.id(): "unexpected success" for test in result.unexpectedSuccesses}
    )
    skipped = {test.id(): reason for test, reason in result.skipped}
    counts = {"modules": modules, "rehearsed": rehearsed()}
    report = {**counts, "failed": failed, "skipped": skipped}
    file.write_text(json.dumps(report))


def record_into(file: Path) -> None:
    """Make the runner of Tornado's tests write its results down."""
    make_runner = runtests.test_runner_factory

    def make_recording_runner(stderr: TextIO) -> type[unittest.TextTestRunner]:
        runner: type[unittest.TextTestRunner] = make_runner(stderr)
        run = runner.run

        def run_and_record(
            self: unittest.TextTestRunner, test: unittest.TestSuite
        ) -> unittest.TestResult:
            # One test has 0.2 s for a whole collection: leave out what is there now.
            gc.collect()
            if hasattr(gc, "freeze"):  # not in PyPy
                gc.freeze()
            modules = Counter[str]()
            self.resultclass = counting(self.resultclass, modules)
            result = run(self, test)
            write_results(result, modules, file)
            return result

        # The runner's class is made anew by each call.
        runner.run = run_and_record  # type: ignore[assignment, method-assign]
        return runner

    runtests.test_runner_factory = make_recording_runner


def refusing_port() -> tuple[Callable[[], None], int]:
    """Return a port that refuses connections, and what gives it back.

    The suite's own is that of a client's socket. Linux may give a second client the
    same one, as the two talk to different servers, and one that connects to its own
    port is connected to itself: about once in 14,000 calls, more often on a machine
    that has few ports left. A port that is bound is given to no client.
    """
    holder = socket.socket()
    holder.bind(("127.0.0.1", 0))
    port: int = holder.getsockname()[1]
    return holder.close, port


def give_requests_time() -> None:
    """Let requests that the suite gives a second take as long as a test may.

    That second is to end a test in which no answer comes; none is about it. But where
    a front is forked first, it may be over on a busy machine.
    """
    fetch = AsyncHTTPClient.fetch

    @functools.wraps(fetch)  # one of the tests looks at public signatures
    def fetch_in_time(
        self: AsyncHTTPClient, request: Any, *args: Any, **kwargs: Any
    ) -> Any:
        if kwargs.get("request_timeout") == 1.0:
            kwargs["request_timeout"] = get_async_test_timeout()
        return fetch(self, request, *args, **kwargs)

    AsyncHTTPClient.fetch = fetch_in_time  # type: ignore[method-assign] # in place


def slow_collections_down(seconds: float) -> None:
    """Make each whole collection take that much longer, as a busy machine does."""

    def wait(phase: str, info: dict[str, int]) -> None:
        if phase == "stop" and info["generation"] == 2:
            time.sleep(seconds)

    gc.callbacks.append(wait)


def main() -> None:
    """Parse our own options and leave the others to Tornado."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument(
        "--mode",
        choices=("stock", "loop", "twice", "threads", "fronts"),
        default="stock",
    )
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--collection-seconds", type=float)
    options, others = parser.parse_known_args()
    sys.argv[1:] = others
    util.refusing_port = refusing_port
    give_requests_time()
    configure(options.mode)
    record_into(options.results)
    if options.collection_seconds is not None:
        slow_collections_down(options.collection_seconds)
    runtests.main()


if __name__ == "__main__":
    main()

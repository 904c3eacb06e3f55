"""A server and a client on one loop of choice, and what stock Tornado answers.

`serving(kind, make_application)` starts an HTTP server; `kind` is `stock`, or names
where transactions run. The client speaks plain HTTP/1, so that a test sees each byte.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.platform.asyncio import AsyncIOLoop
from tornado.web import Application

from tests.cluster import DASK
from tests.executors import register_all
from tests.flags import until
from tests.logs import EXPECTED, Collector
from tests.messages import Answer, Request, read_answer
from txloop.executors.faults import Faults
from txloop.executors.pool import Pool
from txloop.executors.processes.executor import ProcessesExecutor
from txloop.executors.processes.supervision import state_of
from txloop.executors.threads.executor import ThreadsExecutor
from txloop.loop.ioloop import TransactionIOLoop
from txloop.loop.options import use_executor
from txloop.stm.threads import gil_enabled
from txloop.web.delegate import TOLD
from txloop.web.fronts.opening import open_fronts, why_none
from txloop.web.targets import register_all as register_targets
from txloop.web.verdicts import judge_all

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from txloop.engine.stats import LabelStats, Stats
    from txloop.executors.worker_protocol import Limits

__all__ = [
    "EXECUTORS",
    "FORKED",
    "FRONTS",
    "KINDS",
    "THREADED",
    "AwayExecutor",
    "Pair",
    "Server",
    "begun_in_fronts",
    "logged",
    "loop_of",
    "pair_of",
    "serving",
]

THREADS = not gil_enabled() or bool(os.environ.get("TXLOOP_TEST_THREADS"))
"""Whether threads take part where that takes long: under the GIL only if asked for."""

EXECUTORS = ("serial", "rehearsal", "processes", *(["threads"] * THREADS))
"""Where transactions run."""

FRONTS = (
    sys.platform == "linux"
    and sys.implementation.name != "pypy"
    and (gil_enabled() or bool(os.environ.get("TXLOOP_TEST_FRONTS")))
)
"""Whether fronts take part where that takes long: as threads only if asked for."""

KINDS = (*EXECUTORS, *(["fronts"] * FRONTS))
"""Where requests run: each is an executor's name, but for fronts before one."""

FORKED = ("processes", *(["dask"] * DASK), *(["fronts"] * gil_enabled()))
"""Where requests run in other processes."""

THREADED = ("threads", *(["fronts"] * (not gil_enabled())))
"""Where requests run in other threads."""

begun_in_fronts: list[int] = []
"""How many attempts have begun in fronts, each time that one was asked."""

T = TypeVar("T")

register_all()


class AwayExecutor(ProcessesExecutor):
    """Worker processes to which everything is sent, however short it is."""

    def _note_transport(self, seconds: float) -> None:
        pass


class AwayThreads(ThreadsExecutor):
    """Threads to which everything is sent."""

    def _note_transport(self, seconds: float) -> None:
        pass


def away_dask(workers: int) -> ProcessesExecutor:
    """Return workers on a Dask cluster to which everything is sent."""
    from txloop.executors.dask.executor import DaskExecutor

    class AwayDask(DaskExecutor):
        def _note_transport(self, seconds: float) -> None:
            pass

    return AwayDask(workers)


class Server:
    """An application on a free port, and a client of it; one thread for both."""

    def __init__(
        self, loop: AsyncIOLoop, kind: str, make_application: Callable[[], Application]
    ) -> None:
        self.loop = loop
        self.kind = kind
        self.application = make_application()
        self.port = 0
        self.fronts: Sequence[Any] = ()
        self._begun = 0
        self._listening: list[HTTPServer] = []

    def listen(self, application: Application | None = None, **options: object) -> int:
        """Serve on a free port and return it; called on the loop."""
        sockets = bind_sockets(0, "127.0.0.1")
        http_server = HTTPServer(application or self.application, **options)
        http_server.add_sockets(sockets)
        self._listening.append(http_server)
        port: int = sockets[0].getsockname()[1]
        return port

    async def stop_newest(self) -> None:
        """Undo the newest `listen`, and close its connections."""
        http_server = self._listening.pop()
        http_server.stop()
        await http_server.close_all_connections()
        await self.pause()

    async def stop(self) -> None:
        """Close all that is open."""
        while self._listening:
            await self.stop_newest()

    def run(self, function: Callable[[], Awaitable[T]]) -> T:
        """Run a coroutine function to its end on the loop."""

        async def run_to_the_end() -> T:
            result = await function()
            await self._hear_fronts()
            return result

        result: T = self.loop.run_sync(run_to_the_end, timeout=40)
        return result

    async def _hear_fronts(self) -> None:
        """Let fronts tell what they have done, which they do after they answer."""
        if self.fronts:
            await until(lambda: not any(map(_is_at_work, self.fronts)))
            await self.pause()  # what they have told is read, and may begin something
            await self.idle()
            await self.pause()
            begun = sum(front.slot.begun for front in self.fronts)
            begun_in_fronts.append(begun - self._begun)
            self._begun = begun

    def fetch(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Answer:
        """Send one request on a connection of its own."""
        request = Request(method, path, headers or {}, body)
        return self.fetch_together([request])[0]

    def get(self, path: str, **headers: str) -> Answer:
        """Send one GET."""
        return self.fetch("GET", path, headers)

    def fetch_together(self, requests: Sequence[Request]) -> list[Answer]:
        """Send requests at once, each on a connection of its own."""

        async def fetch(request: Request) -> Answer:
            async with self.connection() as (reader, writer):
                writer.write(request.encoded())
                return await read_answer(reader, request.method)

        async def fetch_all() -> list[Answer]:
            return await asyncio.gather(*map(fetch, requests))

        return self.run(fetch_all)

    def fetch_in_turn(
        self, requests: Sequence[Request], *, pipelined: bool = False
    ) -> list[Answer]:
        """Send requests on one connection, each after the answer to the last one.

        Pipelined, all are sent before the first answer is read.
        """

        async def fetch_all() -> list[Answer]:
            async with self.connection() as (reader, writer):
                answers = []
                if pipelined:
                    writer.write(b"".join(one.encoded() for one in requests))
                for request in requests:
                    if not pipelined:
                        writer.write(request.encoded())
                    answers.append(await read_answer(reader, request.method))
                return answers

        return self.run(fetch_all)

    def exchange(self, sent: bytes) -> bytes:
        """Send bytes and return all that comes until the server closes."""

        async def talk() -> bytes:
            async with self.connection() as (reader, writer):
                writer.write(sent)
                received: bytes = await reader.read()
                await self.idle()
                return received

        return self.run(talk)

    @contextlib.asynccontextmanager
    async def connection(self):
        """Open a connection to the server; close it at the end."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            yield reader, writer
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
            await self.pause()  # for the server to see the end, too

    async def read(self, reader: asyncio.StreamReader, method: str = "GET") -> Answer:
        """Read one answer from a connection."""
        return await read_answer(reader, method)

    async def open_fronts(self) -> None:
        """Open fronts that get each connection, and run each verb that may run there.

        Not where the options allow none.
        """
        assert isinstance(self.loop, TransactionIOLoop)
        self.loop.opened = True  # so that no request opens others
        if why_none(self.loop.options, self.loop) is not None:
            return
        if isinstance(self.application, Application):
            judge_all(self.application, self.loop.asyncio_loop)
        doorman = open_fronts(self.loop, 2, Faults({"fronts": 1.0}, "tests"))
        self.fronts = doorman._desk.fronts
        await until(lambda: doorman.fronts == 2)

    def fork(self) -> None:
        """Fork the workers before the first transaction."""
        assert isinstance(self.loop, TransactionIOLoop)
        executor = self.loop.dispatcher.executor
        if isinstance(executor, ProcessesExecutor):
            register_targets()
            executor.fork()
            if self.kind == "dask":
                self.run(self._find_cluster)

    async def _find_cluster(self) -> None:
        """Wait for the workers, whose connections are no test's."""
        assert isinstance(self.loop, TransactionIOLoop)
        executor = self.loop.dispatcher.executor
        assert isinstance(executor, ProcessesExecutor)
        self.loop.dispatcher.start()
        workers = executor._workers
        while len([one for one in workers if one.open]) < 2:  # noqa: ASYNC110 # no event
            await asyncio.sleep(0.005)

    @property
    def limits(self) -> Limits:
        """How long the executor waits for what; it must have workers."""
        assert isinstance(self.loop, TransactionIOLoop)
        executor = self.loop.dispatcher.executor
        assert isinstance(executor, Pool)
        return executor.limits

    def stats(self) -> Stats:
        """Return the figures of the transactional loop."""
        assert isinstance(self.loop, TransactionIOLoop)
        return self.loop.dispatcher.stats()

    def stats_of(self, label: str) -> LabelStats:
        """Return the figures of one handler verb or function."""
        return next(one for one in self.labels() if one.label == label)

    def labels(self) -> list[LabelStats]:
        """Return the figures of all handler verbs and functions that have run."""
        return [one for one in self.stats().labels if one.attempts]

    def sent_away(self) -> bool:
        """Tell whether everything so far ran where its kind says, nothing at home."""
        stats = self.stats()
        return self.kind == "serial" or stats.inline == 0

    def at_home(self) -> dict[str, str]:
        """Return what runs on the loop thread only, and why."""
        labels = self.stats().labels
        return {one.label: one.on_loop_because for one in labels if one.on_loop_because}

    async def idle(self) -> None:
        """Let end what still runs: Tornado goes on reading after it has closed."""
        if isinstance(self.loop, TransactionIOLoop):
            dispatcher = self.loop.dispatcher
            await until(lambda: not dispatcher.busy)

    async def pause(self) -> None:
        """Let everything run that is ready, a few rounds long."""
        for _ in range(10):
            await asyncio.sleep(0)


def _is_at_work(front: Any) -> bool:
    """Tell whether a front has a connection, or does not wait for anything."""
    number = front.pid if gil_enabled() else front.thread.native_id
    return bool(front.connections) or state_of(number) != "S"


def loop_of(kind: str, workers: int = 2, **options: object) -> AsyncIOLoop:
    """Return a new loop, not the current one, whose transactions run as `kind` says."""
    loop: AsyncIOLoop
    if kind == "stock":
        loop = AsyncIOLoop(make_current=False)
        vars(loop)[TOLD] = True  # not worth a word, where it is meant
        return loop
    if kind == "fronts":
        kind = "processes" if gil_enabled() else "threads"
        options = {"fronts": 2, **options}
    options.setdefault("fronts", 0)  # else there are some when the machine is busy
    if kind == "processes":
        use_executor(AwayExecutor(workers))
    if kind == "threads":
        use_executor(AwayThreads(workers))
    if kind == "dask":
        use_executor(away_dask(workers))
    loop = TransactionIOLoop(make_current=False, executor=kind, **options)
    return loop


@contextmanager
def serving(
    kind: str,
    make_application: Callable[[], Application],
    *,
    early: bool = False,
    listening: Mapping[str, object] | None = None,
    **options: object,
) -> Iterator[Server]:
    """Serve an application on a loop of its own while the block runs.

    Args:
        kind: ``"stock"``, or where transactions run.
        make_application: Called once.
        early: Whether workers are forked now and not by the first transaction; a
            server that several tests share would leave them behind the first test.
        listening: Options of the HTTP server.
        options: Those of the loop.
    """
    loop = loop_of(kind, **options)  # type: ignore[arg-type] # workers among them
    server = Server(loop, kind, make_application)

    async def start() -> int:
        port = server.listen(None, **listening or {})
        if kind == "fronts":
            await server.open_fronts()
        return port

    server.port = server.run(start)
    if early:
        server.fork()
    try:
        yield server
    finally:
        server.run(server.stop)
        loop.close()


# The same as stock Tornado


class Pair:
    """One application twice: on the stock loop, and where transactions run."""

    def __init__(self, stock: Server, server: Server) -> None:
        self.stock = stock
        self.server = server

    def same(
        self,
        talk: Callable[[Server], T],
        *,
        log_in_order: bool = True,
        before: Callable[[], object] = lambda: None,
    ) -> T:
        """Assert that `talk` returns and logs the same on both.

        Args:
            talk: What to do with either server.
            log_in_order: Whether the order of the log counts.
            before: Called before each `talk`.

        Returns:
            What `talk` returned.
        """
        before()
        expected, expected_log = logged(self.stock, talk)
        before()
        actual, actual_log = logged(self.server, talk)
        if not log_in_order:
            expected_log.sort()
            actual_log.sort()

        assert expected == actual
        assert expected_log == actual_log
        return actual


@contextmanager
def pair_of(
    kind: str,
    make_application: Callable[[], Application],
    *,
    early: bool = False,
    listening: Mapping[str, object] | None = None,
    **options: object,
) -> Iterator[Pair]:
    """Serve an application twice while the block runs; arguments as of `serving`."""
    with (
        serving("stock", make_application, listening=listening) as stock,
        serving(
            kind, make_application, early=early, listening=listening, **options
        ) as server,
    ):
        yield Pair(stock, server)


# From the start: where a logger's level changes, what logs stays on the loop thread.
logging.getLogger("tornado.access").setLevel(logging.INFO)


def logged(server: Server, talk: Callable[[Server], T]) -> tuple[T, list[str]]:
    """Return what `talk` returns, and what Tornado logged meanwhile."""
    collector = Collector()
    logging.getLogger("tornado").addHandler(collector)
    try:
        result = talk(server)
    finally:
        logging.getLogger("tornado").removeHandler(collector)
    for record in collector.records:
        setattr(record, EXPECTED, True)
    return result, [_shown(record) for record in collector.records]


def _shown(record: logging.LogRecord) -> str:
    """Return a record as text without what differs from run to run."""
    text = f"{record.levelname} {record.name}: {record.getMessage()}"
    text = re.sub(r" [\d.]+ms$", " ?ms", text)
    trace = record.exc_text
    if record.exc_info and not trace:
        trace = logging.Formatter().formatException(record.exc_info)
    if trace:
        frames = re.findall(r"File .*/tests/.*, line \d+, in \w+", trace)
        text += f" | {frames[-1:]} | {trace.splitlines()[-1]}"
    return text

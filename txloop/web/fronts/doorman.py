"""The owner's side of fronts: which connections they get, and what becomes of requests.

All connections are accepted by the owner, on the program's own listening sockets, and
given to the front that has the fewest; so what the program does to its sockets is as
ever, and the fronts are always in balance. A connection comes back with a request that
the front must not run, and leaves again when it has requests in a row that may.
"""

from __future__ import annotations

import contextvars
import dataclasses
import functools
import os
import time
from typing import TYPE_CHECKING, Any

from tornado import httputil
from tornado.http1connection import HTTP1Connection
from tornado.iostream import IOStream

from txloop.engine.elsewhere import arrive, tell_of
from txloop.errors import TxTimeoutError
from txloop.executors.fronts.carrier import Verdict
from txloop.executors.fronts.desk import Desk
from txloop.executors.fronts.reception import Callbacks
from txloop.executors.fronts.thread_desk import ThreadDesk
from txloop.stm.callables import weakly
from txloop.stm.types import Outcome, Refusal
from txloop.web.fronts.moving import (
    MovableStream,
    fits,
    go_on,
    serve_orphan,
    stream_of,
    take,
    take_new,
)
from txloop.web.fronts.places import ThreadServing, run_front, serve_in_threads
from txloop.web.fronts.repertoire import Repertoire
from txloop.web.fronts.request import On
from txloop.web.fronts.servers import (
    is_stock,
    make_movable,
    number_of,
    numbered_servers,
    server_of,
    suits,
)
from txloop.web.targets import target_of
from txloop.web.watched import notice_answers

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from tornado.httpserver import HTTPServer
    from tornado.web import Application, RequestHandler

    from txloop.executors.faults import Faults
    from txloop.executors.fronts.reception import FrontEnd, Reception
    from txloop.loop.ioloop import TransactionLoop
    from txloop.stm.types import Answer, Call, Conflict
    from txloop.web.fronts.verbs import Verb

__all__ = ["Doorman"]

_TICK_SECONDS = 0.1

# How much a new connection counts in the share of those that come back: one whose first
# request is known, and one of which nothing is known yet.
_KNOWN_WEIGHT, _GIVEN_WEIGHT = 0.2, 0.05
_MOST_RETURNED = 0.5  # if more come back, new ones begin at the owner

_MOST_ROW = 16  # requests in a row until a connection that came back is given away


class Doorman:
    """Gives connections to fronts; used by the loop thread only."""

    def __init__(
        self, loop: TransactionLoop, size: int, faults: Faults | None = None
    ) -> None:
        """Prepare `size` fronts for a loop; `start` starts them."""
        # Not the loop, which has this: a dropped one would be cyclic garbage.
        self._asyncio_loop = loop.asyncio_loop
        self._dispatcher = loop.dispatcher
        self._servers: dict[int, HTTPServer] = {}
        self._returned: dict[int, float] = {}  # by server: the share that came back
        self._closed = False
        self._repertoire = repertoire = Repertoire(loop, faults)
        self._desk = self._desk_for(size, loop.options.timeout)
        repertoire.desk = self._desk
        for number, server in numbered_servers(loop):
            if suits(server):
                self._servers[number] = server

    def _desk_for(self, size: int, timeout_seconds: float | None) -> Reception:
        repertoire, executor = self._repertoire, self._dispatcher.executor
        pool: Any = executor  # the one that forks, or that of threads: see `why_none`
        callbacks = Callbacks(
            on_outcome=weakly(self._take_outcome),
            on_ran=weakly(self._note_run),
            on_call=weakly(self._take_call),
            on_committed=weakly(repertoire.note_written),
            on_aborted=weakly(repertoire.note_conflict),
            on_leave=weakly(self._dispatcher.leave),
            on_note=weakly(self._hear),
            on_greeting=weakly(repertoire.greet),
        )
        options: dict[str, Any] = {
            "servers": self._servers,
            "timeout_seconds": timeout_seconds,
        }
        if not executor.forks:
            make = functools.partial(ThreadServing, **options)
            label_of = weakly(repertoire.label_of)
            return ThreadDesk(size, pool, make, callbacks, label_of)
        return Desk(
            size,
            pool,
            functools.partial(run_front, **options),
            callbacks,
            on_ask=weakly(repertoire.look),
            is_certain=weakly(repertoire.is_certain),
            may_sleep=weakly(self._may_sleep),
            on_death=weakly(repertoire.note_death),
        )

    # Starting and ending

    def start(self) -> None:
        """Start the fronts; when the application is set up, and served."""
        self._repertoire.find_targets()
        self._repertoire.trace()
        self._dispatcher.start()
        if self._desk.copies:
            notice_answers()
            watch = self._dispatcher.executor.watch
            assert watch is not None
            watch.page = self._desk.page
            self._desk.page.epoch = watch.epoch
        else:
            serve_in_threads()
            self._dispatcher.thread_fronts = True
        self._dispatcher.before_stats.append(weakly(self._repertoire.count))
        self._desk.start(self._asyncio_loop)
        self._repertoire.turn()
        self._tick_later()

    def stop(self) -> None:
        """Have all connections handed back, and give none away any more."""
        self._closed = True
        self._desk.retire()

    @property
    def connections(self) -> int:
        """How many connections fronts have."""
        return sum(front.connections for front in self._desk.fronts)

    @property
    def fronts(self) -> int:
        """How many fronts there are that take connections."""
        return sum(front.open for front in self._desk.fronts)

    def _tick_later(self) -> None:
        if not self._closed:
            call = weakly(self._tick)
            context = contextvars.Context()
            self._asyncio_loop.call_later(_TICK_SECONDS, call, context=context)

    def _tick(self) -> None:
        if self._closed or self._dispatcher.closed:
            return
        self._repertoire.count()
        self._repertoire.turn()
        self._repertoire.trace()
        self._repertoire.end_overdue()
        self._balance()
        self._tick_later()

    def _balance(self) -> None:
        """Have the front with the most connections spare some for others."""
        fronts = sorted(
            (one for one in self._desk.fronts if one.open),
            key=lambda one: one.connections,
        )
        if len(fronts) > 1:
            least, most = fronts[0], fronts[-1]
            surplus = (most.connections - least.connections) // 2
            if surplus > max(1, most.connections // 8):
                most.tell(("spare", surplus))

    # Connections

    def take_in(self, server: HTTPServer, stream: IOStream, address: object) -> bool:
        """Give a new connection to a front; return whether that was done."""
        if not make_movable(stream):
            return False
        number = number_of(server)
        stream.server = number  # type: ignore[attr-defined] # it is movable
        if self._closed or number not in self._servers:
            return False
        returned = self._returned.get(number, 0.0)
        if returned > _MOST_RETURNED and not self._repertoire.hurries():
            return False
        front = self._desk.least_busy
        if front is None or not self._desk.knows(contextvars.copy_context()):
            return False
        self._count_new(number, False, _GIVEN_WEIGHT)
        self._give(front, number, address, b"", 0, take_new(stream))
        return True

    def _count_new(self, server: int, came_back: bool, weight: float) -> None:
        share = self._returned.get(server, 0.0)
        self._returned[server] = share + weight * (came_back - share)

    def _give(
        self,
        front: FrontEnd,
        server: int,
        address: object,
        received: bytes,
        moves: int,
        descriptor: int,
    ) -> None:
        front.given += 1
        note = ("connection", server, address, received, moves)
        front.tell(note, descriptor)

    def delegate_for(
        self,
        application: Application,
        request: httputil.HTTPServerRequest,
        handler_class: type[RequestHandler],
        handler_kwargs: Mapping[str, object],
    ) -> httputil.HTTPMessageDelegate | None:
        """Return what gives a request's connection to a front, if that is wanted."""
        connection = request.connection
        stream = getattr(connection, "stream", None)
        if self._closed or not isinstance(stream, MovableStream):
            if isinstance(stream, IOStream) and make_movable(stream):
                # From its next request on: it was there before the fronts.
                stream.server = server_of(request, self._servers)  # type: ignore[attr-defined] # it is movable
            return None
        target = target_of(application, handler_class, handler_kwargs)
        verb = self._repertoire.verb_of(target, request.method or "")
        if verb is None:
            return None
        if stream.refusal is not None:
            if stream.refusal.lasting:
                self._repertoire.switch(verb, On.OFF)
            return None
        if verb.on is On.OFF or stream.server not in self._servers:
            return None
        stream.row += 1
        assert isinstance(connection, HTTP1Connection)
        if (
            stream.row <= min(stream.moves // 2, _MOST_ROW)
            or not fits(request.headers)
            or not is_stock(request)
            or not self._desk.knows(contextvars.copy_context())
        ):
            return None
        front = self._desk.least_busy
        return None if front is None else _Giving(self, connection, front)

    def give(self, connection: HTTP1Connection, front: FrontEnd) -> None:
        """Give a connection to a front, with the request that has begun on it."""
        stream = connection.stream
        assert isinstance(stream, MovableStream)
        if stream.closed():
            return
        number, moves, address = stream.server, stream.moves, connection.context.address  # type: ignore[attr-defined] # Tornado's own
        if moves == 0:
            self._count_new(number, False, _KNOWN_WEIGHT)
        descriptor, received = take(connection)
        self._give(front, number, address, received, moves + 1, descriptor)

    def _hear(
        self, front: FrontEnd, note: tuple[Any, ...], descriptor: int | None
    ) -> None:
        match note:
            case ("connection", server, address, received, moves, refusal):
                front.given -= 1
                if descriptor is not None:
                    self._take_back(
                        server, address, received, moves, refusal, descriptor
                    )
            case ("orphan", number, family, address, received):
                server = self._servers.get(number)
                if server is not None and not self._dispatcher.closed:
                    serve_orphan(server, family, address, received)

    def _take_back(
        self,
        number: int,
        address: object,
        received: bytes,
        moves: int,
        refusal: tuple[str, bool, bool, bool, bool] | None,
        descriptor: int,
    ) -> None:
        """Serve a connection here that was in a front."""
        server = self._servers.get(number)
        if server is None or self._dispatcher.closed:
            os.close(descriptor)
            return
        if moves == 1:
            self._count_new(number, True, _KNOWN_WEIGHT)
        front = self._desk.least_busy
        if not received and refusal is None and front is not None and not self._closed:
            # It is idle: its front had more connections than the others, or is dead.
            self._give(front, number, address, b"", max(moves - 1, 0), descriptor)
            return
        stream = stream_of(server, descriptor)
        stream.server, stream.moves, stream.row = number, moves, -1
        if refusal is not None:
            stream.refusal = Refusal.from_plain(refusal)
        go_on(server, stream, address, received)

    def _may_sleep(self) -> bool:
        """Tell whether nothing of the loop's would notice what others commit."""
        dispatcher = self._dispatcher
        spoils = dispatcher.faults is not None and dispatcher.faults.refuses()
        return dispatcher.may_run_now() and not spoils

    # Outcomes

    def _note_run(self, kind: int, answer: Answer) -> None:
        """Tell listeners of an attempt that has ended in a front."""
        verb = self._repertoire[kind]
        tell_of(self._dispatcher, verb.call, verb.profile, answer)

    def _take_outcome(
        self, front: FrontEnd, number: int, kind: int, outcome: Outcome
    ) -> None:
        """Let what has run in a front commit, or run there again."""
        verb, started = self._repertoire[kind], time.perf_counter()
        if isinstance(outcome.error, TxTimeoutError):
            self._repertoire.note_overtime(verb)
        arrive(
            self._dispatcher,
            verb.watching,
            outcome,
            functools.partial(self._answer, front, number),
            functools.partial(self._hand_back, verb, front, number),
        )
        verb.note_asked(time.perf_counter() - started)

    def _take_call(
        self, front: FrontEnd, number: int, kind: int, call: Call | bytes
    ) -> None:
        """Let a worker run what a front has forwarded."""
        verb = self._repertoire[kind]
        if isinstance(call, bytes):
            known = dataclasses.replace(verb.call, packed=call)
        else:
            known = dataclasses.replace(verb.call, args=call.args, context=call.context)
        transaction = self._dispatcher.submit(
            known,
            verb.profile,
            functools.partial(self._answer_call, front, number),
            away=True,
            spare_loop=True,
            hand_back=functools.partial(self._return_call, front, number),
        )
        if transaction:
            front.calls_open[number] = transaction

    def _answer_call(
        self,
        front: FrontEnd,
        number: int,
        value: object,
        error: BaseException | None,
    ) -> None:
        outcome = Outcome(0, value, error)
        self._desk.answer(front, number, outcome)

    def _return_call(
        self, front: FrontEnd, number: int, conflict: Conflict | None
    ) -> None:
        self._desk.answer(front, number, None)

    def _answer(
        self, front: FrontEnd, number: int, value: object, error: object
    ) -> None:
        self._desk.decided(front, number, Verdict.COMMITTED)

    def _hand_back(
        self, verb: Verb, front: FrontEnd, number: int, conflict: Conflict | None
    ) -> None:
        verdict = Verdict.ELSEWHERE if conflict is None else Verdict.CONFLICT
        self._desk.decided(front, number, verdict)
        self._repertoire.consider(verb)


class _Giving(httputil.HTTPMessageDelegate):
    """Takes a request only to give it to a front."""

    def __init__(
        self, doorman: Doorman, connection: HTTP1Connection, front: FrontEnd
    ) -> None:
        self._given = doorman, connection, front

    def headers_received(
        self,
        start_line: httputil.RequestStartLine | httputil.ResponseStartLine,
        headers: httputil.HTTPHeaders,
    ) -> Awaitable[None] | None:
        doorman, connection, front = self._given
        doorman.give(connection, front)
        return None

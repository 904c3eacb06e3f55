"""A front: Tornado's HTTP in a loop of its own, and what is short runs there.

It is a process or a thread; only its carrier knows which. Requests whose verbs the
owner has switched on run here, one after another, on what the carrier has of the store.
An attempt that only reads is answered at once, one that writes when its verdict
arrives. All other requests are handed over with their connection: to the owner they
look as if they had come to it.
"""

from __future__ import annotations

import contextvars
import functools
from collections import deque
from typing import TYPE_CHECKING, Any

from txloop.executors.fronts.carrier import Verdict
from txloop.loop.closing import served
from txloop.stm.types import Outcome, Refusal
from txloop.web.clients import keep_open_always
from txloop.web.eligible import plan_for
from txloop.web.fronts.moving import (
    MovableStream,
    go_on,
    stream_of,
    take,
    take_idle,
    take_orphan,
)
from txloop.web.fronts.request import FrontDelegate, On, VerbInFront
from txloop.web.targets import target_of
from txloop.web.watched import roots_of_verb

if TYPE_CHECKING:
    import asyncio
    import logging
    from collections.abc import Mapping

    from tornado import httputil
    from tornado.http1connection import HTTP1Connection
    from tornado.httpserver import HTTPServer
    from tornado.web import Application, RequestHandler

    from txloop.executors.fronts.carrier import Carrier

__all__ = ["Front"]

MOST_CONFLICTS = 3
"""After this many a request is handed over: on the loop thread it cannot conflict."""

_AGAIN_SECONDS = 0.0005  # what may not be committed here now is tried again
_LEAVE_SECONDS = 0.02  # between two looks whether all connections have gone


class Front:
    """All that is in a front; used by its only thread."""

    def __init__(
        self,
        carrier: Carrier,
        loop: asyncio.AbstractEventLoop,
        servers: Mapping[int, HTTPServer],
        timeout_seconds: float | None,
    ) -> None:
        """Begin without any connection.

        Args:
            carrier: Leads to the owner.
            loop: The event loop of its thread.
            servers: As the owner's, by number.
            timeout_seconds: How long a call may run whose mark does not say it.
        """
        self._kinds: dict[tuple[int, str], tuple[int, On]] = {}  # by target and verb
        self._verbs: dict[tuple[object, ...], VerbInFront | None] = {}
        self._carrier = carrier
        self._servers = servers
        self._timeout_seconds = timeout_seconds
        self._loop = loop
        self._ready: deque[FrontDelegate] = deque()
        self._planned = self._plans_again = False
        self._batches = False  # many answers follow: what they log goes together
        self._leaving = False
        self._connections = 0

    @property
    def context(self) -> contextvars.Context:
        """That in which the program has started the fronts, a copy."""
        return self._carrier.context

    # Requests

    def delegate(
        self,
        application: Application,
        request: httputil.HTTPServerRequest,
        target_class: type[RequestHandler],
        target_kwargs: dict[str, Any] | None = None,
        path_args: list[bytes] | None = None,
        path_kwargs: dict[str, bytes] | None = None,
    ) -> FrontDelegate:
        """Return what serves a request; as `Application.get_handler_delegate` does."""
        delegate = FrontDelegate(
            application, request, target_class, target_kwargs, path_args, path_kwargs
        )
        delegate.front = self
        method = request.method or ""
        delegate.verb = self.verb_of(application, target_class, target_kwargs, method)
        return delegate

    def verb_of(
        self,
        application: Application,
        handler_class: type[RequestHandler],
        arguments: Mapping[str, object] | None,
        method: str,
    ) -> VerbInFront | None:
        """Return what a request asks for, None if that does not run here."""
        key = application, handler_class, id(arguments) if arguments else 0, method
        if key in self._verbs:
            verb = self._verbs[key]
            if verb is None or not arguments or verb.arguments is arguments:
                return verb
        verb = self._verbs[key] = self._find_verb(
            application, handler_class, arguments or {}, method
        )
        return verb

    def _find_verb(
        self,
        application: Application,
        handler_class: type[RequestHandler],
        arguments: Mapping[str, object],
        method: str,
    ) -> VerbInFront | None:
        plan = plan_for(handler_class, method)
        if plan is None:
            return None
        target, mark = target_of(application, handler_class, arguments), plan.mark
        number, on = self._kinds.get((target.number, method), (0, On.OFF))
        if on is On.OFF:
            return None
        timeout_seconds = mark.timeout_seconds(self._timeout_seconds)
        return VerbInFront(
            on,
            target,
            plan,
            method,
            number,
            arguments,
            None if mark.trust else roots_of_verb(target, method.lower()),
            not mark.vouched,
            plan.commits_on,
            timeout_seconds,
        )

    def ask(self, delegate: FrontDelegate) -> None:
        """Have a request run, in the loop's next iteration at the earliest.

        So does stock Tornado: first all requests are read that are there, then all
        handlers run. A processor is quicker with one kind of work after another.
        """
        delegate.needed = self._carrier.newest
        self._ready.append(delegate)
        self._plan()

    def _plan(self) -> None:
        if not self._planned:
            self._planned = True
            self._loop.call_soon(self._run_ready, context=contextvars.Context())

    def _run_ready(self) -> None:
        self._planned = False
        if self._ready and not self._goes_on(self._ready[-1]):
            self.receive()
        # Not what is newest now: where there always is something new, none would run.
        self._batches = True
        waits = False
        try:
            while self._ready and self._goes_on(self._ready[0]):
                self._run(self._ready.popleft())
            waits = self._carrier.settle()
        except BaseException:
            self._plan()  # the others go on
            raise
        finally:
            self._batches = False
        if self._ready:
            self._carrier.ask()  # it goes on when something arrives
            for delegate in self._ready:
                if not delegate.waits:
                    delegate.wait()
        if not waits:
            self._carrier.flush()
        elif not self._plans_again:
            self._plans_again = True
            context = contextvars.Context()
            self._loop.call_later(_AGAIN_SECONDS, self._plan_again, context=context)

    def _plan_again(self) -> None:
        self._plans_again = False
        self._plan()

    def _goes_on(self, delegate: FrontDelegate) -> bool:
        """Tell whether a request has nothing to wait for, here or at the owner's."""
        reached = self._leaving or self._carrier.has_reached(delegate.needed)
        if self._carrier.trouble is not None:
            self._give_up()
        return reached or self._leaving

    def _run(self, delegate: FrontDelegate) -> None:
        """Run a request; answer it, ask for its commit, or hand it over."""
        verb = delegate.verb
        if self._leaving or verb is None or not self._runs_here(verb):
            self.hand_over(delegate, bytes(delegate.chunks))
            return
        answer = self._carrier.run(delegate, verb)
        if answer is None:
            delegate.answer(None)
            return
        if isinstance(answer, Outcome):
            delegate.wait()
            done = functools.partial(self._decided, delegate, answer.error)
            self._carrier.commit(verb, answer, done)
        else:
            delegate.undo()
            refusal = answer if isinstance(answer, Refusal) else None
            self.hand_over(delegate, bytes(delegate.chunks), refusal)
        if self._carrier.spoilt:
            self._give_up()

    def _give_up(self) -> None:
        """Ask the owner for another front in the place of this one."""
        if not self._leaving:
            self._leaving = True  # what has been given meanwhile is handed over
            self._carrier.tell(("spoilt", self._carrier.trouble))

    def _runs_here(self, verb: VerbInFront) -> bool:
        """Tell whether requests of a kind run here still; some have waited."""
        key = verb.target.number, verb.method
        return self._kinds[key][1] is On.HERE

    def _decided(
        self, delegate: FrontDelegate, error: BaseException | None, verdict: Verdict
    ) -> None:
        """Go on with a request whose writes were decided about."""
        if verdict is Verdict.COMMITTED:
            delegate.answer(error)
            return
        delegate.undo()
        delegate.conflicts += 1
        if verdict is Verdict.CONFLICT and delegate.conflicts < MOST_CONFLICTS:
            # Not now: what has come with the verdict may keep it from running here.
            delegate.needed = self._carrier.newest
            self._ready.append(delegate)
            self._plan()
        else:
            self.hand_over(delegate, bytes(delegate.chunks))

    def forward(self, delegate: FrontDelegate, verb: VerbInFront) -> None:
        """Have a request run in a worker."""
        call = None if self._leaving else delegate.call_for_worker(verb)
        done = functools.partial(self._take_answer, delegate)
        number = 0 if call is None else self._carrier.forward(call, verb, done)
        if number:
            carrier = self._carrier
            delegate.wait(
                functools.partial(carrier.leave, number),
                functools.partial(carrier.end_wait, number),
            )
        else:
            self.hand_over(delegate, bytes(delegate.chunks))

    def _take_answer(self, delegate: FrontDelegate, outcome: Outcome | None) -> None:
        """Answer a request that has run in a worker, or has to run at the owner's."""
        if outcome is None:
            self.hand_over(delegate, bytes(delegate.chunks))
        else:
            delegate.answer_with(outcome)

    # Connections

    def hand_over(
        self,
        delegate: FrontDelegate,
        body: bytes = b"",
        refusal: Refusal | None = None,
    ) -> None:
        """Let the owner serve a request, and all that come after it.

        Args:
            delegate: Has the request, of which nothing is answered.
            body: What has been read of its body.
            refusal: Why it cannot run here, if that was found out by running it.
        """
        connection = delegate.connection
        if connection.stream.closed():  # its client has left, and does not read
            self._carrier.tell(("orphan", *take_orphan(connection, body)))
        else:
            self._send(connection, take, refusal, body)

    def _send(
        self,
        connection: HTTP1Connection,
        take_away: Any,
        refusal: Refusal | None = None,
        *body: bytes,
    ) -> None:
        stream, address = connection.stream, connection.context.address  # type: ignore[attr-defined] # Tornado's own
        if stream is None or stream.closed():
            return  # the client has gone
        assert isinstance(stream, MovableStream)
        server, moves = stream.server, stream.moves + 1
        descriptor, received = take_away(connection, *body)
        self._connections -= 1  # until the owner has it, it counts as one of this front
        plain = None if refusal is None else refusal.plain()
        note = ("connection", server, address, received, moves, plain)
        self._carrier.tell(note, descriptor)

    def _spare(self, number: int) -> None:
        """Hand some connections over that have nothing to do: others have fewer."""
        for _, connection in list(served(self._loop)):
            if number and _waits(connection):
                number -= 1
                self._send(connection, take_idle)

    def leave(self) -> None:
        """Hand all connections over, and end when none is left."""
        self._leaving = True
        for _, connection in list(served(self._loop)):
            if _waits(connection):
                self._send(connection, take_idle)
        # Some may have come just now, and are not served yet.
        if self._connections or self._ready or self._carrier.busy:
            self._loop.call_later(_LEAVE_SECONDS, self.leave)
        else:
            self._carrier.tell(("left",))

    # The owner

    def receive(self) -> None:
        """Deal with what the owner has sent; end when it has closed the link."""
        self._batches = True
        try:
            notes = self._carrier.receive()
        except (EOFError, OSError):
            self._carrier.end()
            return
        finally:
            self._batches = False
        for note, descriptor in notes:
            self._hear(note, descriptor)
        if self._carrier.trouble is not None:
            self._give_up()
        if self._ready:
            if self._goes_on(self._ready[0]):
                self._plan()
            else:
                self._carrier.ask()

    def _hear(self, note: tuple[Any, ...], descriptor: int | None) -> None:
        match note:
            case ("connection", server, address, received, moves):
                if descriptor is not None:  # else there was no room for one more
                    self._begin(server, descriptor, address, received, moves)
                else:
                    self._carrier.count_gone()
            case ("verbs", changes):
                self._verbs.clear()
                for target, verb, kind, on in changes:
                    self._kinds[target, verb] = kind, On(on)
            case ("trace", number):
                self._carrier.traced_from = number
            case ("place", place):
                self._carrier.take_place(place)
            case ("spare", number):
                self._spare(number)
            case ("retire",):
                self.leave()

    def _begin(
        self, number: int, descriptor: int, address: object, received: bytes, moves: int
    ) -> None:
        server = self._servers[number]
        stream = stream_of(server, descriptor)
        stream.server, stream.moves = number, moves
        keep_open_always(stream)
        stream.gone = self._count_gone
        self._connections += 1
        go_on(server, stream, address, received)

    def _count_gone(self) -> None:
        self._connections -= 1
        self._carrier.count_gone()

    def log(self, record: logging.LogRecord) -> None:
        """Have a record logged where the owner is.

        At once, as a client that is answered next may look for it there; except while
        many requests run one after another, each of which may have its line.
        """
        first = self._carrier.log(record)
        if not self._batches:
            self._batches = True  # what is logged by that has to wait
            try:
                self._carrier.flush()
            finally:
                self._batches = False
        elif first:
            self._loop.call_soon(self._carrier.flush, context=contextvars.Context())


def _waits(connection: HTTP1Connection) -> bool:
    """Tell whether all that has been read of a request is in the stream's buffer."""
    return connection._request_start_line is None and connection.stream.reading()

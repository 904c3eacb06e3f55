"""One request in a front: whether it runs there, its attempts, and its answer."""

from __future__ import annotations

import contextvars
import enum
from typing import TYPE_CHECKING, NamedTuple

from tornado.web import RequestHandler

from txloop.stm.types import Call
from txloop.web.clients import keep_open
from txloop.web.delegate import TransactionDelegate
from txloop.web.eligible import logs_by_itself
from txloop.web.fronts.moving import again, fits
from txloop.web.frozen import FrozenRequest, RequestInFront
from txloop.web.request_attempt import Response, run_in_place, run_request

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from tornado import httputil

    from txloop.stm.types import Outcome
    from txloop.watch import Roots
    from txloop.web.eligible import Plan
    from txloop.web.fronts.front import Front
    from txloop.web.targets import Target

__all__ = ["FrontDelegate", "On", "VerbInFront"]


def _ignore(close: Callable[[], object]) -> None:
    pass


class On(enum.IntEnum):
    """What a front does with requests of a kind."""

    OFF = 0  # they are handed over
    HERE = 1  # they run here
    AWAY = 2  # they run in workers


class VerbInFront(NamedTuple):
    """A verb that is on: what runs here, and how; a `Kind`.

    Attributes:
        on: What is done with it.
        target: Where its requests go.
        plan: How they run.
        method: The verb itself.
        number: What the owner counts its transactions as.
        arguments: The handler's, by which it was found.
        roots: Where the walk of the watch begins; None if it is not watched.
        guarded: Whether it is stopped before it changes anything outside the program.
        commits_on: The exceptions that do not undo the handler's writes.
        timeout_seconds: How long it may run; None for any time.
    """

    on: On
    target: Target
    plan: Plan
    method: str
    number: int
    arguments: Mapping[str, object] | None
    roots: Roots | None
    guarded: bool
    commits_on: tuple[type[BaseException], ...]
    timeout_seconds: float | None

    @property
    def label(self) -> str:
        """What messages call it."""
        return self.plan.label


class FrontDelegate(TransactionDelegate):
    """Serves one request in a front.

    Attributes:
        front: Where it is.
        verb: What it asks for; None if that does not run here.
        conflicts: How many it has had.
        needed: What the replica has to have reached before it runs.
        waits: Whether the connection is kept open until it is answered.
    """

    front: Front
    verb: VerbInFront | None
    conflicts = 0
    needed = 0, 0
    waits = False
    response: Response | None = None

    def headers_received(
        self,
        start_line: httputil.RequestStartLine | httputil.ResponseStartLine,
        headers: httputil.HTTPHeaders,
    ) -> Awaitable[None] | None:
        """Hand the request over before its body is read, if it does not run here."""
        if self.verb is None or not fits(headers):
            self.front.hand_over(self)
        return None

    def execute(self) -> None:
        """Have the request run, whose body has arrived."""
        verb = self.verb
        if verb is not None and verb.on is On.AWAY:
            self.front.forward(self, verb)
        else:
            self.front.ask(self)

    def function(self) -> Response:
        """Run the handler; called inside an attempt."""
        verb = self.verb
        assert verb is not None
        frozen = RequestInFront(self.request)
        path = self.path_args, self.path_kwargs
        response = run_in_place(self, frozen, *path, verb.plan)
        response.context = contextvars.copy_context()
        self.response = response
        return response

    def undo(self) -> None:
        """Put the request back to how it has arrived."""
        if self.response is not None and self.response.handler is not None:
            RequestHandler._break_cycles(self.response.handler)  # leave no garbage
        self.response = None
        if self.connection.stream is not None:
            self.request = again(self.connection, self.request, bytes(self.chunks))

    def wait(
        self,
        left: Callable[[], None] | None = None,
        ended: Callable[[Callable[[], object]], object] = _ignore,
    ) -> None:
        """Keep the connection open until the request is answered.

        Args:
            left: Called if it is closed before.
            ended: Called if the client has sent all that it will; given what closes it.
        """
        self.waits = True
        keep_open(self.connection, ended)
        if left is not None:
            self.connection.set_close_callback(left)

    def call_for_worker(self, verb: VerbInFront) -> Call:
        """Return the request as a call that travels."""
        self._target = verb.target
        self._context = context = self.front.context
        path = tuple(self.path_args), tuple(self.path_kwargs.items())
        request = FrozenRequest(self.request)
        watched = verb.plan.watched or logs_by_itself(self.application)
        return Call(
            run_request,
            (verb.target, request, *path, verb.commits_on, watched),
            {},
            verb.plan.label,
            watched=verb.roots is not None,
            guarded=verb.guarded,
            context=context,
        )

    def answer_with(self, outcome: Outcome) -> None:
        """Answer the request, which has run in a worker."""
        self._answer(outcome.value, outcome.error)

    def answer(self, error: BaseException | None) -> None:
        """Answer the request, whose transaction has ended."""
        self._answer(self.response, error)

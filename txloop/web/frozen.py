"""A request as an attempt gets it: the very object on the loop, a copy elsewhere."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

from tornado.httputil import HTTPServerRequest

from txloop.web.recorder import Recorder
from txloop.web.variables import Named, context_with, named

if TYPE_CHECKING:
    import contextvars

__all__ = ["FrozenRequest"]

# These belong to the loop; everything else in a request is plain data.
_TIED = ("connection", "server_connection", "_body_future")


class FrozenRequest:
    """A parsed request and the context in which it arrived; pickles to plain data.

    Attributes:
        context: The context in which the handler runs.
    """

    __txloop_private__ = True  # each attempt makes a copy of it: see `for_attempt`

    def __init__(
        self,
        request: HTTPServerRequest,
        context: contextvars.Context,
        arrived: bool = False,
    ) -> None:
        self.context = context
        self._request = request
        self._arrived = arrived
        self._before: tuple[dict[str, object], contextvars.Context] | None = None

    def __reduce__(self) -> tuple[object, ...]:
        return _thaw, (*self._plain(), named(self.context, None))

    def _plain(self) -> tuple[dict[str, object], object]:
        """Return what is plain data: the request's attributes, the client's address."""
        state = {
            name: value
            for name, value in vars(self._request).items()
            if name not in _TIED
        }
        return state, getattr(self._request.connection, "context", None)

    def for_attempt(self, speculative: bool) -> FrozenRequest:
        """Return what one attempt may change: a copy if it may be thrown away."""
        if not speculative or self._arrived:
            return self
        state, client = pickle.loads(pickle.dumps(self._plain()))
        request = _request_of(state, client)
        return FrozenRequest(request, self.context.copy(), arrived=True)

    def open(self) -> tuple[HTTPServerRequest, Recorder]:
        """Return the request, and the recorder that takes its connection's place."""
        request = self._request
        if not self._arrived:  # nor may an attempt on the loop change it for the next
            self._before = _copied(request), self.context.copy()
        real = request.connection
        client = getattr(real, "context", None)
        recorder = Recorder(request.method, client, None if self._arrived else real)
        request.connection = recorder
        return request, recorder

    def restore(self) -> None:
        """Undo what an attempt that retried has done to the request on the loop."""
        if self._before is not None:
            state, self.context = self._before
            vars(self._request).clear()
            vars(self._request).update(state)


def _copied(request: HTTPServerRequest) -> dict[str, object]:
    """Return the attributes, and copies of those that Tornado itself changes."""
    state = dict(vars(request))
    for name in ("arguments", "query_arguments", "body_arguments", "files"):
        state[name] = {key: [*values] for key, values in state[name].items()}
    return state


class _Client:
    """Stands for the connection of a request that has arrived in a worker."""

    def __init__(self, context: object) -> None:
        self.context = context


def _request_of(state: dict[str, object], client: object) -> HTTPServerRequest:
    request = HTTPServerRequest.__new__(HTTPServerRequest)
    vars(request).update(state, server_connection=None)
    request.connection = _Client(client)  # type: ignore[assignment] # replaced by `open`
    return request


def _thaw(state: dict[str, object], client: object, values: Named) -> FrozenRequest:
    return FrozenRequest(_request_of(state, client), context_with(values), arrived=True)

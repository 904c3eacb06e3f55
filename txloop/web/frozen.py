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

    def __init__(
        self,
        request: HTTPServerRequest,
        context: contextvars.Context,
        arrived: bool = False,
    ) -> None:
        self.context = context
        self._request = request
        self._arrived = arrived

    def __reduce__(self) -> tuple[object, ...]:
        state = {
            name: value
            for name, value in vars(self._request).items()
            if name not in _TIED
        }
        client = getattr(self._request.connection, "context", None)
        return _thaw, (state, client, named(self.context, None))

    def open(self, speculative: bool) -> tuple[HTTPServerRequest, Recorder]:
        """Return a request for one attempt, and the recorder that is its connection.

        Where the attempt may be thrown away, it gets a request of its own.
        """
        if speculative and not self._arrived:
            copy: FrozenRequest = pickle.loads(pickle.dumps(self))
            return copy.open(speculative)
        request = self._request
        real = request.connection
        client = getattr(real, "context", None)
        recorder = Recorder(request.method, client, None if speculative else real)
        request.connection = recorder
        return request, recorder


class _Client:
    """Stands for the connection of a request that has arrived in a worker."""

    def __init__(self, context: object) -> None:
        self.context = context


def _thaw(state: dict[str, object], client: object, values: Named) -> FrozenRequest:
    request = HTTPServerRequest.__new__(HTTPServerRequest)
    vars(request).update(state, server_connection=None)
    request.connection = _Client(client)  # type: ignore[assignment] # replaced by `open`
    return FrozenRequest(request, context_with(values), arrived=True)

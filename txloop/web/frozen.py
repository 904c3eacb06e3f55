"""A request as an attempt gets it: the very object on the loop, a copy elsewhere."""

from __future__ import annotations

import pickle
import socket
from typing import Any

from tornado.httpserver import _HTTPRequestContext
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from txloop.forms import is_plain
from txloop.web.leftovers import pristine
from txloop.web.recorder import Recorder, headers_with

__all__ = ["FrozenRequest", "thawed"]

# These belong to the loop; everything else in a request is data.
_TIED = ("connection", "server_connection")
_WAITED_FOR = "_body_future"  # by the loop, too, and not always there

_ANY_REQUEST = HTTPServerRequest(start_line=RequestStartLine("GET", "/", "HTTP/1.0"))
_NAMES = [name for name in vars(_ANY_REQUEST) if name != _WAITED_FOR]
_FAMILIES = {int(family): family for family in socket.AddressFamily}


class FrozenRequest:
    """A parsed request; pickles to plain data."""

    __txloop_private__ = True  # each attempt makes a copy of it: see `for_attempt`

    def __init__(self, request: HTTPServerRequest, arrived: bool = False) -> None:
        self._request = request
        self._arrived = arrived
        self._before: dict[str, object] | None = None

    @property
    def method(self) -> str:
        """The request's."""
        return str(self._request.method)

    def __reduce__(self) -> tuple[object, ...]:
        return _thaw, self._plain()

    def _plain(self) -> tuple[dict[str, object], object]:
        """Return what is data: the request's attributes, the client's address.

        Their order stays: PyPy is slow to add one in front of others.
        """
        state = {
            name: None if name in _TIED else value
            for name, value in vars(self._request).items()
            if name != _WAITED_FOR
        }
        return state, getattr(self._request.connection, "context", None)

    def flatten(self) -> object:
        """Return it as plain data; None if there is more in it than Tornado has put."""
        state, client = self._plain()
        headers = state.get("headers")
        if (
            [*state] != _NAMES
            or type(headers) is not HTTPHeaders
            or type(client) is not _HTTPRequestContext
        ):
            return None
        state["headers"] = vars(headers)
        about = dict(vars(client))
        family = about["address_family"]
        if isinstance(family, socket.AddressFamily):
            about["address_family"] = int(family)
        about["trusted_downstream"] = [*about["trusted_downstream"]]
        plain = [*state.values()], about
        return plain if is_plain(plain) else None

    def for_attempt(self, speculative: bool) -> FrozenRequest:
        """Return what one attempt may change: a copy if it may be thrown away."""
        if not speculative or self._arrived:
            return self
        state, client = pickle.loads(pickle.dumps(self._plain()))
        return _thaw(state, client)

    def before(self) -> HTTPServerRequest:
        """Return a copy of the request as it is now."""
        return pristine(self._request)

    def open(self) -> tuple[HTTPServerRequest, Recorder]:
        """Return the request, and the recorder that takes its connection's place."""
        request = self._request
        if not self._arrived:  # nor may an attempt on the loop change it for the next
            self._before = _copied(request)
        real = request.connection
        client = getattr(real, "context", None)
        tied = None if self._arrived else real
        recorder = Recorder(request.method, client, tied, request.version)
        request.connection = recorder
        return request, recorder

    def restore(self) -> None:
        """Undo what an attempt that retried has done to the request on the loop."""
        if self._before is not None:
            vars(self._request).clear()
            vars(self._request).update(self._before)


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
    vars(request).update(state)
    request.connection = _Client(client)  # type: ignore[assignment] # replaced by `open`
    return request


def thawed(plain: Any) -> FrozenRequest:
    """Return a frozen request that `FrozenRequest.flatten` has taken apart."""
    values, about = plain
    state = dict(zip(_NAMES, values, strict=True))
    state["headers"] = headers_with(state["headers"])
    client = _HTTPRequestContext.__new__(_HTTPRequestContext)
    family = about["address_family"]
    about["address_family"] = _FAMILIES.get(family, family)
    about["trusted_downstream"] = set(about["trusted_downstream"])
    vars(client).update(about)
    return _thaw(state, client)


def _thaw(state: dict[str, object], client: object) -> FrozenRequest:
    return FrozenRequest(_request_of(state, client), arrived=True)

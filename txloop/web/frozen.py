"""A request as an attempt gets it: the very object on the loop, a copy elsewhere."""

from __future__ import annotations

import pickle
import socket
from typing import Any, NamedTuple

from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from txloop.executors.codec.plain_forms import is_plain
from txloop.web.recorder import Recorder, headers_copied, headers_with
from txloop.web.tied import TiedObject, known_of, tied_context

__all__ = ["FrozenRequest", "RequestInFront", "thawed"]

# These belong to the loop; everything else in a request is data.
_TIED = ("connection", "server_connection")
_WAITED_FOR = "_body_future"  # by the loop, too, and not always there

_ANY_REQUEST = HTTPServerRequest(start_line=RequestStartLine("GET", "/", "HTTP/1.0"))
_NAMES = [name for name in vars(_ANY_REQUEST) if name != _WAITED_FOR]
_FAMILIES = {int(family): family for family in socket.AddressFamily}


class _Ties(NamedTuple):
    """The originals of what is tied to the loop, where this is the loop's process."""

    connection: Any = None
    server_connection: object = None

    @property
    def context(self) -> object:
        """That of the connection."""
        return getattr(self.connection, "context", None)


_NO_TIES = _Ties()


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

    def _plain(self) -> tuple[dict[str, object], dict[str, object] | None]:
        """Return what is data: the request's attributes, the client's address.

        Of what is tied, whether it is there. Their order stays: PyPy is slow to add one
        in front of others.
        """
        state = dict(vars(self._request))
        state.pop(_WAITED_FOR, None)
        for name in _TIED:
            if name in state:
                state[name] = state[name] is not None
        return state, known_of(getattr(self._request.connection, "context", None))

    def flatten(self) -> object:
        """Return it as plain data; None if there is more in it than Tornado has put."""
        state, about = self._plain()
        headers = state.get("headers")
        if [*state] != _NAMES or type(headers) is not HTTPHeaders:
            return None
        state["headers"] = vars(headers)
        family = None if about is None else about["address_family"]
        if about is not None and isinstance(family, socket.AddressFamily):
            about["address_family"] = int(family)
        plain = [*state.values()], about
        return plain if is_plain(plain) else None

    def for_attempt(self, speculative: bool) -> FrozenRequest:
        """Return what one attempt may change: a copy if it may be thrown away."""
        if not speculative or self._arrived:
            return self
        state, about = pickle.loads(pickle.dumps(self._plain()))
        request = self._request
        ties = _Ties(request.connection, request.server_connection)
        return _thaw(state, about, ties)

    def before(self) -> HTTPServerRequest:
        """Return a copy of the request as it is now, to compare it with later."""
        state = _copied(self._request)
        for name in (*_TIED, _WAITED_FOR):
            state.pop(name, None)
        state["headers"] = headers_copied(self._request.headers)
        copied = HTTPServerRequest.__new__(HTTPServerRequest)
        vars(copied).update(state)
        return copied

    def open(self) -> tuple[HTTPServerRequest, Recorder]:
        """Return the request, and the recorder that takes its connection's place."""
        request = self._request
        if not self._arrived:
            # The request itself, not a copy: what an attempt changes must be undone
            # where that retries.
            self._before = _copied(request)
        real = request.connection
        client = getattr(real, "context", None)
        tied = None if self._arrived else real
        later = getattr(real, "real", None) if self._arrived else None
        recorder = Recorder(request.method, client, tied, request.version, later)
        request.connection = recorder
        return request, recorder

    def restore(self) -> None:
        """Undo what an attempt that retried has done to the request on the loop."""
        if self._before is not None:
            vars(self._request).clear()
            vars(self._request).update(self._before)


class RequestInFront(FrozenRequest):
    """A request that runs where it has arrived, by attempts that can be thrown away.

    What an attempt has done to it is not undone: it is made again of its bytes.
    """

    def open(self) -> tuple[HTTPServerRequest, Recorder]:
        """Return the request, and a recorder that leads to no connection."""
        request = self._request
        apart = _apart(request.connection)
        recorder = Recorder(request.method, apart, None, request.version)
        request.connection = recorder
        request.server_connection = _SERVER[0]
        return request, recorder


# In a tuple: code that looks through the globals of all modules would use it.
_SERVER = (TiedObject("server_connection", None),)


def _apart(connection: Any) -> object:
    """Return what stands for a connection's context; the same until that changes."""
    context, stream = connection.context, connection.stream
    known = stream.apart
    if (
        known is not None
        and known[0] is context.remote_ip
        and known[1] is context.protocol
    ):
        return known[2]
    apart = tied_context(known_of(context), None)
    stream.apart = context.remote_ip, context.protocol, apart
    return apart


def _copied(request: HTTPServerRequest) -> dict[str, object]:
    """Return the attributes, and copies of those that Tornado itself changes."""
    state = dict(vars(request))
    for name in ("arguments", "query_arguments", "body_arguments", "files"):
        lists = state[name]
        state[name] = {key: [*each] for key, each in lists.items()} if lists else {}
    return state


class _Client:
    """Stands for the connection of a request that runs away from the loop thread."""

    def __init__(self, context: object, real: object) -> None:
        self.context = context
        self.real = real


def _request_of(
    state: dict[str, object], about: dict[str, object] | None, ties: _Ties
) -> HTTPServerRequest:
    request = HTTPServerRequest.__new__(HTTPServerRequest)
    if "server_connection" in state:
        tied = TiedObject("server_connection", ties.server_connection)
        state["server_connection"] = tied if state["server_connection"] else None
    context = tied_context(about, ties.context)
    state["connection"] = _Client(context, ties.connection)
    vars(request).update(state)
    return request


def thawed(plain: Any) -> FrozenRequest:
    """Return a frozen request that `FrozenRequest.flatten` has taken apart."""
    values, about = plain
    state = dict(zip(_NAMES, values, strict=True))
    state["headers"] = headers_with(state["headers"])
    if about is not None:
        family = about["address_family"]
        about["address_family"] = _FAMILIES.get(family, family)
    return _thaw(state, about)


def _thaw(
    state: dict[str, object], about: dict[str, object] | None, ties: _Ties = _NO_TIES
) -> FrozenRequest:
    return FrozenRequest(_request_of(state, about, ties), arrived=True)

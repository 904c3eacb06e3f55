"""WebSockets in transactions: what is sent waits for the commit.

`write_message`, `close` and `ping` of a `WebSocketHandler` are effects where a
transaction calls them, wherever it runs and however it came by the handler. What a
container holds is a *reference*: the same object for all code of a process, known by
its number in all others. On the loop thread it is the handler and nothing else; to an
attempt that may be thrown away it shows what can wait for the commit, and ends it at
everything else. So no transaction sees what the loop thread changes meanwhile.

A wrapper in containers was rejected: ``for socket in sockets: if socket is not self``
is what programs write. A new class for the handler, derived from its own, keeps it the
object that it was.
"""

from __future__ import annotations

import enum
import functools
import itertools
import logging
import sys
from contextlib import contextmanager
from threading import local
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakValueDictionary

from tornado.escape import json_encode, utf8
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from txloop.engine.effects import check_before_commit
from txloop.loop.patches import patch
from txloop.stm.attempt import Attempt, running
from txloop.stm.held import REFERENCE, is_reference, register_reference
from txloop.stm.store import committed
from txloop.stm.types import Effect
from txloop.web.recorder import RECORDED, Recorded

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable, Generator, Mapping

__all__ = ["KEPT", "NOTE", "adopt", "let_sockets_wait", "send_all", "speaking"]

_NUMBER = "_txloop_number"

_SHARED = "_txloop_shared"
"""What a handler has that a container holds, or has held."""

NOTE = "_txloop_note"
"""What a handler has that is told of each attribute set: given all, and the name."""

_numbers = itertools.count(1)
_sockets: WeakValueDictionary[int, WebSocketHandler] = WeakValueDictionary()
_guarded: WeakValueDictionary[int, type] = WeakValueDictionary()
"""The classes of references, by the `id` of the handler's own, which they keep."""

_log = logging.getLogger("txloop")


class _Speaking(local):
    # By thread: whose message it handles, and the attributes that are known of it.
    socket: object = None
    attributes: Mapping[str, object] | None = None


_speaking = _Speaking()


class Kept(enum.Enum):
    """Stands for an attribute that does not leave the loop thread."""

    KEPT = enum.auto()


KEPT = Kept.KEPT


@contextmanager
def speaking(
    socket: WebSocketHandler, attributes: Mapping[str, object]
) -> Generator[None]:
    """Let attempts of this thread see some attributes of a reference meanwhile."""
    _speaking.socket, _speaking.attributes = socket, attributes
    try:
        yield
    finally:
        _speaking.socket = _speaking.attributes = None


def _away() -> Attempt | None:
    """Return the attempt that this thread runs, if it is not on the loop thread."""
    attempt = running.attempt
    if attempt is None or not (attempt.speculative or committed.kept is not None):
        return None
    return attempt


_SENDING = frozenset({"close", "ping", "write_message"})


def _reference_to(kind: type) -> type | None:
    """Return the class of references to handlers of that class.

    None where the program would notice that its class has got one more below it.
    """
    made = _guarded.get(id(kind))
    if made is None:
        if any("__init_subclass__" in vars(one) for one in kind.__mro__[:-1]):
            return None
        made = _guarded[id(kind)] = type(kind)(kind.__name__, (kind,), _names(kind))
    return made


def _names(kind: type) -> dict[str, object]:
    """Return what is in the class of references to handlers of a class."""
    own: Any = kind
    get, put, delete = own.__getattribute__, own.__setattr__, own.__delattr__

    def __getattribute__(self: object, name: str) -> object:
        attempt = _away()
        if attempt is not None and name not in _SENDING:
            return _seen_away(self, name, attempt, get)
        return get(self, name)

    def __setattr__(self: object, name: str, value: object) -> None:
        attempt = _away()
        if attempt is not None:
            attempt.abandon(f"it changes {name} of {_named(self)}")
        put(self, name, value)
        _tell(self, name)

    def __delattr__(self: object, name: str) -> None:
        attempt = _away()
        if attempt is not None:
            attempt.abandon(f"it deletes {name} of {_named(self)}")
        delete(self, name)
        _tell(self, name)

    return {
        "__slots__": (),
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__doc__": kind.__doc__,
        "__class__": property(lambda _: kind),
        "__reduce__": lambda self: (_numbered, (_own(self)[_NUMBER], kind)),
        "__getattribute__": __getattribute__,
        "__setattr__": __setattr__,
        "__delattr__": __delattr__,
        "__txloop_private__": True,  # no attempt changes it
        REFERENCE: True,
    }


def _own(socket: object) -> dict[str, Any]:
    found: dict[str, Any] = object.__getattribute__(socket, "__dict__")
    return found


def _tell(socket: object, name: str) -> None:
    own = _own(socket)
    note = own.get(NOTE)
    if note is not None:
        note(own, name)


def _named(socket: object) -> str:
    return f"{type(socket).__qualname__}, a WebSocket, which belongs to the loop thread"


def _seen_away(
    socket: object,
    name: str,
    attempt: Attempt,
    get: Callable[[object, str], object],
) -> object:
    """Return an attribute of a reference, or end the attempt."""
    if name.startswith("__") and name.endswith("__") and name != "__dict__":
        return get(socket, name)
    if _speaking.socket is not socket:
        attempt.abandon(f"it uses {name} of {_named(socket)}")
    attributes = _speaking.attributes
    assert attributes is not None
    value = attributes.get(name, KEPT)
    if value is not KEPT:
        return value
    if name in attributes or name in _own(socket) or name == "__dict__":
        attempt.abandon(f"it uses {name} of {_named(socket)}, and that cannot travel")
    return get(socket, name)


def adopt(socket: WebSocketHandler) -> bool:
    """Make a handler a reference, if that is possible; on the loop thread."""
    if not is_reference(socket):
        kind = _reference_to(type(socket))
        if kind is None:
            return False
        _number_of(socket)
        object.__setattr__(socket, "__class__", kind)
    return True


def _adopt_shared(socket: WebSocketHandler) -> bool:
    """Make a handler a reference that a container holds, if that is possible."""
    if not adopt(socket):
        return False
    _own(socket)[_SHARED] = True
    return True


def _number_of(socket: WebSocketHandler) -> int:
    own = _own(socket)
    number: int | None = own.get(_NUMBER)
    if number is None:
        number = own[_NUMBER] = next(_numbers)
        _sockets[number] = socket
    return number


def _numbered(number: int, kind: type[WebSocketHandler]) -> WebSocketHandler:
    """Return the handler of that number; one that is closed, where there is none."""
    socket = _sockets.get(number)
    if socket is None:
        reference = _reference_to(kind)
        assert reference is not None  # as where it comes from
        made: Any = object.__new__(reference)
        _own(made).update(ws_connection=None, close_code=None, close_reason=None)
        _own(made)[_NUMBER] = number
        socket = _sockets[number] = made
    _own(socket)[_SHARED] = True  # what travels may be in a container
    return cast("WebSocketHandler", socket)


# What waits for the commit

_stock_write_message = WebSocketHandler.write_message
_stock_close = WebSocketHandler.close
_stock_ping = WebSocketHandler.ping

_STOCK: dict[str, Callable[..., Any]] = {
    "write_message": _stock_write_message,
    "close": _stock_close,
    "ping": _stock_ping,
}


@functools.wraps(_stock_write_message)
def _write_message(
    self: WebSocketHandler,
    message: str | bytes | dict[str, Any],
    binary: bool = False,
) -> Future[None] | Recorded:
    attempt = running.attempt
    if attempt is None:
        return _stock_write_message(self, message, binary)
    _check_open(self)
    if isinstance(message, dict):
        message = json_encode(message)
    utf8(message)  # what is none raises here
    _send_later(attempt, self, "write_message", message, bool(binary))
    return RECORDED


@functools.wraps(_stock_close)
def _close(
    self: WebSocketHandler, code: int | None = None, reason: str | None = None
) -> None:
    attempt = running.attempt
    if attempt is None:
        _stock_close(self, code, reason)
    else:
        _send_later(attempt, self, "close", code, reason)


@functools.wraps(_stock_ping)
def _ping(self: WebSocketHandler, data: str | bytes = b"") -> None:
    attempt = running.attempt
    if attempt is None:
        _stock_ping(self, data)
    else:
        _check_open(self)
        _send_later(attempt, self, "ping", utf8(data))


def _check_open(socket: WebSocketHandler) -> None:
    """Raise as in stock if its client has left; elsewhere `_too_late` finds that out.

    One that a container holds and that only begins to close takes messages still, to no
    effect. Else a transaction would fail for a client that leaves beside it.
    """
    if _away() is None:
        connection = socket.ws_connection
        if connection is None or (
            _SHARED not in _own(socket) and connection.is_closing()
        ):
            raise WebSocketClosedError


def _too_late(sends: list[tuple[Any, ...]]) -> str | None:
    """Tell that a message is for a client that left before the commit."""
    for number, name, *_ in sends:
        socket = _sockets.get(number)
        if name != "close" and (socket is None or socket.ws_connection is None):
            return "it writes to a WebSocket whose client has left"
    return None


def _send_later(
    attempt: Attempt, socket: WebSocketHandler, name: str, *args: object
) -> None:
    number = _own(socket).get(_NUMBER)
    if number is None:
        if _away() is not None:
            attempt.abandon(f"it uses {_named(socket)}")
        number = _number_of(socket)
    effects = attempt.effects
    send = (number, name, *args)
    # What goes to many travels at once; but `or_else` takes back whole effects.
    if effects and effects[-1].function is send_all and not attempt.alternatives:
        effects[-1].args[0].append(send)  # type: ignore[attr-defined] # the list below
        return
    frame = sys._getframe(2)
    origin = f'File "{frame.f_code.co_filename}", line {frame.f_lineno}'
    effects.append(Effect(send_all, ([send],), {}, origin))


def send_all(sends: list[tuple[Any, ...]]) -> None:
    """Do what transactions have asked of WebSockets, in order; an effect.

    A client that has left since the commit gets nothing, and no code is told: the
    transaction is over.
    """
    for number, name, *args in sends:
        socket = _sockets.get(number)
        if socket is None:
            continue
        try:
            result = _STOCK[name](socket, *args)
        except WebSocketClosedError:
            continue
        except Exception:  # others are sent what is for them
            _log.exception("%s of %s failed", name, type(socket).__qualname__)
            continue
        if result is not None:
            result.add_done_callback(_forget)


def _forget(future: Future[None]) -> None:
    """Retrieve its exception, so that asyncio does not complain of it."""
    if not future.cancelled():
        future.exception()


def let_sockets_wait() -> None:
    """Have transactions write to WebSockets when they commit."""
    register_reference(WebSocketHandler, _adopt_shared)
    check_before_commit(send_all, _too_late)
    patch(WebSocketHandler, "write_message", _write_message)
    patch(WebSocketHandler, "close", _close)
    patch(WebSocketHandler, "ping", _ping)

"""Messages of marked WebSockets as transactions.

`on_message` runs where the dispatcher has it run, one message of a connection after
another: Tornado reads the next one when the future that it is given here is done. On
the loop thread it runs on the handler. Elsewhere it has a reference to it
(`txloop.web.sockets`), and of its attributes those that cannot change: a `TDict` has
them, so that a replica follows, and a change of one that was read is a conflict like
any other. An attempt that asks for another attribute, or sets one, is given up.
"""

from __future__ import annotations

import functools
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tornado import gen
from tornado.concurrent import chain_future
from tornado.ioloop import IOLoop
from tornado.websocket import WebSocketHandler, WebSocketProtocol, WebSocketProtocol13

from txloop.cells.shareable import container_for, shareable
from txloop.cells.tdict import TDict
from txloop.engine.calls import resolve
from txloop.errors import TxValueError
from txloop.loop.ioloop import TransactionLoop
from txloop.loop.patches import patch
from txloop.stm.attempt import current, make_current
from txloop.stm.held import is_held_kind, is_reference
from txloop.stm.types import Call
from txloop.watch import ROOTS_OF
from txloop.web.eligible import ON_MESSAGE, Plan, plan_for
from txloop.web.recorder import RECORDED
from txloop.web.sockets import KEPT, NOTE, adopt, speaking
from txloop.web.targets import Target, register_all, target_of, targets_of
from txloop.web.verdicts import held_because, judge_all
from txloop.web.watched import notice_handlers, roots_of_verb

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping

    from txloop.engine.profile import Profile
    from txloop.watch import Roots

__all__ = ["run_message", "take_messages_over"]

_SPEAKER = "_txloop_speaker"


class _Speaker:
    """What is known of a handler whose messages are transactions; the loop thread's.

    Attributes:
        number: That of the transaction under way; 0 if none has to wait.
        end: Ends its message for the connection.
        attributes: Those of the handler that may be known elsewhere.
    """

    def __init__(self, socket: WebSocketHandler, loop: TransactionLoop) -> None:
        adopt(socket)
        self.loop = loop
        self.number = 0
        self.end: Callable[[], object] = _nothing
        connection: Any = socket.ws_connection
        stop = functools.partial(self.leave, connection.on_connection_close)
        connection.stream.set_close_callback(stop)
        own = vars(socket)
        self.attributes: TDict[str, object] = TDict(
            {name: _known(value) for name, value in own.items()}
        )
        # Both are hidden from the program, and refer to nothing that refers to them.
        own[_SPEAKER] = self
        own[NOTE] = functools.partial(_note, self.attributes)

    def leave(self, close: Callable[[], object]) -> None:
        """Drop the transaction if it waits for a change: the client has left."""
        close()
        if self.number and not self.loop.dispatcher.is_over():
            self.loop.dispatcher.leave(self.number, self.end)


def _nothing() -> None:
    pass


def _note(attributes: TDict[str, object], own: Mapping[str, object], name: str) -> None:
    """Let replicas know an attribute that was set on the loop thread."""
    attempt = current()
    make_current(None)  # as the attribute, it stays even if that fails
    try:
        if name in own:
            attributes[name] = _known(own[name])
        else:
            attributes.pop(name, None)
    finally:
        make_current(attempt)


def _known(value: Any) -> object:
    """Return an attribute's value if it cannot change and may travel, else `KEPT`."""
    if container_for(type(value)) is not None:
        return KEPT
    if is_held_kind(value) and not is_reference(value):
        return KEPT
    try:
        return value if shareable(value) is value else KEPT
    except TxValueError:
        return KEPT


class _Message:
    """One message; `txloop.stm.types.Ready` to run."""

    args: tuple[()] = ()
    kwargs: Mapping[str, object] = MappingProxyType({})

    def __init__(
        self,
        socket: WebSocketHandler,
        message: str | bytes,
        plan: Plan,
        speaker: _Speaker,
    ) -> None:
        options = speaker.loop.options
        self.ordered = options.order == "arrival"
        self.commits_on = plan.mark.commits_on
        self.timeout_seconds = plan.mark.timeout_seconds(options.timeout)
        self._socket = socket
        self._message = message
        self._plan = plan
        self._speaker = speaker

    def function(self) -> object:
        """Run `on_message` here and now; called inside an attempt."""
        return _awaited(self._socket.on_message(self._message))

    def call(self) -> Call:
        """Return what runs later, or elsewhere."""
        plan, socket = self._plan, self._socket
        target = _target_of(socket)
        attributes = self._speaker.attributes
        return Call(
            run_message,
            (target, socket, attributes, self._message),
            {},
            plan.label,
            self.ordered,
            self.commits_on,
            timeout_seconds=self.timeout_seconds,
            watched=not plan.mark.trust,
            guarded=not plan.mark.vouched,
        )

    def is_wanted(self) -> bool:
        """Return True: as in stock Tornado, it runs though its client has left."""
        return True

    def goes_on(self, number: int) -> None:
        """Remember the transaction, which has not ended at once."""
        self._speaker.number = number


def _awaited(result: object) -> object:
    """Return what is to be awaited after the commit, if anything."""
    return None if result is RECORDED else result


def run_message(
    target: Target,
    socket: WebSocketHandler,
    attributes: TDict[str, object],
    message: str | bytes,
) -> object:
    """Run `on_message` of a reference; called inside an attempt.

    Args:
        target: Where the connection's first request went.
        socket: The handler, or what stands for it.
        attributes: Those of its attributes that may be known here.
        message: The message.
    """
    attempt = current()
    known = _Attributes(target, attributes)
    with speaking(socket, known):
        result = _awaited(socket.on_message(message))
    if result is not None and attempt is not None and attempt.speculative:
        attempt.abandon("it waits for something")
    return result


class _Attributes(dict[str, Any]):
    """The attributes of a reference, with what all handlers of its kind have."""

    def __init__(self, target: Target, attributes: TDict[str, object]) -> None:
        super().__init__(application=target.application)
        self._attributes = attributes

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self._attributes

    def get(self, name: str, default: Any = None) -> Any:
        if super().__contains__(name):
            return self[name]
        return self._attributes.get(name, default)


def _roots(target: Target, *_: object) -> Roots:
    return roots_of_verb(target, ON_MESSAGE)


setattr(run_message, ROOTS_OF, _roots)


def _target_of(socket: WebSocketHandler) -> Target:
    kind = socket.__class__
    for again in (False, True):
        if again:
            register_all()
        for target in targets_of(kind):
            if target.application is socket.application:
                return target
    return target_of(socket.application, kind, {})


def _begin(
    loop: TransactionLoop, socket: WebSocketHandler, plan: Plan, message: str | bytes
) -> asyncio.Future[None]:
    """Have a message run as a transaction; return the future of its end."""
    kind, dispatcher = socket.__class__, loop.dispatcher
    if dispatcher.executor.parallel:
        notice_handlers()
        judge_all(socket.application, loop.asyncio_loop)
    speaker = vars(socket).get(_SPEAKER) or _Speaker(socket, loop)
    ready = _Message(socket, message, plan, speaker)
    profile = _profile_of(loop, kind, plan, socket)
    future: asyncio.Future[None] = loop.asyncio_loop.create_future()
    speaker.end = functools.partial(resolve, future, None, None)
    done = functools.partial(_done, future, speaker)
    if ready.ordered:
        dispatcher.submit_ready(ready, profile, done, ordered=True)
    else:
        dispatcher.ask(ready, profile, done)
    return future


def _profile_of(
    loop: TransactionLoop,
    kind: type[WebSocketHandler],
    plan: Plan,
    socket: WebSocketHandler,
) -> Profile:
    key = kind, ON_MESSAGE
    profiles = loop.dispatcher.profiles
    return profiles.known(key) or profiles.find(
        key, plan.label, lambda: held_because(kind, ON_MESSAGE, socket.application)
    )


def _done(
    future: asyncio.Future[None],
    speaker: _Speaker,
    result: Any,
    error: BaseException | None,
) -> None:
    """Let the connection go on, or fail as in stock Tornado."""
    speaker.number = 0
    if error is None and result is not None:
        try:
            chain_future(gen.convert_yielded(result), future)
        except gen.BadYieldError as bad:
            error = bad
        else:
            return
    resolve(future, None, error)


def _run_callback(
    self: WebSocketProtocol13, callback: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    socket = self.handler
    if isinstance(socket, WebSocketHandler) and callback == socket.on_message:
        plan = plan_for(socket.__class__, ON_MESSAGE)
        loop = IOLoop.current(instance=False)
        if plan is not None and isinstance(loop, TransactionLoop):
            begin = functools.partial(_begin, loop, socket, plan)
            return _stock_run_callback(self, begin, *args, **kwargs)
    return WebSocketProtocol._run_callback(self, callback, *args, **kwargs)


_stock_run_callback = WebSocketProtocol._run_callback


def take_messages_over() -> None:
    """Let messages of marked handlers become transactions; inert on a stock loop."""
    patch(WebSocketProtocol13, "_run_callback", _run_callback)

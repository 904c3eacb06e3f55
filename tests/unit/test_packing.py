"""Calls and outcomes as bytes: plain data where possible, and the same either way."""

from __future__ import annotations

import contextvars
import dataclasses
import pickle
import socket
from typing import Any

import pytest
from tornado.httpserver import _HTTPRequestContext
from tornado.httputil import (
    HTTPConnection,
    HTTPFile,
    HTTPHeaders,
    HTTPServerRequest,
    RequestStartLine,
    ResponseStartLine,
)
from tornado.web import Application, Finish, RequestHandler

from txloop import TVar
from txloop.executors.codec.contexts import Base
from txloop.executors.codec.frames import GarbledError
from txloop.executors.codec.packing import (
    pack_call,
    pack_outcome,
    pack_plain,
    unpack_answer,
    unpack_call,
    unpack_plain,
)
from txloop.stm.types import Call, Effect, Outcome
from txloop.web.frozen import FrozenRequest
from txloop.web.leftovers import revived
from txloop.web.recorder import Recorder
from txloop.web.request_attempt import Response, run_request
from txloop.web.targets import target_of

PICKLE = b"\x80"

BASE = Base()

VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("VARIABLE")


class Handler(RequestHandler):
    pass


class Address(str):
    __slots__ = ()


class OwnHeaders(HTTPHeaders):
    pass


class Connection(HTTPConnection):
    """Has what a request looks at."""

    def __init__(self):
        client = _HTTPRequestContext.__new__(_HTTPRequestContext)
        client.address = ("127.0.0.1", 4000)
        client.address_family = socket.AF_INET
        client.remote_ip = client._orig_remote_ip = "127.0.0.1"
        client.protocol = client._orig_protocol = "http"
        client.trusted_downstream = {"10.0.0.1"}
        self.context = client

    def set_close_callback(self, callback):
        pass


@pytest.fixture
def application():
    return Application([("/(.*)", Handler)])


@pytest.fixture
def request_():
    """Return a request as Tornado makes it."""
    headers = HTTPHeaders({"Host": "example.org", "Accept": "*/*"})
    headers.add("Accept", "text/html")
    line = RequestStartLine("POST", "/a?x=1&x=2", "HTTP/1.1")
    request = HTTPServerRequest(
        start_line=line, headers=headers, connection=Connection()
    )
    request.body = b"\x00\xff"
    request.body_arguments = {"y": [b"3"]}
    return request


def call_of(application, request, *, commits_on=(), args=(b"a", None)):
    """Return the call of a request."""
    frozen = FrozenRequest(request)
    target = target_of(application, Handler, {})
    arguments = (target, frozen, args, (("name", b"b"),), commits_on, False)
    return Call(run_request, arguments, {}, "label", True, waited_seconds=1.5)


def frozen_in(call: Call) -> Any:
    """Return the request that travels in a call."""
    return call.args[1]


def known_of_client(context):
    """Return what can be read of a request's client anywhere."""
    names = "address", "address_family", "remote_ip", "protocol"
    return {name: getattr(context, name) for name in names}


def seen(call):
    """Return what a handler can see of a call's request, and the rest of the call."""
    target, frozen, *others = call.args
    request = frozen._request
    client = known_of_client(request.connection.context)
    attributes = {
        name: value
        for name, value in vars(request).items()
        if name not in ("connection", "server_connection")
    }
    attributes["headers"] = vars(request.headers)
    kinds = [type(value) for value in (*attributes.values(), *client.values())]
    rest = call.function, call.kwargs, call.ordered, call.waited_seconds, call.traced
    return target, attributes, dict(client), kinds, others, rest


def test_a_request_travels_as_plain_data(application, request_):
    call = call_of(application, request_)

    packed = pack_call(call, 3, BASE)
    arrived, place = unpack_call(packed, BASE)

    assert not packed.startswith(PICKLE)
    assert 3 == place
    assert arrived.traced
    target, attributes, client, kinds, *others = seen(arrived)
    copied = pickle.loads(pickle.dumps(call.args))
    expected = seen(dataclasses.replace(call, args=copied))
    assert expected[:4] == (target, attributes, client, kinds)
    assert [(b"a", None), (("name", b"b"),), (), False] == others[0]
    assert socket.AF_INET is client["address_family"]
    assert ["*/*", "text/html"] == frozen_in(arrived)._request.headers.get_list(
        "Accept"
    )


def test_a_request_that_arrived_can_be_changed_alone(application, request_):
    packed = pack_call(call_of(application, request_), 0, BASE)

    one, _ = unpack_call(packed, BASE)
    another, _ = unpack_call(packed, BASE)
    frozen_in(one)._request.arguments["x"].append(b"more")
    frozen_in(one)._request.headers["Accept"] = "changed"

    assert [b"1", b"2"] == frozen_in(another)._request.arguments["x"]
    assert "*/*,text/html" == frozen_in(another)._request.headers["Accept"]
    assert "*/*,text/html" == request_.headers["Accept"]


def attach(request):
    request.user = "me"


def upload(request):
    request.files = {"f": [HTTPFile(filename="n", body=b"b", content_type="t")]}


def subclass_text(request):
    request.remote_ip = Address("::1")


def subclass_headers(request):
    request.headers = OwnHeaders(request.headers)


def forget(request):
    del request.body


@pytest.mark.parametrize(
    "change",
    [attach, upload, subclass_text, subclass_headers, forget],
)
def test_a_request_with_more_in_it_is_pickled(application, request_, change):
    change(request_)
    call = call_of(application, request_)

    packed = pack_call(call, 0, BASE)
    arrived, _ = unpack_call(packed, BASE)

    assert packed.startswith(PICKLE)
    copied = pickle.loads(pickle.dumps(call.args))
    expected = seen(dataclasses.replace(call, args=copied))
    # A header's object comes back as another; its class was compared with the rest.
    assert expected[:4] == seen(arrived)[:4]


def replace_client(request):
    request.connection.context = Address("another")


def extend_client(request):
    request.connection.context.certificate = {1}


@pytest.mark.parametrize("change", [replace_client, extend_client])
def test_what_a_program_has_put_on_a_connection_does_not_travel(
    application, request_, change
):
    change(request_)

    packed = pack_call(call_of(application, request_), 0, BASE)
    arrived, _ = unpack_call(packed, BASE)

    assert not packed.startswith(PICKLE)
    client = frozen_in(arrived)._request.connection.context
    with pytest.raises(TypeError, match="on the loop thread only"):
        client.certificate  # noqa: B018 # it is asked for


def test_context_variables_travel_beside_a_request(application, request_):
    context = contextvars.Context()
    context.run(VARIABLE.set, "value")
    call = context.run(call_of, application, request_)

    packed = pack_call(call, 0, BASE)
    arrived, _ = unpack_call(packed, BASE)

    assert not packed.startswith(PICKLE)
    assert {VARIABLE: "value"} == dict(arrived.context)


@pytest.mark.parametrize(
    "changes", [{"commits_on": (Finish,)}, {"args": (Address("a"),)}]
)
def test_a_call_with_more_in_it_is_pickled(application, request_, changes):
    packed = pack_call(call_of(application, request_, **changes), 0, BASE)
    arrived, _ = unpack_call(packed, BASE)

    assert packed.startswith(PICKLE)
    assert arrived.args[2] == changes.get("args", (b"a", None))
    assert arrived.args[4] == changes.get("commits_on", ())


def test_any_other_call_is_pickled():
    call = Call(max, (1, 2), {"key": abs}, commits_on=(KeyError,))

    packed = pack_call(call, 0, BASE)

    assert packed.startswith(PICKLE)
    assert (call, 0) == unpack_call(packed, BASE)


# Outcomes


def response(chunk=b"body"):
    recorder = Recorder("GET", None)
    headers = HTTPHeaders({"A": "1"})
    headers.add("A", "2")
    recorder.write_headers(ResponseStartLine("HTTP/1.1", 201, "Made"), headers, chunk)
    recorder.finish()
    return Response(recorder, None)


def told(made):
    """Return what a response tells, and of which classes it is."""
    recorder = made.recorder
    operations = [
        (name, [vars(one) if isinstance(one, HTTPHeaders) else one for one in found])
        for name, found in recorder.operations
    ]
    kinds = [[type(one) for one in found] for _, found in recorder.operations]
    return operations, kinds, recorder.finished, recorder.status_code, made.handler


@pytest.mark.parametrize("value", [None, 1, "text", b"bytes", 1.5, False], ids=repr)
def test_scalars_travel_as_plain_data(value):
    outcome = Outcome(7, value, body_seconds=0.25, error_answered=True)

    packed = pack_outcome(outcome)

    assert not packed.startswith(PICKLE)
    assert outcome == unpack_answer(packed)


@pytest.mark.parametrize("value", [Address("a"), (1,), [1], {1}, 1j], ids=repr)
def test_other_values_are_pickled(value):
    outcome = Outcome(7, value)

    packed = pack_outcome(outcome)

    assert packed.startswith(PICKLE)
    assert outcome == unpack_answer(packed)
    assert type(value) is type(unpack_answer(packed).value)


def test_what_was_read_and_written_travels_beside_a_plain_value():
    variable = TVar(0)
    outcome = Outcome(
        3,
        "value",
        values=frozenset({(1, "a")}),
        presences=frozenset({(2, "b")}),
        writes=((variable, "key", 5),),
        effects=(Effect(print, (1,), {}, "here"),),
        body_seconds=0.5,
    )

    packed = pack_outcome(outcome)

    assert not packed.startswith(PICKLE)
    arrived = unpack_answer(packed)
    assert (outcome.values, outcome.presences) == (arrived.values, arrived.presences)
    assert outcome.effects == arrived.effects
    [(container, key, new)] = arrived.writes
    assert (variable._tx_number, "key", 5) == (container._tx_number, key, new)


def test_an_error_is_pickled():
    packed = pack_outcome(Outcome(1, None, ValueError("no")))

    assert packed.startswith(PICKLE)
    assert "no" == str(unpack_answer(packed).error)


def test_a_response_travels_as_plain_data():
    outcome = Outcome(1, response())

    packed = pack_outcome(outcome)

    assert not packed.startswith(PICKLE)
    assert told(outcome.value) == told(unpack_answer(packed).value)


def test_a_response_whose_headers_were_refused_is_pickled():
    recorder = Recorder("GET", None)
    with pytest.raises(ValueError, match="Illegal characters"):
        recorder.write_headers(
            ResponseStartLine("HTTP/1.1", 200, "O\nK"), HTTPHeaders(), b""
        )
    outcome = Outcome(1, Response(recorder, None))

    packed = pack_outcome(outcome)

    assert packed.startswith(PICKLE)
    assert told(outcome.value) == told(unpack_answer(packed).value)


def test_a_response_whose_handler_is_looked_at_is_pickled(application, request_):
    made = response()
    made.handler = Handler(application, request_)
    made.context = contextvars.Context()
    made.target = target_of(application, Handler, {})
    made.before = FrozenRequest(request_).before(), contextvars.Context()
    made.handler.extra = "kept"

    packed = pack_outcome(Outcome(1, made))

    assert packed.startswith(PICKLE)
    leftovers = unpack_answer(packed).value.leftovers
    assert "kept" == revived(made.target, request_, 200, leftovers).extra  # type: ignore[attr-defined] # see above


@pytest.mark.parametrize(
    "body",
    [b"", b"?", b")\x00", b"\xa9\x01N", pack_outcome(Outcome(1, "text"))[:-3]],
    ids=repr,
)
def test_what_was_cut_or_spoiled_is_garbled(body):
    with pytest.raises(GarbledError, match=r"does not unmarshal|is no answer"):
        unpack_answer(body)


def test_what_marshal_refuses_is_pickled():
    packed = pack_plain((range(3),))

    assert packed.startswith(PICKLE)
    assert (range(3),) == unpack_plain(packed)


def test_a_response_pickles_without_what_goes_by_value():
    """As part of an outcome with the lines that were run, of which nothing is plain."""
    response = Response(Recorder("GET", None), None)

    pickle.loads(pickle.dumps(response))

"""The private names of Tornado on which requests rely, and what is relied upon.

What is private in a module of Tornado's is imported from here only; attributes are used
where they are needed, and listed here. `txloop.loop.tornado_private` has those of loops
and connections.

On single handler objects `_log`, `on_finish`, `_break_cycles`, the verb and
`_handle_request_exception` are replaced for the time of an attempt, and on a stream
`read_from_fd`: Tornado must look all of them up on the object.
"""

from __future__ import annotations

from tornado import httpserver, locale, web
from tornado.http1connection import (
    HTTP1Connection,
    HTTP1ConnectionParameters,
    HTTP1ServerConnection,
)
from tornado.httpserver import _HTTPRequestContext as HTTPRequestContext
from tornado.httputil import HTTPServerRequest
from tornado.iostream import BaseIOStream
from tornado.locale import Locale
from tornado.options import OptionParser
from tornado.template import Loader
from tornado.web import RequestHandler
from tornado.web import _HandlerDelegate as HandlerDelegate
from tornado.web import _has_stream_request_body as has_stream_request_body
from tornado.web import _UIModuleNamespace as UIModuleNamespace

from txloop.loop.tornado_private import Private, of_objects

__all__ = [
    "PRIVATE",
    "HTTPRequestContext",
    "HandlerDelegate",
    "UIModuleNamespace",
    "has_stream_request_body",
]


PRIVATE: tuple[Private, ...] = (
    # What serves a request, and makes the handler.
    Private(web, "_HandlerDelegate", "the class of what `Application` returns"),
    Private(
        HandlerDelegate,
        "__init__",
        "all that the request's route has found",
        "self, application, request, handler_class, handler_kwargs, "
        "path_args, path_kwargs",
    ),
    Private(HandlerDelegate, "execute", "called when the body is there", "self"),
    *(
        of_objects(HandlerDelegate, name, "as the constructor was given it")
        for name in ("handler_class", "handler_kwargs", "path_args", "path_kwargs")
    ),
    of_objects(HandlerDelegate, "connection", "where the answer goes"),
    Private(web, "_has_stream_request_body", "of a handler's class", "cls"),
    # A handler's run.
    Private(
        RequestHandler,
        "_execute",
        "prepare, the verb, finish and errors; with no await of its own",
        "self, transforms, *args, **kwargs",
    ),
    Private(RequestHandler, "_log", "`finish` calls it once, at its end", "self"),
    Private(RequestHandler, "_request_summary", "what `_log` says of it", "self"),
    Private(RequestHandler, "_break_cycles", "`finish` calls it last", "self"),
    Private(
        RequestHandler,
        "_handle_request_exception",
        "`_execute` calls it with whatever was raised",
        "self, e",
    ),
    Private(
        RequestHandler,
        "_unimplemented_method",
        "the verbs that a class does not have",
        "self, *args, **kwargs",
    ),
    of_objects(RequestHandler, "_auto_finish", "whether `_execute` calls `finish`"),
    of_objects(RequestHandler, "_finished", "True from `finish` on"),
    of_objects(RequestHandler, "_headers", "the answer's"),
    of_objects(RequestHandler, "_new_cookie", "only if one was set"),
    of_objects(RequestHandler, "_reason", "the answer's"),
    Private(
        RequestHandler,
        "_clear_representation_headers",
        "`finish` calls it where there is no body",
        "self",
    ),
    of_objects(RequestHandler, "_headers_written", "True from `flush` on"),
    of_objects(RequestHandler, "_status_code", "the answer's"),
    of_objects(RequestHandler, "_transforms", "encode the answer; a list"),
    # What a handler has when it has answered.
    of_objects(RequestHandler, "_active_modules", "only while templates are rendered"),
    of_objects(RequestHandler, "_prepared_future", "only for streamed bodies"),
    of_objects(RequestHandler, "_write_buffer", "empty by then"),
    of_objects(RequestHandler, "_tt_modules", "a key of `ui`: the same as `modules`"),
    Private(RequestHandler, "_ui_method", "makes one of a function", "self, method"),
    Private(web, "_UIModuleNamespace", "the class of `ui.modules`"),
    Private(
        UIModuleNamespace, "__init__", "made for a handler", "self, handler, ui_modules"
    ),
    Private(Locale, "_cache", "the locales by code, of which `get` makes one each"),
    # Templates in debug mode.
    Private(RequestHandler, "_template_loaders", "by folder, filled by item"),
    Private(RequestHandler, "_template_loader_lock", "guards them"),
    Private(Loader, "_create_template", "reads one file, by name", "self, name"),
    # Requests.
    Private(HTTPServerRequest, "_parse_body", "sets the body's arguments", "self"),
    of_objects(HandlerDelegate, "_body_future", "it sets it on some requests"),
    of_objects(HTTPServerRequest, "_cookies", "set when `cookies` is asked for"),
    Private(httpserver, "_HTTPRequestContext", "the class of a connection's context"),
    *(
        of_objects(HTTPRequestContext, name, "what can be known of a client")
        for name in (
            *("address", "address_family", "remote_ip", "protocol"),
            *("_orig_remote_ip", "_orig_protocol"),
        )
    ),
    of_objects(httpserver.HTTPServer, "_connections", "those that it serves"),
    # A connection that moves to another process's server.
    of_objects(BaseIOStream, "_read_buffer", "a bytearray of what has been read"),
    Private(
        HTTP1Connection,
        "_parse_headers",
        "of a header block makes the start line, and the headers",
        "self, data",
    ),
    of_objects(HTTP1ServerConnection, "_serving_future", "set when it begins to serve"),
    # A connection that waits for a request.
    of_objects(HTTP1ServerConnection, "params", "those of each request's connection"),
    of_objects(
        HTTP1ConnectionParameters,
        "header_timeout",
        "None: there is no timer, and the read itself is awaited",
    ),
    # A connection's stream: the end of what a client sends.
    of_objects(BaseIOStream, "_state", "the events it listens to, None before that"),
    Private(
        BaseIOStream,
        "_maybe_add_error_listener",
        "has an idle stream find out that the client is gone",
        "self",
    ),
    # What goes along to a Dask worker.
    *(
        Private(locale, name, "what `tornado.locale` was set to")
        for name in (
            *("_default_locale", "_translations"),
            *("_supported_locales", "_use_gettext"),
        )
    ),
    of_objects(OptionParser, "_options", "the options by name"),
)

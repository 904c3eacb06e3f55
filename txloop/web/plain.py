"""Requests and responses as plain data, which travels faster than objects do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tornado.httputil import HTTPHeaders, ResponseStartLine

from txloop.executors.codec.plain_forms import Form, is_plain, register_form
from txloop.web.frozen import thawed
from txloop.web.recorder import headers_with, recorded
from txloop.web.request_attempt import Response, arrived, run_request
from txloop.web.targets import target_numbered

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["register_forms"]

_COMMITS_ON: tuple[tuple[type[BaseException], ...], ...] = (), (Exception,)  # by bool


def register_forms() -> None:
    """Let requests and responses travel as plain data."""
    register_form(run_request, Form("request", _flat_request, _restored_request))
    register_form(Response, Form("response", _flat_response, _restored_response))


def _flat_request(arguments: Any) -> object:
    target, frozen, path_args, path_kwargs, commits_on, watched = arguments
    path = path_args, path_kwargs
    plain = frozen.flatten() if is_plain(path) and commits_on in _COMMITS_ON else None
    if plain is None:
        return None
    name, commits = target.handler_class.__qualname__, bool(commits_on)
    return target.number, name, plain, *path, commits, watched


def _restored_request(flat: Any) -> tuple[Callable[..., object], tuple[object, ...]]:
    number, name, plain, path_args, path_kwargs, commits, watched = flat
    target, path = target_numbered(number, name), (path_args, path_kwargs)
    return run_request, (target, thawed(plain), *path, _COMMITS_ON[commits], watched)


def _flat_response(response: Response) -> object:
    if response.before or response.leftovers or response.variables:
        return None  # more than the response travels: what the handler has left
    recorder = response.recorder
    flat = []
    for name, arguments in recorder.operations:
        if name == "write_headers":
            start_line, headers, chunk = arguments
            if type(headers) is not HTTPHeaders:
                return None
            arguments = tuple(start_line), vars(headers), chunk
        flat.append((name, arguments))
    plain = recorder.finished, recorder.status_code, flat
    return plain if is_plain(plain) else None


def _restored_response(plain: Any) -> Response:
    finished, status_code, flat = plain
    operations = []
    for name, arguments in flat:
        if name == "write_headers":
            start_line, attributes, chunk = arguments
            headers = headers_with(attributes)
            arguments = ResponseStartLine(*start_line), headers, chunk
        operations.append((name, arguments))
    return arrived(recorded(finished, status_code, operations), None, {})

"""Requests in other processes: as plain data, and what else goes along.

Requests and responses travel as plain data, faster than objects do. Where the program
is copied, but not by a fork, targets keep their numbers, so that requests travel as to
forked workers. Of Tornado's own modules, those go along that have state which programs
set up.
"""

from __future__ import annotations

import copyreg
from typing import TYPE_CHECKING, Any

from tornado import locale, options
from tornado.httputil import HTTPHeaders, ResponseStartLine
from tornado.options import OptionParser
from tornado.web import Application

from txloop.executors.carried import carry, reduce_carried
from txloop.executors.codec.plain_forms import Form, is_plain, register_form
from txloop.web.frozen import thawed
from txloop.web.recorder import headers_with, recorded
from txloop.web.request_attempt import Response, arrived, run_request
from txloop.web.targets import Target, all_targets, copied_target, target_numbered

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["carry_requests", "register_forms"]

_COMMITS_ON: tuple[tuple[type[BaseException], ...], ...] = (), (Exception,)  # by bool

_copies: list[Target] = []
"""Where the program was copied: what keeps its targets alive."""

_LOCALE = ("_default_locale", "_translations", "_supported_locales", "_use_gettext")


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


def carry_requests() -> None:
    """Have applications, translations and options go along."""
    reduce_carried(Target, _reduce_target)
    reduce_carried(Application, _reduce_application)
    reduce_carried(OptionParser, _reduce_options)
    carry("targets", all_targets, _copies.extend)
    carry("locale", _locale, vars(locale).update)
    carry("options", lambda: vars(options.options)["_options"], _set_options)


def _reduce_target(target: Target) -> tuple[Any, ...]:
    state = target.application, target.handler_class, target.handler_kwargs
    return copied_target, (target.number,), state, None, None, _fill


def _fill(target: Target, state: tuple[Any, Any, Any]) -> None:
    target.application, target.handler_class, target.handler_kwargs = state
    target.roots, target.proved = {}, set()


def _reduce_application(application: Application) -> tuple[Any, ...]:
    # A copy: the dict itself may be on its way already, still empty.
    state = dict(vars(application))
    return copyreg.__newobj__, (type(application),), state  # type: ignore[attr-defined] # typeshed lacks it


def _locale() -> dict[str, Any]:
    return {name: vars(locale)[name] for name in _LOCALE}


def _reduce_options(parser: OptionParser) -> tuple[Any, ...]:
    if parser is options.options:
        return _the_options, ()
    # Its `__getattr__` would ask itself for what it does not have yet.
    return OptionParser, (), dict(vars(parser)), None, None, _set_vars


def _the_options() -> OptionParser:
    return options.options


def _set_vars(thing: object, state: dict[str, Any]) -> None:
    vars(thing).update(state)


def _set_options(values: dict[str, Any]) -> None:
    vars(options.options)["_options"].update(values)

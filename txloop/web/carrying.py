"""What of requests goes along where a program is copied, but not by a fork.

Targets keep their numbers there, so that requests travel as to forked workers. Of
Tornado's own modules, those go along that have state which programs set up.
"""

from __future__ import annotations

import copyreg
from typing import Any

from tornado import locale, options
from tornado.options import OptionParser
from tornado.web import Application

from txloop.executors.carried import carry, reduce_carried
from txloop.web.targets import Target, all_targets, copied_target

__all__ = ["carry_requests"]

_copies: list[Target] = []
"""In such a copy: what keeps its targets alive."""

_LOCALE = ("_default_locale", "_translations", "_supported_locales", "_use_gettext")


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

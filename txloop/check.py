"""``python -m txloop check``: what of a program will run in parallel, and what not.

The program is imported, not run: what stands under ``if __name__ == "__main__"`` does
not happen, and an event loop that it starts at import is not started.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn
from unittest import mock

from tornado.platform.asyncio import BaseAsyncIOLoop
from tornado.web import RequestHandler

from txloop.functions import is_coroutine, name_of
from txloop.marks import mark_of
from txloop.scan import scan_function, scan_handler
from txloop.web.eligible import mark_for, why_not
from txloop.web.targets import register_all, targets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from txloop.scan import Finding

__all__ = ["Verdict", "check", "verdicts"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one verb or function will run.

    Attributes:
        name: The verb and its handler class, or the function.
        runs: ``"in parallel"``, ``"on the loop thread"`` or ``"as in stock Tornado"``.
        reasons: One line each: why not in parallel, and the line to change.
    """

    name: str
    runs: str
    reasons: tuple[str, ...]


class _LoopStarted(BaseException):
    """The program, while being imported, has come to where it would serve."""


def check(program: str, *, is_module: bool) -> int:
    """Print how each handler of a program will run.

    Args:
        program: A file or a module's name.
        is_module: Which of the two.

    Returns:
        0 if everything marked runs in parallel, 1 if not, 2 if there are no handlers.
    """
    module = _import_program(program, is_module=is_module)
    found = list(verdicts(module))
    if not found:
        print(f"txloop: {program} defines no request handlers", file=sys.stderr)
        return 2
    width = max(len(verdict.name) for verdict in found)
    for verdict in found:
        print(f"{verdict.name:{width}}  {verdict.runs}")
        for reason in verdict.reasons:
            print(f"{'':{width}}    {reason}")
    return int(any(verdict.runs == "on the loop thread" for verdict in found))


def verdicts(module: ModuleType | None) -> Iterator[Verdict]:
    """Judge every handler class that the program defines, and its marked functions."""
    register_all()
    for handler_class in _handler_classes(RequestHandler):
        for verb in sorted(RequestHandler.SUPPORTED_METHODS):
            if why_not(handler_class, verb) != "there is no such verb":
                yield _judge_verb(handler_class, verb)
    for function in vars(module).values() if module is not None else ():
        if inspect.isfunction(function) and mark_of(function) is not None:
            yield _judge_function(function)


def _judge_verb(handler_class: type[RequestHandler], verb: str) -> Verdict:
    name = f"{verb} {handler_class.__qualname__}"
    mark = mark_for(handler_class, verb)
    reason = why_not(handler_class, verb)
    if reason is not None:
        return Verdict(name, "as in stock Tornado", (reason,))
    if mark is None:
        advice = f"{_place(handler_class)}: mark it with @txloop.transactional"
        return Verdict(name, "as in stock Tornado", (advice,))
    if mark.trust:
        return Verdict(name, "in parallel", ())
    findings: dict[Finding, None] = {}
    for target in targets_of(handler_class):
        arguments, application = target.handler_kwargs, target.application
        found = scan_handler(handler_class, verb.lower(), arguments, application)
        findings.update(dict.fromkeys(found))
    if not targets_of(handler_class):  # its application is made when the program runs
        findings.update(dict.fromkeys(scan_handler(handler_class, verb.lower())))
    return _judge(name, tuple(findings))


def _judge_function(function: Callable[..., object]) -> Verdict:
    mark = mark_of(function)
    name = name_of(function)
    if is_coroutine(function):
        return Verdict(name, "as in stock Tornado", ("it is a coroutine",))
    if mark is not None and mark.trust:
        return Verdict(name, "in parallel", ())
    return _judge(name, scan_function(function))


def _judge(name: str, findings: tuple[Finding, ...]) -> Verdict:
    if not findings:
        return Verdict(name, "in parallel", ())
    reasons = tuple(finding.describe() for finding in findings)
    return Verdict(name, "on the loop thread", reasons)


def _place(handler_class: type) -> str:
    try:
        _, line = inspect.getsourcelines(handler_class)
        return f"{os.path.relpath(inspect.getfile(handler_class))}:{line}"
    except (OSError, TypeError):
        return handler_class.__module__


def _handler_classes(base: type[RequestHandler]) -> Iterator[type[RequestHandler]]:
    for handler_class in base.__subclasses__():
        if handler_class.__module__.partition(".")[0] not in ("tornado", "txloop"):
            yield handler_class
        yield from _handler_classes(handler_class)


def _import_program(program: str, *, is_module: bool) -> ModuleType | None:
    def stop(*arguments: object, **_: object) -> NoReturn:
        for argument in arguments:
            if inspect.iscoroutine(argument):
                argument.close()
        raise _LoopStarted

    with (
        mock.patch.multiple(asyncio, run=stop),
        mock.patch.multiple(BaseAsyncIOLoop, start=stop),
    ):
        try:
            if is_module:
                return importlib.import_module(program)
            name = os.path.splitext(os.path.basename(program))[0]
            spec = importlib.util.spec_from_file_location(name, program)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            spec.loader.exec_module(module)
        except _LoopStarted:
            return sys.modules.get(program if is_module else name)
    return module

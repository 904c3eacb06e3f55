"""The questions that the scan answers."""

from __future__ import annotations

import ast
import logging
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import FunctionType, MappingProxyType, MethodType
from typing import TYPE_CHECKING

from txloop.scan.access import ANY_CLASS, Act, Patch, patches_among
from txloop.scan.calls import call
from txloop.scan.finding import (
    SETTLE,
    TRUST_READ,
    TRUST_WRITE,
    VOUCH,
    Finding,
    FindingKind,
    advice,
    condition,
    short_path,
)
from txloop.scan.index import Program, Served, keywords
from txloop.scan.kinds import remembering
from txloop.scan.live_objects import (
    UNKNOWN,
    class_attribute,
    class_label,
    functions_of,
    has_type,
    is_iterator,
    is_plain,
    module_label,
)
from txloop.scan.member import class_at
from txloop.scan.value import Arguments, Bound, Family, Instance, Live, shared
from txloop.scan.walk import Walk
from txloop.stm.origin import is_own_function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from txloop.scan.access import Access, Writes

_BEFORE = (
    *("__init__", "initialize", "set_default_headers", "prepare", "get_current_user"),
    *("get_user_locale", "get_browser_locale", "get_login_url"),
    *("get_template_namespace", "get_template_path", "check_xsrf_cookie"),
    "compute_etag",
)
"""Methods of a handler that may run in the transaction beside the verb."""

_AFTER = ("write_error", "log_exception")
"""Those that run when the verb raises."""

_LAST = ("get_status", "_request_summary", "_log", "on_finish")
"""Those that run after the answer, outside the transaction."""

_APART: Mapping[FindingKind, str] = MappingProxyType(
    {FindingKind.ACTS_OUTSIDE: VOUCH, FindingKind.NOT_FOLLOWED: SETTLE}
)
"""What is no finding about shared state, with what to do about it."""

_REPORT = "please report this mistake of txloop's"

_log = logging.getLogger("txloop")

_NO_ARGUMENTS: Mapping[str, object] = MappingProxyType({})

# The scan is asked through functions, and an index takes too long to build for each
# question. It is derived from the sources, so sharing it changes no answer.
_PROGRAM = Program()


def add_served(provider: Callable[[], Iterable[Served]]) -> None:
    """Have the scan look at handlers as they are mounted; call it at import.

    What they write of their arguments and of the application makes reads stale.
    """
    _PROGRAM.add_served(provider)


@contextmanager
def scan_once() -> Iterator[None]:
    """Look at the program's modules once only while a block scans many handlers.

    The block may run nothing of the program's, and handlers may not be mounted in it.
    """
    with _PROGRAM.standing(), remembering():
        yield


def has_scanned() -> bool:
    """Tell whether such a block has looked at the program, and at all its handlers."""
    return _PROGRAM.is_known


def assigned_late() -> set[tuple[str, str, int]]:
    """Return attributes that may be assigned when requests are served, and where.

    Each with a file and a line; "*" is any attribute. Constructors do not count.
    """
    return _PROGRAM.writes().late


def patches() -> tuple[Patch, ...]:
    """Return what the program sets in libraries when requests are served."""
    try:
        return tuple(patches_among(_PROGRAM.writes()))
    except Exception:
        _log.exception("the program's code could not be read; %s", _REPORT)
        return ()


def unless_it_fails(
    name: str, scan: Callable[[], tuple[Finding, ...]]
) -> tuple[Finding, ...]:
    """Return what a scan finds, or that it failed: a program must not end by that.

    Args:
        name: What messages call what is scanned.
        scan: One of the functions below, with its arguments.
    """
    try:
        return scan()
    except Exception as error:
        _log.exception("the code of %s could not be read; %s", name, _REPORT)
        mistake = Finding(FindingKind.NOT_READ, repr(error), "", 0, name, _REPORT)
        return (mistake,)


@remembering()
def scan_function(
    function: Callable[..., object],
    args: Sequence[object] = (),
    kwargs: Mapping[str, object] = _NO_ARGUMENTS,
) -> tuple[Finding, ...]:
    """Return what keeps a function from running as a transaction in a worker.

    Any callable will do: a function, a bound method, a partial, an object. Looks at
    code only, runs none of the program's. Call it on the loop thread.

    Args:
        function: What a transaction would call.
        args: Arguments like those of its calls. What the function changes of them is
            found, too, where they are given.
        kwargs: The same by keyword.

    Returns:
        The findings by file and line; none for a function without source.
    """
    writes = _PROGRAM.writes()
    walk = Walk(_PROGRAM.sources, writes.evidence)
    call(walk, _callee(function), _arguments(function, args, kwargs), ast.Pass())
    return _findings(walk, writes)


@remembering()
def scan_handler(
    handler: type,
    verb: str,
    arguments: Mapping[str, object] | None = None,
    application: object = None,
) -> tuple[Finding, ...]:
    """Return what may keep a verb of a handler from running in a worker.

    Scans the verb and the methods that Tornado calls around it, as far as they are
    defined in the program's own modules. Looks at code only, runs none of the
    program's. Call it on the loop thread.

    Args:
        handler: The class.
        verb: Its method, such as ``get``.
        arguments: What the handler is registered with, passed to ``initialize``.
            Without them what ``initialize`` keeps is taken for shareable.
        application: The application. Without it, what it holds is guessed from the
            source, and taken for shareable where that does not tell.

    Returns:
        The findings by file and line; after these, of other kinds, what changes the
        world outside the program, and what the scan could not follow.
    """
    writes = _PROGRAM.writes()
    app = UNKNOWN if application is None else application
    walk = Walk(_PROGRAM.sources, writes.evidence, app)
    instance = Instance(handler)
    named = keywords(arguments or _NO_ARGUMENTS)
    for name in (*_BEFORE, verb.lower(), *_AFTER):
        given = Arguments((), named if name == "initialize" else {})
        walk.call_method(instance, name, given)
    found = [*_findings(walk, writes)]
    for kind, remedy in _APART.items():
        found += dict.fromkeys(
            Finding(kind, one.name, one.file, one.line, one.function, remedy)
            for one in walk.notes.accesses
            if one.kind is kind and _matters(one, writes)
        )
    return tuple(found)


@remembering()
def is_quiet_after(
    handler: type, application: object, loggers: Iterable[Callable[..., object]]
) -> bool:
    """Tell whether all that follows an answer is seen to do nothing but log.

    Then that is right in any copy of the program, and in any thread. What the verb has
    left in the handler is unknown, and may be shared: it is not seen to be left alone
    if anything is done to it. Looks at code only. Call it on the loop thread.

    Args:
        handler: The class.
        application: The application.
        loggers: The program's functions that are given the handler for the access log.
    """
    writes = _PROGRAM.writes()
    instance = Instance(handler)
    walk = Walk(_PROGRAM.sources, writes.evidence, application)
    # What it asks the loop to call runs where this does.
    walk.everything = walk.only_reads = True
    methods = [class_attribute(handler, name, None) for name in _LAST]
    if not all(map(_is_followed, (*methods, *loggers))):
        return False
    for name in _LAST:
        walk.call_method(instance, name)
    for function in loggers:
        call(walk, _callee(function), Arguments((instance,), {}), ast.Pass())
    walk.finish()
    harmless = not any(_matters(one, writes) for one in walk.notes.accesses)
    return harmless and not walk.notes.containers


def _is_followed(function: object) -> bool:
    """Tell whether all that a callable runs is the program's, or Tornado's."""
    found = functions_of(function)
    return bool(found) and all(
        is_own_function(one) or one.__module__.partition(".")[0] == "tornado"
        for one in found
    )


def _matters(access: Access, writes: Writes) -> bool:
    """Tell whether an access may happen, and is no read of what nothing writes."""
    if not writes.may_happen(access):
        return False
    reads = access.act is Act.READ and bool(access.slots)
    return not reads or writes.writer_of(access) is not None


def _arguments(
    function: Callable[..., object],
    args: Sequence[object],
    kwargs: Mapping[str, object],
) -> Arguments:
    """Return the values of a call's arguments, called as the parameters are."""
    preset, bare = 0, function
    while has_type(bare, partial):
        preset, bare = preset + len(bare.args), bare.func
    names: tuple[str, ...] = ()
    for each in functions_of(bare):
        names = each.__code__.co_varnames[: each.__code__.co_argcount]
    preset += has_type(bare, MethodType)
    labels = [*names[preset:], *("args" for _ in args)]
    positional = (
        shared(one, label, Family.ARGUMENT)
        for one, label in zip(args, labels, strict=False)
    )
    named = {name: shared(one, name, Family.ARGUMENT) for name, one in kwargs.items()}
    return Arguments(tuple(positional), named)


def _callee(function: Callable[..., object]) -> Bound | Live:
    """Return a callable as a value."""
    return _as_method(function) or Live(function, _label(function), Family.GLOBAL)


def _label(function: Callable[..., object]) -> str:
    """Return what findings call what a callable holds."""
    for each in functions_of(function):
        return f"{module_label(each.__globals__)}.{each.__qualname__}"
    return type(function).__name__


def _as_method(function: Callable[..., object]) -> Bound | None:
    """Return the function bound to an instance, if it is a method of a class."""
    if not has_type(function, FunctionType) or function.__globals__ is None:
        return None  # of the latter kind are PyPy's own
    owner, _, name = function.__qualname__.rpartition(".")
    cls = class_at(function.__globals__, owner)
    if cls is None or has_type(cls.__dict__.get(name), staticmethod):
        return None
    return Bound(functions_of(function), Instance(cls))


def _findings(walk: Walk, writes: Writes) -> tuple[Finding, ...]:
    """Return what the walk saw and the index makes a finding, each once."""
    walk.finish()
    seen = (one for one in walk.notes.accesses if one.kind not in _APART)
    accesses = list(filter(writes.may_happen, seen))
    found = [
        _finding(access, walk.notes.kept)
        for access in accesses
        if access.act is not Act.READ and access.certain
    ]
    written = tuple(finding.name for finding in found)
    for access in accesses:
        writer = writes.writer_of(access) if access.act is Act.READ else None
        if writer is not None and access.slots[0][0] == ANY_CLASS:
            access = replace(access, name=writer.name)  # what is written, it may read
        # One finding says what to do about what is both written and read.
        known = access.name in written or any(
            name.startswith((f"{access.name}.", f"{access.name}[")) for name in written
        )
        if writer is not None and not known:
            found.append(_finding(access, walk.notes.kept, writer))
    unique = {(it.file, it.line, it.name, it.kind.name): it for it in reversed(found)}
    return tuple(unique[key] for key in sorted(unique))


def _finding(
    access: Access, kept: Mapping[str, set[type]], writer: Access | None = None
) -> Finding:
    """Return what is found; `writer` makes a read stale."""
    thing, name = access.thing, access.name
    classes = kept.get(name, ())
    advised = advice(thing, name, classes)
    written = ""
    if writer is None:
        remedy = f"{advised}, or {TRUST_WRITE}"
    else:
        place = f"{short_path(writer.file)}:{writer.line}"
        written = f"{place}: {writer.function}() writes it"
        remedy = f"{writer.function}() writes it at {place}: {advised}, or {TRUST_READ}"
    return Finding(
        access.kind,
        name,
        access.file,
        access.line,
        access.function,
        remedy,
        advised + condition(thing, classes),
        written,
        "" if thing is UNKNOWN else type(thing).__name__,
        id(thing) if is_plain(thing) or is_iterator(thing) else 0,
        tuple(sorted(map(class_label, classes))),
    )

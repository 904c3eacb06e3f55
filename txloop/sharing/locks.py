"""Locks of programs that have one thread, for which nothing ever waits.

A copy of a lock in a worker is of no use where another thread, or a coroutine that
waits meanwhile, may hold the lock. Where neither is possible, each lock is free
whenever something takes it, and an object without state does as much: a `FreeLock`.

A lock is such a one if each use of its name in the program is a ``with``, or takes it
right before a ``try`` that gives it back at the end, with nothing in between that
awaits or yields. What takes a lock twice waits for ever; that is not kept.
"""

from __future__ import annotations

import ast
import itertools
import sys
from typing import TYPE_CHECKING

from txloop.scan.known import IMPORTING, RUNNING
from txloop.scan.syntax import FUNCTIONS, bound_by, last_name
from txloop.sharing.lookups import why_by_name
from txloop.sharing.scopes import imports_in, names_of_standard, walked

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Set

    from txloop.sharing.texts import Text

__all__ = ["free_locks"]

_MAKERS = ("Lock", "RLock")

_HARMLESS = frozenset([*_MAKERS, "current_thread", "get_ident", "main_thread"])
"""What of `threading` runs nothing on another thread."""

_ELSEWHERE = (
    RUNNING
    | IMPORTING
    | {
        *("Executor", "Pool", "Process", "ProcessPoolExecutor", "QueueListener"),
        *("Thread", "ThreadPool", "ThreadPoolExecutor", "Timer", "run_in_executor"),
        *("run_in_thread", "run_on_executor", "start_new_thread", "to_thread"),
        *("asdict", "astuple", "deepcopy"),  # which refuse to copy a lock
    }
)
"""Names of what may run code on other threads, or see which kind of lock it is."""

_MODULES = frozenset(
    [
        *("_thread", "concurrent", "copyreg", "ctypes", "http.server", "marshal"),
        *("multiprocessing", "pickle", "runpy", "shelve", "socketserver", "xmlrpc"),
    ]
)
"""Modules of the standard library that do, too."""

_LIBRARIES = (sys.stdlib_module_names - _MODULES) | {"tornado", "txloop"}

_WAITING = (
    *(ast.AsyncFor, ast.AsyncWith, ast.Await, ast.Yield, ast.YieldFrom),
    ast.comprehension,  # `async for`, in one
)


def free_locks(texts: Collection[Text]) -> Iterator[tuple[Text, ast.Call]]:
    """Yield the calls that make locks for which nothing ever waits."""
    own = {text.package for text in texts}
    if not all(_has_one_thread(text.tree, own) for text in texts):
        return
    made: dict[str, list[tuple[Text, ast.Call]]] = {}
    known: set[int] = set()  # uses that do no more than a lock is for
    for text in texts:
        for target, call in _made_in(text.tree):
            made.setdefault(last_name(target), []).append((text, call))
            known.add(id(target))
        for node in walked(text.tree):
            known.update(map(id, _taken_by(node)))
    for text in texts:
        for node in walked(text.tree):
            for name in {*_names_in(node, own)} & made.keys():
                if id(node) not in known:
                    del made[name]
        for name in [*made]:
            if why_by_name(text, name):
                del made[name]
    yield from (one for calls in made.values() for one in calls)


def _has_one_thread(tree: ast.Module, own: Set[str]) -> bool:
    """Tell whether nothing in a module can have code run on another thread."""
    called: set[str] = set()  # what the module calls `threading`
    for one in imports_in(tree):
        package = one.module.partition(".")[0]
        if (package and package not in own | _LIBRARIES) or one.module in _MODULES:
            return False
        if one.name in _ELSEWHERE or f"{one.module}.{one.name}" in _MODULES:
            return False
        if one.home == "threading":
            if one.name not in {"", *_HARMLESS}:
                return False
            called |= {one.bound} - {one.name}
    used: set[int] = set()
    for node in walked(tree):
        if isinstance(node, ast.Attribute) and last_name(node.value) in called:
            if node.attr not in _HARMLESS:
                return False
            used.add(id(node.value))
    return not any(
        last_name(node) in _ELSEWHERE
        or (last_name(node) in called and id(node) not in used)
        for node in walked(tree)
    )


def _made_in(tree: ast.Module) -> Iterator[tuple[ast.expr, ast.Call]]:
    """Yield the variables and attributes that are given a new lock, with its maker."""
    makers = {
        name for one in _MAKERS for name in names_of_standard(tree, "threading", one)
    }
    for node in walked(tree):
        match node:
            case (
                ast.Assign(targets=[target], value=ast.Call() as call)
                | ast.AnnAssign(target=target, value=ast.Call() as call)
            ) if ast.unparse(call.func) in makers:
                if isinstance(target, ast.Name | ast.Attribute):
                    yield target, call


def _taken_by(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what may be a lock that a node takes and gives back, before all else."""
    if isinstance(node, ast.With) and not _waits(node.body):
        for item in node.items:
            if item.optional_vars is None:
                yield item.context_expr
    for field in ("body", "orelse", "finalbody"):
        lines = getattr(node, field, None)
        if isinstance(lines, list):
            for line, after in itertools.pairwise(lines):
                yield from _taken_for(line, after)


def _taken_for(line: ast.stmt, after: ast.stmt) -> list[ast.expr]:
    """Return the two names of a lock that a line takes, and a `try` gives back."""
    match line, after:
        case (
            ast.Expr(ast.Call(func=ast.Attribute(lock, "acquire"), args=[])),
            ast.Try(
                finalbody=[
                    ast.Expr(ast.Call(func=ast.Attribute(same, "release"), args=[])),
                    *_,
                ]
            ),
        ) if ast.unparse(lock) == ast.unparse(same) and not _waits([after]):
            return [lock, same]
    return []


def _waits(lines: Iterable[ast.stmt]) -> bool:
    """Tell whether anything else may run before lines have ended."""
    waiting: list[ast.AST] = [*lines]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _WAITING) and getattr(node, "is_async", True):
            return True
        if not isinstance(node, FUNCTIONS):
            waiting += ast.iter_child_nodes(node)
    return False


def _names_in(node: ast.AST, own: Collection[str]) -> Iterator[str]:
    """Yield the names that a node itself uses, or binds in any way.

    Under its own name, what the program's modules have may be imported.
    """
    yield last_name(node)
    match node:
        case ast.ImportFrom(module=module, level=level, names=names):
            is_own = level or (module or "").partition(".")[0] in own
            for one in names:
                if not (is_own and one.asname in (None, one.name)):
                    yield one.asname or one.name
        case _:
            yield from bound_by(node)
    match node:
        case ast.arg(arg=name) | ast.keyword(arg=str(name)):
            yield name
        case ast.MatchClass(kwd_attrs=attributes):
            yield from attributes

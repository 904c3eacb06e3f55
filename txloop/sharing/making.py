"""The plain objects of a program: where each was made, and which names lead to it.

That is noted while the program runs up to its loop. Every display, comprehension, call
and the like in its modules is put into a call of `_made`, which notes the place of the
first expression that has returned an object. So what a finding is about leads to the
text that made it, through any number of variables, arguments and attributes.

Strange are objects that are neither plain nor of the program's own classes: a
connection, a counter, a pool. Nothing of what they give was put there by the program.
Of a queue, or what else gives back what it was given, that cannot be said.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import functools
import itertools
import queue
from argparse import Namespace
from collections import (
    ChainMap,
    Counter,
    OrderedDict,
    UserDict,
    UserList,
    defaultdict,
    deque,
)
from contextvars import ContextVar
from types import AsyncGeneratorType, GeneratorType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

import tornado.queues
from tornado.web import Application

from txloop.scan.live_objects import has_type
from txloop.scan.source import own_modules
from txloop.sharing.hook import compile_with, compiled
from txloop.sharing.syntax import DISPLAYS
from txloop.stm.container import Container
from txloop.stm.origin import is_own_module, own_module_of
from txloop.web.targets import all_targets, applications

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import CodeType

__all__ = [
    "NOTED",
    "PLAIN",
    "Site",
    "names_of_plain",
    "note_what_is_made",
    "site_of",
    "strange_names",
]

PLAIN = (list, dict, set, deque, defaultdict, OrderedDict, Counter)
"""What containers stand for, and what is stored in one becomes one."""

NOTED = (*PLAIN, itertools.count)
"""What containers stand for."""

_MAKERS = (*DISPLAYS, ast.BinOp, ast.Call, ast.Subscript)
_NAME = "_txloop_made"
_MOST = 500_000


class Site(NamedTuple):
    """Where in the program an expression stands."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    @classmethod
    def of(cls, file: str, node: ast.AST) -> Site:
        """Return where a node of a file stands."""
        new: Any = node
        ends = new.end_lineno, new.end_col_offset
        return cls(file, new.lineno, new.col_offset, *ends)

    def is_in(self, other: Site) -> bool:
        """Tell whether it is a part of another expression, or is that."""
        return (
            self.file == other.file
            and self[1:3] >= other[1:3]
            and self[3:] <= other[3:]
        )


_sites: list[Site] = []
_made_at: dict[int, tuple[int, object]] = {}  # by id; the object is kept for that


def site_of(identity: int) -> Site | None:
    """Return where the plain object of that identity was made, or None."""
    found = _made_at.get(identity)
    return None if found is None else _sites[found[0]]


def note_what_is_made(sources: Mapping[str, str]) -> None:
    """Have the program's modules note what they make; call it before they are imported.

    Args:
        sources: The texts of those files that are to have others than their own.
    """
    setattr(builtins, _NAME, _made)

    def compiler(file: str) -> CodeType | None:
        source = sources.get(file)
        if source is None:
            with open(file, "rb") as opened:
                tree = ast.parse(opened.read(), file)
        else:
            tree = ast.parse(source, file)
        tree = ast.fix_missing_locations(_Notes(file).visit(tree))
        if source is not None:
            return compiled(tree, file)
        return compile(tree, file, "exec", dont_inherit=True)

    compile_with(compiler)


def _made(number: int, thing: Any) -> Any:
    if type(thing) in NOTED and len(_made_at) < _MOST:
        _made_at.setdefault(id(thing), (number, thing))
    return thing


class _Notes(ast.NodeTransformer):
    """Puts each expression that may make a plain object into a call of `_made`."""

    def __init__(self, file: str) -> None:
        self._file = file

    def generic_visit(self, node: Any) -> ast.AST:
        made = isinstance(node, _MAKERS)
        for name, value in list(ast.iter_fields(node)):
            if name in ("annotation", "returns", "pattern", "format_spec"):
                continue  # nothing is made there, or only some nodes may stand there
            if isinstance(value, list):
                value[:] = [
                    self.visit(one) if isinstance(one, ast.AST) else one
                    for one in value
                ]
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        if not made or not isinstance(getattr(node, "ctx", None), ast.Load | None):
            return node  # type: ignore[no-any-return] # a node
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            return node
        number = len(_sites)
        _sites.append(Site.of(self._file, node))
        call = ast.Call(
            ast.Name(_NAME, ast.Load()),
            [ast.Constant(number), node],
            [],
        )
        return ast.copy_location(call, node)


_OF_NAMES = (Namespace, SimpleNamespace)
"""Classes of the standard library whose objects have the names that they are given."""

_MOST_OBJECTS = 10_000
_GIVING_BACK: tuple[type, ...] = (
    *(asyncio.Queue, queue.Queue, queue.SimpleQueue, tornado.queues.Queue),
    *(BaseException, ContextVar, itertools.chain, itertools.cycle),
    *(AsyncGeneratorType, GeneratorType, functools.partial),
    *(ChainMap, UserDict, UserList, WeakKeyDictionary, WeakValueDictionary),
)
_KNOWN: tuple[type, ...] = (
    *(*PLAIN, tuple, frozenset, type(None), Container),
    *(bool, bytes, complex, float, int, str),  # of which a name may get a list later
    *_GIVING_BACK,
    *_OF_NAMES,
)


def strange_names() -> set[str]:
    """Return the names that lead to strange objects only."""
    strange: set[str] = set()
    others: set[str] = set()
    for namespace in _namespaces():
        for name, thing in list(namespace.items()):
            (others if _is_known(thing) else strange).add(str(name))
    return strange - others


def names_of_plain() -> dict[int, set[str]]:
    """Return the names of each plain object, by its identity: it may have several."""
    found: dict[int, set[str]] = {}
    for namespace in _namespaces():
        for name, thing in list(namespace.items()):
            if type(thing) in NOTED:
                found.setdefault(id(thing), set()).add(str(name))
    return found


def _is_known(thing: object) -> bool:
    """Tell whether it is plain, of the program's, or stands for what is not seen."""
    kind = type(thing)
    return (
        has_type(thing, *_KNOWN, ModuleType)  # no line assigns what is imported
        or own_module_of(kind) is not None
        or hasattr(kind, "__get__")  # a method, a property, a slot
    )


def _namespaces() -> Iterator[Mapping[str, object]]:
    waiting: list[object] = [*own_modules(), *applications()]
    for target in all_targets():
        yield target.handler_kwargs
        waiting += target.handler_kwargs.values()
    seen: set[int] = set()
    while waiting and len(seen) < _MOST_OBJECTS:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if has_type(one, dict):
            waiting += dict.values(one)
        elif has_type(one, tuple) and type(one) is not tuple:
            fields = getattr(one, "_fields", None)  # of a named tuple
            yield (
                dict(zip(fields, one, strict=False)) if has_type(fields, tuple) else {}
            )
            waiting += one
        elif type(one) in (list, tuple, set, frozenset):
            waiting += one  # type: ignore[arg-type] # it is iterable
        elif is_own_module(one) or _is_own(one) or has_type(one, *_OF_NAMES):
            namespace = getattr(one, "__dict__", {})
            yield namespace
            waiting += namespace.values()
        settings = getattr(one, "__dict__", {}).get("settings")
        if has_type(settings, dict):
            yield settings


def _is_own(thing: object) -> bool:
    cls = thing if has_type(thing, type) else type(thing)
    return own_module_of(cls) is not None or has_type(thing, Application)

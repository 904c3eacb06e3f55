"""What a program does on other threads, or in other processes: what that may touch.

Containers belong to the loop's thread. What the functions name that a thread is given,
and those which these name, is left alone; all is, where that cannot be followed.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from txloop.scan.known import SETTING
from txloop.scan.syntax import FUNCTIONS, last_name, parameters
from txloop.sharing.demands import Wants
from txloop.sharing.handlers import VERBS, is_handler_class
from txloop.sharing.lookups import runs_what_it_does_not_name
from txloop.sharing.origins import EVERYTHING, Hazard
from txloop.sharing.scopes import walked
from txloop.sharing.syntax import arguments_of, root_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from txloop.sharing.demands import Demands
    from txloop.sharing.making import Site
    from txloop.sharing.origins import Origins
    from txloop.sharing.texts import Text

__all__ = ["Threads"]

_POOLS = frozenset(
    ["Executor", "Pool", "ProcessPoolExecutor", "ThreadPool", "ThreadPoolExecutor"]
)
_CLASSES = frozenset(["Process", "Thread", "Timer"])
_RUNNERS = frozenset(
    ["run_in_executor", "run_in_thread", "run_sync", "start_new_thread", "to_thread"]
)
_METHODS = frozenset(
    [
        *("add_done_callback", "apply", "apply_async", "imap", "imap_unordered"),
        *("map", "map_async", "starmap", "starmap_async", "submit"),
    ]
)
"""Of pools, and of the futures which they return."""

_BACK = frozenset(
    ["add_callback", "add_callback_from_signal", "call_soon_threadsafe", "add_future"]
)
"""What has a function run on the loop's thread."""


class Threads:
    """All that runs elsewhere than on the loop's thread."""

    def __init__(self, texts: Iterable[Text], origins: Origins) -> None:
        """Find the calls and classes that run something there."""
        self._texts = list(texts)
        self._origins = origins
        self._meanings = origins.meanings
        self._runners: set[str] = set()  # functions that pass others on to threads
        self._data = {
            name
            for text in self._texts
            for node in walked(text.tree)
            for name in _assigned(node)
        }
        self._has_pools = any(
            self._is_standard(text.tree, node, _POOLS)
            for text in self._texts
            for node in walked(text.tree)
        )

    def _is_standard(self, tree: ast.AST, node: ast.AST, names: frozenset[str]) -> bool:
        """Tell whether a node names one of these, and not the program's own."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return False
        home = self._meanings.imported_from(tree, root_name(node))
        if home and self._meanings.is_own(home):
            return False
        name = last_name(node)
        if name == "run_sync" and (home or "").partition(".")[0] != "anyio":
            return False  # an IOLoop's, which runs a coroutine on its own thread
        if home and isinstance(node, ast.Name):
            return self._meanings.in_full(tree, name) in names
        own = not home and name in self._meanings.classes
        if isinstance(node, ast.Name):
            own = own or name in self._meanings.functions
        return name in names and not own

    def _is_of_logging(self, tree: ast.AST, base: ast.expr) -> bool:
        """Tell whether a class is one of the standard library that sees records.

        An adapter is called where the program logs.
        """
        home = self._meanings.imported_from(tree, root_name(base)).partition(".")[0]
        return home == "logging" and last_name(base) != "LoggerAdapter"

    def hazards(self, demands: Demands) -> Iterator[Hazard]:
        """Yield what must stay plain."""
        before = -1
        while before != (before := len(self._runners)):
            found = [each for text in self._texts for each in self._in(text, demands)]
        yield from found

    def _in(self, text: Text, demands: Demands) -> Iterator[Hazard]:
        called = _used_as_such(text.tree)
        for node in walked(text.tree):
            if id(node) not in called and self._starts(text.tree, node):
                yield Hazard(EVERYTHING, _reason(text, node, last_name(node)))
            match node:
                case ast.Call() if self._runs(text.tree, node):
                    reason = _reason(text, node, last_name(node.func))
                    yield from self._given(node, reason, demands)
                case ast.FunctionDef(decorator_list=marks):
                    names = {last_name(getattr(one, "func", one)) for one in marks}
                    by = names & {"run_on_executor", *self._runners}
                    if by:
                        reason = _reason(text, node, min(by))
                        yield from self._touched([node], reason, demands)
                case ast.ClassDef(bases=bases):
                    its = [one for one in node.body if isinstance(one, FUNCTIONS)]
                    if any(self._is_standard(text.tree, b, _CLASSES) for b in bases):
                        reason = _reason(text, node, node.name)
                        yield from self._touched(its, reason, demands)
                    elif any(self._is_of_logging(text.tree, b) for b in bases):
                        what = "is called by logging, after commits"
                        reason = f"{text.place(node)}, {what} ({node.name})"
                        yield from self._touched(its, reason, demands)

    def _starts(self, tree: ast.AST, node: ast.AST) -> bool:
        """Tell whether what a node names may start a thread, called elsewhere."""
        its = isinstance(node, ast.Attribute) and last_name(node) in _METHODS - {"map"}
        return (self._has_pools and its) or self._is_standard(
            tree, node, _CLASSES | _RUNNERS
        )

    def _runs(self, tree: ast.AST, call: ast.Call) -> bool:
        name = last_name(call.func)
        if name in self._runners or self._is_standard(tree, call.func, _RUNNERS):
            return True
        of_pool = self._has_pools and isinstance(call.func, ast.Attribute)
        if of_pool and name in _METHODS:
            return True
        return self._is_standard(tree, call.func, _CLASSES | _POOLS)

    def _given(self, call: ast.Call, reason: str, demands: Demands) -> Iterator[Hazard]:
        """Yield what the functions touch that a call is given, and what else it is."""
        scope = self._meanings.scope_of(call)
        targets = _targets(call)
        if not all(self._is_followed(scope, one) for one in targets):
            yield Hazard(EVERYTHING, reason)
            return
        functions: list[ast.AST] = []
        values: list[ast.expr] = []
        waiting = arguments_of(call)
        while waiting:
            one = waiting.pop()
            match one:
                case ast.Lambda():
                    functions.append(one)
                case ast.Tuple() | ast.List():
                    waiting += one.elts
                case ast.Dict(values=parts):
                    waiting += parts
                case ast.Starred(value=inner):
                    waiting.append(inner)
                case ast.Call(func=inner) if last_name(inner) == "partial":
                    waiting += arguments_of(one)
                case ast.Name(id=name) if self._is_variable(scope, name):
                    values.append(one)
                    if one not in targets:
                        continue
                    around = self._meanings.home(scope, name) or scope
                    waiting += self._meanings.values_of(around, name)
                    if not self._pass_on(scope, name):
                        yield Hazard(EVERYTHING, reason)
                        return
                case ast.Name() | ast.Attribute():
                    functions += self._named(one)
                    if isinstance(one, ast.Attribute):
                        values.append(one.value)
                    values.append(one)
                case _:
                    values.append(one)
        values = [one for one in values if last_name(one) not in ("self", "cls")]
        yield from demands.on(call, values, reason, Wants.PARTS)
        yield from self._touched(functions, reason, demands)

    def _is_followed(self, scope: ast.AST, target: ast.expr) -> bool:
        """Tell whether it is known what runs when a thread calls something."""
        name = last_name(target)
        if name in self._meanings.functions or name in self._meanings.classes:
            return True
        match target:
            case ast.Lambda() | ast.Constant():
                return True
            case ast.Call(func=function, args=[inner, *_]):
                return last_name(function) == "partial" and self._is_followed(
                    scope, inner
                )
            case ast.Attribute():
                home = self._meanings.imported_from(scope, root_name(target))
                return bool(home) or name not in self._data
            case ast.Name() if self._is_variable(scope, name):
                around = self._meanings.home(scope, name) or scope
                values = self._meanings.values_of(around, name)
                return all(self._is_followed(around, one) for one in values)
            case ast.Name():
                home = self._meanings.imported_from(scope, name)
                is_library = bool(home) and not self._meanings.is_own(home)
                return is_library or hasattr(builtins, name)
        return False

    def _is_variable(self, scope: ast.AST, name: str) -> bool:
        home = self._meanings.home(scope, name)
        return home is not None and name not in self._meanings.functions

    def _pass_on(self, scope: ast.AST, name: str) -> bool:
        """Note that a function may give its parameter to a thread.

        Returns:
            Whether all its calls are known.
        """
        home = self._meanings.home(scope, name)
        if not isinstance(home, FUNCTIONS) or name not in parameters(home):
            return True
        called = self._meanings.called_as(home)
        if called:
            self._runners.add(called)
        return bool(called) and self._meanings.is_only_called(home)

    def _touched(
        self, functions: Sequence[ast.AST], reason: str, demands: Demands
    ) -> Iterator[Hazard]:
        """Yield all that functions may touch, with those which they name."""
        names: set[str] = set()
        sites: set[Site] = set()
        waiting = [*functions]
        if functions:
            waiting += self._called_by_python()
        seen: set[int] = set()
        while waiting:
            function = waiting.pop()
            if id(function) in seen:
                continue
            seen.add(id(function))
            sites.add(self._origins.site(function, function))
            skipped: set[int] = set()
            for node in walked(function):
                if id(node) in skipped:
                    skipped.update(map(id, ast.iter_child_nodes(node)))
                    continue
                if isinstance(node, ast.Call):
                    if last_name(node.func) in _BACK:
                        skipped |= {id(one) for one in node.args[:1]}
                    elif self._is_unknown(node):
                        yield Hazard(EVERYTHING, reason)
                        return
                if isinstance(node, ast.Name | ast.Attribute):
                    waiting += self._named(node)
                    scope = self._meanings.scope_of(node)
                    names.add(getattr(node, "attr", ""))
                    values = self._origins.of(scope, node)
                    names |= {one.name for one in values}
                    sites |= {one.site for one in values if one.site is not None}
        yield from demands.about(names - {""}, sites, reason)

    def _named(self, node: ast.AST) -> list[ast.AST]:
        """Return the functions that a name may mean; no handler's `get` or the like."""
        named = self._meanings.functions.get(last_name(node), ())
        return [
            one.node
            for one in named
            if last_name(node) not in VERBS or not is_handler_class(one.owner)
        ]

    def _called_by_python(self) -> list[ast.AST]:
        """Return the functions that Python calls without their names."""
        return [
            function.node
            for name, named in self._meanings.functions.items()
            if name.startswith("__")
            for function in named
        ]

    def _is_unknown(self, call: ast.Call) -> bool:
        """Tell whether it is not known what a call calls."""
        name = last_name(call.func)
        if runs_what_it_does_not_name(call):
            return True
        if name in SETTING or name == "getattr":
            return False
        if name in self._meanings.functions or name in self._meanings.classes:
            return False
        match call.func:
            case ast.Name(id=name):
                return name != "cls" and self._is_variable(
                    self._meanings.scope_of(call), name
                )
            case ast.Attribute(attr=name):
                return name in self._data
        return True


def _used_as_such(tree: ast.AST) -> set[int]:
    """Return the names that are called, derived from, or stand in an annotation."""
    found: set[int] = set()
    for node in walked(tree):
        whole: list[ast.AST | None] = []
        match node:
            case ast.Call(func=function, args=given):
                found.add(id(function))
                if last_name(function) == "isinstance":
                    found.update(map(id, given))
            case ast.ClassDef(bases=bases):
                whole += bases
            case ast.AnnAssign(annotation=annotation) | ast.arg(annotation=annotation):
                whole.append(annotation)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                whole.append(node.returns)
        for one in whole:
            if one is not None:
                found.update(map(id, ast.walk(one)))
    return found


def _assigned(node: ast.AST) -> set[str]:
    """Return the attributes that a node assigns or declares."""
    match node:
        case ast.Attribute(attr=name, ctx=ast.Store()):
            return {name}
        case ast.ClassDef(body=body):
            targets = [
                target
                for one in body
                for target in getattr(one, "targets", [getattr(one, "target", None)])
            ]
            return {last_name(target) for target in targets} - {""}
    return set()


def _targets(call: ast.Call) -> list[ast.expr]:
    """Return what a call has another thread call."""
    name = last_name(call.func)
    named = {one.arg: one.value for one in call.keywords}
    keys = ("target", "function", "initializer", "func", "callback", "error_callback")
    found = [named[key] for key in keys if key in named]
    if name in _CLASSES or name == "run_in_executor":
        found += call.args[1:2]
    elif name not in _POOLS:
        found += call.args[:1]
    return found


def _reason(text: Text, node: ast.AST, name: str) -> str:
    what = f"runs code on other threads or in other processes ({name})"
    return f"{text.place(node)}, {what}"

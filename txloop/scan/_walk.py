"""The walk through a function and what it calls in the program's own modules.

```
ast.NodeVisitor <- Record <- Expressions <- Calls <- Walk
                   targets   values         calls    statements and functions
```
"""

from __future__ import annotations

import ast
import copy
import importlib.util
import sys
from collections import Counter, deque
from typing import TYPE_CHECKING

from txloop.scan._calls import Calls
from txloop.scan.frame import Frame, Nested, bind, parameters
from txloop.scan.live_objects import IMMUTABLE, UNKNOWN, has_type
from txloop.scan.member import of_module
from txloop.scan.parts import made_of, part_of, passes_on
from txloop.scan.value import (
    SOMETHING,
    Arguments,
    Family,
    Instance,
    Live,
    Parts,
    Unfollowed,
    Value,
    either,
    identity,
    is_changeable,
    shared,
)
from txloop.stm.origin import is_own_function

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import CellType, FunctionType, ModuleType

    from txloop.scan.source import Definition, FunctionNode, Sources
    from txloop.scan.value import Slot


_DEEPEST = 10
"""Calls are followed at once to this depth; deeper ones wait, to spare the stack."""

_MOST_WALKS = 32
"""How often one function is walked through, with other arguments each time."""


class Walk(Calls):
    """Walks through functions, each once for each receiver and arguments.

    Belongs to the one scan that made it; `notes` is what it saw.

    Args:
        sources: Where to find code.
        evidence: What the source says about what the application holds.
        app: The application, if it is known.
        plain_calls: What calls without changeable arguments return. Given for the
            index, which walks through every function by itself: such a call has
            nothing to add there, and one module's walk can spare it the next.
    """

    def __init__(
        self,
        sources: Sources,
        evidence: Mapping[str, object],
        app: object = UNKNOWN,
        *,
        plain_calls: dict[object, Value] | None = None,
    ) -> None:
        everything = plain_calls is not None
        super().__init__(sources, evidence, app, everything=everything)
        self._plain_calls = plain_calls
        self._returned: dict[object, Value] = {}
        self._waiting: deque[tuple[FunctionType, Value, Arguments, frozenset[Slot]]] = (
            deque()
        )
        self._walks: Counter[int] = Counter()
        self._depth = 0

    def finish(self) -> None:
        """Walk through the calls that were too deep to follow at once."""
        while self._waiting:
            function, receiver, arguments, self.unless = self._waiting.popleft()
            self._follow(function, receiver, arguments)
        self.unless = frozenset()

    def run(
        self,
        functions: tuple[FunctionType, ...],
        receiver: Value,
        arguments: Arguments,
        *,
        anew: bool = False,
    ) -> Value:
        before = self._returned
        if anew:
            self._returned = {}
        own = filter(is_own_function, functions)
        values = [self._follow(each, receiver, arguments) for each in own]
        self._returned = before
        return either(values)

    def _follow(
        self, function: FunctionType, receiver: Value, arguments: Arguments
    ) -> Value:
        """Walk through a live function, and return what it returns."""
        if self._depth > _DEEPEST:
            self._waiting.append((function, receiver, arguments, self.unless))
            return SOMETHING
        definition = self.sources.definition(function)
        if definition is None:
            self.notes.lose_function(function)
            return SOMETHING
        local = bind(definition.node, receiver, arguments)
        for name, value in _defaults(function).items():
            local.setdefault(name, value)
        known, key = self._returned, (id(function), self.unless, *local)
        if self._plain_calls is not None and not any(
            map(is_changeable, local.values())
        ):
            known = self._plain_calls
        else:
            key = (*key, *map(identity, local.values()))
        if key not in known and self._walks[id(function)] < _MOST_WALKS:
            self._walks[id(function)] += 1
            known[key] = None
            names, cells = function.__code__.co_freevars, function.__closure__ or ()
            known[key] = self.walk_definition(
                definition,
                function.__globals__,
                local,
                dict(zip(names, map(_contents, cells), strict=True)),
            )
        return known.get(key, SOMETHING)

    def walk_definition(
        self,
        definition: Definition,
        namespace: dict[str, object],
        local: dict[str, Value],
        cells: Mapping[str, object],
    ) -> Value:
        """Walk through a function that is known by its source."""
        frame = Frame(
            definition.file,
            definition.qualname,
            namespace,
            local,
            cells=cells,
            owner=definition.owner.rpartition(".")[2],
            receiver=local.get(next(iter(parameters(definition.node)), "")),
        )
        self._enter(frame, definition.node)
        return frame.returned

    def walk_nested(self, nested: Nested, given: Value = SOMETHING) -> None:
        key = (id(nested.node), id(nested.frame), self.unless, identity(given))
        if key not in self._returned:
            self._returned[key] = nested
            frame = nested.frame.inner(nested.name)
            if not nested.in_class:
                frame.local.update(dict.fromkeys(parameters(nested.node), given))
            self._enter(frame, nested.node)

    def _enter(self, frame: Frame, node: FunctionNode) -> None:
        """Walk through the body in the frame."""
        around, unless = self.frame, self.unless
        self.frame = frame
        self._depth += 1
        try:
            frame.enter(node)
            if isinstance(node, ast.Lambda):
                frame.returned = self.any_value(node.body)
            else:
                self.visit_body(node.body)
        except RecursionError:
            # An expression as deep as the stack: the rest of this function is not
            # scanned, as if it had no source.
            self.notes.lose(node, frame.qualname)
        finally:
            self._depth -= 1
            self.frame, self.unless = around, unless

    # Statements, in the order of the source

    def visit_body(self, statements: list[ast.stmt]) -> None:
        before = self.unless
        for each in statements:
            if isinstance(each, ast.If):
                self.unless |= self._choose(each)
            else:
                self.visit(each)
        self.unless = before

    def visit_If(self, node: ast.If) -> None:
        self._choose(node)

    def _choose(self, node: ast.If) -> frozenset[Slot]:
        """Walk through both branches; return what keeps the code from going on."""
        answer = self.ask(node.test)
        before = self.unless
        for branch, taken in ((node.body, True), (node.orelse, False)):
            skipped = answer.truth is not None and answer.truth is not taken
            self.unless = before | answer.slots if skipped else before
            self.visit_body(branch)
        self.unless = before
        branch = node.body if answer.truth else node.orelse
        leaves = branch and isinstance(branch[-1], ast.Return | ast.Raise)
        known = answer.truth is not None
        return answer.slots if known and leaves else frozenset()

    def visit_Return(self, node: ast.Return) -> None:
        value = None if node.value is None else self.any_value(node.value)
        self.frame.returned = either((self.frame.returned, value))

    def visit_Yield(self, node: ast.Yield | ast.YieldFrom) -> Value:
        value = None if node.value is None else self.any_value(node.value)
        if isinstance(node, ast.YieldFrom):
            value = part_of(value)
        self.frame.returned = either((self.frame.returned, made_of([value])))
        return None

    visit_YieldFrom = visit_Yield

    def visit_Assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if (
            isinstance(target, ast.Tuple)
            and isinstance(node.value, ast.Tuple)
            and len(target.elts) == len(node.value.elts)
        ):
            values = [self.any_value(each) for each in node.value.elts]
            for each, value in zip(target.elts, values, strict=True):
                self.store(each, value)
            return
        value = self.any_value(node.value)
        for each in node.targets:
            self.store(each, value, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.store(node.target, self.any_value(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        target = copy.copy(node.target)
        target.ctx = ast.Load()
        old = self.value(target)
        value = self.any_value(node.value)
        if isinstance(old, Parts) and passes_on(value):
            old.add(part_of(value))
            return
        if not (isinstance(target, ast.Name) and self.frame.is_global(target.id)):
            self.notes.change(old, node)
        if isinstance(target, ast.Name) and isinstance(old, Unfollowed):
            if isinstance(node.op, ast.Add) and not isinstance(
                node.value, ast.Constant | ast.JoinedStr
            ):
                self.notes.lose(target)
        elif old is None and passes_on(value):
            old = made_of([part_of(value)])
        self.store(node.target, old)

    def visit_Delete(self, node: ast.Delete) -> None:
        for each in node.targets:
            self.remove(each)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.iterate(node.target, node.iter)
        self.visit_body([*node.body, *node.orelse])

    visit_AsyncFor = visit_For

    def visit_With(self, node: ast.With | ast.AsyncWith) -> None:
        for each in node.items:
            value = entered = self.value(each.context_expr)
            for name in ("__enter__", "__exit__"):
                self.call_method(value, name, Arguments())
            if each.optional_vars is not None:
                given = isinstance(entered, Instance | Live | Unfollowed)
                self.store(each.optional_vars, SOMETHING if given else None)
        self.visit_body(node.body)

    visit_AsyncWith = visit_With

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        arguments = node.args
        for each in (*node.decorator_list, *arguments.defaults, *arguments.kw_defaults):
            if each is not None:
                self.visit(each)
        nested = Nested(node, self.frame, node.name)
        self.store_name(node.name, nested, node)
        if self.everything or node.decorator_list:
            self.walk_nested(nested)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for each in (*node.decorator_list, *node.bases):
            self.visit(each)
        self.store_name(node.name, None, node)
        for statement in node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                name = f"{node.name}.{statement.name}"
                self.walk_nested(Nested(statement, self.frame, name, in_class=True))

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            name = each.asname or each.name.partition(".")[0]
            module = sys.modules.get(each.name if each.asname else name)
            live = None if module is None else Live(module, name, Family.GLOBAL)
            self.store_name(name, live, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = self._imported(node)
        for each in node.names:
            live = None if module is None else of_module(module, each.name)
            if live is not None:
                self.notes.read(live, node)
            self.store_name(each.asname or each.name, live, node)

    def _imported(self, node: ast.ImportFrom) -> ModuleType | None:
        """Return the module that `from ... import` names, if it is loaded."""
        name = "." * node.level + (node.module or "")
        try:
            package = str(self.frame.namespace.get("__package__") or "")
            return sys.modules.get(importlib.util.resolve_name(name, package))
        except ImportError:
            return None


def _defaults(function: FunctionType) -> dict[str, Value]:
    """Return the values of parameters that are not given, where these can change."""
    code, defaults = function.__code__, function.__defaults__ or ()
    last = code.co_argcount
    names = code.co_varnames[last - len(defaults) : last]
    found = dict(zip(names, defaults, strict=True)) | (function.__kwdefaults__ or {})
    return {
        name: shared(
            thing,
            f"{function.__qualname__}({name})",
            Family.CLOSURE,
            ((id(function), name),),
        )
        for name, thing in found.items()
        if not has_type(thing, *IMMUTABLE)
    }


def _contents(cell: CellType) -> object:
    """Return what a closure's variable holds, UNKNOWN while it is not assigned."""
    try:
        return cell.cell_contents
    except ValueError:
        return UNKNOWN

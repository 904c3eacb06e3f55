"""The walk through a function and what it calls in the program's own modules.

```
ast.NodeVisitor <- Record <- Targets <- Expressions <- Calls <- Statements <- Walk
                   notes     `=` `del`  values         calls    bodies        functions
```
"""

from __future__ import annotations

import ast
from collections import Counter, deque
from typing import TYPE_CHECKING

from txloop.scan._statements import Statements
from txloop.scan.frame import Frame, bind, parameters
from txloop.scan.source import is_own_function
from txloop.scan.value import (
    UNKNOWN,
    Arguments,
    Value,
    identity,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import CellType, FunctionType

    from txloop.scan.frame import Nested
    from txloop.scan.source import Definition, FunctionNode, Sources

_DEEPEST = 10
"""Calls are followed at once to this depth; deeper ones wait, to spare the stack."""

_OFTEN = 32
"""How often one function is walked through, with other arguments each time."""


class Walk(Statements):
    """Walks through functions, each once for each receiver and arguments.

    Belongs to the one scan that made it; `accesses` is what it saw.
    """

    def __init__(
        self,
        sources: Sources,
        evidence: Mapping[str, object],
        app: object = UNKNOWN,
        *,
        everything: bool = False,
    ) -> None:
        super().__init__(sources, evidence, app, everything=everything)
        self._returned: dict[object, Value] = {}
        self._waiting: deque[tuple[FunctionType, Value, Arguments]] = deque()
        self._often: Counter[int] = Counter()
        self._depth = 0

    def finish(self) -> None:
        """Walk through the calls that were too deep to follow at once."""
        while self._waiting:
            self._follow(*self._waiting.popleft())

    def run(
        self,
        functions: tuple[FunctionType, ...],
        receiver: Value,
        arguments: Arguments,
    ) -> Value:
        own = filter(is_own_function, functions)
        values = [self._follow(each, receiver, arguments) for each in own]
        return next((value for value in values if value is not None), None)

    def _follow(
        self, function: FunctionType, receiver: Value, arguments: Arguments
    ) -> Value:
        """Walk through a live function, and return what it returns."""
        if self._depth > _DEEPEST:
            self._waiting.append((function, receiver, arguments))
            return None
        definition = self.sources.definition(function)
        if definition is None:
            return None
        local = bind(definition.node, receiver, arguments)
        passed = (identity(value) for value in local.values())
        key = (id(function), *local, *passed)
        if key not in self._returned and self._often[id(function)] < _OFTEN:
            self._often[id(function)] += 1
            self._returned[key] = None
            names, cells = function.__code__.co_freevars, function.__closure__ or ()
            self._returned[key] = self.walk_definition(
                definition,
                function.__globals__,
                local,
                dict(zip(names, map(_contents, cells), strict=True)),
            )
        return self._returned.get(key)

    def walk_definition(
        self,
        definition: Definition,
        namespace: dict[str, object],
        local: dict[str, Value],
        cells: Mapping[str, object],
    ) -> Value:
        """Walk through a function that is known by its source."""
        frame = Frame(definition.file, definition.qualname, namespace, local)
        frame.cells = cells
        frame.receiver = local.get(next(iter(parameters(definition.node)), ""))
        self._enter(frame, definition.node)
        return frame.returned

    def walk_nested(self, nested: Nested) -> None:
        key = (id(nested.node), id(nested.frame))
        if key not in self._returned:
            self._returned[key] = nested
            frame = nested.frame.inner(nested.name)
            self._enter(frame, nested.node)

    def _enter(self, frame: Frame, node: FunctionNode) -> None:
        """Walk through the body in the frame."""
        around = getattr(self, "frame", frame)
        self.frame = frame
        self._depth += 1
        try:
            frame.enter(node)
            if isinstance(node, ast.Lambda):
                frame.returned = self.value(node.body)
            else:
                self.visit_body(node.body)
        except RecursionError:
            # An expression as deep as the stack: the rest of this function is not
            # scanned, as if it had no source.
            pass
        finally:
            self._depth -= 1
            self.frame = around


def _contents(cell: CellType) -> object:
    """Return what a closure's variable holds, UNKNOWN while it is not assigned."""
    try:
        return cell.cell_contents
    except ValueError:
        return UNKNOWN

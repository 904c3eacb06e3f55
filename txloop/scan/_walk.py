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

from txloop.origin import is_own_function
from txloop.scan._statements import Statements
from txloop.scan.frame import Frame, bind, parameters
from txloop.scan.things import UNKNOWN
from txloop.scan.value import Arguments, Value, identity, is_changeable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import CellType, FunctionType

    from txloop.scan.frame import Nested
    from txloop.scan.source import Definition, FunctionNode, Sources
    from txloop.scan.value import Slot

_DEEPEST = 10
"""Calls are followed at once to this depth; deeper ones wait, to spare the stack."""

_OFTEN = 32
"""How often one function is walked through, with other arguments each time."""


class Walk(Statements):
    """Walks through functions, each once for each receiver and arguments.

    Belongs to the one scan that made it; `accesses` is what it saw.

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
        self._often: Counter[int] = Counter()
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
    ) -> Value:
        own = filter(is_own_function, functions)
        values = [self._follow(each, receiver, arguments) for each in own]
        return next((value for value in values if value is not None), None)

    def _follow(
        self, function: FunctionType, receiver: Value, arguments: Arguments
    ) -> Value:
        """Walk through a live function, and return what it returns."""
        if self._depth > _DEEPEST:
            self._waiting.append((function, receiver, arguments, self.unless))
            return None
        definition = self.sources.definition(function)
        if definition is None:
            return None
        local = bind(definition.node, receiver, arguments)
        known, key = self._returned, (id(function), self.unless, *local)
        if self._plain_calls is not None and not any(
            map(is_changeable, local.values())
        ):
            known = self._plain_calls
        else:
            key = (*key, *map(identity, local.values()))
        if key not in known and self._often[id(function)] < _OFTEN:
            self._often[id(function)] += 1
            known[key] = None
            names, cells = function.__code__.co_freevars, function.__closure__ or ()
            known[key] = self.walk_definition(
                definition,
                function.__globals__,
                local,
                dict(zip(names, map(_contents, cells), strict=True)),
            )
        return known.get(key)

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
        frame.owner = definition.owner.rpartition(".")[2]
        frame.receiver = local.get(next(iter(parameters(definition.node)), ""))
        self._enter(frame, definition.node)
        return frame.returned

    def walk_nested(self, nested: Nested) -> None:
        key = (id(nested.node), id(nested.frame), self.unless)
        if key not in self._returned:
            self._returned[key] = nested
            frame = nested.frame.inner(nested.name)
            self._enter(frame, nested.node)

    def _enter(self, frame: Frame, node: FunctionNode) -> None:
        """Walk through the body in the frame."""
        around, unless = getattr(self, "frame", frame), self.unless
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
            self.frame, self.unless = around, unless


def _contents(cell: CellType) -> object:
    """Return what a closure's variable holds, UNKNOWN while it is not assigned."""
    try:
        return cell.cell_contents
    except ValueError:
        return UNKNOWN

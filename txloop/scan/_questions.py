"""The walk through conditions: what live objects answer to them.

`if cache is None: cache = load()` does not write if the cache is there when requests
come, as long as nothing else takes it away. What would take it away is not known while
a function is walked through: so what stands behind such a condition is walked through
all the same, and noted with where the answer was found (`Access.unless`).

Only what is known for certain is an answer: that a name, or an attribute that leads
from one, is None, or is a builtin object that is true or false, or has a key.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from txloop.scan._calls import Calls
from txloop.scan._targets import constant
from txloop.scan.access import of_thing
from txloop.scan.things import UNKNOWN, is_plain
from txloop.scan.value import Live, Slot, Value

_SIMPLE = (bool, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""Types whose objects tell whether they are true without running code."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a condition is, if it is known, and where that was found."""

    truth: bool | None = None
    slots: frozenset[Slot] = frozenset()

    def __invert__(self) -> Answer:
        return Answer(None if self.truth is None else not self.truth, self.slots)


_UNKNOWN = Answer()


class Questions(Calls):
    """Visits conditions."""

    def ask(self, node: ast.expr) -> Answer:
        """Visit a condition, and return what it is."""
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return ~self.ask(inner)
            case ast.BoolOp(op=op, values=parts):
                decisive = isinstance(op, ast.Or)
                answers = [self.ask(each) for each in parts]
                found = (each for each in answers if each.truth is decisive)
                return next(found, _UNKNOWN)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compare(left, op, right)
        return self._is_true(node, self.value(node))

    def _compare(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Answer:
        one, other = self.value(left), self.value(right)
        if isinstance(op, ast.Is | ast.IsNot) and _is_none(right):
            live = self._certain(left, one)
            if live is None:
                return _UNKNOWN
            found = Answer(live.thing is None, frozenset(live.slots))
            return found if isinstance(op, ast.Is) else ~found
        live = self._certain(right, other)
        key = constant(left)
        if (
            isinstance(op, ast.In | ast.NotIn)
            and live is not None
            and key is not UNKNOWN
            and type(live.thing) in (dict, set, frozenset)
        ):
            found = Answer(key in live.thing, _with_contents(live))  # type: ignore[operator] # of these types
            return found if isinstance(op, ast.In) else ~found
        return _UNKNOWN

    def _is_true(self, node: ast.expr, value: Value) -> Answer:
        live = self._certain(node, value)
        if live is None or not (live.thing is None or type(live.thing) in _SIMPLE):
            return _UNKNOWN
        return Answer(bool(live.thing), _with_contents(live))

    def _certain(self, node: ast.expr, value: Value) -> Live | None:
        """Return the value if it is that of the expression, and of no other."""
        if not isinstance(value, Live) or value.sample or value.thing is UNKNOWN:
            return None
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        # What was called, or taken from a container, may have been something else.
        return value if value.slots and isinstance(root, ast.Name) else None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _with_contents(live: Live) -> frozenset[Slot]:
    slots = frozenset(live.slots)
    return slots | {of_thing(live.thing)} if is_plain(live.thing) else slots

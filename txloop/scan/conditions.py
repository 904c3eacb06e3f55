"""The walk through conditions: what live objects answer to them.

`if cache is None: cache = load()` does not write if the cache is there when requests
come, as long as nothing else takes it away. What would take it away is not known while
a function is walked through: so what stands behind such a condition is walked through
all the same, and noted with where the answer was found (`Access.unless`). Only what is
known for certain is an answer: that a name, or an attribute that leads from one, is
None, or is a builtin object that is true or false, or has a key.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from txloop.scan.access import of_thing
from txloop.scan.expressions import compared
from txloop.scan.live_objects import UNKNOWN, can_change
from txloop.scan.special import TRUTH
from txloop.scan.value import Live, Slot, Value, key_of

if TYPE_CHECKING:
    from txloop.scan.walk import Walk

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


def ask(walk: Walk, node: ast.expr) -> Answer:
    """Visit a condition, and return what it is."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return ~ask(walk, inner)
        case ast.BoolOp(op=op, values=parts):
            decisive = isinstance(op, ast.Or)
            answers = [ask(walk, each) for each in parts]
            found = (each for each in answers if each.truth is decisive)
            return next(found, _UNKNOWN)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compare(walk, left, op, right)
    return _is_true(walk, node, walk.visit(node))


def _compare(walk: Walk, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Answer:
    one, other = walk.visit(left), walk.visit(right)
    compared(walk, op, one, other)
    if isinstance(op, ast.Is | ast.IsNot) and _is_none(right):
        live = _certain(left, one)
        if live is None:
            return _UNKNOWN
        found = Answer(live.thing is None, frozenset(live.slots))
        return found if isinstance(op, ast.Is) else ~found
    live = _certain(right, other)
    key = key_of(left, one)
    if (
        isinstance(op, ast.In | ast.NotIn)
        and live is not None
        and key is not UNKNOWN
        and type(live.thing) in (dict, set, frozenset)
    ):
        found = Answer(key in live.thing, _with_contents(live))  # type: ignore[operator] # of these types
        return found if isinstance(op, ast.In) else ~found
    return _UNKNOWN


def _is_true(walk: Walk, node: ast.expr, value: Value) -> Answer:
    walk.run_special(value, TRUTH)
    live = _certain(node, value)
    if live is None or not (live.thing is None or type(live.thing) in _SIMPLE):
        return _UNKNOWN
    return Answer(bool(live.thing), _with_contents(live))


def _certain(node: ast.expr, value: Value) -> Live | None:
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
    return slots | {of_thing(live.thing)} if can_change(live.thing) else slots

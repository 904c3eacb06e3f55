"""The walk through `match`: which parts of a value the names of a pattern get."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.assignments import store_name
from txloop.scan.expressions import attribute, compared, item
from txloop.scan.live_objects import class_attribute, has_type
from txloop.scan.parts import copied, made_of, part_of
from txloop.scan.statements import rejoin, visit_branch
from txloop.scan.value import (
    Live,
    Member,
    Parts,
    Value,
    alternatives,
    either,
    key_of,
)

if TYPE_CHECKING:
    from txloop.scan.walk import Walk

__all__ = ["visit_match"]

_WHOLE = frozenset(
    {bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple}
)
"""Classes of which the one pattern without a name is for the object itself."""


def visit_match(walk: Walk, node: ast.Match) -> None:
    """Walk through all cases, of which one runs, or none."""
    subject = walk.visit(node.subject)
    local, names = walk.frame.local, {**walk.frame.local}
    ends = [names]
    for case in node.cases:
        if not walk.frame.in_loop:
            local.update(names)
        _bind(walk, case.pattern, subject)
        if case.guard is not None:
            walk.visit(case.guard)
        visit_branch(walk, {**local}, case.body, ends)
    rejoin(walk, ends)


def _bind(walk: Walk, pattern: ast.pattern, value: Value) -> None:
    """Give the names of a pattern their values."""
    match pattern:
        case ast.MatchAs(pattern=inner, name=name):
            if inner is not None:
                _bind(walk, inner, value)
            if name is not None:
                store_name(walk, name, value, pattern)
        case ast.MatchOr(patterns=several):
            for one in several:
                _bind(walk, one, value)
        case ast.MatchValue(value=expression):
            other = walk.visit(expression)
            compared(walk, ast.Eq(), value, other)
        case ast.MatchSequence(patterns=several):
            part = _any_part(walk, value, pattern)
            for one in several:
                _bind(walk, one, part)
        case ast.MatchStar(name=str(name)):
            store_name(walk, name, made_of([value]), pattern)
        case ast.MatchMapping():
            _bind_mapping(walk, pattern, value)
        case ast.MatchClass():
            _bind_class(walk, pattern, value)


def _any_part(walk: Walk, value: Value, node: ast.AST) -> Value:
    """Return what stands for any part, and write down that all are read."""
    for one in alternatives(value):
        if isinstance(one, Live):
            walk.notes.read(one, node)
    return part_of(value)


def _bind_mapping(walk: Walk, pattern: ast.MatchMapping, value: Value) -> None:
    for key, inner in zip(pattern.keys, pattern.patterns, strict=True):
        constant = key_of(key, walk.visit(key))
        found = (item(walk, one, constant, key) for one in alternatives(value))
        _bind(walk, inner, either(found))
    if pattern.rest is not None:
        store_name(walk, pattern.rest, copied(*alternatives(value)), pattern)


def _bind_class(walk: Walk, pattern: ast.MatchClass, value: Value) -> None:
    cls = walk.visit(pattern.cls)
    kind = cls.thing if isinstance(cls, Live) else None
    if pattern.patterns and kind in _WHOLE:
        _bind(walk, pattern.patterns[0], value)
    elif pattern.patterns:
        given: object = ()
        if has_type(kind, type):
            given = class_attribute(kind, "__match_args__", ())
        named = given if has_type(given, tuple) else ()
        if len(named) < len(pattern.patterns):
            walk.notes.lose(pattern)
        for name, inner in zip(named, pattern.patterns, strict=False):
            _bind(walk, inner, _attribute_of(walk, value, name, pattern))
    for name, inner in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        _bind(walk, inner, _attribute_of(walk, value, name, pattern))


def _attribute_of(walk: Walk, value: Value, name: str, node: ast.AST) -> Value:
    owners = (one for one in alternatives(value) if not isinstance(one, Member | Parts))
    return either(attribute(walk, one, name, node) for one in owners)

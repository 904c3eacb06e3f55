"""Loops during which what they go over may change: whether a program has any.

Containers go over what there is at the start, unless they are told to be live (see
`txloop.like_plain`), which takes a little longer. So it is enough that something may be
the same as what a loop goes over: both are told by the names that lead to them (see
`origins`).
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from txloop.scan.known import COPIERS, HEAPS, INSORTS, MUTATORS
from txloop.scan.syntax import COMPREHENSIONS, last_name
from txloop.sharing.callees import ANY_FUNCTION
from txloop.sharing.iterators import LAZY
from txloop.sharing.origins import ANY
from txloop.sharing.scopes import functions_in, nodes_of, scopes_in, walked
from txloop.sharing.syntax import arguments_of, is_coroutine, targets_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from txloop.sharing.callees import Callees
    from txloop.sharing.keeping import Keeping
    from txloop.sharing.origins import Origins
    from txloop.sharing.texts import Text

__all__ = ["changes_in_loops"]

_COPIES = COPIERS | {"copy", "deepcopy", "range"}

_VIEWS = frozenset(["elements", "items", "keys", "values"])
"""Methods whose results go over the object itself."""

_GIVEN = frozenset([*HEAPS, *INSORTS, "shuffle"])
"""Functions that change their first argument."""

_YIELDS = (ast.Yield, ast.YieldFrom)

_Thing: TypeAlias = "tuple[str, bool]"
"""A name that leads to an object, and whether that is a part of what has the name."""


class _Loop(NamedTuple):
    """What goes over something, and what runs meanwhile.

    Attributes:
        scope: The function or module in which both are.
        over: What is gone over.
        body: What runs meanwhile.
        is_lazy: Whether it goes on after its body has ended.
    """

    scope: ast.AST
    over: Collection[ast.expr]
    body: Collection[ast.AST]
    is_lazy: bool = False


def changes_in_loops(
    texts: Collection[Text], origins: Origins, keeping: Keeping, callees: Callees
) -> bool:
    """Tell whether a loop may change what it goes over, and goes on, or wait meanwhile.

    Args:
        texts: The modules.
        origins: Where values come from.
        keeping: What the program keeps.
        callees: What calls may run.
    """
    looking = _Looking(texts, origins, keeping, callees)
    return any(looking.changes(one) for one in looking.loops()) or any(
        looking.may_wait(scope, node)
        for text in texts
        for scope in scopes_in(text.tree)
        for node in nodes_of(scope)
    )


class _Looking:
    """What the functions of a program go over, and change."""

    def __init__(
        self,
        texts: Collection[Text],
        origins: Origins,
        keeping: Keeping,
        callees: Callees,
    ) -> None:
        self._texts = texts
        self._origins = origins
        self._keeping = keeping
        self._callees = callees
        self._has_default = any("defaultdict" in text.source for text in texts)
        self._walked: defaultdict[str, set[_Thing]] = defaultdict(set)
        self._changed: dict[str, set[_Thing]] = {}
        self._known: dict[ast.expr, set[_Thing]] = {}  # by expression, what it means
        self._calls: dict[ast.AST, set[str]] = {}  # by node, what it may run
        functions = [one for text in texts for one, _ in functions_in(text.tree)]
        before = -1
        while before != (before := sum(map(len, self._walked.values()))):
            for function in functions:
                self._note_walked(function)
        self._note_changed()

    # Loops

    def loops(self) -> Iterator[_Loop]:
        """Yield all loops, and what is given to a variable to be gone over later."""
        for text in self._texts:
            for scope in scopes_in(text.tree):
                for node in nodes_of(scope):
                    yield from self._loops_at(scope, node)

    def _loops_at(self, scope: ast.AST, node: ast.AST) -> Iterator[_Loop]:
        match node:
            case ast.For(iter=over, body=body) | ast.AsyncFor(iter=over, body=body):
                yield _Loop(scope, [over], body)
            case ast.Assign() | ast.AnnAssign() | ast.NamedExpr():
                for _, value in targets_of(node):
                    if self._is_lazy(value):
                        yield _Loop(scope, [value], [scope], is_lazy=True)
            case ast.Call() if self._callees.is_own(node.func):
                given = arguments_of(node)
                yield _Loop(scope, [*filter(self._is_lazy, given)], [node])
            case ast.Call():
                called = [*self._called_back(node)]
                functions = [one.func for one in called]
                given = [one for one in arguments_of(node) if one not in functions]
                yield _Loop(scope, given, called)
        if isinstance(node, COMPREHENSIONS):
            first, *more = node.generators
            yield _Loop(scope, [first.iter], [*ast.iter_child_nodes(node), *more])

    def _is_lazy(self, value: ast.expr) -> bool:
        """Tell whether a value goes over something when it is asked for the next."""
        if not isinstance(value, ast.Call):
            return isinstance(value, ast.GeneratorExp)
        name = last_name(value.func)
        is_view = isinstance(value.func, ast.Attribute) and name in _VIEWS
        return is_view or name in LAZY or self._callees.is_own(value.func)

    def _called_back(self, call: ast.Call) -> Iterator[ast.Call]:
        """Yield calls of the functions that a function of Python's is given."""
        for one in arguments_of(call):
            method = isinstance(one, ast.Attribute) and one.attr in MUTATORS
            if method or isinstance(one, ast.Lambda) or self._callees.is_own(one):
                yield ast.Call(one, [], [])

    def changes(self, loop: _Loop) -> bool:
        """Tell whether what runs meanwhile may change what is gone over."""
        if not (loop.over and loop.body):
            return False
        over = [leaf for one in loop.over for leaf in self._leaves(one)]
        things = self._gone_over(loop.scope, over, loop.is_lazy)
        unknown = {
            ast.unparse(one) for one in over if self._is_unknown(loop.scope, one)
        }
        if not (things or unknown):
            return False
        for part in loop.body:
            for node in nodes_of(part) if part is loop.scope else ast.walk(part):
                if self._may_change(loop.scope, node, over, things, unknown):
                    ends = isinstance(part, ast.stmt) and _ends_at_once(loop.body, node)
                    if loop.is_lazy or not ends:
                        return True
        return False

    def _may_change(
        self,
        scope: ast.AST,
        node: ast.AST,
        over: Collection[ast.expr],
        things: set[_Thing],
        unknown: set[str],
    ) -> bool:
        """Tell whether a node changes one of these things, or what has such a text."""
        for one in self._at(node):
            if unknown and ast.unparse(one) in unknown:
                return True
            if not things.isdisjoint(self._things(scope, one)) and not any(
                _are_apart(one, other) for other in over
            ):
                return True
        called = self._called(node)
        return any(not things.isdisjoint(self._changed.get(one, ())) for one in called)

    def may_wait(self, scope: ast.AST, node: ast.AST) -> bool:
        """Tell whether a loop waits while others may change what it goes over."""
        body: Iterable[ast.AST]
        waits: tuple[type[ast.AST], ...] = (ast.Await,)
        if is_coroutine(scope) or isinstance(scope, ast.AsyncFunctionDef):
            waits += (ast.Yield, ast.AsyncFor)
        match node:
            case ast.For(iter=over):
                body = node.body
            case ast.Assign(value=over) if self._is_lazy(over):
                body = nodes_of(scope)
            case _ if isinstance(node, COMPREHENSIONS):
                over, body = node.generators[0].iter, ast.iter_child_nodes(node)
            case _:
                return False
        if not any(isinstance(one, waits) for each in body for one in walked(each)):
            return False
        things = self._gone_over(scope, self._leaves(over), is_lazy=False)
        return any(not things.isdisjoint(its) for its in self._changed.values())

    # What is gone over

    def _leaves(self, value: ast.AST) -> Iterator[ast.expr]:
        """Yield what is gone over itself where a value is; calls for what they give."""
        match value:
            case ast.Call(func=ast.Attribute(value=base, attr=name)) if name in _VIEWS:
                yield from self._leaves(base)
            case ast.Call(func=function):
                if self._callees.is_own(function):
                    yield value
                elif last_name(function) not in _COPIES:
                    for one in arguments_of(value):
                        yield from self._leaves(one)
            case ast.GeneratorExp(generators=parts):
                for each in parts:
                    yield from self._leaves(each.iter)
            case ast.IfExp(body=one, orelse=other):
                yield from self._leaves(one)
                yield from self._leaves(other)
            case ast.BoolOp(values=values):
                for one in values:
                    yield from self._leaves(one)
            case ast.NamedExpr(value=inner) | ast.Starred(value=inner):
                yield from self._leaves(inner)
            case ast.Await(value=inner):
                yield from self._leaves(inner)
            case ast.Name() | ast.Attribute() | ast.Subscript():
                yield value

    def _gone_over(
        self, scope: ast.AST, leaves: Iterable[ast.expr], is_lazy: bool
    ) -> set[_Thing]:
        found: set[_Thing] = {*self._walked["__iter__"]}
        for one in leaves:
            if isinstance(one, ast.Call):
                for name, _ in self._callees.of(one):
                    found |= self._walked[name]
                if is_lazy:  # a list that it returns is not gone over
                    continue
            elif isinstance(one, ast.Attribute):  # it may be a property
                found |= self._walked[one.attr]
            found |= self._things(scope, one)
        return found

    def _note_walked(self, function: ast.AST) -> None:
        """Note what is gone over by what a function returns."""
        nodes = nodes_of(function)
        yields = any(isinstance(one, _YIELDS) for one in nodes)
        for node in nodes:
            match node:
                case ast.For(iter=over) if yields:
                    pass
                case ast.YieldFrom(value=over):
                    pass
                case ast.Return(value=ast.expr() as over) if self._is_lazy(over):
                    pass
                case _:
                    continue
            is_lazy = isinstance(node, ast.Return)
            things = self._gone_over(function, self._leaves(over), is_lazy)
            self._walked[self._callees.named(function)] |= things

    # What is changed

    def _note_changed(self) -> None:
        """Note what each function changes, with what it calls."""
        calls = {ANY_FUNCTION: {*self._callees.taken}}
        self._changed[ANY_FUNCTION] = set()
        for each in self._callees.every:
            self._changed.setdefault(each.name, set())
        for each in self._callees.every:
            its = self._changed[each.name]
            called = calls.setdefault(each.name, set())  # there may be several
            for node in nodes_of(each.node):
                its.update(*(self._things(each.node, one) for one in self._at(node)))
                called.update(self._called(node))
        grown = True
        while grown:
            grown = False
            for name, its in self._changed.items():
                before = len(its)
                its.update(*(self._changed.get(one, ()) for one in calls[name]))
                grown = grown or len(its) > before

    def _called(self, node: ast.AST) -> set[str]:
        """Return the names of what a node may run; `ANY_FUNCTION` for what is given."""
        if node in self._calls:
            return self._calls[node]
        names = self._calls[node] = {name for name, _ in self._callees.of(node)}
        if isinstance(node, ast.Call):
            for one in arguments_of(node):
                names.update(self._callees.passed(one))
        elif isinstance(node, ast.Attribute):  # of a property
            names.add(node.attr)
        names &= self._changed.keys()
        return names

    def _at(self, node: ast.AST) -> Iterator[ast.expr]:
        """Yield what a node changes in place."""
        match node:
            case ast.Attribute(value=base, attr=name) if name in MUTATORS:
                yield base
            case ast.Subscript(value=base, ctx=ast.Del() | ast.Store()):
                yield base
            case ast.Subscript(value=base) if self._has_default:
                yield base
            case ast.AugAssign(target=target):
                yield target
            case ast.Call(func=function, args=[first, *_]):
                if last_name(function) in _GIVEN:
                    yield first

    def _things(self, scope: ast.AST, value: ast.expr) -> set[_Thing]:
        """Return by which names what an expression means is found."""
        if value in self._known:
            return self._known[value]
        found = self._known[value] = set[_Thing]()
        for one in self._origins.of(scope, value):
            if one.inside or one.name == ANY:
                continue
            names = {one.name} if one.name else set()
            if one.site is not None:
                names = self._keeping.names_at(one.site)
            for name in names:
                found.add((name, one.is_part))
                found |= self._keeping.other_names(name, one.is_part)
        return found

    def _is_unknown(self, scope: ast.AST, value: ast.expr) -> bool:
        """Tell whether no more is known of what is gone over than its text."""
        its = self._origins.of(scope, value)
        return not its or any(one.name == ANY for one in its)


def _are_apart(one: ast.expr, other: ast.expr) -> bool:
    """Tell whether one of two objects is a part of the other, or at another key."""
    match one, other:
        case (
            ast.Subscript(value=base, slice=ast.Constant(value=key)),
            ast.Subscript(value=same, slice=ast.Constant(value=another)),
        ) if ast.unparse(base) == ast.unparse(same):
            return bool(key != another)
    shorter, longer = sorted([ast.unparse(one), ast.unparse(other)], key=len)
    return longer != shorter and longer.startswith((f"{shorter}[", f"{shorter}."))


def _ends_at_once(body: Collection[ast.AST], node: ast.AST) -> bool:
    """Tell whether the loop is left right after the statement."""
    blocks = [[*body]]
    for inner in (one for statement in body for one in ast.walk(statement)):
        fields = (getattr(inner, "body", None), getattr(inner, "orelse", None))
        blocks += [one for one in fields if isinstance(one, list)]
    return any(
        isinstance(later, ast.Break | ast.Return)
        for block in blocks
        for number, one in enumerate(block)
        if node in ast.walk(one)
        for later in block[number + 1 :]
    )

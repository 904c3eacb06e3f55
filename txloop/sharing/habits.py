"""What the functions of a program do with what they are given, and what they return.

Of each call, `share` asks whether an argument is stored, changed or handed on, and
whether what it returns is the same object once it is stored.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from txloop.scan.known import PARTS, READERS, SCALARS
from txloop.scan.syntax import FUNCTIONS, declared_in, last_name, walk
from txloop.sharing.bindings import bindings, keys_in
from txloop.sharing.callees import ANY_FUNCTION
from txloop.sharing.decoding import gives_scalar
from txloop.sharing.handing import names_handed_on
from txloop.sharing.operators import operands
from txloop.sharing.scopes import walked
from txloop.sharing.syntax import OF_NUMBERS, arguments_of, changed_by
from txloop.sharing.types_asked import only_asks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Set

    from txloop.sharing.callees import Callees
    from txloop.sharing.texts import Text

__all__ = ["Argument", "Habit", "Habits"]

_DEPTH = 3
_FROM_INSIDE = frozenset(["get", "items", "keys", "pop", "popleft", "values"])
_OF_REQUESTS = frozenset(
    [
        *("arguments", "body_arguments", "cookies", "files", "headers"),
        "query_arguments",
    ]
)
"""Attributes of Tornado's requests that are dicts."""

_OPERATORS = frozenset(
    f"__{side}{name}__"
    for side in ("", "r")
    for name in (
        *("add", "floordiv", "lshift", "mod", "mul", "pow", "rshift", "sub"),
        "truediv",
    )
)
"""What classes of the program may have: then a sum may be anything."""


@dataclass(frozen=True, slots=True)
class Habit:
    """What the functions of one name do.

    Attributes:
        stored: The numbers of the parameters that they store.
        places: The last names of what they store them in.
        reached: All names of that.
        handed: The numbers of those that they return, or parts of them.
        changes: Whether they change something.
        returns_same: Whether what they return is the same object once stored.
    """

    stored: Set[int] = frozenset()
    places: Set[str] = frozenset()
    reached: Set[str] = frozenset()
    handed: Set[int] = frozenset()
    changes: bool = False
    returns_same: bool = True


_UNKNOWN = Habit(returns_same=False)


class Argument(NamedTuple):
    """What a call gives, and in which function of which module."""

    text: Text
    scope: ast.AST
    value: ast.expr


@dataclass
class Habits:
    """What is known of the functions of a program.

    Attributes:
        callees: Tells what a call runs.
        has_arrays: Whether the program uses a library of arrays.
        coroutines: The names of those that are ``async def``, and of nothing else.
        functions: What they do, by their names.
        hashed: The numbers of parameters that a function of a name uses as keys: no
            lists, dicts or sets.
        keys: The variables of functions that are keys, there or where they are given.
        given: Whether what calls give for a parameter is the same object once stored.
        owned: The expressions for attributes of handlers that are given what changes,
            with what they are given; None if that is not known.
    """

    callees: Callees
    has_arrays: bool
    coroutines: Set[str] = frozenset()
    functions: dict[str, Habit] = field(default_factory=dict)
    hashed: Mapping[str, Set[int]] = field(default_factory=dict)
    keys: dict[object, Set[str]] = field(default_factory=dict)
    given: dict[tuple[object, str], bool] = field(default_factory=dict)
    owned: dict[ast.AST, list[Argument] | None] = field(default_factory=dict)

    def known(self) -> tuple[object, ...]:
        """Return what is another value when more is known."""
        learned = dict(self.functions), self.hashed, dict(self.keys)
        return *learned, self.given, {*self.owned}

    def of(self, name: str) -> Habit:
        """Return what is known of the functions of a name."""
        return self.functions.get(name, _UNKNOWN)

    def stored_by(self, node: ast.AST) -> list[ast.expr]:
        """Return what a call, or an operator, gives to what may store it."""
        found = self._given(node, lambda its: its.stored)
        if isinstance(node, ast.Call):
            for one in self._applied_by(node):
                found += [other for other in node.args if other is not one]
        return found

    def _applied_by(self, node: ast.Call) -> list[ast.expr]:
        """Return the arguments that are functions, which may store the others."""
        if only_asks(self.callees.meanings, node):
            return []
        return [
            one
            for one in node.args
            if any(self.of(name).stored for name in self.callees.passed(one))
        ]

    def is_indirect(self, node: ast.AST) -> bool:
        """Tell whether a call may run functions that are not what it is a call of."""
        if not isinstance(node, ast.Call):
            return False
        return self.callees.runs_any(node) or bool(self._applied_by(node))

    def places_of(self, node: ast.AST) -> set[str]:
        """Return the last names of what functions that a node runs store things in."""
        return set().union(*(one.places for one in self._run_by(node)))

    def reached_by(self, node: ast.AST) -> set[str]:
        """Return all names of what functions that a node runs store things in."""
        return set().union(*(one.reached for one in self._run_by(node)))

    def _run_by(self, node: ast.AST) -> list[Habit]:
        """Return what is known of all functions that a node may run."""
        names = {name for name, _ in self.callees.of(node)}
        if ANY_FUNCTION in names:
            names |= {*self.callees.taken, "__call__"}
        if isinstance(node, ast.Call) and not only_asks(self.callees.meanings, node):
            # One may be applied to the others.
            names |= {name for one in node.args for name in self.callees.passed(one)}
        return [self.of(name) for name in names]

    def _given(
        self, node: ast.AST, numbers: Callable[[Habit], Set[int]]
    ) -> list[ast.expr]:
        """Return the arguments of some numbers, which are those of parameters."""
        found: list[ast.expr] = []
        for name, skipped in self.callees.of(node):
            its = numbers(self.of(name))
            if not (its or name == ANY_FUNCTION):
                continue
            if not isinstance(node, ast.Call):
                found += operands(node)
                continue
            spread = any(isinstance(one, ast.Starred) for one in node.args)
            found += [
                one
                for number, one in enumerate(node.args)
                if name == ANY_FUNCTION or spread or number - skipped in its
            ]
            found += [one.value for one in node.keywords]
        return found

    def handed_on(self, value: ast.AST) -> set[str]:
        """Do as `names_handed_on`, through the functions of the program, too."""
        found = names_handed_on(value)
        for node in walk(value):
            given = self._given(node, lambda its: its.handed)
            if isinstance(node, ast.Call) and (
                self._makes_tuple(node) or last_name(node.func) in self.callees.giving
            ):
                given = arguments_of(node)
            found.update(*map(names_handed_on, given))
        return found

    def _makes_tuple(self, call: ast.Call) -> bool:
        return last_name(call.func) in self.callees.tuples

    def keys_of(self, scope: ast.AST) -> Set[str]:
        """Return the variables that are keys, there or in functions that it calls.

        An array, and what has a `__getitem__` of its own, may take lists for keys.
        """
        if self.has_arrays or "__getitem__" in self.functions:
            return frozenset()
        found = {*keys_in(scope)}
        for node in walked(scope):
            if isinstance(node, ast.Call):
                runs = self.callees.of(node)
                for number, one in enumerate(node.args):
                    if isinstance(one, ast.Starred):
                        break
                    if isinstance(one, ast.Name) and all(
                        number - skipped in self.hashed.get(name, ())
                        for name, skipped in runs or [(ANY_FUNCTION, 0)]
                    ):
                        found.add(one.id)
        return found

    def stays(self, scope: ast.AST, value: ast.AST, depth: int = 0) -> bool:
        """Tell whether a value is the same object when it has been stored.

        What cannot change is, and so are objects of the program's classes, and what
        comes out of an object that is there already: if that is shared, it is a
        container, and if it is not, nothing changes it.
        """
        if value in self.owned:
            return False
        match value:
            case ast.Constant() | ast.JoinedStr() | ast.Compare() | ast.Lambda():
                return True
            case ast.Attribute(value=base, attr=name) if name in self.callees.fields:
                return self.stays(scope, base, depth)  # it may be a new tuple
            case ast.Attribute(value=base, attr=name) if name in _OF_REQUESTS:
                return last_name(base) != "request"  # Tornado has made it, a plain one
            case ast.UnaryOp() | ast.Attribute():
                return True
            case ast.Subscript(value=base, slice=part):
                copied = isinstance(part, ast.Slice)
                return not copied and self.stays(scope, base, depth)
            case ast.Name(id=name):
                return self._variable_stays(scope, name, depth)
            case ast.Call():
                return self._result_stays(scope, value, depth)
            case ast.Await(value=ast.Call(func=ast.Name(id=name))):
                return name in self.coroutines and self.of(name).returns_same
            case ast.BinOp() if self.is_scalar_sum(scope, value):
                return True
            case ast.BinOp(left=ast.Attribute() | ast.Subscript() | ast.Name()):
                return False
            case ast.BinOp(left=left):
                return self.stays(scope, left, depth)
            case ast.Tuple(elts=parts) | ast.BoolOp(values=parts):
                return self._all_stay(scope, parts, depth)
            case ast.IfExp(body=body, orelse=orelse):
                return self._all_stay(scope, [body, orelse], depth)
        return False

    def _all_stay(self, scope: ast.AST, values: Iterable[ast.AST], depth: int) -> bool:
        return all(self.stays(scope, one, depth) for one in values)

    def _variable_stays(self, scope: ast.AST, name: str, depth: int) -> bool:
        if name in self.keys.get(scope, ()):
            return True
        values, others = bindings(scope, name)
        if not values and not others:
            return True  # of the module; or a function, or what another module has
        its = name == "self"  # an object of a class of the program
        given = its or self.given.get((scope, name), False)
        return (
            depth < _DEPTH
            and (bool(values) or given)
            and (not others or given)
            and self._all_stay(scope, values, depth + 1)
        )

    def _result_stays(self, scope: ast.AST, call: ast.Call, depth: int) -> bool:
        function = call.func
        name = last_name(function)
        if ast.unparse(function) in ("txloop.share", "txloop.TCount"):
            return True
        if self._makes_tuple(call):
            return self._all_stay(scope, arguments_of(call), depth)
        if tabled := self.callees.tables.given_by(function):
            classes = self.callees.is_class
            return all(classes(one) or self.of(one).returns_same for one in tabled)
        if name == "cls" or self.callees.is_class(name) or self.is_scalar(call):
            return True
        if name in _FROM_INSIDE and isinstance(function, ast.Attribute):
            # The default of `get` comes second.
            return self._all_stay(scope, [function.value, *call.args[1:]], depth)
        return self.of(name).returns_same

    def is_scalar(self, call: ast.Call) -> bool:
        """Tell whether a call returns what cannot change.

        Handlers may decode arguments into anything; and the program may have functions
        that have such a name.
        """
        name, own = last_name(call.func), self.callees.functions
        decoded = name.endswith("_argument") and "decode_argument" in own
        return gives_scalar(call) and name not in own and not decoded

    def is_scalar_sum(
        self, scope: ast.AST | None, value: ast.BinOp, depth: int = 0
    ) -> bool:
        """Tell whether an operator gives a text or a number, as a part of it is one.

        Of ``now - self.begun`` that is `now`, if the function makes nothing else of it.

        Args:
            scope: The function; None if it is not known.
            value: The expression.
            depth: How many variables have led to it.
        """
        if self.has_arrays or not _OPERATORS.isdisjoint(self.functions):
            return False
        if isinstance(value.op, OF_NUMBERS):
            return True
        sides = (value.right, value.left)  # the left one may be a long sum
        its = (self._is_scalar_part(scope, one, depth) for one in sides)
        if isinstance(value.op, ast.Mult):  # of a list, there may be several
            return all(its)
        return isinstance(value.op, ast.Add | ast.Sub) and any(its)

    def _is_scalar_part(
        self, scope: ast.AST | None, value: ast.expr, depth: int
    ) -> bool:
        match value:
            case ast.JoinedStr() | ast.Constant(value=str() | int() | float()):
                return True
            case ast.BinOp():
                return self.is_scalar_sum(scope, value, depth)
            case ast.Call():
                return self.is_scalar(value)
            case ast.Name(id=name) if scope is not None and depth < _DEPTH:
                values, others = bindings(scope, name)
                is_outer = isinstance(scope, FUNCTIONS) and name in declared_in(scope)
                its = (self._is_scalar_part(scope, one, depth + 1) for one in values)
                return bool(values) and not (others or is_outer) and all(its)
        return False

    def only_reads(self, name: str) -> bool:
        """Tell whether a function of that name changes and keeps nothing."""
        if name in SCALARS or name in READERS or name in PARTS:
            return True
        if name not in self.functions:
            return False
        its = self.functions[name]
        return not (its.changes or its.handed)  # what it returns may be changed

    def may_act(self, function: ast.expr) -> bool:
        """Tell whether what is applied to parts may change them."""
        if isinstance(function, ast.Lambda):
            inside = walk(function.body)
            return any(changed_by(one) or self.acts(one) for one in inside)
        return not (
            isinstance(function, ast.Constant) or self.only_reads(last_name(function))
        )

    def acts(self, node: ast.AST) -> bool:
        """Tell whether a node changes an object, or calls what changes one."""
        names = {name for name, _ in self.callees.of(node)}
        if ANY_FUNCTION in names or any(self.of(name).changes for name in names):
            return True
        target = changed_by(node)
        return target is not None and not isinstance(target, ast.Name)

"""Which functions of a program a call may run.

What is known of functions is kept by their names (see `habits`), and those of several
classes are one there. A call may reach a function by another name, too, or by an
expression without a name: then it may run any.
"""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from typing import TYPE_CHECKING

from txloop.scan.known import PARTS, READERS, SCALARS
from txloop.scan.syntax import FUNCTIONS, last_name, parameters, walk
from txloop.sharing.handing import may_give
from txloop.sharing.operators import ORDERS, asked_by, assigned, methods_of, setters
from txloop.sharing.scopes import imports_in, nodes_of, walked
from txloop.sharing.subclassing import METHODS_OF_CLASSES, makes_subclass
from txloop.sharing.syntax import leaves, registered_by, root_name
from txloop.sharing.tables import Tables
from txloop.sharing.unnamed import called_without_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Set

    from txloop.scan.syntax import FunctionNode
    from txloop.sharing.flow import Flow
    from txloop.sharing.meanings import Function, Meanings
    from txloop.sharing.texts import Text

__all__ = ["ANY_FUNCTION", "Callees", "numbers_of"]

ANY_FUNCTION = "?"
"""Stands for the name of a function that is not known."""

_INIT = "__init__"
_DECORATED = " of a handler"
"""Ends the names of verbs for decorators: those of stores have the same names else."""

_MOST_ARGUMENTS = 16  # of one call; more are rare


class Callees:
    """All that is called in a program.

    Attributes:
        meanings: What names mean.
        every: Its functions, by the names under which what is known of them is kept.
        functions: The same by these names.
        is_class: Tells whether a name is that of a class of the program.
        taken: The names of those that are not only called: what is not known may run
            them.
        tuples: The names of classes whose objects are tuples with names for the parts.
        fields: These names of parts.
        giving: The names of classes whose calls may return what they are given, or
            something that has it in it.
        tables: Those of functions and classes that are only read.
    """

    def __init__(self, texts: Iterable[Text], meanings: Meanings, flow: Flow) -> None:
        """Look at all modules.

        Args:
            texts: The modules.
            meanings: What names mean.
            flow: Where objects of the program's classes get to.
        """
        self.meanings = meanings
        self._flow = flow
        self._run_by: dict[ast.Call, list[tuple[Function, int]]] = {}
        self._of: dict[ast.AST, list[tuple[str, int]]] = {}
        self.is_class = meanings.classes.__contains__
        self.fields: Set[str] = meanings.fields
        self.taken: Set[str] = frozenset()
        self.tuples: set[str] = set()
        self.giving: set[str] = set()
        self._bases: dict[str, list[str]] = {}  # of classes that inherit an __init__
        self._supers: dict[int, list[str]] = {}  # the bases that a `super()` may mean
        self._made: dict[int, str] = {}  # the class of which ``cls(...)`` makes objects
        self._derived: defaultdict[str, set[str]] = defaultdict(set)
        self._lambdas: dict[int, str] = {}  # what each is assigned to
        self._others: defaultdict[str, set[str]] = defaultdict(set)  # by another name
        self._bound: set[str] = set()  # what is given a value that is no function
        self._defined: set[str] = set()
        self._are_ordered = False  # by a decorator of a class
        texts = [*texts]
        for one in (each for text in texts for each in imports_in(text.tree)):
            if one.name not in ("", one.bound) and meanings.is_own(one.module):
                self._others[one.bound].add(one.name)
        nodes = [node for text in texts for node in walked(text.tree)]
        self._setters = setters(nodes)
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                self._take_class(node)
            elif isinstance(node, ast.Assign):
                self._take_values(node)
            for dispatcher, function in registered_by(node):
                self._others[dispatcher].add(function)
        for node in nodes:
            if isinstance(node, ast.For | ast.comprehension):
                self._bound.update(map(last_name, leaves(node.target)))
        self._given_otherwise = frozenset(self._bound)
        for node in nodes:
            if isinstance(node, FUNCTIONS):
                self._bound.update(parameters(node))
                self._defined.add(self.named(node))
        self.giving = {one for name in self.giving for one in self._derived_of(name)}
        self._bound -= {*dir(builtins), *SCALARS, *READERS, *PARTS, "self", ""}
        self.every = [
            each if each.name else each._replace(name=self.named(each.node))
            for each in meanings.every
        ]
        self.every += [
            each._replace(name=self.decorated(each.node).id)
            for each in self.every
            if meanings.is_verb(each.node) and _is_decorated(each.node)
        ]
        self.called_without_name = called_without_name(texts, meanings, self.every)
        self.functions: defaultdict[str, list[Function]] = defaultdict(list)
        self.tables = Tables(nodes, meanings, self._is_only_own)
        self._constructors: list[Function] = []
        for each in self.every:
            self.functions[each.name].append(each)
            self._defined.add(each.name)
            if each.owner is not None and self.named(each.node) == _INIT:
                self._constructors.append(each)

    def _take_class(self, node: ast.ClassDef) -> None:
        bases = [last_name(base) for base in node.bases]
        if "NamedTuple" in bases:
            self.tuples.add(node.name)
        if may_give(node, bases):
            self.giving.add(node.name)
        if any(last_name(one) != "dataclass" for one in node.decorator_list):
            self._are_ordered = True
        for base in bases:
            self._derived[base].add(node.name)
        for method in node.body:
            if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                for one in walked(method):
                    if isinstance(one, ast.Call) and _is_own_class(one.func, method):
                        self._made[id(one)] = node.name
        if not any(getattr(one, "name", "") == _INIT for one in node.body):
            self._bases[node.name] = bases
        for one in walk(node):
            if isinstance(one, ast.Call) and last_name(one.func) == "super":
                # A base of the same name is a library's.
                self._supers[id(one)] = [each for each in bases if each != node.name]

    def _derived_of(self, name: str) -> list[str]:
        found = [name]
        for one in found:  # it grows
            found += sorted(self._derived[one].difference(found))
        return found

    def _is_only_own(self, name: str) -> bool:
        """Tell whether a name is that of a function or class, and of nothing else.

        A call of the class makes an object of it; nothing decorates the function, as a
        cache does.
        """
        its = self.functions.get(name, ())
        own = self.is_class(name) or (
            its and not any(_is_decorated(f.node) for f in its)
        )
        return bool(own) and name not in self._bound | self.giving | self.tuples

    def _take_values(self, node: ast.Assign) -> None:
        """Note what is assigned, as far as it may be called."""
        value = node.value
        for name in (last_name(one) for each in node.targets for one in leaves(each)):
            if isinstance(value, ast.Lambda):
                self._lambdas[id(value)] = name
            elif isinstance(value, ast.Name | ast.Attribute):
                self._others[name].add(last_name(value))
            elif isinstance(value, ast.Call) and last_name(value.func) == "namedtuple":
                self.tuples.add(name)
            elif not isinstance(value, ast.Constant):
                self._bound.add(name)

    def learn(self, given: Mapping[str, Set[str] | None], taken: Set[str]) -> None:
        """Note which functions callers give for parameters.

        Args:
            given: Their names, by the parameter's; None where not all are known.
            taken: The names of functions that are not only called.
        """
        self.taken = taken
        self._run_by.clear()
        self._of.clear()
        unknown = {name for name, names in given.items() if names is None}
        unknown |= self._bound - given.keys()
        known = {name: names for name, names in given.items() if names is not None}
        while passed_on := {
            name for name, names in known.items() if self._is_unknown(names, unknown)
        }:
            unknown |= passed_on
            known = {one: known[one] for one in known.keys() - passed_on}
        for name, names in known.items():
            self._others[name] |= names
        self._bound -= known.keys() - self._given_otherwise

    def _is_unknown(self, names: Set[str], unknown: Set[str]) -> bool:
        return any(
            one in unknown and one not in self._defined and not self.is_class(one)
            for one in names
        )

    def named(self, function: ast.AST) -> str:
        """Return the name of a function, or of what may be one; "" if it has none."""
        if isinstance(function, ast.Lambda):
            return self._lambdas.get(id(function), f"lambda {id(function)}")
        return getattr(function, "name", last_name(function))

    def decorated(self, function: ast.AST) -> ast.Name:
        """Return what a decorator is given."""
        name = self.named(function)
        if self.meanings.is_verb(function):
            name += _DECORATED
        return ast.Name(name, ast.Load())

    def verbs_of(self, name: str) -> list[Function]:
        """Return the verbs that decorators are given by a name."""
        return self.functions.get(name, []) if name.endswith(_DECORATED) else []

    def made_by(self, mark: ast.expr) -> list[ast.expr]:
        """Return what a decorator is: of a call, the functions that this returns."""
        if not isinstance(mark, ast.Call):
            return [mark]
        makers = self.functions.get(last_name(mark.func), ())
        ends = [
            each
            for one in makers
            for each in nodes_of(one.node)
            if isinstance(each, ast.Return)
        ]
        return [one.value for one in ends if isinstance(one.value, ast.Name)] or [mark]

    def is_own(self, function: ast.expr) -> bool:
        """Tell whether an expression names a function or class of the program."""
        names = self.passed(function)
        return any(one in self.functions or self.is_class(one) for one in names)

    def run_by(self, call: ast.Call) -> list[tuple[Function, int]]:
        """Return what a call may run, with how many arguments are not its own.

        Tornado calls the verbs of handlers, and these do by `self`, and decorators.
        """
        if call not in self._run_by:
            verbs = self.meanings.is_of_handler(call.func)
            self._run_by[call] = [
                (one, others)
                for name, others in self.of(call)
                for one in self._of_name(name)
                if verbs
                or name.endswith(_DECORATED)
                or not self.meanings.is_verb(one.node)
            ]
        return self._run_by[call]

    def _setting(self, node: ast.AST) -> list[str]:
        """Return the names of what an assignment calls: setters, and other methods."""
        return [name for one in assigned(node) for name in self._called_for(one)]

    def _asking(self, node: ast.AST) -> list[str]:
        """Return the names of what a node calls to get, find or compare something."""
        found: list[str] = []
        for base, methods in asked_by(node):
            if self._are_ordered and not ORDERS.isdisjoint(methods):
                methods = (*ORDERS,)  # one is made of others
            names = [one for one in sorted(methods) if one in self._defined]
            if names and self._may_have(base, names):
                found += names
        return found

    def _called_for(self, target: ast.expr) -> list[str]:
        match target:
            case ast.Subscript(value=base):
                asked = ["__setitem__"]
            case ast.Attribute(value=base, attr=name):
                asked = ["__setattr__", *self._setters.get(name, ())]
            case _:
                return []
        names = [one for one in asked if one in self._defined]
        # A descriptor is an object of a class of its own.
        if names and ("__set__" in names or self._may_have(base, names)):
            return names
        return []

    def _may_have(self, base: ast.expr, methods: list[str]) -> bool:
        """Tell whether an expression may give an object of a class with a method."""
        owners = {
            self.named(one.owner)
            for name in methods
            for one in self.functions[name]
            if one.owner is not None
        }
        found = {one for name in owners for one in self._with_derived(name)}
        if not self.meanings.has(base):  # it stands for what has a name
            return "__setattr__" not in methods
        scope = self.meanings.scope_of(base)
        its = {owner.name for owner in [self.meanings.owner_of(scope)] if owner}
        its = its if root_name(base) == "self" and isinstance(base, ast.Name) else set()
        return not found.isdisjoint(self._flow.classes_of(base, scope) | its)

    def setting(self, target: ast.expr) -> list[Function]:
        """Return the functions that an assignment to a target may call."""
        its = self._called_for(target)
        return [one for name in its for one in self.functions[name] if one.given]

    def calling(self, call: ast.Call) -> list[Function]:
        """Return the functions that a call of an object may run."""
        if "__call__" in self._defined and self._may_have(call.func, ["__call__"]):
            return self.functions["__call__"]
        return []

    def operating(self, node: ast.AST) -> list[Function]:
        """Return the functions that an operator may call."""
        names = [*methods_of(node), *self._asking(node)]
        return [one for name in names for one in self.functions[name]]

    def _of_name(self, name: str) -> list[Function]:
        if name == ANY_FUNCTION:  # it may make an object of any class
            return self._constructors
        return self.functions.get(name, [])

    def runs_any(self, node: ast.AST) -> bool:
        """Tell whether a call may run functions that are not known."""
        return any(name == ANY_FUNCTION for name, _ in self.of(node))

    def passed(self, value: ast.AST) -> list[str]:
        """Return the names of a function that is an argument; none if it is none."""
        if isinstance(value, ast.Lambda):
            return [self.named(value)]
        if isinstance(value, ast.Name | ast.Attribute):
            return self._all_of(last_name(value))
        return []

    def of(self, node: ast.AST) -> list[tuple[str, int]]:
        """Return the names of what a call or an operator runs.

        Each comes with how many arguments are none of the function's: an object.
        """
        if node not in self._of:
            self._of[node] = self._names_run_by(node)
        return self._of[node]

    def _names_run_by(self, node: ast.AST) -> list[tuple[str, int]]:
        if not isinstance(node, ast.Call):
            its = [one for one in methods_of(node) if one in self._defined]
            return [(one, 0) for one in its + self._asking(node) + self._setting(node)]
        if id(node) in self._made:
            return [(name, 0) for name in self._with_derived(self._made[id(node)])]
        if makes_subclass(node):
            names = [*METHODS_OF_CLASSES, *self._derived_of("type")[1:]]
            return [(name, 0) for name in names]
        if tabled := self.tables.given_by(node.func):
            # Methods are called with their object then.
            every = [one for name in sorted(tabled) for one in self._all_of(name)]
            return [(one, n) for one in every for n in (0, 1)]
        match node.func:
            case ast.Attribute(value=ast.Call() as base, attr="__init__"):
                bases = self._supers.get(id(base), [])
                return [(name, 0) for one in bases for name in self._all_of(one)]
            case ast.Attribute(value=base, attr="__init__"):
                return [(name, 1) for name in self._all_of(last_name(base))]
            case ast.Attribute(value=base, attr=name) if self.is_class(last_name(base)):
                return [(name, 0), (name, 1)]
            case ast.Lambda():
                return [(self.named(node.func), 0)]
            case ast.Attribute(attr="__class__"):
                return [(ANY_FUNCTION, 0)]
            case ast.Attribute(attr="value") if "value" not in self._defined:
                return [(ANY_FUNCTION, 0)]  # what a TVar holds
            case ast.Attribute() | ast.Name():
                name, *others = self._all_of(last_name(node.func))
                # By another name a method may be called with its object; verbs are.
                return [(name, 0)] + [
                    (one, n)
                    for one in others
                    for n in ((1,) if one.endswith(_DECORATED) else (0, 1))
                ]
        return [(ANY_FUNCTION, 0)]

    def _with_derived(self, name: str) -> list[str]:
        """Return the name of a class, and those of all that are derived from it."""
        found = [name]
        for one in found:  # it grows
            more = {*self._derived[one], *self._bases.get(one, ())}
            found += sorted(more.difference(found))
        return found

    def _all_of(self, name: str) -> list[str]:
        """Return a name, and those under which what it means may be known, too."""
        found = [name]
        for one in found:  # it grows
            more = {*self._bases.get(one, ()), *self._others.get(one, ())}
            found += sorted(more.difference(found))
        known = any(self.is_class(one) or one in self._defined for one in found)
        return (
            [ANY_FUNCTION] if not known and self._bound.intersection(found) else found
        )


def _is_decorated(function: FunctionNode) -> bool:
    return bool(getattr(function, "decorator_list", ()))


def _is_own_class(called: ast.expr, method: ast.AST) -> bool:
    """Tell whether it is the class of the object, or the class, that has a method."""
    marks = {last_name(one) for one in getattr(method, "decorator_list", [])}
    first = next(iter(parameters(method)), "")  # type: ignore[arg-type] # a function
    match called:
        case ast.Name(id=name):
            return "classmethod" in marks and name == first
        case (
            ast.Call(func=ast.Name(id="type"), args=[ast.Name(id=name)])
            | ast.Attribute(value=ast.Name(id=name), attr="__class__")
        ):
            return not marks & {"classmethod", "staticmethod"} and name == first
    return False


def numbers_of(function: Function, names: Set[str]) -> set[int]:
    """Return the numbers of the arguments that some parameters are given."""
    node, skipped = function.node, function.skipped
    every = parameters(node)
    found = {number - skipped for number, one in enumerate(every) if one in names}
    if node.args.vararg is not None and node.args.vararg.arg in names:
        first = len(node.args.posonlyargs) + len(node.args.args) - skipped
        found.update(range(first, first + _MOST_ARGUMENTS))
    return found

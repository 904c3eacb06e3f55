"""The walk through a function and what it calls in the program's own modules.

The modules for statements, expressions and calls tell what each piece of syntax does. A
walk keeps what they share, and leads them from function to function.
"""

from __future__ import annotations

import ast
import weakref
from collections import Counter, deque
from typing import TYPE_CHECKING, Any

from txloop.scan import expressions, statements
from txloop.scan.call_expressions import visit_call
from txloop.scan.frame import Frame, Nested, bind
from txloop.scan.live_objects import IMMUTABLE, UNKNOWN, has_type
from txloop.scan.matching import visit_match
from txloop.scan.member import has_special, member
from txloop.scan.notebook import Notebook, Place, shown
from txloop.scan.statements import visit_body
from txloop.scan.syntax import children, parameters
from txloop.scan.unnamed import Contents
from txloop.scan.value import (
    NO_ARGUMENTS,
    SOMETHING,
    Arguments,
    Bound,
    Descriptor,
    Family,
    Inherited,
    Instance,
    Live,
    Several,
    Value,
    alternatives,
    either,
    identity,
    is_changeable,
    shared,
)
from txloop.stm.origin import is_own_function

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import CellType, FunctionType

    from txloop.scan.source import Definition, Sources
    from txloop.scan.syntax import FunctionNode
    from txloop.scan.value import Slot

__all__ = ["Walk"]

_DEEPEST = 10
"""Calls are followed at once to this depth; deeper ones wait, to spare the stack."""

_MOST_WALKS = 32
"""How often one function is walked through, with other arguments each time."""

_VISITS: dict[type[ast.AST], Callable[[Walk, Any], Value]] = {
    **expressions.VISITS,
    **statements.VISITS,
    ast.Call: visit_call,
    ast.Match: visit_match,
}


class Walk:
    """Walks through functions, each once for each receiver and arguments.

    Belongs to the one scan that made it.

    Attributes:
        sources: Where to find code.
        evidence: What the source says about what the application holds.
        application: The application, if it is known.
        asked: Whether anything has depended on which one it is.
        everything: Whether to walk also what runs on the loop thread at commit.
        only_reads: Whether a call outside of the program's code is one that could not
            be followed, unless it is known that it only reads, or logs.
        contents: What comes out of containers.
        notes: What was seen.
        frame: The names that the code being visited sees.
        unless: Where the code being visited has asked before: see `Access`.
        made: The objects that calls of classes have made, by class and arguments.
        uses_containers: Whether the functions of caches do, by the caches' identity.
        changes_containers: Whether they change such as are there already, likewise.
        calling: The classes whose metaclass is being walked through.
    """

    def __init__(
        self,
        sources: Sources,
        evidence: Mapping[str, object],
        application: object = UNKNOWN,
        *,
        plain_calls: dict[object, Value] | None = None,
    ) -> None:
        """Begin in no function.

        Args:
            sources: Where to find code.
            evidence: What the source says about what the application holds.
            application: The application, if it is known.
            plain_calls: What calls without changeable arguments return. Given for the
                index, which walks through every function by itself: such a call has
                nothing to add there, and one module's walk can spare it the next,
                if it did not depend on the application.
        """
        self.sources = sources
        self.evidence = evidence
        self.application = application
        self.asked = False
        self.everything = plain_calls is not None
        self.only_reads = False
        self.contents = Contents(sources)
        self.frame = Frame("", "", {})
        self.unless: frozenset[Slot] = frozenset()
        self.made: dict[object, Instance | Live] = {}
        self.uses_containers: dict[int, bool] = {}
        self.changes_containers: dict[int, bool] = {}
        self.calling: list[type] = []
        walk = weakref.proxy(self)  # what is not needed any more goes at once
        self.notes = Notebook(
            lambda: Place(walk.frame.file, walk.frame.qualname, walk.unless)
        )
        self._plain_calls = plain_calls
        self._returned: dict[object, Value] = {}
        self._waiting: deque[tuple[FunctionType, Value, Arguments, frozenset[Slot]]] = (
            deque()
        )
        self._walks: Counter[int] = Counter()
        self._depth = 0

    # Syntax

    def visit(self, node: ast.AST) -> Value:
        """Walk through syntax, and return what it stands for, which may be several."""
        visit = _VISITS.get(type(node))
        if visit is not None:
            return visit(self, node)
        for child in children(node):
            self.visit(child)
        return None

    def value(self, node: ast.AST) -> Value:
        """Visit the expression and return what it stands for, if that is one value.

        Else it is written down that it could not be followed.
        """
        found = self.visit(node)
        if isinstance(found, Several):
            self.notes.lose(node, f"{shown(node)}, which may be one of several")
            return found.values[0]
        return found

    # Functions

    def call_method(
        self, receiver: Value, name: str, arguments: Arguments = NO_ARGUMENTS
    ) -> None:
        """Walk through the method or property of the receiver, if there is one."""
        found = member(receiver, name, self.sources)
        if isinstance(found, Bound | Descriptor):
            self.run(found, arguments)

    def run_special(self, value: Value, names: tuple[str, ...], *given: Value) -> Value:
        """Walk through the first of these methods that the program gives a value."""
        results = []
        for each in alternatives(value):
            if isinstance(each, (Instance, Live)) and not has_special(each, names):
                continue  # as most have none: `member` asks more than that
            methods = (member(each, name, self.sources) for name in names)
            known = (one for one in methods if isinstance(one, (Bound, Inherited)))
            found = next(known, None)
            called: list[Value] = [found]
            if isinstance(found, Inherited):  # a library's, which calls those
                asked = found.called
                called = [member(found.receiver, one, self.sources) for one in asked]
            results += [
                self.run(one, Arguments(given))
                for one in called
                if isinstance(one, Bound)
            ]
        return either(results)

    def run(
        self,
        called: Bound | Descriptor,
        arguments: Arguments = NO_ARGUMENTS,
        *,
        anew: bool = False,
    ) -> Value:
        """Walk through the program's functions among those that are called like this.

        Args:
            called: The functions, and of what they are methods.
            arguments: What they are given; a descriptor has its own.
            anew: Whether to walk also through what has been walked through.
        """
        if isinstance(called, Descriptor):
            arguments = called.arguments
        before = self._returned
        if anew:
            self._returned = {}
        own = filter(is_own_function, called.functions)
        values = [self._follow(each, called.receiver, arguments) for each in own]
        self._returned = before
        return either(values)

    def finish(self) -> None:
        """Walk through the calls that were too deep to follow at once."""
        while self._waiting:
            function, receiver, arguments, self.unless = self._waiting.popleft()
            self._follow(function, receiver, arguments)
        self.unless = frozenset()

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
        plain = self._plain_calls
        if plain is None or any(map(is_changeable, local.values())):
            plain, key = None, (*key, *map(identity, local.values()))
        elif key in plain:
            return plain[key]
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
            if plain is not None and not self.asked:
                plain[key] = known[key]
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
        """Walk through a function that stands in the one being walked.

        Args:
            nested: The function.
            given: What each of its parameters is.
        """
        key = (id(nested.node), id(nested.frame), self.unless, identity(given))
        if key not in self._returned:
            self._returned[key] = nested
            frame = nested.frame.inner(nested.name)
            if not nested.in_class:
                frame.local.update(dict.fromkeys(parameters(nested.node), given))
            self._enter(frame, nested.node)

    def run_nested(self, nested: Nested, arguments: Arguments) -> Value:
        """Walk through such a function as a call runs it, and return what it returns.

        What variables around it are counts, too: they may have been something else when
        it was called before.
        """
        node, frame = nested.node, nested.frame.inner(nested.name)
        frame.local.update(bind(node, None, arguments))
        for name, given in _defaults_of(node):
            constant = isinstance(given, ast.Constant)
            frame.local.setdefault(name, None if constant else SOMETHING)
        for name in parameters(node):
            frame.local.setdefault(name, None)
        seen = [*frame.local.items(), *nested.frame.all_around()]
        key = (nested, self.unless, *((name, identity(one)) for name, one in seen))
        if key not in self._returned:
            self._walks[id(node)] += 1
            if self._depth > _DEEPEST or self._walks[id(node)] > _MOST_WALKS:
                self.walk_nested(nested)
                return SOMETHING
            self._returned[key] = None
            self._enter(frame, node)
            self._returned[key] = frame.returned
        return self._returned[key]

    def walk_lambda(self, node: ast.Lambda, given: Value = SOMETHING) -> Value:
        """Walk through a lambda each of whose parameters is given that."""
        frame = self.frame
        self.frame = frame.inner("<lambda>")
        self.frame.local.update(dict.fromkeys(parameters(node), given))
        self.frame.enter(node)
        self.visit(node.body)
        self.frame = frame
        return None

    def _enter(self, frame: Frame, node: FunctionNode) -> None:
        """Walk through the body in the frame."""
        around, unless = self.frame, self.unless
        self.frame = frame
        self._depth += 1
        try:
            frame.enter(node)
            if isinstance(node, ast.Lambda):
                frame.returned = self.visit(node.body)
            else:
                visit_body(self, node.body)
        except RecursionError:
            # An expression as deep as the stack: the rest of this function is not
            # scanned, as if it had no source.
            self.notes.lose(node, frame.qualname)
        finally:
            self._depth -= 1
            self.frame, self.unless = around, unless


def _defaults_of(node: FunctionNode) -> list[tuple[str, ast.expr]]:
    """Return the parameters that have defaults, and these."""
    its = node.args
    positional = [each.arg for each in (*its.posonlyargs, *its.args)]
    last = positional[len(positional) - len(its.defaults) :]
    named = zip(its.kwonlyargs, its.kw_defaults, strict=True)
    return [
        *zip(last, its.defaults, strict=True),
        *((each.arg, one) for each, one in named if one is not None),
    ]


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

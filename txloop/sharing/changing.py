"""What a program changes in place: of what is never changed, copies are as good.

Found by names, as `origins` has them; what is not known counts as changed. An object
that is kept under several names is changed under all of them. Of each name it is known
how deep that goes: ``rows[0][1] = x`` changes an element of `rows`, nothing in that.
"""

from __future__ import annotations

import ast
import math
from collections import defaultdict, deque
from io import TextIOWrapper
from typing import TYPE_CHECKING, NamedTuple

from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.web import Application
from tornado.websocket import WebSocketHandler

from txloop.scan.known import (
    GETTERS,
    MUTATORS,
    PARTS,
    PUTTING,
    READERS,
    SCALARS,
)
from txloop.scan.syntax import FUNCTIONS, last_name, parameters
from txloop.sharing.bindings import taken_from
from txloop.sharing.origins import ANY, VIEWS, Origin
from txloop.sharing.receiving import Receiving
from txloop.sharing.scopes import walked
from txloop.sharing.syntax import (
    arguments_of,
    root_name,
    targets_of,
    uses_arrays,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from txloop.sharing.making import Site
    from txloop.sharing.origins import Origins, Values
    from txloop.sharing.texts import Text

__all__ = ["Changing", "Placed", "steps_to"]

_DEEPEST = 4
"""A change that is deeper counts as one of any depth."""

_KINDS: tuple[type, ...] = (
    *(bytes, deque, dict, frozenset, list, set, str, tuple),
    *(Application, HTTPServer, IOLoop, TextIOWrapper, WebSocketHandler),
)
_READING = {
    name for kind in _KINDS for name in dir(kind) if not name.startswith("_")
} - MUTATORS
"""Methods that change no plain object, of these, of files and of Tornado's."""

_CHANGING = frozenset(["getattr", "heappop", "shuffle"])
"""Functions that change what they are given, or return something that does."""

_KEEPING_ONLY = VIEWS | PUTTING
"""Functions that keep what they are given, and do not change it."""

_KNOWN = frozenset(
    [
        *("asyncio", "calendar", "difflib", "fnmatch", "fractions", "glob"),
        *("ipaddress", "json", "logging", "mimetypes", "os", "pathlib", "platform"),
        *("re", "shlex", "string", "sys", "textwrap", "tornado", "txloop"),
        *("unicodedata", "urllib"),
    ]
)
"""Packages whose functions change nothing of what they are given."""


class Placed(NamedTuple):
    """What is kept under a name.

    Attributes:
        name: The name.
        values: The origins of what is kept.
        depth: 0 for the values themselves, 1 for those that are put into them, and so
            on; or a deeper one.
        exact: Whether they are not deeper than that.
    """

    name: str
    values: Values
    depth: int
    exact: bool


class Changing:
    """How deep things are changed, by their names and by where they are made."""

    def __init__(
        self, texts: Collection[Text], origins: Origins, kept: Iterable[Placed]
    ) -> None:
        """Look at all lines.

        Args:
            texts: The modules.
            origins: Where values come from.
            kept: What the program keeps.
        """
        self._origins = origins
        placed = [*kept]
        # Numbers and texts, and objects of the program's classes: nothing is copied.
        self._constant = {one.name for one in placed} - {
            one.name for one in placed if one.values or one.depth
        }
        self._deep: dict[str | Site, float] = {}
        self._through: defaultdict[str | Site, set[str]] = defaultdict(set)
        self._grown: set[str | Site] = set()  # of these, more is known
        self._views = _names_of_views(texts)
        self._receiving = Receiving(texts, origins)
        if any(uses_arrays(text.tree) for text in texts):
            self._set(ANY, math.inf)  # their slices are no copies
        for name in origins.meanings.functions:
            if name.startswith("__"):  # an operator's result is not followed
                for one in origins.returned[name]:
                    self._set(_key(one), math.inf)
        for text in texts:
            for scope, node in origins.meanings.nodes(text):
                for base in _changed_at(node):
                    self._note(scope, base)
                    if _is_operand(scope, base):
                        self._set(ANY, math.inf)
                if isinstance(node, ast.Call):
                    self._note_call(scope, node)
        self._follow_all(placed)

    def changes(self, one: Origin) -> bool:
        """Tell whether what has this origin is changed, or what is in it."""
        known = one.name != ANY and ANY not in self._deep
        return not known or self._depth(_key(one)) >= int(one.is_part)

    def _follow_all(self, placed: list[Placed]) -> None:
        """Follow all that is kept, and again that of which more is known then."""
        concerns: defaultdict[str | Site, list[int]] = defaultdict(list)
        for number, each in enumerate(placed):
            for key in {each.name, *map(_key, each.values)}:
                concerns[key].append(number)
        todo = [*range(len(placed))]
        while todo:
            self._grown.clear()
            for number in todo:
                self._follow(placed[number])
            todo = sorted({one for key in self._grown for one in concerns[key]})

    def _depth(self, key: str | Site) -> float:
        return self._deep.get(key, -1)

    def _set(self, key: str | Site, depth: float, through: str = "") -> None:
        """Note how deep something is changed, and through which other name."""
        names = self._through[key]
        if through not in names:
            names.add(through)
            self._grown.add(key)
        if key in self._views and depth >= 0:  # what changes is what they were given
            depth = math.inf
        if key not in self._constant and depth > self._depth(key):
            self._deep[key] = depth if depth <= _DEEPEST else math.inf
            self._grown.add(key)

    def _note(self, scope: ast.AST, base: ast.expr) -> None:
        """Note that what an expression means is changed itself."""
        for one in self._origins.of(scope, base):
            if not one.inside:
                steps = steps_to(self._origins, scope, base, one.name)[0] or math.inf
                self._set(_key(one), steps if one.is_part else 0)

    def _note_call(self, scope: ast.AST, call: ast.Call) -> None:
        """Note all that a call may change, of its object and arguments."""
        function, name = call.func, last_name(call.func)
        own = self._is_own(scope, function)
        known = self._is_known(scope, function)
        if isinstance(function, ast.Attribute) and not (
            own or known or name in _READING
        ):
            self._note(scope, function.value)
        if name == "setattr":
            self._note(scope, call.args[0])
        elif name in _CHANGING or not (
            name in SCALARS | READERS | PARTS | _READING | _KEEPING_ONLY
            or own
            or known
            or self._receiving.only_keeps(scope, function)
        ):
            for given in arguments_of(call):
                for one in self._origins.of(scope, given):
                    self._set(_key(one), math.inf)

    def _is_own(self, scope: ast.AST, function: ast.expr) -> bool:
        """Tell whether it is one of the program's, which is looked at itself."""
        meanings = self._origins.meanings
        if not meanings.named(function) and last_name(function) not in meanings.classes:
            return False
        home = meanings.imported_from(scope, root_name(function))
        return not home or meanings.is_own(home)

    def _is_known(self, scope: ast.AST, function: ast.expr) -> bool:
        meanings = self._origins.meanings
        home = meanings.imported_from(scope, root_name(function)).partition(".")[0]
        return home in _KNOWN or meanings.is_scalar(scope, function)

    def _follow(self, placed: Placed) -> None:
        """Let what is kept be changed as what keeps it, and the other way round."""
        name = placed.name
        for one in placed.values:
            key, depth = _key(one), placed.depth + one.inside
            deep = self._depth(name) - depth
            if deep >= 0:
                self._set(key, math.inf if one.is_part else deep, name)
            deep = self._depth(key) - one.is_part
            if deep >= 0 and self._through[key] - {name}:
                known = (placed.exact or not placed.depth) and not one.inside
                self._set(name, deep + placed.depth if known else math.inf, str(key))


def _names_of_views(texts: Iterable[Text]) -> set[str]:
    """Return the names of objects that show others."""
    nodes = [node for text in texts for node in walked(text.tree)]
    views = {*VIEWS}
    for node in nodes:
        if isinstance(node, ast.ClassDef) and VIEWS & {*map(last_name, node.bases)}:
            views.add(node.name)
    return {
        last_name(target)
        for node in nodes
        for target, value in targets_of(node)
        if isinstance(value, ast.Call) and last_name(value.func) in views
    }


def _key(one: Origin) -> str | Site:
    return one.site or one.name


def steps_to(
    origins: Origins, scope: ast.AST, value: ast.expr, name: str
) -> tuple[int, bool]:
    """Return how many steps lead from a name to a value: ``rows[0][1]`` has two.

    0 if that is not known, or if there are none. Variables that are given one value, or
    the elements of one, are followed.

    Returns:
        The steps, and whether there cannot be more: there may be of
        ``rows.get(0, rows[1][2])``.
    """
    steps, exact, under = 0, True, value
    for _ in range(_DEEPEST):
        match under:
            case ast.Subscript(value=holder, slice=place):
                if isinstance(place, ast.Slice):
                    return 0, False
                under, steps = holder, steps + 1
            case ast.Call(func=ast.Attribute(value=holder, attr=method)):
                if method not in GETTERS or origins.meanings.named(under.func):
                    return 0, False
                given = (origins.of(scope, one) for one in arguments_of(under)[1:])
                exact = exact and all(one.name != name for its in given for one in its)
                under, steps = holder, steps + 1
            case ast.Name(id=variable) if origins.meanings.home(scope, variable):
                if origins.meanings.home(scope, variable) is not scope:
                    return 0, False
                found, step = taken_from(scope, variable)
                if found is None:
                    break
                under, steps = found, steps + step
            case _:
                break
    its = {one for one in origins.of(scope, under) if one.name == name}
    return (steps, exact and steps > 0) if its == {Origin(name)} else (0, False)


def _is_operand(scope: ast.AST, base: ast.expr) -> bool:
    """Tell whether it is what an operator of the program's own is given."""
    name = getattr(scope, "name", "")
    if not isinstance(scope, FUNCTIONS) or name[:2] != "__" or name == "__init__":
        return False
    return root_name(base) in parameters(scope)[1:]


def _changed_at(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions of what a node changes, or may, in place."""
    match node:
        case ast.Subscript(value=base, ctx=ast.Store() | ast.Del()):
            yield base
        case ast.Attribute(value=base, ctx=ast.Store() | ast.Del()):
            if root_name(base) not in ("self", "cls"):
                yield base
        case ast.Attribute(value=base, attr=name) if name in MUTATORS:
            yield base
        case ast.AugAssign(target=target, value=value):
            number = isinstance(getattr(value, "value", None), int | float)
            if not number or isinstance(node.op, ast.Mult):  # lists have that, too
                yield target
        case ast.Compare(left=left, ops=operators, comparators=others):
            asks = any(isinstance(one, ast.Is | ast.IsNot) for one in operators)
            if asks and not any(isinstance(one, ast.Constant) for one in others):
                yield from (left, *others)  # a copy is another object

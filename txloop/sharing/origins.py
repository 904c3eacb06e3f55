"""Where the values of a program come from, by names alone.

A value is described by `Origin`s: that it is, is a part of, or contains what a name
leads to, or what an expression has just made. A name stands for every variable of a
module and every attribute of that name. What variables of functions may hold is found
by `passing`. More is found than happens.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from txloop.scan.known import COPIERS, GETTERS, NAMESPACES, PARTS
from txloop.scan.syntax import last_name
from txloop.sharing.decoding import decodes, gives_scalar
from txloop.sharing.described import first_value
from txloop.sharing.handing import is_scalar, taken_whole
from txloop.sharing.making import Site
from txloop.sharing.operators import methods_of
from txloop.sharing.scalars import has_scalars_only
from txloop.sharing.syntax import OF_NUMBERS, arguments_of, name_in_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from txloop.sharing.meanings import Meanings
    from txloop.sharing.setting import Setting

__all__ = [
    "ANY",
    "ANY_ATTRIBUTE",
    "EVERYTHING",
    "NAMESPACE",
    "RAISED",
    "VIEWS",
    "Hazard",
    "Origin",
    "Origins",
    "Values",
    "inside",
    "part_of",
]

ANY = "*"
"""The name of what is found by a name that is not known."""

ANY_ATTRIBUTE = "*."
"""The name of what attributes get that are set by names made at run time."""

NAMESPACE = "*.__dict__"
"""The name of what has these attributes, by their names."""

RAISED = "what was raised"
"""The name of all exceptions that are raised."""

EVERYTHING = ""
"""The name of what has no name, or one that is not known: it may be any object."""


class Origin(NamedTuple):
    """Where a value comes from.

    Attributes:
        name: Of a variable or an attribute; "" for what is made.
        is_part: Whether it is a part of that.
        inside: Whether the value only contains it.
        site: Where it is made, if it is.
    """

    name: str
    is_part: bool = False
    inside: bool = False
    site: Site | None = None


Values = set[Origin]

VIEWS = frozenset(["ChainMap", "UserDict", "UserList"])
"""Classes whose objects show others, and change these."""

_MOST = 300
"""A variable that may hold more than so many counts as one that may hold anything.

Of what is widened so, all is in doubt that is stored: it is left alone. Programs of a
few hundred lines have some 50 at the most; sets of thousands take minutes to follow.
"""

_LISTS = (ast.List, ast.ListComp, ast.Tuple)

_OF_PARTS = ("NamedTuple", "dict", "list", "set", "tuple")
"""Other classes whose objects hold what they are given."""

_TEXTS = frozenset(["__name__", "__qualname__"])
"""Attributes of classes that are texts, unless a metaclass has others."""

_ASKED_FOR_ANY = ("__getattr__", "__getattribute__")
_GIVING_PARTS = frozenset(["args", "data", "maps", "parents", "queue"])
"""Attributes by which objects of Python's library give what they were given."""


def part_of(values: Iterable[Origin]) -> Values:
    """Return the origins of what is in values of these origins."""
    found: Values = set()
    for one in values:
        if one.inside:
            found |= {one, Origin(one.name, one.is_part, site=one.site)}
        if one.name:
            found.add(Origin(one.name, is_part=True, site=one.site))
    return found


def inside(values: Iterable[Origin]) -> Values:
    """Return the origins of something new that contains these values."""
    return {Origin(one.name, one.is_part, True, one.site) for one in values}


class Hazard(NamedTuple):
    """A line that would not do the same with containers.

    Attributes:
        name: The last name of the object, or `EVERYTHING`.
        reason: What the line does.
        site: The expression whose objects are meant; None for those of the name.
    """

    name: str
    reason: str
    site: Site | None = None


_ANYTHING: Values = {Origin(ANY), Origin(ANY, inside=True)}


class Origins:
    """The origins of all values in a program.

    Attributes:
        meanings: What names mean in it.
        setting: Which attributes lines set.
        returned: The origins of what functions of a name return.
        used: What was asked for of what may grow, by identity, with the sizes.
    """

    def __init__(self, meanings: Meanings, setting: Setting) -> None:
        """Know nothing yet of what variables of functions hold."""
        self.meanings = meanings
        self.setting = setting
        self.returned: defaultdict[str, Values] = defaultdict(set)
        self.used: dict[int, tuple[Values, int]] = {}
        self._locals: defaultdict[tuple[int, str], Values] = defaultdict(set)

    def add(self, function: ast.AST, name: str, values: Values) -> None:
        """Add to what a variable of a function may hold."""
        its = self._locals[id(function), name]
        if len(its) <= _MOST:
            its |= values

    def use(self, values: Values) -> Values:
        """Return what may grow, and note that it was asked for."""
        if len(values) > _MOST:
            return _ANYTHING
        self.used.setdefault(id(values), (values, len(values)))
        return values

    def together(self, scope: ast.AST, value: ast.expr) -> Values:
        """Return what those variables of a function hold that hold what it has made."""
        made = self._made(scope, value)
        its = (one for (home, _), one in self._locals.items() if home == id(scope))
        return set().union(*(one for one in its if made in one))

    def of(self, scope: ast.AST, value: ast.AST | None) -> Values:
        """Return the origins of an expression's value, in a function or module."""
        match value:
            case ast.Name(id=name):
                return self._of_name(scope, name)
            case ast.Attribute(value=base, attr=name):
                if name == "value" and isinstance(base, ast.Name | ast.Attribute):
                    return {Origin(name), *self.of(scope, base)}  # it may be a TVar
                if name == "__dict__":
                    return {Origin(ANY), Origin(NAMESPACE)}
                if has_scalars_only(self.meanings, scope, base):
                    return set()
                own = self.setting.knows(value)
                if name in _TEXTS and not own and self._is_class(scope, base):
                    return set()
                found = {Origin(name)}
                if self.setting.may_be_set_later(base, scope):
                    found.add(Origin(ANY_ATTRIBUTE))
                if name in self.meanings.properties:  # it may be what that returns
                    found |= self.use(self.returned[name])
                if name in GETTERS:  # a method that is called by another name
                    found |= self.elements(scope, base)
                # It may be a part of a tuple, or of what is a library's.
                given = name in self.meanings.fields or name in _GIVING_PARTS
                if given or not own:
                    found |= part_of(self.of(scope, base))
                if not own:  # of the program's classes, one may give it
                    found |= self._returned_by(_ASKED_FOR_ANY)
                return found
            case ast.Subscript():
                return self._of_subscript(scope, value)
            case ast.Call():
                return self._of_call(scope, value)
            case ast.Starred(value=inner):
                return self.elements(scope, inner)
            case ast.Await(value=inner) | ast.NamedExpr(value=inner):
                return self.of(scope, inner)
            case ast.IfExp(body=body, orelse=orelse):
                return self._of_all(scope, [body, orelse])
            case ast.BoolOp(values=values):
                return self._of_all(scope, values)
            case ast.Lambda(body=body):
                return self.of(value, body)
            case ast.BinOp():
                return self._of_sum(scope, value) | self.operated(value)
            case ast.UnaryOp():
                return self.operated(value)
            case ast.Dict(keys=keys, values=values):
                found = set()
                for key, one in zip(keys, values, strict=True):
                    its = self.of(scope, one)
                    found |= its if key is not None else part_of(its)
                return self._made_of(scope, value, found)
            case ast.Tuple(elts=parts):
                return inside(self._of_all(scope, parts))
            case ast.List(elts=parts) | ast.Set(elts=parts):
                return self._made_of(scope, value, self._of_all(scope, parts))
            case ast.GeneratorExp(elt=one):
                return inside(self.of(scope, one))
            case ast.ListComp(elt=one) | ast.SetComp(elt=one) | ast.DictComp(value=one):
                return self._made_of(scope, value, self.of(scope, one))
        return set()

    def _is_class(self, scope: ast.AST, value: ast.expr) -> bool:
        """Tell whether an expression asks for the class of something: ``type(x)``."""
        match value:
            case ast.Call(func=ast.Name(id="type" as name), args=[_], keywords=[]):
                local = self.meanings.home(scope, name)
                return local is None and self.meanings.is_pythons(scope, name)
        return False

    def elements(self, scope: ast.AST, value: ast.AST | None) -> Values:
        """Return the origins of what a loop over an expression's value gets."""
        return part_of(self.of(scope, value)) | self._own_elements()

    def entered(self, scope: ast.AST, value: ast.expr) -> Values:
        """Return the origins of what a `with` gets: itself, what it yields or gives."""
        its = self.of(scope, value)
        its = its | part_of(its)  # of a function with a `yield`
        return its | self._returned_by(("__aenter__", "__enter__"))

    def operated(self, node: ast.AST) -> Values:
        """Return the origins of what the program's own operators return."""
        return self._returned_by(methods_of(node))

    def _own_elements(self) -> Values:
        """Return what loops over objects of the program's own classes get."""
        iterators = self._returned_by(("__iter__", "__reversed__"))
        return part_of(iterators) | self._returned_by(("__next__",))

    def _returned_by(self, methods: Iterable[str]) -> Values:
        found: Values = set()
        for name in methods:
            if name in self.meanings.functions:
                found |= self.use(self.returned[name])
        return found

    def _of_all(self, scope: ast.AST, values: Iterable[ast.AST]) -> Values:
        return set().union(*(self.of(scope, one) for one in values))

    def _made_of(self, scope: ast.AST, node: ast.expr, parts: Values) -> Values:
        """Return the origins of what an expression makes, with these in it."""
        return {self._made(scope, node), *inside(parts)}

    def _of_subscript(self, scope: ast.AST, value: ast.Subscript) -> Values:
        parts = part_of(self.of(scope, value.value))
        parts |= self._returned_by(("__class_getitem__", "__getitem__", "__missing__"))
        key = value.slice
        if isinstance(key, ast.Slice):
            return self._made_of(scope, value, parts)
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            if last_name(value.value) == "settings":
                return {Origin(key.value)}
            parts |= self._of_key(key.value, parts)
        return parts

    def _of_sum(self, scope: ast.AST, value: ast.BinOp) -> Values:
        """Return the origins of a sum: of numbers, or of lists with parts of both."""
        sides = [value.left, value.right]
        added = isinstance(value.op, ast.Add | ast.Sub) and any(
            map(self._is_scalar, sides)
        )
        if added or isinstance(value.op, OF_NUMBERS):
            return set()
        if isinstance(value.op, ast.Mult):  # what a list is multiplied by is a number
            sides = [one for one in sides if isinstance(one, _LISTS)] or sides
        both = self._of_all(scope, sides)
        made = {self._made(scope, value)} if any(one.site for one in both) else set()
        return made | inside(part_of(both))

    def _is_scalar(self, value: ast.expr) -> bool:
        """Tell whether a value is a number or a text: so is what it is added to."""
        if isinstance(value, ast.Call):
            own = last_name(value.func) in self.meanings.functions
            return gives_scalar(value) and not own
        return is_scalar(value)

    def _of_name(self, scope: ast.AST, name: str) -> Values:
        home = self.meanings.home(scope, name)
        own = name in self.meanings.functions and name not in self.meanings.classes
        if home is not None:
            its = self.use(self._locals[id(home), name])
            return its | self.use(self.returned[name]) if own else its
        if own:
            return self.use(self.returned[name])
        if self.meanings.makes_plain(scope, name):
            return set()
        name = self.meanings.in_full(scope, name)
        if not name or name in self.meanings.classes or name in ("self", "cls"):
            return set()
        return {Origin(name)}

    def _of_call(self, scope: ast.AST, call: ast.Call) -> Values:
        function = call.func
        name = last_name(function)
        if ast.unparse(function) in ("txloop.share", "txloop.TVar"):
            return {one for one in self._of_all(scope, call.args) if one.name}
        first = first_value(self.meanings, scope, call)
        if first is not None:
            return self.of(scope, first)
        if name == "TCount" or self.meanings.is_count(scope, function):
            return {self._made(scope, call)}  # it gives numbers
        if name in self.meanings.classes:
            return self._of_object(scope, call, name)
        values = set()
        if isinstance(function, ast.Name) and self.meanings.home(scope, name):
            values |= self.of(scope, function)  # it may be another one of that name
        if name and self.meanings.named(function):
            values |= self.use(self.returned[name])
            if self.meanings.is_of_handler(function):
                values |= self.use(self.returned[f"{name}()"])
            if name not in PARTS | GETTERS:
                return values
        if name not in PARTS and self.meanings.is_scalar(scope, function):
            return set()
        values |= self._returned_by(("__call__",))
        if isinstance(function, ast.Call) and last_name(function.func) == "attrgetter":
            return {Origin(name_in_text(key, ANY)) for key in function.args}
        made = {self._made(scope, call)}
        is_method = isinstance(function, ast.Attribute)
        if name == "deepcopy" or (name == "keys" and is_method and not call.args):
            return made  # keys cannot change: they have a hash
        if decodes(self.meanings, scope, call):
            return made | inside(made)
        if name == "range" or gives_scalar(call):
            return set()
        if name == "fromkeys" and len(call.args) > 1:  # each key gets the same value
            return self._made_of(scope, call, self.of(scope, call.args[1]))
        if name == "getattr" and len(call.args) > 1:
            asked = name_in_text(call.args[1], ANY)
            if asked != "__dict__":
                return {Origin(asked), *self._of_all(scope, call.args[2:])}
        if name in NAMESPACES | {"getattr"}:
            return {Origin(ANY), Origin(NAMESPACE)}
        if isinstance(function, ast.Attribute) and name in GETTERS:
            if last_name(function.value) in PARTS and call.args:  # ``dict.get(d, key)``
                return values | part_of(self.of(scope, call.args[0]))
            return values | self._taken_from(scope, function.value, call)
        if isinstance(function, ast.Name) and self._copies(scope, name):
            return self._copied(scope, call)
        base = function.value if isinstance(function, ast.Attribute) else function
        values |= self._of_all(scope, [base, *arguments_of(call)])
        parts = part_of(values)
        if name in PARTS:
            parts |= self._own_elements() | self._of_all(scope, taken_whole(call))
        else:
            made |= inside(made)
            parts |= values
        return made | parts | inside(parts)

    def _copies(self, scope: ast.AST, name: str) -> bool:
        """Tell whether a function makes something new of what it is given."""
        is_pythons = self.meanings.makes_plain(scope, name)
        return name in COPIERS and is_pythons and not self.meanings.home(scope, name)

    def _copied(self, scope: ast.AST, call: ast.Call) -> Values:
        """Return what is new, with parts of what is given: not of a sort's keys."""
        values = [one.value for one in call.keywords if one.arg != "key"]
        named = self._of_all(scope, values)
        parts = part_of(self._of_all(scope, call.args) | named) | named
        parts |= self._own_elements()
        return self._made_of(scope, call, parts)

    def _taken_from(self, scope: ast.AST, holder: ast.expr, call: ast.Call) -> Values:
        """Return what a method such as `get` returns: an element, or its default."""
        key = call.args[0] if call.args else None
        values = self._of_all(
            scope, [one for one in arguments_of(call) if one is not key]
        )
        parts = part_of(self.of(scope, holder))
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            if last_name(holder) == "settings":
                return {*values, Origin(key.value)}
            parts |= self._of_key(key.value, parts)
        return values | parts

    def _of_key(self, key: str, parts: Values) -> Values:
        """Return the name that a key stands for, if it may be one of the program's.

        That is a name of what handlers are given, or of an attribute in a `__dict__`.

        Args:
            key: The key.
            parts: The origins of what is in the same object.
        """
        meanings = self.meanings
        is_name = key in meanings.keys or meanings.has_keys_for_attributes
        named = {"settings", ANY, *meanings.keys}
        is_name = is_name or any(one.name in named for one in parts)
        return {Origin(key)} if is_name else set()

    def _of_object(self, scope: ast.AST, call: ast.Call, name: str) -> Values:
        """Return what an object of a class has in it, if it is a tuple or the like."""
        node = self.meanings.classes[name][-1]
        itself = {Origin(its) for its in [self.meanings.containers.get(name)] if its}
        frozen = any("frozen" in ast.unparse(one) for one in node.decorator_list)
        bases = {last_name(base) for base in node.bases}
        is_descriptor = any(getattr(one, "name", "") == "__get__" for one in node.body)
        got = self._returned_by(("__get__",) if is_descriptor or node.bases else ())
        if not (frozen or itself or bases & {*_OF_PARTS, *VIEWS}):
            return got
        found = self._of_all(scope, arguments_of(call))
        return got | itself | inside(found | part_of(found))

    def _made(self, scope: ast.AST, node: ast.expr) -> Origin:
        return Origin("", site=self.site(scope, node))

    def site(self, scope: ast.AST, node: ast.AST) -> Site:
        """Return where in a function's or module's file an expression stands."""
        return Site.of(self.meanings.file_of(scope), node)

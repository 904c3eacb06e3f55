"""What is kept in two places of which one stays plain: a hazard for the other.

``table[key] = nested["rows"]``: where `nested` stays plain and `table` becomes a
container, that holds a copy of the rows. So both have to stay plain, and whatever else
would hold parts of `table` then. What is never changed may be in both. Names are
those of `origins`.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from txloop.scan.syntax import last_name
from txloop.sharing.changing import Changing, Placed, steps_to
from txloop.sharing.described import owners_of_fields
from txloop.sharing.handlers import is_handler_class
from txloop.sharing.kept import UNKNOWN, Aliased, Kept
from txloop.sharing.origins import (
    ANY,
    ANY_ATTRIBUTE,
    EVERYTHING,
    NAMESPACE,
    Hazard,
    Origin,
    part_of,
)
from txloop.sharing.passing import bindings, cache_of, puts
from txloop.sharing.scopes import walked
from txloop.sharing.strays import is_namespace
from txloop.sharing.syntax import is_cached, is_of_self, targets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from txloop.sharing.flow import Flow
    from txloop.sharing.making import Site
    from txloop.sharing.origins import Origins, Values
    from txloop.sharing.texts import Text

__all__ = ["Keeping", "Shared"]


@dataclass
class Shared:
    """What becomes a container in a round, or is one.

    Attributes:
        sites: The expressions whose objects do.
        variables: Names that become TVars.
        is_object: Tells whether the objects of a class are TObjects.
        strange: Names of objects that are neither plain nor of the program's classes.
        exact: The expressions whose objects have to be plain.
    """

    sites: Collection[Site]
    variables: Collection[str]
    is_object: Callable[[str], bool]
    strange: Collection[str]
    exact: Collection[Site]


_OF_TORNADO = ("path_args", "path_kwargs")
"""Attributes of handlers that are a list and a dict of each request."""


@dataclass
class _Plain:
    """Names of what may be plain, and of what may have plain parts."""

    changing: Changing
    itself: set[str] = field(default_factory=lambda: {ANY, *_OF_TORNADO})
    parts: set[str] = field(default_factory=lambda: {ANY})

    def __len__(self) -> int:
        return len(self.itself) + len(self.parts)

    def stays(self, values: Values) -> str:
        """Return the name of what is there already, stays plain, and is in values.

        "" if there is nothing, or nothing of it is ever changed.
        """
        for one in sorted(values, key=lambda each: each.name):
            its = one.name in self.itself and not one.is_part
            if (its or one.name in self.parts) and self.changing.changes(one):
                return one.name
        return ""


class Keeping:
    """All that a program keeps under names.

    Attributes:
        sets_by_name: Which line puts something into the `__dict__` of some object, by a
            variable or what a function returns; "" if none does.
    """

    def __init__(self, texts: Collection[Text], flow: Flow, origins: Origins) -> None:
        """Look at all lines.

        Args:
            texts: The modules.
            flow: Where objects of the program's classes get to.
            origins: Where values come from.
        """
        self._origins = origins
        self._flow = flow
        self.sets_by_name = ""
        self._kept: list[Kept] = []
        self._owners: dict[ast.AST, str] = {}  # of lines that describe their fields
        self._tvars = {
            last_name(target)
            for text in texts
            for node in walked(text.tree)
            for target, value in targets_of(node)
            if isinstance(value, ast.Call) and ast.unparse(value.func) == "txloop.TVar"
        }
        for text in texts:
            self._owners |= owners_of_fields(origins.meanings, text.tree)
            for scope, node in origins.meanings.nodes(text):
                owner = origins.meanings.owner_of(scope)
                self._kept += self._keeps(text, scope, node, owner)
        self._owned = {one.name for one in self._kept if one.is_own}
        self._aliases = Aliased(self._kept)
        self._kept += [
            one._replace(name=name, depth=one.depth + steps, exact=False)
            for one in self._kept
            if one.is_put
            for name, steps in self._aliases.sources(one.name).items()
        ]
        self._names_in: defaultdict[str, set[str]] = defaultdict(set)
        self._sites_in: defaultdict[str, set[Site]] = defaultdict(set)
        self._names_at: defaultdict[tuple[Site, bool], set[str]] = defaultdict(set)
        self._put_at: defaultdict[Site, set[str]] = defaultdict(set)
        placed: defaultdict[tuple[str, int, bool], Values] = defaultdict(set)
        for one in self._kept:
            placed[one.name, one.depth, one.exact] |= one.values
            names = {each.name for each in one.values} - {"", ANY_ATTRIBUTE}
            self._names_in[one.name] |= names
            sites = (each.site for each in one.values if each.site is not None)
            self._sites_in[one.name].update(sites)
            for each in one.values:
                if each.site is not None and one.is_put:
                    self._put_at[each.site].add(one.name)
                elif each.site is not None:
                    self._names_at[each.site, each.inside].add(one.name)
        kept = [
            Placed(name, its, depth, exact)
            for (name, depth, exact), its in placed.items()
        ]
        self._changing = Changing(texts, origins, kept)
        self._plain = _Plain(self._changing)

    def _keeps(
        self, text: Text, scope: ast.AST, node: ast.AST, owner: ast.ClassDef | None
    ) -> Iterator[Kept]:
        where = text.place(node)
        for target, values in bindings(self._origins, scope, node):
            of: ast.expr | None = None
            if isinstance(target, ast.Attribute):
                of = target.value
            if of and last_name(target) == "value" and last_name(of) in self._tvars:
                target, of = of, None
            if isinstance(target, ast.Name):
                if self._origins.meanings.home(scope, target.id) is None:
                    its = frozenset(filter(None, [self._owners.get(node)]))
                    yield Kept(target.id, values, 0, its, False, where)
            elif isinstance(target, ast.Attribute):
                classes = self._flow.classes_of(of, scope)
                is_self = is_of_self(target)
                if is_self and owner is not None:
                    classes = {owner.name}
                own = is_self and is_handler_class(owner)
                its = frozenset(classes)
                yield Kept(target.attr, values, 0, its, own, where)
                if target.attr == "__dict__":
                    parts = part_of(values)
                    yield Kept(ANY_ATTRIBUTE, parts, 0, its, own, where)
        if isinstance(node, ast.Return) and is_cached(scope):
            values = self._origins.of(scope, node.value)
            yield Kept(cache_of(scope), values, 0, frozenset(), False, where)
        for holder, values in puts(self._origins, scope, node):
            for one in self._origins.of(scope, holder):
                if one.name and not one.inside:
                    steps, exact = steps_to(self._origins, scope, holder, one.name)
                    exact = exact or not one.is_part
                    depth = 1 + max(steps, one.is_part)
                    name = one.name
                    if name == NAMESPACE:  # what is put there becomes an attribute
                        name, depth, exact = ANY_ATTRIBUTE, depth - 1, False
                        if not (one.is_part or is_namespace(holder)):
                            self.sets_by_name = f"{where}, sets attributes by name"
                    its = frozenset[str]()
                    yield Kept(name, values, depth, its, False, where, exact)

    def changes(self, name: str) -> bool:
        """Tell whether what has a name is changed in place."""
        return self._changing.changes(Origin(name))

    def is_copied(self, value: ast.expr) -> bool:
        """Tell whether a container made of a value would copy what stays plain."""
        scope = self._origins.meanings.scope_of(value)
        values = self._origins.of(scope, value)
        values = values | self._origins.together(scope, value)
        return bool(self._plain.stays(values)) or self._may_be_older(scope, value)

    def _may_be_older(self, scope: ast.AST, value: ast.expr) -> bool:
        """Tell whether what a call or an operator returns may be older, and changes.

        What has a name is followed where it is stored. What an operator of the program
        returns is not, nor what a function without a name does.
        """
        origins = self._origins
        match value:
            case ast.BinOp() | ast.UnaryOp():
                values = origins.operated(value)
            case ast.Call(func=function) if self._is_nameless(scope, function):
                values = origins.of(scope, value)
            case _:
                return False
        own = origins.site(scope, value)
        return any(
            not one.inside and one.site != own and self._changing.changes(one)
            for one in values
        )

    def _is_nameless(self, scope: ast.AST, function: ast.expr) -> bool:
        """Tell whether a function is none that has its name in the program."""
        meanings = self._origins.meanings
        if isinstance(function, ast.Name):
            return meanings.home(scope, function.id) is not None
        if isinstance(function, ast.Attribute):
            its = any(one.name == function.attr for one in self._kept)
            return its and not meanings.named(function)
        return True

    def all_in(self, names: set[str], sites: set[Site]) -> tuple[set[str], set[Site]]:
        """Return names and expressions, with those of all that is kept in these."""
        found, made = set[str](), {*sites}
        waiting = [*names]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self._names_in.get(name, ())
                made |= self._sites_in.get(name, set())
        return found, made

    def names_at(self, site: Site, *, inside: bool = False) -> set[str]:
        """Return the names that get what an expression makes; or what that is in."""
        found = self._names_at.get((site, False), set())
        return found | self._names_at.get((site, True), set()) if inside else found

    def put_at(self, site: Site) -> set[str]:
        """Return the names of that into which what an expression makes is put."""
        return self._put_at.get(site, set())

    def other_names(self, name: str, is_part: bool) -> set[tuple[str, bool]]:
        """Return the other names of what has a name, or is a part of that.

        Each comes with whether it is a part of what has that other name.
        """
        its = self._aliases.sources(name)
        return {(other, is_part or steps > 0) for other, steps in its.items()}

    def with_others(self, names: set[str]) -> set[str]:
        """Return names, with all others that what has them, or a part of it, gets."""
        return self._aliases.with_others(names)

    def names_of(self, value: ast.AST) -> set[str]:
        """Return all names of what an expression may be, or be a part of.

        Of what is a part of something, those of all that is kept in there, too.
        """
        values = self._origins.of(self._origins.meanings.scope_of(value), value)
        whole = {one.name for one in values if one.name and not one.is_part}
        whole |= {name for one in whole for name in self._aliases.sources(one)}
        parts, _ = self.all_in({one.name for one in values if one.is_part}, set())
        # What attributes are set by way of a `__dict__` has its own names.
        if isinstance(value, ast.Attribute):
            whole -= {*UNKNOWN, NAMESPACE}
        found = (whole | parts) - {""}
        return {EVERYTHING if one == ANY else one for one in found}

    def hazards(self, shared: Shared) -> Iterator[Hazard]:
        """Yield the names that must stay plain, if no more than this is shared."""
        plain = self._plain = _Plain(self._changing)
        containers = {*self._origins.meanings.containers.values()}
        plain.itself |= {one for one in containers if not shared.is_object(one)}
        before = -1
        while before != (before := len(plain)):
            for one in self._kept:
                self._spread(one, plain, shared)
        stored = self._stored_in(plain, shared)
        for one in self._kept:
            if one.name == ANY_ATTRIBUTE:  # of an object that is no container
                continue
            # Of one name there may be several: some stay plain.
            others = {o for o in one.values if one.is_put or o.name != one.name}
            source = plain.stays(others) or self._exact_in(one, shared)
            source = source or self._of_class(one, shared)
            if one.name in shared.variables or one.name in self._tvars:
                also = (stored[each] for each in one.values if each in stored)
                source = source or next(also, "")
            if source and (one.name, source) != (ANY, ANY_ATTRIBUTE):
                what = "what it does not know" if source in UNKNOWN else source
                yield Hazard(
                    EVERYTHING if one.name == ANY else one.name,
                    f"{one.where}, keeps a part of {what}, which stays plain",
                )

    def _stored_in(self, plain: _Plain, shared: Shared) -> dict[Origin, str]:
        """Return what is made, changes, and is put into something plain: into what."""
        return {
            each: one.name
            for one in self._kept
            if one.is_put and one.name in plain.itself and one.name not in UNKNOWN
            for each in one.values
            if each.site is not None and not (each.inside or each.is_part)
            if not any(map(each.site.is_in, shared.sites))
            if self._changing.changes(each)
        }

    def _of_class(self, one: Kept, shared: Shared) -> str:
        """Return the name of an attribute that is set to what its class has, plain.

        ``self.errors = errors or self.errors``
        """
        if not (one.classes and all(map(shared.is_object, one.classes))):
            return ""
        if Origin(one.name) not in one.values or not self.changes(one.name):
            return ""
        plain = any(
            each.site is not None and not any(map(each.site.is_in, shared.sites))
            for other in self._kept
            if other.name == one.name and not (other.classes or other.is_put)
            for each in other.values
        )
        return one.name if plain else ""

    def _exact_in(self, one: Kept, shared: Shared) -> str:
        """Return a name for what has to be plain and is kept; "" if nothing has."""
        sites = (each.site for each in one.values if each.site is not None)
        found = (site for site in sites for other in shared.exact if site.is_in(other))
        line = next((site.line for site in found), 0)
        return f"what line {line} makes" if line else ""

    def _spread(self, one: Kept, plain: _Plain, shared: Shared) -> None:
        is_shared = (
            one.name in shared.variables
            or one.name in self._tvars
            or (bool(one.classes) and all(map(shared.is_object, one.classes)))
            or (one.is_put and one.name not in plain.itself)
        )
        made = not is_shared and not one.is_own
        strange = one.name in shared.strange and not one.is_put
        # What was put into a container before that got this name is in it.
        new = [each for each in one.values if not (each.inside or one.is_put)]
        filled = bool(new) and all(
            any(map(each.site.is_in, shared.sites))
            if each.site is not None
            else each.name not in self._owned
            and each.name not in (plain.parts if each.is_part else plain.itself)
            for each in new
        )
        for each in one.values:
            if each.site is not None:
                exact = any(map(each.site.is_in, shared.exact))
                is_plain = exact or (
                    made
                    and not (each.inside and filled)
                    and not any(map(each.site.is_in, shared.sites))
                )
                itself, parts = is_plain and not strange, False
            else:
                parts = each.name in plain.parts
                itself = parts if each.is_part else each.name in plain.itself
            if one.is_put or each.inside:
                itself, parts = False, itself or parts
            if itself:
                plain.itself.add(one.name)
            if parts:
                plain.parts.add(one.name)

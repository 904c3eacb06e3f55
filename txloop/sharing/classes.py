"""Classes of the program that become TObjects, where nothing speaks against it.

They become TNamespaces where attributes have names that no line tells, or are shown in
an order that no constructor tells.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.syntax import last_name
from txloop.sharing.derived import BASES, hides, may_be_attribute
from txloop.sharing.deriving import also_given, derive, undecorate
from txloop.sharing.having import Having
from txloop.sharing.makeup import asked_for_all, namespaces_of_classes
from txloop.sharing.scopes import (
    attributes_named,
    nodes_of_kinds,
)
from txloop.sharing.singletons import returns_own
from txloop.sharing.slots import has_slots, names_slots
from txloop.sharing.stated import (
    bound_in_body,
    is_abstract,
    is_dataclass,
    is_of_typing,
    is_ordering,
    is_ordinary,
    reached_by_name,
)
from txloop.sharing.syntax import set_on_self

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from txloop.sharing.flow import Flow
    from txloop.sharing.texts import Edits, Text

__all__ = ["Classes"]

_SPECIAL = frozenset(
    [
        *("__del__", "__delattr__", "__get__", "__getattr__", "__getattribute__"),
        *("__getnewargs__", "__getnewargs_ex__", "__getstate__", "__hash__"),
        *("__init_subclass__", "__reduce__", "__reduce_ex__", "__set__"),
        *("__setattr__", "__setstate__"),
    ]
)


_SHARED = frozenset(
    ["TNamespace", "TObject", "txloop.TNamespace", "txloop.TObject", *BASES.values()]
)
"""Bases of classes that are shared already."""


class Classes(Having):
    """Which classes of a program can become TObjects, and what they become."""

    def __init__(
        self,
        texts: Iterable[Text],
        flow: Flow,
        hazards: Mapping[str, str],
        containers: Mapping[str, str],
    ) -> None:
        """Look at all classes.

        Args:
            texts: The modules.
            flow: Where their objects get to.
            hazards: As `Having` takes them.
            containers: The classes that may become containers: see `derived`.
        """
        super().__init__(texts, flow, hazards)
        self._containers = containers
        self._top = {
            id(one) for text in self._texts for one in reached_by_name(text.tree)
        }
        self._why: dict[str, str] = {}

    def is_shared(self, name: str) -> bool:
        """Tell whether the class is a TObject already."""
        return any(
            ast.unparse(base) in _SHARED or self.is_shared(last_name(base))
            for _, node in self._found.get(name, ())
            for base in node.bases
            if last_name(base) != name
        )

    def why_not(self, name: str) -> str:
        """Return why a class cannot become a TObject; "" if it can."""
        if name not in self._why:
            self._why[name] = "it is derived from itself"
            self._why[name] = self._find_why_not(name)
        return self._why[name]

    def _find_why_not(self, name: str) -> str:
        reason = self._why_not_itself(name)
        if reason:
            return reason
        for base in self._found[name][0][1].bases:
            if last_name(base) in self._found:
                reason = self.why_not(last_name(base))
                if reason:
                    return f"its base {last_name(base)} cannot: {reason}"
        if reason := self._why_not_attributes(name):
            return reason
        for other in self._found:
            if other != name and name in self._line(other):
                line = [one for one in self._line(other) if one in self._found]
                reasons = map(self._why_not_itself, [other, *sorted(line)])
                reason = next(filter(None, reasons), "")
                if reason := reason or self._why_not_attributes(other):
                    return f"{other}, which is derived from it, cannot: {reason}"
        return ""

    def _why_not_itself(self, name: str) -> str:
        """Return what the class itself has that no TObject can have."""
        found = self._found.get(name, [])
        if len(found) != 1:
            return f"there are {len(found) or 'no'} classes of that name"
        text, node = found[0]
        if name in self._containers:
            return self._why_no_container(name)
        if id(node) not in self._top:
            return "it is defined inside of something"
        if node not in text.tree.body and self._is_set_as_attribute(name):
            return "an attribute of its name is set"
        if self._is_protocol(name):
            pass  # it may be a base beside TObject, whatever decorates it
        elif is_dataclass(text, node):
            reason = self._why_not_dataclass(name, node)
            if reason:
                return reason
        elif not all(is_ordering(text, one) for one in node.decorator_list):
            return f"it is decorated with @{ast.unparse(node.decorator_list[0])}"
        if any(
            not (is_abstract(text, one.value) or self._only_calls(one))
            for one in node.keywords
        ):
            return "it has a metaclass, or arguments"
        if getattr(node, "type_params", None):
            return "it is generic"
        if any(attributes_named(one.tree, "__orig_class__") for one in self._texts):
            return "objects are asked for their __orig_class__"
        if reason := self._why_shown(name):
            return reason
        for base in node.bases:
            if not is_ordinary(text, base) and last_name(base) not in self._found:
                return f"it is derived from {ast.unparse(base)}"
        for one in node.body:
            names = {getattr(one, "name", "")}
            for target in getattr(one, "targets", []):
                names.add(last_name(target))
            if names & _SPECIAL:
                return f"it has {min(names & _SPECIAL)}"
            if "__new__" in names and not self._makes_own(name):
                return "it has __new__"
        return ""

    def _makes_own(self, name: str) -> bool:
        """Tell whether a class whose calls do more gives objects of it all the same.

        Attributes that a line knows are there before the constructor is called.
        """
        _, node = self._found[name][0]
        is_alone = not self.has_derived(name) and {name} == (
            self._line(name) & self._found.keys()
        )
        return (
            self._is_free(name)
            and not any(map(self._is_open, self._roots(name)))
            and returns_own(self._texts, node, is_alone=is_alone)
        )

    def _only_calls(self, given: ast.keyword) -> bool:
        """Tell whether it is a metaclass that adds to what a call of a class does.

        So it is of classes that have one object each.
        """
        found = self._found.get(last_name(given.value), [])
        if given.arg != "metaclass" or len(found) != 1:
            return False
        (_, node), *_ = found
        bases = [ast.unparse(one) for one in node.bases]
        return (
            bases == ["type"]
            and not (node.decorator_list or node.keywords)
            and all(map(_is_of_calls, node.body))
        )

    def _why_shown(self, name: str) -> str:
        """Return which line would show that the class has become another one."""
        for text in self._texts:
            for scope, line, value in asked_for_all(text.tree):
                shown = self._shown(text, scope, value)
                if not shown or any(self.are_related(one, name) for one in shown):
                    what = f"asks for what a class is made of: {ast.unparse(line)}"
                    return f"{text.place(line)}, {what}"
            for line, its in self.namespaces_in(text):
                if not its or self.are_related(its, name):
                    return f"{text.place(line)}, asks for all that a class has"
        return ""

    def namespaces_in(self, text: Text) -> list[tuple[ast.AST, str]]:
        """Return where a module asks a class for its namespace; see `makeup`."""
        return namespaces_of_classes(text.tree, frozenset(self._found))

    def _is_set_as_attribute(self, name: str) -> bool:
        """Tell whether another class may be found where a class is inside of one."""
        return any(
            one.attr == name and not isinstance(one.ctx, ast.Load)
            for text in self._texts
            for one in nodes_of_kinds(text.tree, ast.Attribute)
        ) or any(stray.attribute == name for stray in self._strays)

    def _why_no_container(self, name: str) -> str:
        """Return what speaks against a class that only adds to a container."""
        root = self._containers[name]
        names = {*self._of_container(root)}
        for stray in self._strays:
            its = self._flow.classes_of(stray.of, stray.scope)
            known = stray.attribute in names or not (its or stray.attribute is None)
            if not known and (name in its or (names and self._sets_any(stray, name))):
                return f"{stray.text.place(stray.of)}, gives it an attribute"
        for text, cls, of, attribute in self._set_on_classes:
            if attribute in names and cls in self._of_root(root):
                return f"{text.place(of)}, sets {attribute} of the class, too"
        odd = {one for one in names if not may_be_attribute(one)}
        for each in self._of_root(root):
            for _, node in self._found[each]:
                hiding = (one for one in node.body if hides(one, names, each == root))
                odd.update(getattr(one, "name", each) for one in hiding)
        if odd:
            return f"it may have an attribute {min(odd)}"
        reasons = map(self._hazards.get, [root, *sorted(names)])
        return next(filter(None, reasons), "")

    def _of_root(self, root: str) -> list[str]:
        return [one for one, its in self._containers.items() if its == root]

    def _of_container(self, root: str) -> list[str]:
        """Return the attributes that are set on objects of a class, or derived ones.

        There are none if no method sets one.
        """
        its = [node for one in self._of_root(root) for _, node in self._found[one]]
        own = set[str]().union(*map(set_on_self, its))
        also = {one.attribute or "" for one in self._strays if not self._known(one)}
        return sorted(own | (also - {""})) if own else []

    def _why_not_dataclass(self, name: str, node: ast.ClassDef) -> str:
        """Return what the dataclass has that a TObject like a dataclass cannot have."""
        if names_slots(node):
            return "it is a dataclass that names its slots"
        if has_slots(node) and not self._have_slots_only(name):
            return "it is a dataclass with slots, and others have none"
        for other, found in self._found.items():
            alike = all(is_dataclass(*one) for one in found)
            if not alike and self.are_related(other, name):
                return f"it is a dataclass, and {other} is none"
        if len(node.bases) > 1:
            return "it is a dataclass with several bases"
        declared = self._declared(name)
        line = (its for one in self._line(name) for _, its in self._found.get(one, ()))
        if taken := declared & set().union(*map(bound_in_body, line)):
            return f"it is a dataclass whose field {min(taken)} is something else, too"
        for one in node.body:
            if isinstance(one, ast.AnnAssign) and "InitVar" in ast.unparse(one):
                return "it has an InitVar"
        if taken := self._hidden(name):
            return f"it is a dataclass that does not declare {min(taken)}"
        return ""

    def make_objects(
        self, names: Iterable[str], edits: Mapping[str, Edits]
    ) -> Iterator[tuple[str, Text, ast.ClassDef]]:
        """Make classes TObjects, with their bases; yield those that have changed."""
        for name in sorted({root for one in names for root in self._roots(one)}):
            if self.is_shared(name):
                continue
            text, node = self._found[name][0]
            if name in self._containers:
                at, end = text.start(node.bases[0]), text.end(node.bases[0])
                new = BASES[last_name(node.bases[0])]
                new += also_given(self._of_container(name))
                edits[text.file].replace(at, end, new)
                yield name, text, node
                continue
            is_open = self._is_open(name)
            derive(text, node, self._also(name), edits[text.file], is_open=is_open)
            for other, ((its_text, cls), *_) in self._found.items():
                if name in self._line(other) and is_dataclass(its_text, cls):
                    its = edits[its_text.file]
                    undecorate(its_text, cls, its, is_derived=other != name)
            yield name, text, node

    def became(self, name: str) -> str:
        """Return what a class becomes."""
        if name not in self._containers:
            return "a TNamespace" if self._is_open(name) else "a TObject"
        its = BASES[last_name(self._found[name][0][1].bases[0])]
        return f"a {its.removeprefix('txloop.')}"

    def _roots(self, name: str) -> set[str]:
        """Return the classes without a base that the class is derived from.

        A protocol can be derived from nothing but others: it stays what it is.
        """
        text, node = self._found[name][0]
        if name in self._containers:
            return {self._containers[name]}
        if self._is_protocol(name):
            return set()
        bases = [last_name(one) for one in node.bases if not is_ordinary(text, one)]
        return {root for base in bases for root in self._roots(base)} or {name}

    def _is_protocol(self, name: str) -> bool:
        """Tell whether a class is derived from `typing.Protocol` itself."""
        text, node = self._found[name][0]
        return any(is_of_typing(text, base, "Protocol") for base in node.bases)


def _is_of_calls(node: ast.stmt) -> bool:
    """Tell whether a statement of a metaclass changes nothing but what calls do."""
    match node:
        case ast.FunctionDef(name=name):
            return name == "__call__" or name[:2] != "__"
        case ast.Assign(targets=targets):
            return all(last_name(one)[:2] != "__" for one in targets)
        case ast.AnnAssign(target=target):
            return last_name(target)[:2] != "__"
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return True
    return False

"""Plain objects that are stored and used on: a container would hold a copy.

``item = {}; items.append(item); item["name"] = "x"`` changes what `items` holds. A
container holds one made of `item` as it was. So `item` has to be one from the start:
the expression that gave the variable its value is put into `txloop.share`. Where that
is not possible (a parameter, a loop's variable), it is a hazard for what it is stored
in.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from txloop.scan.live_objects import MUTATORS
from txloop.sharing.bindings import (
    bindings,
    given_to,
    is_fresh,
    names_of_parts,
    names_of_same,
)
from txloop.sharing.hazard import Hazard
from txloop.sharing.known import PARTS, READERS, SCALARS
from txloop.sharing.scopes import (
    FUNCTIONS,
    bound_in,
    declared_in,
    functions_in,
    nodes_of,
    parameters,
)
from txloop.sharing.syntax import (
    VERBS,
    attribute_of_self,
    changed_by,
    each_given,
    foreign_modules,
    holder_name,
    is_after,
    is_handler_class,
    is_in_inner_function,
    is_of_self,
    is_self_assigned,
    last_name,
    leaves,
    names_handed_on,
    nodes_with_loops,
    parent_of,
    root_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from txloop.sharing.scopes import Function
    from txloop.sharing.texts import Text

__all__ = ["Aliases"]

_ROUNDS = 5
_DEPTH = 3
_FROM_INSIDE = frozenset(["get", "items", "keys", "pop", "popleft", "values"])
_STORING = frozenset(
    [
        *("__iadd__", "__ior__", "__setitem__", "add", "append", "appendleft"),
        *("extend", "extendleft", "insert", "setdefault", "update"),
    ]
)
"""The methods of plain containers that keep what they are given."""


@dataclass
class _Store:
    """A local variable that is put somewhere."""

    name: str
    into: str
    node: ast.AST
    loops: list[ast.AST] = field(default_factory=list)


class Aliases:
    """All that is stored under a variable in a program, and used on after that."""

    def __init__(self, texts: Iterable[Text], classes: Callable[[str], bool]) -> None:
        """Look at all functions.

        Args:
            texts: The modules.
            classes: Tells whether a name is that of a class of the program.
        """
        self._texts = list(texts)
        own = {text.name.partition(".")[0] for text in self._texts}
        self._foreign = {
            name for text in self._texts for name in foreign_modules(text.tree, own)
        }
        self._is_class = classes
        self._stored: dict[str, set[int]] = {}  # parameters that a function stores
        self._hands: dict[str, set[int]] = {}  # parameters that a function returns
        self._changes: set[str] = set()  # names of functions that change something
        self._returns: dict[str, bool] = {}  # whether what a function returns stays
        self._parameters: dict[
            tuple[object, str], bool
        ] = {}  # whether all that is given
        for _ in range(_ROUNDS):
            for text in self._texts:
                for function, owner in functions_in(text.tree):
                    self._learn(function, owner)
            self._parameters = self._learn_parameters()

    def _learn(self, function: Function, owner: ast.ClassDef | None) -> None:
        name = getattr(function, "name", "")
        called = owner.name if owner and name == "__init__" else name
        names = parameters(function)
        kept = self._stored.setdefault(called, set())
        for store in self._stores(function, in_handler=is_handler_class(owner)):
            if store.name in names:
                kept.add(names.index(store.name) - (owner is not None))
        returned = [one for one in ast.walk(function) if isinstance(one, ast.Return)]
        stays = not isinstance(function, ast.Lambda) and all(
            one.value is None or self._stays(function, one.value) for one in returned
        )
        self._returns[called] = self._returns.get(called, True) and stays
        handed = {
            name
            for one in returned
            if one.value is not None
            for name in self._handed_on(one.value)
        }
        hands = self._hands.setdefault(called, set())
        for number, one in enumerate(names):
            if handed & names_of_same(function, one):
                hands.add(number - (owner is not None))
        local = bound_in(function)
        for node in ast.walk(function):
            target = changed_by(node)
            root = root_name(target) if target is not None else None
            if target is not None and (root not in local or root in names):
                if not (
                    is_handler_class(owner) and root == "self" and is_of_self(target)
                ):
                    self._changes.add(called)
            elif isinstance(node, ast.Call) and last_name(node.func) in self._changes:
                self._changes.add(called)

    def _learn_parameters(self) -> dict[tuple[object, str], bool]:
        """Find out of which parameters every argument stays what it is."""
        given: dict[tuple[object, str], bool] = {}
        functions: dict[str, list[tuple[Function, list[str]]]] = {}
        called: set[int] = set()
        for text in self._texts:
            for function, owner in functions_in(text.tree):
                name = getattr(function, "name", "")
                names = parameters(function)[owner is not None :]
                if owner is not None and name == "__init__":
                    name = owner.name
                functions.setdefault(name, []).append((function, names))
                if is_handler_class(owner) and name in VERBS:
                    given.update({(function, one): True for one in names})
        for text in self._texts:
            for scope in (text.tree, *(one for one, _ in functions_in(text.tree))):
                for node in nodes_of(scope):
                    if isinstance(node, ast.Call):
                        called.add(id(node.func))
                        for function, names in functions.get(last_name(node.func), ()):
                            self._learn_call(node, scope, function, names, given)
        for text in self._texts:
            for node in ast.walk(text.tree):
                is_name = isinstance(node, ast.Name | ast.Attribute)
                if is_name and id(node) not in called and last_name(node) in functions:
                    for function, names in functions[last_name(node)]:
                        if last_name(node) not in VERBS and not self._is_class(
                            last_name(node)
                        ):
                            given.update({(function, one): False for one in names})
        return given

    def _learn_call(
        self,
        call: ast.Call,
        scope: ast.AST,
        function: Function,
        names: list[str],
        given: dict[tuple[object, str], bool],
    ) -> None:
        pairs = [*zip(names, call.args, strict=False)]
        pairs += [(one.arg, one.value) for one in call.keywords if one.arg is not None]
        spread = any(isinstance(one, ast.Starred) for one in call.args) or any(
            one.arg is None for one in call.keywords
        )
        for name, value in pairs:
            stays = not spread and self._stays(scope, value)
            given[function, name] = given.get((function, name), True) and stays

    def found(self) -> Iterator[tuple[Text, ast.expr | None, Hazard]]:
        """Yield each expression that has to be shared, or None, with what follows."""
        for text in self._texts:
            for function, owner in functions_in(text.tree):
                yield from self._of(text, function, in_handler=is_handler_class(owner))
                if is_handler_class(owner):
                    yield from self._of_handler(text, function, owner)
            yield from self._of(text, text.tree, in_handler=False)

    def _of(
        self, text: Text, scope: Function | ast.Module, *, in_handler: bool
    ) -> Iterator[tuple[Text, ast.expr | None, Hazard]]:
        for node in nodes_of(scope):
            if isinstance(node, ast.Assign) and self._has_two_places(scope, node):
                reason = f"{text.label}, line {node.lineno}, stores it twice"
                yield text, node.value, Hazard("", reason)
        for store in self._stores(scope, in_handler=in_handler):
            same = names_of_same(scope, store.name)
            values: list[ast.expr] = []
            others = False
            for name in sorted(same):
                its, unknown = bindings(scope, name)
                values += its
                others |= unknown and not self._parameters.get((scope, name), False)
            if not others and all(self._stays(scope, one) for one in values):
                continue
            if not self._is_used_on(
                scope, store, names_of_parts(scope, same, self._handed_on)
            ):
                continue
            line = getattr(store.node, "lineno", 0)
            hazard = Hazard(
                store.into,
                f"{text.label}, line {line}, stores {store.name!r} and goes on with it",
            )
            if others or any(isinstance(one, ast.Await | ast.Yield) for one in values):
                yield text, None, hazard
            for value in values:
                is_name = isinstance(value, ast.Name) and value.id in same
                if not is_name and not self._stays(scope, value):
                    yield text, value, hazard

    def _of_handler(
        self, text: Text, function: Function, owner: ast.ClassDef
    ) -> Iterator[tuple[Text, ast.expr | None, Hazard]]:
        """Yield where an attribute of a handler is stored that its methods change."""
        changed = {
            attribute_of_self(target)
            for node in ast.walk(owner)
            for target in [changed_by(node)]
            if target is not None and not is_self_assigned(node)
        }
        for node in nodes_of(function):
            for holder, value in self._put(node):
                its = root_name(holder) == "self" and is_of_self(holder)
                if its and isinstance(node, ast.Assign):
                    continue
                for one in ast.walk(value):
                    name = attribute_of_self(one)
                    if name and name in changed and name != attribute_of_self(holder):
                        line = getattr(node, "lineno", 0)
                        reason = f"line {line}, stores self.{name}, which changes"
                        hazard = Hazard(holder_name(holder), f"{text.label}, {reason}")
                        yield text, None, hazard

    def _has_two_places(self, scope: ast.AST, node: ast.Assign) -> bool:
        """Tell whether ``self.a = self.b = []`` gives one object to both."""
        outer = declared_in(scope) if isinstance(scope, FUNCTIONS) else set()
        kept = any(_is_kept(one, outer) for one in node.targets)
        named = isinstance(node.value, ast.Name)
        return (
            len(node.targets) > 1
            and kept
            and not named
            and not self._stays(scope, node.value)
        )

    # What is stored

    def _stores(
        self, scope: Function | ast.Module, *, in_handler: bool
    ) -> Iterator[_Store]:
        local = bound_in(scope)
        outer = declared_in(scope) if isinstance(scope, FUNCTIONS) else set()
        names = set(parameters(scope)) if isinstance(scope, FUNCTIONS) else set()
        fresh = {
            name
            for name in local - names
            if isinstance(scope, FUNCTIONS) and is_fresh(scope, name)
        }
        for node, loops in nodes_with_loops(scope):
            for holder, value in self._put(node, outer):
                root = root_name(holder)
                if isinstance(holder, ast.Name) and root in fresh:
                    continue
                if root in fresh or (root in self._foreign and root not in local):
                    continue
                is_assigned = isinstance(node, ast.Assign) and is_of_self(holder)
                if in_handler and root == "self" and is_assigned:
                    continue  # a handler lives for one request
                for name in self._handed_on(value):
                    if name in local and name != root and name not in ("self", "cls"):
                        yield _Store(name, holder_name(holder), node, loops)
                        yield from self._inner(scope, name, holder_name(holder), local)

    def _inner(
        self, scope: ast.AST, name: str, into: str, local: set[str]
    ) -> Iterator[_Store]:
        """Yield what is put into a variable that is stored, and into that.

        Args:
            scope: The function.
            name: The variable.
            into: Where it is stored.
            local: The variables of the function that are not yielded yet.
        """
        local = local - {name}
        for node, loops in nodes_with_loops(scope):
            if isinstance(node, ast.comprehension):
                continue  # it has a variable of its own
            found: set[str] = set()
            for target, value in given_to(node):
                if (
                    isinstance(target, ast.Name | ast.Subscript)
                    and root_name(target) == name
                ):
                    found |= self._handed_on(value)
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in MUTATORS
                and root_name(node.func) == name
            ):
                for one in [*node.args, *(each.value for each in node.keywords)]:
                    found |= self._handed_on(one)
            if isinstance(node, ast.AugAssign) and root_name(node.target) == name:
                found |= self._handed_on(node.value)
            for inner in found & local:
                yield _Store(inner, into, node, loops)
                yield from self._inner(scope, inner, into, local)

    def _handed_on(self, value: ast.AST) -> set[str]:
        """Do as `names_handed_on`, through the functions of the program, too."""
        found = names_handed_on(value)
        for call in ast.walk(value):
            if isinstance(call, ast.Call):
                hands = self._hands.get(last_name(call.func), set())
                given = [one for n, one in enumerate(call.args) if n in hands]
                if hands:
                    given += [one.value for one in call.keywords]
                for one in given:
                    found |= names_handed_on(one)
        return found

    def _put(
        self, node: ast.AST, outer: Collection[str] = ()
    ) -> Iterator[tuple[ast.AST, ast.AST]]:
        """Yield what a node puts where; with names that a function says are global."""
        match node:
            case ast.Assign(targets=targets, value=value):
                for target, given in _each_given(targets, value):
                    if _is_kept(target, outer):
                        yield target, given
            case ast.AugAssign(target=target) if _is_kept(target, outer):
                if not isinstance(node.value, ast.Name):  # else its parts are taken
                    yield target, node.value
            case ast.Call(func=ast.Attribute(value=base, attr=name), args=arguments):
                if name in _STORING:
                    for one in [*arguments, *(each.value for each in node.keywords)]:
                        yield base, one
                elif name in self._stored:
                    yield from self._given(node, name, base)
            case ast.Call(func=ast.Name(id=name)):
                if name in self._stored:
                    yield from self._given(node, name, node.func)

    def _given(
        self, call: ast.Call, name: str, holder: ast.AST
    ) -> Iterator[tuple[ast.AST, ast.AST]]:
        for number, one in enumerate(call.args):
            if number in self._stored[name]:
                yield holder, one
        if self._stored[name]:
            for each in call.keywords:
                yield holder, each.value

    def _stays(self, scope: ast.AST, value: ast.AST, depth: int = 0) -> bool:
        """Tell whether a value is the same object when it has been stored.

        What cannot change is, and so are objects of the program's classes, and what
        comes out of an object that is there already: if that is shared, it is a
        container, and if it is not, nothing changes it.
        """
        match value:
            case ast.Constant() | ast.JoinedStr() | ast.Compare() | ast.Lambda():
                return True
            case ast.UnaryOp() | ast.Attribute():
                return True
            case ast.Subscript(value=base, slice=part):
                return not isinstance(part, ast.Slice) and self._stays(
                    scope, base, depth
                )
            case ast.Name(id=name):
                values, others = bindings(scope, name)
                if not values and not others and isinstance(scope, FUNCTIONS):
                    return True  # of the module
                given = self._parameters.get((scope, name), False)
                return (
                    depth < _DEPTH
                    and (bool(values) or given)
                    and (not others or given)
                    and all(self._stays(scope, one, depth + 1) for one in values)
                )
            case ast.Call(func=function):
                name = last_name(function)
                if ast.unparse(function) == "txloop.share":
                    return True
                if name in SCALARS or self._is_class(name):
                    return True
                if name in _FROM_INSIDE and isinstance(function, ast.Attribute):
                    from_inside = [function.value, *value.args[1:]]  # and a default
                    return all(self._stays(scope, one, depth) for one in from_inside)
                return self._returns.get(name, False)
            case ast.BinOp(left=left):
                return self._stays(scope, left, depth) and not isinstance(
                    left, ast.Attribute | ast.Subscript | ast.Name
                )
            case ast.IfExp(body=body, orelse=orelse):
                both = (body, orelse)
                return all(self._stays(scope, one, depth) for one in both)
            case ast.BoolOp(values=values):
                return all(self._stays(scope, one, depth) for one in values)
        return False

    # What follows

    def _is_used_on(self, scope: ast.AST, store: _Store, names: set[str]) -> bool:
        """Tell whether the variable is changed, or kept, after it was stored.

        Reading it is harmless, as long as nothing else changes meanwhile.
        """
        where = (getattr(store.node, "end_lineno", 0), store.node.end_col_offset)  # type: ignore[attr-defined] # a statement or a call
        added_to = {
            id(node.target)
            for node in ast.walk(scope)
            if isinstance(node, ast.AugAssign)
        }
        uses = [
            node
            for node in ast.walk(scope)
            if isinstance(node, ast.Name)
            and node.id in names
            and (isinstance(node.ctx, ast.Load) or id(node) in added_to)
        ]
        bound = [
            node
            for node in ast.walk(scope)
            if isinstance(node, ast.Name)
            and node.id == store.name
            and isinstance(node.ctx, ast.Store)
        ]
        again: list[ast.AST] = []
        for loop in store.loops:
            inside = set(map(id, ast.walk(loop)))
            if not any(id(one) in inside for one in bound):
                again.append(loop)
        in_loops = {id(one) for loop in again for one in ast.walk(loop)}
        own = {id(one) for one in ast.walk(store.node)}
        again_ids = in_loops | {
            id(one)
            for inner in ast.walk(scope)
            if isinstance(inner, FUNCTIONS) and inner is not scope
            for one in ast.walk(inner)
        }
        later = [
            use
            for use in uses
            if id(use) in again_ids
            or ((use.lineno, use.col_offset) >= where and id(use) not in own)
        ]
        if not later:
            return False
        return any(self._matters(scope, use) for use in later) or any(
            self._acts(node) and is_after(node, where)
            for node in ast.walk(scope)
            if id(node) not in own
        )

    def _matters(self, scope: ast.AST, use: ast.expr) -> bool:
        """Tell whether a use changes the object, or gives it to what may."""
        parent, node = parent_of(scope, use)
        while isinstance(parent, ast.Subscript | ast.Attribute) and (
            getattr(parent, "value", None) is node
        ):
            if isinstance(getattr(parent, "ctx", None), ast.Store | ast.Del):
                return True
            if isinstance(parent, ast.Attribute) and parent.attr in MUTATORS:
                return True
            parent, node = parent_of(scope, parent)
        match parent:
            case ast.AugAssign() | ast.Return() | ast.Yield() | ast.NamedExpr():
                return True
            case ast.Assign(value=value):
                return value is use
            case ast.Call(func=function):
                name = last_name(function)
                if node is function:  # it reads; of what it returns, parts matter
                    return name in PARTS and self._matters(scope, parent)
                if name in self._changes or self._stored.get(name):
                    return True
                if name in PARTS:
                    applied = [one for one in parent.args[:1] if one is not node]
                    acts = any(map(self._may_act, applied))
                    return acts or self._matters(scope, parent)
                return not self._only_reads(name)
            case ast.comprehension(iter=value) if node is value:
                around, _ = parent_of(scope, parent)
                return isinstance(around, ast.expr) and self._matters(scope, around)
            case ast.List() | ast.Tuple() | ast.Dict() | ast.keyword():
                return node is use
        return is_in_inner_function(scope, use)

    def _only_reads(self, name: str) -> bool:
        """Tell whether a function of that name changes and keeps nothing."""
        if name in SCALARS or name in READERS or name in PARTS:
            return True
        if name not in self._returns or name in self._changes:
            return False
        return not self._hands[name]  # else what it returns may be changed

    def _may_act(self, function: ast.expr) -> bool:
        """Tell whether what is applied to parts may change them."""
        if isinstance(function, ast.Lambda):
            inside = ast.walk(function.body)
            return any(changed_by(one) or self._acts(one) for one in inside)
        return not (
            isinstance(function, ast.Constant) or self._only_reads(last_name(function))
        )

    def _acts(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            return last_name(node.func) in self._changes
        target = changed_by(node)
        return target is not None and not isinstance(target, ast.Name)


def _each_given(
    targets: list[ast.expr], value: ast.expr
) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what is assigned to what; what gets a part of it, with the whole."""
    for target in targets:
        for one, given in each_given(target, value):
            for leaf in leaves(one):
                yield leaf, given


def _is_kept(target: ast.AST, outer: Collection[str]) -> bool:
    return isinstance(target, ast.Attribute | ast.Subscript) or (
        isinstance(target, ast.Name) and target.id in outer
    )

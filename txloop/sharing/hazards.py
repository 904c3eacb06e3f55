"""What a program does with plain objects that it cannot do with containers.

Each is a reason to leave something alone: what has a certain name, or all.
"""

from __future__ import annotations

import ast
import functools
import sys
from typing import TYPE_CHECKING, TypeGuard

from txloop.scan.known import HEAPS, INSORTS, SERIALIZERS, TAKING
from txloop.scan.special import CALLERS
from txloop.scan.syntax import children, last_name, walk
from txloop.sharing.bindings import bindings
from txloop.sharing.demands import Wants
from txloop.sharing.exact import Databases, is_passed_on, wanted_exactly
from txloop.sharing.handlers import VERBS, is_handler_class
from txloop.sharing.identities import identities
from txloop.sharing.lookups import may_keep
from txloop.sharing.making import PLAIN
from txloop.sharing.origins import EVERYTHING, Hazard
from txloop.sharing.replacing import set_methods_called
from txloop.sharing.scopes import functions_in, imports_in, nodes_of, walked
from txloop.sharing.syntax import (
    arguments_of,
    holder_name,
    root_name,
)
from txloop.sharing.types_asked import types_asked

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from txloop.sharing.demands import Demands
    from txloop.sharing.texts import Text
    from txloop.sharing.threads import Threads

__all__ = ["hazards"]

_BUILTINS = {one.__name__: frozenset(dir(one)) - {"fromkeys"} for one in PLAIN}
"""The methods of plain classes, by their names, but for one that needs no object."""

_DUMPERS = frozenset(
    [
        *SERIALIZERS,
        *("cPickle", "cloudpickle", "dill", "joblib", "marshal", "pickle"),
        *("plistlib", "shelve"),
    ]
)
_DUMPS = frozenset(["Pickler", "dump", "dumps", "encode", "open", "packb", "safe_dump"])

_LATER = frozenset(["Pickler", "open"])
"""Functions of dumpers that return what objects are given to later."""

_APPLYING = {*(one.__name__ for one in CALLERS), "partial"}
"""Functions that call what they get with the other things that they get."""

_CALLING = _APPLYING | {
    *("add_callback", "add_timeout", "apply", "call", "call_at", "call_later"),
    *("call_soon", "call_soon_threadsafe", "callback", "spawn_callback"),
}
"""The same, with those that call it later."""

_CHANGING_LISTS = frozenset([*HEAPS, *INSORTS])

_TAKE_CONTAINERS = frozenset(["txloop", "tornado"])
"""Packages that do, beside the standard library."""


def hazards(
    all_texts: Iterable[Text], demands: Demands, threads: Threads
) -> Iterator[Hazard]:
    """Yield what speaks against sharing, in all modules."""
    texts = [*all_texts]
    own = {text.package for text in texts}
    imported = {
        text.file: {
            one.bound: f"{one.module}.{one.name}" if one.name else one.module
            for one in imports_in(text.tree)
        }
        for text in texts
    }
    databases = Databases(
        (text.tree for text in texts),
        (home for modules in imported.values() for home in modules.values()),
    )
    yield from threads.hazards(demands)
    yield from identities(texts, demands)
    yield from _hazards_of_keys(texts)
    for text in texts:
        modules = imported[text.file]
        methods = {one for node in walked(text.tree) for one in _assigned_in(node)}
        foreign = {
            name: home
            for name, home in modules.items()
            if home.partition(".")[0] not in own
        }
        called = {
            last_name(one.func)
            for one in walked(text.tree)
            if isinstance(one, ast.Call)
        }
        replaced = {*set_methods_called(text)}
        for node in walked(text.tree):
            ours = getattr(node, "func", None) in replaced
            wanted = [] if ours else [*_wanted_of(node, modules)]
            if node not in methods and not isinstance(node, ast.Compare):
                wanted += _handed_on(node)
            if isinstance(node, ast.Call) and (bound := databases.bound_by(node)):
                what = f"gives it to {last_name(node.func)}(), which asks in C for"
                wanted.append((bound, f"{what} a plain one", Wants.PLAIN))
            for base in _methods_taken(node, called):
                if not demands.may_be_own(node, base):
                    what = f"takes a method of {ast.unparse(base)} by its name"
                    wanted.append(([base], what, Wants.PLAIN))
            may_be_own = functools.partial(demands.may_be_own, node)
            if (given := _given_for_namespace(node)) is not None:
                reason = f"{text.place(node)}, makes it the namespace of an object"
                found = demands.on(node, [given], reason, Wants.PLAIN)
                # Few objects are: what is not known is no reason to leave everything.
                yield from (one for one in found if one.name or one.site)
            if asked := types_asked(node, may_be_own, foreign):
                what = f"asks for the exact type: {ast.unparse(node)}"
                wanted.append((asked, what, Wants.PLAIN))
            for values, what, wants in wanted:
                reason = f"{text.place(node)}, {what}"
                yield from demands.on(node, values, reason, wants)
        for scope in (text.tree, *(one for one, _ in functions_in(text.tree))):
            yield from _given_away(text, scope, modules, own)


def _given_away(
    text: Text, scope: ast.AST, modules: dict[str, str], own: set[str]
) -> Iterator[Hazard]:
    """Yield what is given to functions of installed packages.

    These may want a plain object: they ask for it in C.

    Args:
        text: The module.
        scope: A function, or the module's body.
        modules: What imported names stand for.
        own: The program's own packages.
    """
    for node in nodes_of(scope):
        if not isinstance(node, ast.Call):
            continue
        package = modules.get(root_name(node.func), "").partition(".")[0]
        if not package or package in own | _TAKE_CONTAINERS | sys.stdlib_module_names:
            continue
        given = arguments_of(node)
        for one in (inner for value in given for inner in walk(value)):
            if not isinstance(one, ast.Name | ast.Attribute):
                continue
            names = {holder_name(one)}
            if isinstance(one, ast.Name):
                values, _ = bindings(scope, one.id)
                names |= {holder_name(inner) for v in values for inner in walk(v)}
            for name in names - {""}:
                what = f"gives it to {package}, which may want a plain one"
                yield Hazard(name, f"{text.place(node)}, {what}")


_Wanted = tuple[list[ast.expr], str, Wants]
"""Expressions, what a line does with them, and what it wants."""

_UNKNOWN: list[ast.expr] = [ast.Name("self", ast.Load())]
"""Stands for any object."""


def _wanted_of(node: ast.AST, modules: dict[str, str]) -> Iterator[_Wanted]:
    """Yield what a node does that no container does."""
    match node:
        case ast.Call():
            yield from _wanted_by(node, modules)
        case ast.Attribute(attr=called) if called not in _CHANGING_LISTS:
            pass
        case ast.Attribute() | ast.Name():
            home, name = _meant(node, modules)
            if is_passed_on(home, name):
                yield _UNKNOWN, f"passes {home}.{name} on", Wants.PLAIN


def _handed_on(node: ast.AST) -> Iterator[_Wanted]:
    """Yield methods of builtin classes that something else is to call."""
    if isinstance(node, ast.Call):
        given = arguments_of(node)
        for one in filter(_is_method_of_class, given):
            others = [other for other in given if other is not one]
            applied = last_name(node.func) in _APPLYING
            yield _wanted_by_handed(one, others if applied else _UNKNOWN)
    elif not isinstance(node, ast.keyword):
        for one in filter(_is_method_of_class, children(node)):
            yield _wanted_by_handed(one, _UNKNOWN)


def _methods_taken(node: ast.AST, called: Collection[str]) -> list[ast.expr]:
    """Return of what a node takes a method by its name, for something else to call it.

    Args:
        node: The node.
        called: The names of all that is called.
    """
    taken: list[ast.expr] = []
    match node:
        case ast.Assign(targets=[target], value=value):
            taken = [value] if last_name(target) in called else []
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            taken = [value] if name in called else []
        case ast.Call(func=function) if last_name(function) in _CALLING:
            taken = node.args
    return [
        one.args[0]
        for one in taken
        if isinstance(one, ast.Call)
        and last_name(one.func) == "getattr"
        and len(one.args) > 1
        and not isinstance(one.args[1], ast.Constant)
        and may_keep(one.args[1])
    ]


def _given_for_namespace(node: ast.AST) -> ast.expr | None:
    """Return what a node assigns to a `__dict__`, which has to be a dict."""
    match node:
        case ast.Assign(targets=targets, value=value):
            its = any(last_name(one) == "__dict__" for one in targets)
            own = last_name(value) == "self"  # an object of a class that is a dict's
            return value if its and not own else None
        case ast.Call(
            func=ast.Name(id="setattr") | ast.Attribute(attr="__setattr__"),
            args=[*_, ast.Constant(value="__dict__"), value],
        ):
            return value
    return None


def _assigned_in(node: ast.AST) -> list[ast.stmt]:
    """Return what the body of a class assigns: methods, of its own objects."""
    body = node.body if isinstance(node, ast.ClassDef) else []
    return [one for one in body if isinstance(one, ast.Assign)]


def _wanted_by_handed(method: ast.AST, values: list[ast.expr]) -> _Wanted:
    what = f"hands {ast.unparse(method)} on, which takes plain objects only"
    return values, what, Wants.PLAIN


def _wanted_by(call: ast.Call, modules: dict[str, str]) -> Iterator[_Wanted]:
    function = call.func
    home, name = _meant(function, modules)
    given = arguments_of(call)
    if home == "itertools" and name == "tee":
        yield given[:1], "calls itertools.tee, which copies a container", Wants.PLAIN
    elif home in _DUMPERS and name in _DUMPS:
        what = f"calls {home}.{name}, which does not know containers"
        yield (_UNKNOWN if name in _LATER else given), what, Wants.PARTS
    elif _is_method_of_class(function) and given and last_name(given[0]) != "self":
        what = f"calls {ast.unparse(function)}, which takes plain objects only"
        yield given[:1], what, Wants.PLAIN
    elif exactly := wanted_exactly(call, home, name):
        what = f"calls {ast.unparse(function)}, which takes plain objects only"
        yield exactly, what, Wants.PLAIN
    elif home == "operator" and name in TAKING and _names_storing(name, given):
        what = f"calls operator.{name}, whose result stores what is not followed"
        yield _UNKNOWN, what, Wants.PLAIN
    elif home == "contextvars" and name == "copy_context":
        what = f"calls contextvars.{name}, which has what is not followed"
        yield _UNKNOWN, what, Wants.PLAIN
    elif home == "weakref":
        what = f"calls weakref.{name}: what containers have held may end later"
        yield _UNKNOWN, what, Wants.PLAIN


def _names_storing(called: str, given: list[ast.expr]) -> bool:
    """Tell whether what is given to `attrgetter` and the like has a storing method.

    A name that `attrgetter` is given and that is not in the text is one of a part.
    """
    names = given[:1] if called == "methodcaller" else given
    known = called != "methodcaller"
    return any(
        may_keep(one) for one in names if isinstance(one, ast.Constant) or not known
    )


def _meant(node: ast.expr, modules: dict[str, str]) -> tuple[str, str]:
    """Return the module of what is named, if that is known, and its name there."""
    name = last_name(node)
    home = ""
    if isinstance(node, ast.Attribute):
        text = ast.unparse(node.value)
        root = modules.get(text.partition(".")[0], "")
        home = text if root == text else modules.get(text, "")
    elif name in modules:
        home, _, name = modules[name].rpartition(".")
    return home, name


def _is_method_of_class(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Tell whether it is a method of a builtin class itself, such as ``list.sort``."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr=method):
            return method in _BUILTINS.get(name, ())
        case ast.Attribute(value=ast.Attribute(attr=name) as owner, attr=method):
            known = ast.unparse(owner.value) == "collections"
            return known and method in _BUILTINS.get(name, ())
    return False


_ASKED = frozenset(["__eq__", "__hash__"])


def _hazards_of_keys(texts: Sequence[Text]) -> Iterator[Hazard]:
    """Yield keys that do something when they are looked for.

    Containers ask keys for their hashes, and whether they are equal, at other times
    than plain objects do, and when an attempt runs again.
    """
    methods = [
        (text, function, owner.name)
        for text in texts
        for function, owner in functions_in(text.tree)
        if owner is not None
        and getattr(function, "name", "") in _ASKED
        and any(getattr(one, "name", "") == "__hash__" for one in owner.body)
    ]
    if not methods:
        return
    known: dict[str, list[ast.AST]] = {}
    for text in texts:
        for function, owner in functions_in(text.tree):
            name = getattr(function, "name", "")
            if not (name in VERBS and is_handler_class(owner)):  # Tornado calls these
                known.setdefault(name, []).append(function)
    for text, function, cls in methods:
        if _changes_something(function, known):
            name = f"{cls}.{getattr(function, 'name', '')}()"
            what = f"{name} changes something, and a container asks for it elsewhere"
            yield Hazard(EVERYTHING, f"{text.place(function)}, {what}")


def _changes_something(method: ast.AST, known: dict[str, list[ast.AST]]) -> bool:
    """Tell whether a method, or what it calls, changes more than its own object.

    Attributes of its own object count where they are counted up: what it only sets may
    be set again.
    """
    seen: set[int] = set()
    waiting = [method]
    while waiting:
        function = waiting.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        shared = {
            name
            for node in walked(function)
            if isinstance(node, ast.Global | ast.Nonlocal)
            for name in node.names
        }
        for node in walked(function):
            if _changes(node, shared):
                return True
            if isinstance(node, ast.Call):
                waiting += known.get(last_name(node.func), ())
    return False


def _changes(node: ast.AST, shared: set[str]) -> bool:
    match node:
        case ast.AugAssign(target=ast.Name(id=name)):
            return name in shared
        case ast.AugAssign() | ast.Delete():
            return True
        case ast.Name(id=name, ctx=ast.Store()):
            return name in shared
        case ast.Attribute(ctx=ast.Store()):
            return root_name(node) != "self"
        case ast.Subscript(ctx=ast.Store()):
            return True
        case ast.Expr(value=ast.Call(func=called)):
            return ast.unparse(called) != "object.__setattr__"
    return False

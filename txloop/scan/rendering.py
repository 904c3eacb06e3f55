"""What templates do with what they are given.

``self.render("cart.html", cart=CART)`` runs what stands in the template, such as
``{{ cart.take() }}``. Templates are looked at without running them, all as one: what
one of them does with a name, each of them may do. Of a name it is known which methods
and attributes are used of it, and of what is taken from it.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from typing import TYPE_CHECKING

from txloop.scan.assignments import store_attribute
from txloop.scan.live_objects import UNKNOWN, changes_by, has_type, is_iterator
from txloop.scan.member import member
from txloop.scan.parts import part_of
from txloop.scan.value import Bound, Descriptor, Instance, Live, alternatives
from txloop.stm.immutability import PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from txloop.scan.value import Arguments, Value
    from txloop.scan.walk import Walk

__all__ = ["acts_in", "render"]

_RENDERING = frozenset(["generate", "render", "render_async", "render_string"])
"""The methods that give a template what they get by keyword."""

_SETS = "="  # before the name of an attribute: it is assigned
_CALL, _NEXT, _SET_ITEM = "__call__", "__next__", "__setitem__"
_ANY = ""  # the acts on any name

_DEEPEST = 4  # attributes and parts that are followed

_TAG = re.compile(r"\{([{%])(.*?)[%}]\}", re.DOTALL)
_NAME = re.compile(r"(\.?)\s*([A-Za-z_]\w*)")

_STATEMENTS: Mapping[str, str] = {"for": "for {}: pass", "set": "{}"}
_CONDITIONS = frozenset(["apply", "elif", "if", "module", "raw", "return", "while"])


def acts_in(texts: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return what templates do with each name, and under "" all of that."""
    acts: defaultdict[str, set[str]] = defaultdict(set)
    origins: defaultdict[str, set[str]] = defaultdict(set)
    for text in texts:
        for kind, tag in _TAG.findall(text):
            for tree in _parsed(kind, tag.strip()):
                _collect(tree, acts, origins)
    for _ in range(_DEEPEST):
        for name, others in list(origins.items()):
            for other in others:
                acts[other] |= acts[name]
    acts[_ANY] = set().union(*acts.values())
    return {name: frozenset(each) for name, each in acts.items()}


def _parsed(kind: str, tag: str) -> Iterator[ast.AST]:
    """Yield the syntax of a tag; of one that is no Python, what its names may be."""
    word, _, rest = tag.partition(" ")
    if kind == "%" and word in _STATEMENTS:
        code = _STATEMENTS[word].format(rest)
    elif kind == "{":
        code = tag.strip("-")
    elif word in _CONDITIONS:
        code = rest
    else:
        return
    try:
        yield ast.parse(code.strip())
    except (SyntaxError, ValueError):
        names = _NAME.findall(code)
        attributes = [name for dot, name in names if dot]
        for name in (name for dot, name in names if not dot):
            for each in attributes:
                yield ast.Attribute(ast.Name(name), each)


def _collect(
    tree: ast.AST,
    acts: defaultdict[str, set[str]],
    origins: defaultdict[str, set[str]],
) -> None:
    """Add what a tag does with names, and from which others it takes what they are."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.For(target=target, iter=source)
                | ast.comprehension(target=target, iter=source)
            ):
                for name in _names(target):
                    origins[name].update(_names(source))
            case ast.Assign(targets=targets, value=value):
                for name in (name for each in targets for name in _names(each)):
                    origins[name].update(_names(value))
        store = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
        match node:
            case ast.Attribute(value=owner, attr=name):
                _add(acts, owner, f"{_SETS}{name}" if store else name)
            case ast.Subscript(value=owner) if store:
                _add(acts, owner, _SET_ITEM)
            case ast.Call(func=ast.Name(id="next"), args=[first, *_]):
                _add(acts, first, _NEXT)
            case ast.Call(func=ast.Name(id=name)):
                acts[name].add(_CALL)


def _add(acts: defaultdict[str, set[str]], owner: ast.AST, act: str) -> None:
    for name in _names(owner):
        acts[name].add(act)


def _names(tree: ast.AST) -> list[str]:
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]


def render(walk: Walk, name: str, arguments: Arguments, node: ast.AST) -> None:
    """Write down what a template does with what it is given, if the call renders one.

    Args:
        walk: The walk.
        name: The name of the method that is called.
        arguments: What it gets.
        node: The call.
    """
    acts = walk.sources.acts
    if name not in _RENDERING or not acts:
        return
    for key, value in arguments.keywords.items():
        _Rendering(walk, acts.get(key, frozenset()), node).act(value)
    for value in (*arguments.positional, *arguments.others):
        _Rendering(walk, acts[_ANY], node).act(value)


class _Rendering:
    """What some acts do with a value, and with what is taken from it."""

    def __init__(self, walk: Walk, acts: frozenset[str], node: ast.AST) -> None:
        self._walk = walk
        self._acts = acts
        self._node = node
        # What was looked at, by identity, and how deep below it.
        self._seen: dict[int, tuple[object, int]] = {}

    def act(self, value: Value, depth: int = _DEEPEST) -> None:
        """Write down what is done with a value, down to some depth."""
        if not self._acts or not depth:
            return
        for each in alternatives(value):
            if isinstance(each, Live) and each.thing is not UNKNOWN:
                _, before = self._seen.get(id(each.thing), (None, 0))
                if before >= depth or has_type(each.thing, *PLAIN):
                    continue
                self._seen[id(each.thing)] = each.thing, depth
                self._change(each)
                self.act(part_of(each), depth - 1)
            if isinstance(each, Live | Instance):
                self._use(each, depth)

    def _change(self, live: Live) -> None:
        if any(changes_by(live.thing, act) for act in self._acts) or (
            _NEXT in self._acts and is_iterator(live.thing)
        ):
            self._walk.notes.change(live, self._node)

    def _use(self, value: Live | Instance, depth: int) -> None:
        """Walk into the methods, and follow the attributes, that acts use of it."""
        if isinstance(value, Live) and has_type(value.thing, type):
            return
        for act in self._acts:
            if act.startswith(_SETS):
                name = act.removeprefix(_SETS)
                store_attribute(self._walk, value, name, None, self._node)
            elif not (isinstance(value, Live) and value.thing is UNKNOWN):
                found = member(value, act, self._walk.sources)
                if isinstance(found, Bound | Descriptor):
                    self._walk.run(found)
                elif isinstance(found, Live):
                    self.act(found, depth - 1)

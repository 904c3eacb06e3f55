"""Syntax trees: which nodes are functions, and which names a piece of code binds.

Python's own rules: a name that a function binds is the function's, unless it says
`global` or `nonlocal`; comprehensions have variables of their own.
"""

from __future__ import annotations

import ast
import functools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = [
    "COMPREHENSIONS",
    "FUNCTIONS",
    "SCOPES",
    "Comprehension",
    "FunctionNode",
    "body_of",
    "bound_by",
    "bound_in",
    "children",
    "declared_in",
    "last_name",
    "names_bound",
    "nonlocal_in",
    "numbered",
    "own_nodes",
    "parameters",
    "walk",
]

_BINDING_ANY = frozenset(
    {"__dict__", "__import__", "__setattr__", "eval", "exec", "globals", "locals"}
)
_SETTING = frozenset({"setattr", "vars"})
"""Builtins that may set an attribute of any name, if that is not written there."""

_DOTTED = re.compile(r"[^\W\d]\w*(?:[.:][^\W\d]\w*)*\Z")

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (*FUNCTIONS, ast.ClassDef, *COMPREHENSIONS)


_WITHOUT_NODES = frozenset({"arg", "attr", "ctx", "id", "kind", "type_comment"})


def children(node: ast.AST) -> list[ast.AST]:
    """Do as `ast.iter_child_nodes`, in less time, and without loads and stores."""
    found: list[ast.AST] = []
    for name in _fields_of(type(node)):  # type: ignore[arg-type] # a class has a hash
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [one for one in value if isinstance(one, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


@functools.cache
def _fields_of(kind: type[ast.AST]) -> tuple[str, ...]:
    """Return the fields in which there may be nodes."""
    return tuple(name for name in kind._fields if name not in _WITHOUT_NODES)


def walk(node: ast.AST) -> list[ast.AST]:
    """Return a node and all that is in it, in the order of `ast.walk`."""
    found = [node]
    for one in found:  # which grows meanwhile
        found += children(one)
    return found


def last_name(node: ast.AST | None) -> str:
    """Return the last name of ``a.b.c``; "" if there is none."""
    return getattr(node, "attr", getattr(node, "id", ""))


def numbered(node: FunctionNode) -> list[str]:
    """Return the names of those parameters that calls may give by position."""
    return [each.arg for each in (*node.args.posonlyargs, *node.args.args)]


def parameters(node: FunctionNode) -> list[str]:
    """Return the names of the parameters, positional ones first, `*args` last."""
    starred = (node.args.vararg, node.args.kwarg)
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return [each.arg for each in (*every, *starred) if each is not None]


_NAMED = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler),
    *(ast.MatchAs, ast.MatchStar),
)


def bound_by(node: ast.AST) -> Sequence[str]:
    """Return the names that this node, without those below it, binds."""
    if isinstance(node, ast.Name):
        return () if isinstance(node.ctx, ast.Load) else (node.id,)
    if isinstance(node, _NAMED):
        return () if node.name is None else (node.name,)
    if isinstance(node, ast.MatchMapping):
        return () if node.rest is None else (node.rest,)
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [one.asname or one.name.partition(".")[0] for one in node.names]
    return ()


def bound_in(scope: ast.AST) -> frozenset[str]:
    """Return the names that a function, class, comprehension or module binds itself."""
    return _names_of(scope)[0]


def declared_in(scope: ast.AST) -> frozenset[str]:
    """Return the names that a function says are global."""
    return _names_of(scope)[1]


def nonlocal_in(scope: ast.AST) -> frozenset[str]:
    """Return the names that a function says are those of one around it."""
    return _names_of(scope)[2]


@functools.lru_cache(maxsize=4096)
def _names_of(
    scope: ast.AST,
) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return what a scope binds itself, declares as global, and as nonlocal."""
    bound, outermost, outer = set[str](), set[str](), set[str]()
    if isinstance(scope, COMPREHENSIONS):
        targets = (walk(part.target) for part in scope.generators)
        nodes = (node for target in targets for node in target)
        bound.update(one.id for one in nodes if isinstance(one, ast.Name))
    else:
        if isinstance(scope, FUNCTIONS):
            bound.update(parameters(scope))
        for node in own_nodes(scope):
            bound.update(bound_by(node))
            if isinstance(node, ast.Global):
                outermost.update(node.names)
            elif isinstance(node, ast.Nonlocal):
                outer.update(node.names)
        bound -= outermost | outer
    return frozenset(bound), frozenset(outermost), frozenset(outer)


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a scope, without those of scopes in it."""
    waiting = body_of(scope)
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, COMPREHENSIONS):
            # What an assignment expression in it binds is the scope's.
            waiting += [n for n in walk(node) if isinstance(n, ast.NamedExpr)]
        elif not isinstance(node, SCOPES):
            waiting += children(node)


def body_of(scope: ast.AST) -> list[ast.AST]:
    """Return what the body of a scope consists of."""
    body = getattr(scope, "body", [])
    return [*body] if isinstance(body, list) else [body]


def names_bound(tree: ast.Module) -> frozenset[str] | None:
    """Return the names that a file may give to anything, in any way; None: all names.

    A global may be set as an attribute of its module, by other files, too.
    """
    bound: set[str] = set()
    named = set()  # the builtins in calls that say which attribute they set
    for node in walk(tree):
        match node:
            case ast.Call(
                ast.Name("setattr") as setting, [_, ast.Constant(str(name)), _]
            ):
                named.add(setting)
                bound.add(name)
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in _BINDING_ANY:
                return None
            case ast.Name(id=name) if name in _SETTING and node not in named:
                return None
            case ast.Name(id=name) | ast.Attribute(attr=name) if not _is_read(node):
                bound.add(name)
            case ast.alias(name="*"):
                return None
            case ast.alias(name=name, asname=other):
                bound.add(other or name.partition(".")[0])
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                bound.add(name)
            case ast.ClassDef(name=str(name)) | ast.ExceptHandler(name=str(name)):
                bound.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                bound.add(name)
            case ast.MatchMapping(rest=str(name)):
                bound.add(name)
            case ast.Global(names=names):
                bound.update(names)
            case ast.Constant(value=str(text)) if _DOTTED.match(text):
                bound.update(re.split("[.:]", text))  # it may be set by its name
    return frozenset(bound)


def _is_read(node: ast.Name | ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Load)

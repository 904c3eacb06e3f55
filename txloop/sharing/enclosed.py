"""Numbers and texts that functions keep: `nonlocal` variables, and attributes.

``count`` of ``nonlocal count`` becomes a TVar, and so does ``visit.count`` of a
function `visit`, with all their uses. What is assigned to them may be no object that a
container would copy, nor one of which that is not known.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.known import NAMESPACES, RUNNING
from txloop.scan.syntax import (
    FUNCTIONS,
    SCOPES,
    bound_by,
    bound_in,
    declared_in,
    last_name,
    own_nodes,
    parameters,
)
from txloop.sharing.lookups import why_by_name
from txloop.sharing.scopes import attributes_named, globals_named, walked
from txloop.sharing.shown import why_as_written
from txloop.sharing.syntax import simple_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from txloop.sharing.survey import Seed
    from txloop.sharing.texts import Edits, Text

    Stays = Callable[[ast.AST, ast.expr], bool]

__all__ = ["make_kept"]

_UNKNOWN = "it is not known what it is given"


def make_kept(
    texts: Sequence[Text], seed: Seed, stays: Stays, edits: Mapping[str, Edits]
) -> tuple[Text, int] | str:
    """Make what a function keeps a TVar, with all its uses.

    Args:
        texts: All modules.
        seed: What was found of it: its owner is a "closure" or a "function".
        stays: Tells whether what an expression gives is the same once it is stored.
        edits: Gets the changes, by file.

    Returns:
        The module and the line that makes it; why it is left alone, if it is.
    """
    of, _, function = seed.of.rpartition(":")
    home = next((one for one in texts if of in (one.file, one.label)), None)
    if home is None:
        return f"it is in {of}, which is not the program's"
    if seed.owner == "closure":
        line = _make_enclosed(home, function, seed.name, stays, edits)
    else:
        name = seed.attribute
        line = _make_attribute(texts, home, function, name, stays, edits)
    return line if isinstance(line, str) else (home, line)


def _make_enclosed(
    text: Text,
    writer: str,
    name: str,
    stays: Stays,
    edits: Mapping[str, Edits],
) -> int | str:
    """Make a variable of a function, which one in it assigns, a TVar.

    Args:
        text: The module.
        writer: The qualified name of the function that assigns it.
        name: The variable.
        stays: Tells whether what an expression gives is the same once it is stored.
        edits: Gets the changes, by file.

    Returns:
        The line that makes it; why it is left alone, if it is.
    """
    home = _home_of(text.tree, writer, name)
    if home is None or name in parameters(home):  # type: ignore[arg-type] # a function
        return "it is not known which function has it"
    uses = [*globals_named(home, name)]
    if any(
        last_name(one) in RUNNING | NAMESPACES
        or (isinstance(one, SCOPES) and name in declared_in(one))
        for one in walked(home)
    ):
        return f"{text.place(home)}, may use it by a name that is not in the text"
    names = [one for one in uses if isinstance(one, ast.Name)]
    odd = [one for one in uses if one not in names or isinstance(one.ctx, ast.Del)]
    if odd:
        return f"{text.place(odd[0])}, binds or deletes it otherwise"
    body = getattr(home, "body", [])
    return _make(text, body, names, _own(home, names), stays, edits)


def _make_attribute(
    texts: Sequence[Text],
    home: Text,
    function: str,
    name: str,
    stays: Stays,
    edits: Mapping[str, Edits],
) -> int | str:
    """Make an attribute of a function of a module a TVar.

    Args:
        texts: All modules.
        home: The one that has the function.
        function: Its name.
        name: That of the attribute.
        stays: Tells whether what an expression gives is the same once it is stored.
        edits: Gets the changes, by file.

    Returns:
        The line that makes it; why it is left alone, if it is.
    """
    for text in texts:
        if reason := why_by_name(text, name):
            return reason
        for node in walked(text.tree) if text is not home else ():
            if function in (last_name(node), *bound_by(node)):
                return f"{text.place(node)}, may use it, too"
    uses: list[ast.AST] = [*globals_named(home.tree, function)]
    bases = {
        id(one.value): one
        for one in attributes_named(home.tree, name)
        if isinstance(one.value, ast.Name)
    }
    called = {id(n.func) for n in walked(home.tree) if isinstance(n, ast.Call)}
    of_it = {
        id(n.value)
        for n in walked(home.tree)
        if isinstance(n, ast.Attribute) and not n.attr.startswith("__")
    }
    made = [one for one in uses if isinstance(one, ast.FunctionDef)]
    for one in uses:
        if one not in made and id(one) not in called | of_it:
            return f"{home.place(one)}, hands the function on"
    if len(made) != 1 or made[0].decorator_list or made[0] not in home.tree.body:
        return "it is not known which function has it"
    its = [bases[id(one)] for one in uses if id(one) in bases]
    if any(isinstance(one.ctx, ast.Del) for one in its):
        return "it is deleted"
    return _make(home, home.tree.body, its, _own(home.tree, its), stays, edits)


def _make(
    text: Text,
    body: Iterable[ast.stmt],
    uses: Sequence[ast.Name | ast.Attribute],
    own: Sequence[ast.AST],
    stays: Stays,
    edits: Mapping[str, Edits],
) -> int | str:
    """Make what has these uses a TVar, where a body gives it a value first.

    Args:
        text: The module.
        body: The statements, each of which runs once.
        uses: All uses.
        own: Those that run with the body.
        stays: Tells whether what an expression gives is the same once it is stored.
        edits: Gets the changes, by file.
    """
    every = {id(one) for one in uses}
    first = [
        (target, value)
        for line in body
        if isinstance(line, ast.Assign | ast.AnnAssign)
        for target, value in simple_values(line)
        if id(target) in every
    ]
    if not first or any(text.start(one) < text.start(first[0][0]) for one in own):
        return "no line is known that gives it a value first"
    target, value = first[0]
    given = {id(one): its for one, its in _given(text.tree)}
    for one in uses:
        if isinstance(one.ctx, ast.Store):
            its = given.get(id(one))
            if its is None or not stays(one, its):
                return f"{text.place(one)}: {_UNKNOWN}"
    later = [one for one in uses if one is not target]
    if any(text.segment(one).split(".")[-1] != last_name(one) for one in later):
        return "it stands in an f-string whose parts this Python cannot place"
    reason = why_as_written((text, one) for one in later)
    if reason:
        return reason
    edits[text.file].wrap(text, value, "txloop.TVar")
    for one in later:
        edits[text.file].append(text, one, ".value")
    return value.lineno


def _given(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Yield what simple assignments give, and what is added to something."""
    for node in walked(tree):
        yield from simple_values(node)
        if isinstance(node, ast.AugAssign):
            yield node.target, node.value


def _own(home: ast.AST, uses: Iterable[ast.AST]) -> list[ast.AST]:
    """Return those of the uses that run with a function, or the module, itself."""
    inside = {id(one) for one in own_nodes(home)}
    return [one for one in uses if id(one) in inside]


def _home_of(tree: ast.Module, writer: str, name: str) -> ast.AST | None:
    """Return the function that has a variable which another one in it assigns."""
    found = [around for its, around in _functions(tree, "", ()) if its == writer]
    if len(found) != 1:
        return None
    homes = (one for one in reversed(found[0]) if name in bound_in(one))
    home = next(homes, None)
    return home if isinstance(home, FUNCTIONS) else None


def _functions(
    node: ast.AST, prefix: str, around: tuple[ast.AST, ...]
) -> Iterator[tuple[str, tuple[ast.AST, ...]]]:
    """Yield the qualified names of functions, with what is around each, and itself."""
    for child in ast.iter_child_nodes(node):
        inner, scopes = prefix, around
        if isinstance(child, ast.ClassDef):
            inner = f"{prefix}{child.name}."
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            scopes = (*around, child)
            yield f"{prefix}{child.name}", scopes
            inner = f"{prefix}{child.name}.<locals>."
        yield from _functions(child, inner, scopes)

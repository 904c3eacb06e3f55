"""What fields of dataclasses begin with, as ``dataclasses.field(...)`` describes it.

It is no call of a library like others, of which may come what it was given before: each
object gets what is described there, and nothing else does.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.syntax import last_name
from txloop.sharing.syntax import root_name

if TYPE_CHECKING:
    from txloop.sharing.meanings import Meanings

__all__ = ["first_value", "owners_of_fields"]


def first_value(
    meanings: Meanings, scope: ast.AST, described: ast.expr | None
) -> ast.expr | None:
    """Return what `dataclasses.field` gives each object first; None if it is not that.

    Of ``field(default_factory=list)`` this is ``list()``, at the place of the whole.

    Args:
        meanings: What names mean.
        scope: The function, or module, in which the expression stands.
        described: The expression.
    """
    if not isinstance(described, ast.Call) or described.args:
        return None
    root, name = root_name(described.func), last_name(described.func)
    its = meanings.imported_from(scope, root), meanings.in_full(scope, name)
    own = meanings.is_own("dataclasses") or meanings.defines(scope, root)
    if its != ("dataclasses", "field") or own:
        return None
    given = {one.arg: one.value for one in described.keywords}
    default, maker = (given.pop(one, None) for one in ("default", "default_factory"))
    plain = all(isinstance(one, ast.Constant) for one in given.values())
    if not plain or None in given:
        return None  # what is in its metadata may be asked for
    if isinstance(maker, ast.Lambda):
        return maker  # whose origins are those of what it returns
    if maker is not None:
        return ast.copy_location(ast.Call(maker, [], []), described)
    return default or ast.copy_location(ast.Constant(None), described)


def owners_of_fields(meanings: Meanings, tree: ast.Module) -> dict[ast.AST, str]:
    """Return the lines that `first_value` knows, each with the name of its class."""
    return {
        line: node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for line in node.body
        if isinstance(line, ast.AnnAssign)
        if first_value(meanings, meanings.scope_of(node), line.value) is not None
    }

"""Calls that make all that they return, of a text, of bytes, or of what a file has.

So nothing of what they are given is in there, be it a container's or not: what it is
made of cannot change. Others give what cannot change itself: numbers and texts.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.known import SCALARS
from txloop.scan.syntax import last_name
from txloop.sharing.syntax import arguments_of, root_name

if TYPE_CHECKING:
    from txloop.sharing.meanings import Meanings

__all__ = ["decodes", "gives_scalar"]

_DECODERS = frozenset(
    [
        *(("json", "load"), ("json", "loads"), ("pickle", "load"), ("pickle", "loads")),
        ("tornado", "json_decode"),
    ]
)

_UNPICKLED = frozenset(
    [
        *("__getnewargs__", "__getnewargs_ex__", "__new__", "__reduce__"),
        *("__reduce_ex__", "__setstate__"),
    ]
)
"""Methods by which classes say what is made of bytes; others do by `copyreg`."""


_FUNCTIONS = frozenset(
    [
        *("abs", "all", "any", "bool", "bytes", "float", "int", "isinstance", "len"),
        *("ord", "round", "str", "sum"),
    ]
)
"""Python's own: a method of that name is another one."""


def decodes(meanings: Meanings, scope: ast.AST, call: ast.Call) -> bool:
    """Tell whether a call is one of these.

    It is not if it has arguments that may be hooks, or if `pickle` may run code of the
    program, which may return what is there already.

    Args:
        meanings: What names mean.
        scope: The function, or module, in which the call stands.
        call: The call.
    """
    root, name = root_name(call.func), last_name(call.func)
    home = meanings.imported_from(scope, root).partition(".")[0]
    if (home, meanings.in_full(scope, name)) not in _DECODERS or meanings.is_own(home):
        return False
    if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
        return False
    own = not _UNPICKLED.isdisjoint(meanings.functions) or meanings.imports("copyreg")
    return not ((home == "pickle" and own) or meanings.defines(scope, root))


def gives_scalar(call: ast.Call) -> bool:
    """Tell whether the name of what is called says that it gives what cannot change.

    ``query.all()`` may give a list, and so does ``sum(lists, [])``. And what is decoded
    by more than the name of an encoding may be a dict: ``jwt.decode(token, key)``.
    """
    name, given = last_name(call.func), arguments_of(call)
    if name == "sum" and len(given) > 1:
        return False
    if name == "decode" and not all(isinstance(one, ast.Constant) for one in given):
        return False
    is_method = not isinstance(call.func, ast.Name)
    return name in SCALARS and not (is_method and name in _FUNCTIONS)

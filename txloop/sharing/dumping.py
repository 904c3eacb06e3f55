"""What `pickle` and the like are given, of which they may get a plain copy.

They do not know containers, and keep nothing of what they are given. Objects of the
program's classes are not gone through by the copy: where there may be some, what is
given has to be plain.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.sharing.scopes import names_of_standard, nodes_of_kinds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from txloop.sharing.demands import Demands
    from txloop.sharing.texts import Text

__all__ = ["dumped"]

_MODULES = ("marshal", "pickle", "plistlib")


def dumped(texts: Iterable[Text], demands: Demands) -> Iterator[tuple[Text, ast.expr]]:
    """Yield what is given to these, in each module, and may be copied."""
    for text in texts:
        functions = {
            name
            for home in _MODULES
            for one in ("dump", "dumps")
            for name in names_of_standard(text.tree, home, one)
        }
        for call in nodes_of_kinds(text.tree, ast.Call) if functions else ():
            if ast.unparse(call.func) in functions and call.args:
                given = call.args[0]
                starred = isinstance(given, ast.Starred)
                if not (starred or demands.may_be_own(call, given)):
                    yield text, given

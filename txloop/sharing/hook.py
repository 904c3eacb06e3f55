"""Modules of the program that are compiled from another text than their file's.

The text has the same lines, and the code the file's name and its columns: so
tracebacks, debuggers and coverage show the file.
"""

from __future__ import annotations

import ast
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import TYPE_CHECKING

from txloop.loop.program import compile_main_with
from txloop.scan import give_source
from txloop.stm.origin import Owner, owner_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import CodeType, ModuleType

    from txloop.scan import Columns

__all__ = [
    "call_like_plain",
    "compile_with",
    "compiled",
    "import_rewritten",
    "place_of_imports",
]


def call_like_plain(live: bool) -> str:
    """Return the line that each changed module has."""
    return f"txloop.like_plain({'live=True' if live else ''})"


class _Finder(PathFinder):
    """Finds modules as Python does, and has the program's own compiled."""

    def __init__(self, compiler: Callable[[str], CodeType | None]) -> None:
        self._compiler = compiler

    def find_spec(  # type: ignore[override] # of an object, not of the class
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        file = None if spec is None else spec.origin
        if spec is None or file is None or type(spec.loader) is not SourceFileLoader:
            return None
        if owner_of(file) is not Owner.PROGRAM:
            return None
        spec.loader = _Loader(fullname, file, self._compiler)
        return spec


class _Loader(SourceFileLoader):
    def __init__(
        self, name: str, file: str, compiler: Callable[[str], CodeType | None]
    ) -> None:
        super().__init__(name, file)
        self._compiler = compiler

    def get_code(self, fullname: str) -> CodeType | None:
        return self._compiler(self.path) or super().get_code(fullname)


def compile_with(compiler: Callable[[str], CodeType | None]) -> None:
    """Have the program's modules compiled by a function; call it before they are.

    Args:
        compiler: Given a file, returns its code; None for the ordinary one.
    """
    sys.meta_path.insert(0, _Finder(compiler))
    compile_main_with(compiler)


def import_rewritten(
    sources: Mapping[str, str], live: bool, columns: Mapping[str, Columns]
) -> None:
    """Have files compiled from these texts instead of their own.

    Args:
        sources: The texts, by file.
        live: Whether loops have to see what their bodies do to containers.
        columns: Where their parts stand in the files.
    """
    for file, source in sources.items():
        give_source(file, source, columns[file])

    def compiler(file: str) -> CodeType | None:
        if file not in sources:
            return None
        tree = columns[file].move(ast.parse(sources[file]))
        return compiled(tree, file, live)

    compile_with(compiler)


def compiled(tree: ast.Module, file: str, live: bool = False) -> CodeType:
    """Compile a text that names `txloop` without importing it."""
    header = ast.parse(f"import txloop\n{call_like_plain(live)}").body
    place = place_of_imports(tree)
    line = tree.body[place].lineno if place < len(tree.body) else 1
    for statement in header:
        for node in ast.walk(statement):
            if hasattr(node, "lineno"):
                node.lineno = node.end_lineno = line  # type: ignore[attr-defined] # as asked
    tree.body[place:place] = header
    return compile(tree, file, "exec", dont_inherit=True)


def place_of_imports(tree: ast.Module) -> int:
    """Return the index of the first statement that an import may precede."""
    place = 0
    for number, statement in enumerate(tree.body):
        match statement:
            case ast.Expr(ast.Constant(value=str())) if number == 0:
                place = 1
            case ast.ImportFrom(module="__future__"):
                place = number + 1
    return place

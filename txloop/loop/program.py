"""Running a program as Python itself would: what it finds in `sys` and `__main__`."""

from __future__ import annotations

import builtins
import importlib.util
import os
import pkgutil
import runpy
import sys
import types
from importlib.machinery import SourceFileLoader
from typing import TYPE_CHECKING

from txloop.stm.origin import claim

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType

__all__ = ["compile_main_with", "find_module", "prepare", "run_file", "run_module"]

_compilers: list[Callable[[str], CodeType | None]] = []  # filled by the command line


def prepare(program: Sequence[str], *, is_module: bool) -> None:
    """Make the program see the arguments and the path that Python would give it.

    Args:
        program: Its file, or its module's name, and its arguments.
        is_module: Which of the two.
    """
    sys.argv[:] = program
    if sys.flags.safe_path:
        return  # nothing was put in front of the path
    file = os.path.realpath(program[0])
    sys.path[0] = os.getcwd() if is_module else os.path.dirname(file)


def find_module(name: str) -> ModuleSpec:
    """Find a module that ``python -m`` would run; of a package, its `__main__`.

    The packages around it are imported.

    Raises:
        ModuleNotFoundError: there is none. What those packages raise passes.
    """
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):
            raise  # of what a package imports
        spec = None
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"there is no module {name} to run", name=name)
    return spec


def run_module(name: str) -> None:
    """Run a module, as ``python -m`` does."""
    claim(name)
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def compile_main_with(compiler: Callable[[str], CodeType | None]) -> None:
    """Have the file that is run compiled by another function.

    Args:
        compiler: Given the file, returns its code; None for the ordinary one.
    """
    _compilers.append(compiler)


def run_file(file: str) -> None:
    """Run a file, as ``python FILE`` does.

    `runpy` would set ``sys.argv[0]`` to the absolute path, and Python does not.
    """
    path = os.path.join(os.getcwd(), file)
    if path.endswith(".pyc") or pkgutil.get_importer(path) is not None:  # or an archive
        runpy.run_path(file, run_name="__main__")
        return
    loader = SourceFileLoader("__main__", path)
    code = next(filter(None, (one(path) for one in _compilers)), None)
    if code is None:
        code = loader.source_to_code(loader.get_data(path), path)
    module = types.ModuleType("__main__")
    module.__file__, module.__loader__ = path, loader
    vars(module).update(__builtins__=builtins, __cached__=None)
    sys.modules["__main__"] = module
    claim("__main__")
    exec(code, vars(module))

"""A program as bytes: what a process on another machine has to know to run its calls.

A forked worker inherits all of the program's process. Here the same is made by hand, of
what counts. The program's own files go by value: their modules, with all functions,
classes and plain objects, as they are when the image is made. So nothing of the program
runs again there, not even its import, and a worker needs none of its files. What is
installed goes by name: a worker has to have it, in the same version. Of an installed
package that is a part of the program (see `txloop.stm.origin`), the values of globals
are sent besides.

Then a call travels by the very bytes by which it goes to a forked worker, and finds
everything by the same names. What cannot be copied, such as a connection to a database,
is `Absent` there.

To run the main script again, as multiprocessing's "spawn" does, was rejected: what it
does besides defining things would be done again, and what it has changed since would
be missing.
"""

from __future__ import annotations

import io
import logging
import os
import pickle
import sys
import types
from typing import TYPE_CHECKING, Any

from txloop.executors.carried import carried
from txloop.executors.codec.by_value import by_value
from txloop.executors.codec.frames import UNPICKLABLE
from txloop.executors.dask.loading import Header, Spaces
from txloop.executors.dask.pickling import PROTOCOL, ImagePickler, goes_by_value
from txloop.executors.faults import VARIABLE
from txloop.stm.container import Container
from txloop.stm.immutability import CONSTANTS
from txloop.stm.origin import (
    claimed,
    is_installed_file,
    is_own_module,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["make_image"]

_FIRST = (type, types.FunctionType, types.ModuleType)

_DEPTH = 10_000  # of calls; a pickler needs several for each level

_OWN = frozenset(
    ("__builtins__", "__cached__", "__loader__", "__name__", "__package__", "__spec__")
)
"""Globals that a module gets when it is made."""


def make_image(dump: bytes, version: int) -> bytes:
    """Return the program as it is now; on the loop thread, between callbacks.

    Args:
        dump: All of the shared state.
        version: Its version.
    """
    own = [one for one in list(sys.modules.values()) if is_own_module(one)]
    values = {one.__name__: one for one in own if goes_by_value(one)}
    values |= dict(_packages_of([*values, _main_name()]))
    header = Header(
        claimed(),
        [(name, hasattr(one, "__path__")) for name, one in sorted(values.items())],
        [name for name in sys.modules if name.startswith("txloop.")],
        list(sys.argv),
        os.environ.get(VARIABLE),
        dict(_levels()),
    )
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEPTH))
    try:
        with by_value(values.values()):
            spaces = {name: _contents(one) for name, one in values.items()}
            spaces |= {
                one.__name__: dict(_plain_globals(one))
                for one in own
                if one.__name__ not in values
            }
            code, rest = _divided(spaces)
            program = _pickled(code, (rest, carried()))
    finally:
        sys.setrecursionlimit(limit)
    return pickle.dumps((tuple(header), program, dump, version), PROTOCOL)


def _main_name() -> str:
    """Return the main module's name in its package; "" where that does not count."""
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    if spec is None or is_installed_file(getattr(main, "__file__", None) or ""):
        return ""
    name: str = spec.name
    return name


def _packages_of(names: Iterable[str]) -> Iterator[tuple[str, types.ModuleType]]:
    """Yield the packages of modules, which may have no file of their own."""
    for name in names:
        package = name.rpartition(".")[0]
        while package:
            module = sys.modules.get(package)
            if module is not None:
                yield package, module
            package = package.rpartition(".")[0]


def _contents(module: types.ModuleType) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if name not in _OWN}


def _plain_globals(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the globals of an installed module whose values travel."""
    for name, value in list(vars(module).items()):
        if name.startswith("__") or isinstance(
            value, type | types.FunctionType | types.ModuleType
        ):
            continue
        if isinstance(value, Container) or _travels(value):
            yield name, value


def _travels(value: object) -> bool:
    try:
        pickle.dumps(value, PROTOCOL)
    except UNPICKLABLE:
        return False
    return True


def _levels() -> Iterator[tuple[str, tuple[int, bool, bool]]]:
    loggers = {"": logging.root, **logging.root.manager.loggerDict}
    for name, one in loggers.items():
        if isinstance(one, logging.Logger):
            yield name, (one.level, one.propagate, one.disabled)


def _divided(spaces: Spaces) -> tuple[Spaces, Spaces]:
    """Return what objects may need when they are made, and what is left."""
    code: Spaces = {}
    rest: Spaces = {}
    for name, values in spaces.items():
        for each, value in values.items():
            first = isinstance(value, _FIRST) or type(value) in CONSTANTS
            (code if first else rest).setdefault(name, {})[each] = value
    return code, rest


def _pickled(*parts: object) -> bytes:
    """Return one pickle after the other, each of which knows those before it."""
    with io.BytesIO() as file:
        pickler = ImagePickler(file, protocol=PROTOCOL)
        for part in parts:
            pickler.dump(part)
        return file.getvalue()

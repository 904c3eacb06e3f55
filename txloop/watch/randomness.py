"""The generators of random numbers that a whole process shares.

Each worker has its own, and that is as good, unless the program has seeded them: then
it wants the numbers of one sequence.
"""

from __future__ import annotations

import linecache
import random
import re
import sys
from typing import TYPE_CHECKING, Any

from txloop.origin import file_of, is_own_module

if TYPE_CHECKING:
    from collections.abc import Iterator, Set

__all__ = ["is_seeded", "is_shared_generator", "shared_generators"]

_SEEDING = re.compile(r"(?<![\w.])(random|np\.random|numpy\.random)\.seed\(")
_IMPORTING = re.compile(r"from (numpy\.)?random import .*\bseed\b")


def is_shared_generator(thing: object) -> bool:
    """Tell whether it is the generator behind a module's functions."""
    return any(thing is one for one in _generators())


def shared_generators(module: object, names: Set[str]) -> Iterator[object]:
    """Yield the generators behind the functions of `random`, or of numpy's.

    Args:
        module: A module that code uses.
        names: What it uses of modules and objects.
    """
    numpys = module is sys.modules.get("numpy") and "random" in names
    if module is random or module is sys.modules.get("numpy.random") or numpys:
        yield from _generators()


def _generators() -> Iterator[Any]:
    yield getattr(random, "_inst", None)
    numpy_random: Any = sys.modules.get("numpy.random.mtrand")
    if numpy_random is not None:
        yield numpy_random._rand


def is_seeded() -> bool:
    """Tell whether a line of the program's seeds them."""
    for module in list(sys.modules.values()):
        if is_own_module(module):
            lines = linecache.getlines(file_of(module), vars(module))
            if any(_SEEDING.search(line) or _IMPORTING.search(line) for line in lines):
                return True
    return False

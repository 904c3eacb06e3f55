"""What a `threading.local` has in this thread and will lack in another one.

A forked worker has the attributes of the thread that was forked. A worker thread has
none but those that the object's class gives to each thread. They are not copied there:
what is kept for each thread is mostly what threads must not share.
"""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator

__all__ = ["only_here"]


def only_here(thing: threading.local) -> list[str]:
    """Return the names of its attributes that another thread would not find.

    Those that an ``__init__`` of its classes may set, which runs in each thread, are
    not meant, nor those that its classes have, too.
    """
    given: set[str] = set()
    for each in type(thing).__mro__:
        given.update(vars(each))
        begin = vars(each).get("__init__")
        code = begin.__code__ if isinstance(begin, FunctionType) else None
        if isinstance(code, CodeType):  # PyPy's own functions have another one
            given.update(_names_of(code))
    return [name for name in vars(thing) if name not in given]


def _names_of(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    yield from _names_in(code.co_consts)


def _names_in(constants: tuple[object, ...]) -> Iterator[str]:
    for constant in constants:
        if isinstance(constant, CodeType):
            yield from _names_of(constant)
        elif isinstance(constant, tuple):  # as of the keys of a display
            yield from _names_in(constant)
        elif isinstance(constant, str):  # as of `setattr`, or of a key of `__dict__`
            yield constant

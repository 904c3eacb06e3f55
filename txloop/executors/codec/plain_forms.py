"""Plain forms: requests and responses as strings, numbers and tuples, lists and dicts.

marshal packs such data in a fraction of the time that pickle takes for objects where
pickle is Python code, as on PyPy. A module that can take something apart registers its
form here; the codec looks it up. What has no form is pickled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from txloop.stm.immutability import PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Form", "form_named", "form_of", "is_plain", "register_form"]


class Form(NamedTuple):
    """How results of a class, or calls of a function, are taken apart and made again.

    Attributes:
        name: Tells it from others.
        flatten: Given a result, or a call's arguments; returns plain data, or None
            where some part is not plain.
        restore: Given the plain data; returns the result, or the function and its
            arguments. In another process.
    """

    name: str
    flatten: Callable[[Any], object]
    restore: Callable[[Any], Any]


_MOST_PARTS = 1000  # pickle is better at more, and at what contains itself

_forms: dict[int, Form] = {}  # by the class's or function's id; filled at import
_named: dict[str, Form] = {}


def register_form(kind: type | Callable[..., object], form: Form) -> None:
    """Let results of that class, or calls of that function, travel in `form`.

    At import, before workers are forked; the class or function must never go.
    """
    _forms[id(kind)] = _named[form.name] = form


def form_of(kind: type | Callable[..., object]) -> Form | None:
    """Return the form of results of that class or calls of that function, if any."""
    return _forms.get(id(kind))  # not all that can be called can be hashed


def form_named(name: str) -> Form:
    """Return the form of that name.

    Raises:
        KeyError: there is none.
    """
    return _named[name]


def is_plain(thing: Any) -> bool:
    """Tell whether `thing` is small, and marshal packs it as what it is everywhere.

    PyPy's takes subclasses, too, and CPython's all that has a buffer; both come back
    as something else.
    """
    parts = [thing]
    for part in parts:  # it grows
        kind = type(part)
        if kind is str or kind is bytes or part is None:
            continue
        if kind is dict:
            parts += part
            parts += part.values()
        elif kind is list or kind is tuple:
            parts += part
        elif kind not in PLAIN:
            return False
        if len(parts) > _MOST_PARTS:
            return False
    return True

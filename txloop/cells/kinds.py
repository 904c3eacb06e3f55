"""What can be stored as it is, by its kind; and what to do about the rest.

What is stored travels by pickle. So it must not change, or a change would be seen in
some workers only; and it must be equal to its copies, or it would be lost among them.
"""

from __future__ import annotations

import copyreg
import dataclasses
import datetime
import decimal
import fractions
import pickle
import types
import uuid
from collections import deque
from typing import TYPE_CHECKING, Any, TypeVar

from txloop.cells.assigned import names_in
from txloop.cells.foreign import (
    fault_of_array,
    is_frozen_array,
    is_frozen_model,
    is_of,
    parts_of_model,
)
from txloop.errors import TxConfigurationError, TxValueError
from txloop.stm.attempt import running
from txloop.stm.callables import is_found_by_name, with_article
from txloop.stm.container import Container
from txloop.stm.held import hold, holds_the_rest, is_held_kind, is_reference
from txloop.stm.immutability import FAMILIES, SCALARS

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "check_held",
    "check_key",
    "has_changing_hash",
    "is_frozen_dataclass",
    "is_immutable",
    "is_plain_tuple",
    "keeps_its_identity",
    "named",
    "refusal",
    "register_immutable",
]

T = TypeVar("T")

_DERIVED_FROM = (
    str,
    bytes,
    int,
    float,
    complex,
    datetime.date,
    datetime.time,
    datetime.timedelta,
    decimal.Decimal,
    fractions.Fraction,
    uuid.UUID,
)
"""Classes without changes, too; but what is derived from them may have attributes."""


def is_immutable(value: Any) -> bool:
    """Tell whether something other than a tuple or the like can be stored as it is."""
    if type(value) in SCALARS or isinstance(value, FAMILIES):
        return True
    if isinstance(value, types.FunctionType):
        return _what_it_holds(value) is None
    if isinstance(value, types.BuiltinFunctionType | types.MethodType):
        owner = getattr(value, "__self__", None)
        return owner is None or isinstance(owner, type | types.ModuleType)
    if is_of("numpy", value, "generic"):
        return not is_of("numpy", value, "void")
    if isinstance(value, _DERIVED_FROM):
        return _travels(value) and all(map(_is_immutable_deeply, _attributes(value)))
    if isinstance(value, tuple(_registered)):
        return True
    if is_frozen_model(value):
        return _changeable_field(value) is None
    return is_frozen_array(value)


_registered: dict[type, None] = {}  # filled by the program, before workers begin


def register_immutable(kind: type[T]) -> type[T]:
    """Let containers take objects of a class as they are, and of those derived from it.

    Their word is taken for it: an object of the class must never change, and a copy of
    it by pickle must be as good as itself. Call it where the class is made, before
    workers begin; it may decorate the class.

    >>> @register_immutable
    ... class Money:
    ...     __slots__ = ("amount",)

    Raises:
        TxConfigurationError: if it is no class.
    """
    if not isinstance(kind, type):
        raise TxConfigurationError(
            f"register_immutable() takes a class, not {named(kind)}; give it type(x)"
        )
    _registered[kind] = None
    return kind


def _is_immutable_deeply(value: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return all(map(_is_immutable_deeply, value))
    if is_frozen_dataclass(value):
        return all(map(_is_immutable_deeply, _parts(value)))
    return is_immutable(value)


def is_frozen_dataclass(value: object) -> bool:
    """Tell whether it is an instance of a frozen dataclass."""
    parameters = getattr(type(value), "__dataclass_params__", None)
    return parameters is not None and bool(parameters.frozen)


def is_plain_tuple(value: tuple[object, ...]) -> bool:
    """Tell whether it can be made again from its parts: a tuple or a named one."""
    return type(value) is tuple or hasattr(value, "_make")


def _parts(value: Any) -> list[Any]:
    names = [field.name for field in dataclasses.fields(value)]
    return [getattr(value, name) for name in names if hasattr(value, name)]


def _attributes(value: Any) -> list[Any]:
    names = copyreg._slotnames(type(value))  # type: ignore[attr-defined] # as for pickle
    found = [getattr(value, name) for name in names if hasattr(value, name)]
    return [*found, *getattr(value, "__dict__", {}).values()]


def _travels(value: Any) -> bool:
    """Tell whether a copy by pickle is equal, and of the same class."""
    try:
        copied = pickle.loads(pickle.dumps(value))
    except Exception:  # whatever the classes of the program raise
        return False
    return type(copied) is type(value) and bool(copied == value)


# Objects that are equal to themselves only


def keeps_its_identity(value: Any) -> bool:
    """Tell whether all copies of it in a process are one, or equal.

    Classes, functions and members of enums are found by their names, and some objects
    are by what they pickle as; others become new ones in each worker.
    """
    kind: Any = type(value)
    if not (kind.__eq__ is object.__eq__ or kind.__hash__ is object.__hash__):
        return True
    if kind in SCALARS or isinstance(value, FAMILIES):
        return True
    if isinstance(value, types.FunctionType):
        return is_found_by_name(value)
    return _comes_back_itself(value)


def _comes_back_itself(value: Any) -> bool:
    try:
        return pickle.loads(pickle.dumps(value)) is value
    except Exception:  # whatever the classes of the program raise
        return False


def has_changing_hash(kind: type) -> bool:
    """Tell whether objects of a class are containers with a hash of the program's."""
    # None is the hash of what cannot be a key anyway.
    return issubclass(kind, Container) and kind.__hash__ not in (object.__hash__, None)


def check_key(key: Any) -> None:
    """Check that a key is equal to its copies, so that a worker finds it.

    Raises:
        TxValueError: if it is not, or its hash is not the same at all times.
    """
    if type(key) in SCALARS:
        return
    if has_changing_hash(type(key)):
        raise TxValueError(
            f"{named(key)} may not be shared as a key: its hash is made of attributes "
            "that transactions change; leave out its __hash__ and __eq__, so that it "
            "is equal to itself only, or use the attributes as the key"
        )
    if isinstance(key, tuple | frozenset):
        for part in key:
            check_key(part)
    elif not keeps_its_identity(key):
        if not is_held_kind(key):
            raise _lost(key, "as a key")
        check_held(key)
    elif isinstance(key, types.MethodType | types.BuiltinFunctionType):
        if not is_immutable(key):
            if not is_held_kind(key):
                raise refusal(key)
            check_held(key)
    elif is_frozen_dataclass(key):
        for part in _parts(key):
            check_key(part)
    elif holds_the_rest() and _may_change(key):
        check_held(key)


def _may_change(key: object) -> bool:
    """Tell whether a key that is equal to its copies is more than a value."""
    return not (isinstance(key, Container) or is_reference(key) or is_immutable(key))


def check_held(value: object) -> None:
    """Take note that a container holds it; end an attempt that is not on its thread."""
    attempt = running.attempt
    if attempt is not None and attempt.speculative:
        if is_reference(value):
            return
        attempt.abandon(
            f"it stores {with_article(type(value).__qualname__)}, which means "
            "something on the loop thread only"
        )
    hold(value)


def _changeable_field(model: object) -> str | None:
    """Return the name of a part of a model that can change, if there is one."""
    parts = parts_of_model(model).items()
    return next((name for name, one in parts if not _is_immutable_deeply(one)), None)


# Functions


def _what_it_holds(
    function: types.FunctionType, seen: frozenset[int] = frozenset()
) -> str | None:
    """Return the name of what would be copied with a function, and can change.

    One that is found by its name is not copied, whatever it refers to.
    """
    if is_found_by_name(function) or id(function) in seen:
        return None
    seen |= {id(function)}
    for name, value in _references(function):
        if isinstance(value, types.FunctionType):
            inner = _what_it_holds(value, seen)
            if inner is not None:
                return inner
        elif not (
            isinstance(value, types.ModuleType)
            or _is_immutable_deeply(value)
            or _comes_back_itself(value)
        ):
            return name
    return None


_EMPTY = object()  # a cell without contents, which may get some


def _references(function: types.FunctionType) -> Iterator[tuple[str, object]]:
    """Yield what a function refers to by name and would take along."""
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            yield name, _EMPTY
    defaults = function.__defaults__ or ()
    arguments = code.co_varnames[: code.co_argcount]
    yield from zip(reversed(arguments), reversed(defaults), strict=False)
    yield from (function.__kwdefaults__ or {}).items()
    yield from vars(function).items()
    for name in names_in(code, "LOAD_GLOBAL"):
        if name in function.__globals__:
            yield name, function.__globals__[name]


def refusal(value: Any) -> TxValueError:
    """Return the error that says why a value cannot be stored, and what to do."""
    if isinstance(value, types.FunctionType):
        return TxValueError(
            f"{named(value)} refers to {_what_it_holds(value)!r}, which can change and "
            "would be copied with it; define it with def at the top of a module, or "
            "give it what it needs as arguments"
        )
    if isinstance(value, types.MethodType | types.BuiltinFunctionType):
        owner = type(getattr(value, "__self__", None)).__name__
        return TxValueError(
            f"{named(value)} may not be shared: its object, {with_article(owner)}, "
            "would be copied with it; store the object, if it may be shared, and the "
            "method's name"
        )
    if is_frozen_dataclass(value):
        return _lost(value, "as a value")
    if isinstance(value, _DERIVED_FROM):
        return _refused_scalar(value)
    if is_frozen_model(value):
        name = _changeable_field(value)
        return TxValueError(
            f"{named(value)} may not be shared: its field {name!r} can change, and a "
            "change would be seen by some workers only; give it a tuple, a frozenset "
            "or another frozen model"
        )
    return TxValueError(
        f"{named(value)} {_fault(value)} and may not be shared: a change to it would "
        f"be seen by some workers only; {_advice(value)}"
    )


def _fault(value: Any) -> str:
    """Return what is wrong with a value, as far as is known."""
    if is_of("numpy", value, "ndarray"):
        return fault_of_array(value)
    known = isinstance(value, (list, dict, set, bytearray, deque))
    if known or dataclasses.is_dataclass(value):
        return "is mutable"
    return "may be mutable"


def _refused_scalar(value: Any) -> TxValueError:
    plain = next(kind.__name__ for kind in _DERIVED_FROM if isinstance(value, kind))
    if _travels(value):
        reason = "has attributes that can change"
    else:
        reason = "is not equal to its copies, or has none by pickle"
    return TxValueError(
        f"{named(value)} {reason}, and may not be shared; store a plain {plain}"
    )


def _advice(value: Any) -> str:
    if dataclasses.is_dataclass(value):
        return "derive its class from txloop.TObject, freeze it, or txloop.share() it"
    if isinstance(value, bytearray):
        return "store bytes"
    if isinstance(value, list | dict | set):
        return "convert it to a plain list, dict or set"
    if is_of("numpy", value, "ndarray"):
        if type(value).__name__ != "ndarray" or value.dtype.hasobject:
            return "store what its tolist() returns"
        return (
            "store array.tolist(), or a copy in one piece that is read only: "
            "array = array.copy(); array.flags.writeable = False"
        )
    if is_of("numpy", value, "void"):
        return "store its item(), a tuple"
    if is_of("pydantic", value, "BaseModel"):
        return "freeze its class: model_config = ConfigDict(frozen=True)"
    return (
        "store its parts, a tuple, a frozen dataclass or a txloop container; or, if it "
        f"never changes, say so: txloop.register_immutable({type(value).__name__})"
    )


def _lost(value: Any, where: str) -> TxValueError:
    if is_frozen_dataclass(value):
        advice = "leave eq=False out of its dataclass, or make it an Enum's member"
    elif isinstance(value, types.FunctionType):
        advice = "define it with def at the top of a module"
    else:
        advice = "use a string, a number, a tuple or a member of an Enum"
    return TxValueError(
        f"{named(value)} is equal only to itself and may not be shared {where}: in a "
        f"worker it is another one; {advice}"
    )


def named(value: object) -> str:
    """Return what to call a value in a message."""
    text = repr(value)
    if len(text) > 60:
        text = text[:57] + "..."
    return f"{type(value).__name__} {text}"

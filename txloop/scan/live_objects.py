"""What kind of thing a live object is.

Objects are looked at with `type`, `is` and the methods of builtin types only, never
through code of the program.
"""

from __future__ import annotations

import array
import calendar
import collections
import configparser
import difflib
import enum
import gc
import graphlib
import io
import mimetypes
import mmap
import os
import sched
import sys
import threading
import weakref
from functools import cached_property, lru_cache, partial, partialmethod
from inspect import getattr_static
from logging import Logger
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from txloop.scan.known import MUTATORS
from txloop.stm.callables import contents_of
from txloop.stm.immutability import CHANGEABLE, PLAIN
from txloop.stm.origin import is_own_function, own_module_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_Kind = TypeVar("_Kind")

IMMUTABLE = (*PLAIN, frozenset)
_WITHOUT_ATTRIBUTES = frozenset(
    {
        *(*CHANGEABLE, *IMMUTABLE, tuple, BuiltinFunctionType, GetSetDescriptorType),
        *(MemberDescriptorType, MethodDescriptorType, WrapperDescriptorType),
    }
)
"""Types whose objects have no others than those of their class."""

_LIBRARY = (
    array.array,
    calendar.Calendar,
    collections.ChainMap,
    collections.UserDict,
    collections.UserList,
    configparser.RawConfigParser,
    difflib.SequenceMatcher,
    graphlib.TopologicalSorter,
    type(os.environ),
    io.BytesIO,
    io.StringIO,
    mimetypes.MimeTypes,
    sched.scheduler,
    weakref.WeakKeyDictionary,
    weakref.WeakSet,
    weakref.WeakValueDictionary,
)
"""Containers of the standard library that change by their methods."""

_CHANGES = (
    (
        (io.BytesIO, io.StringIO),
        frozenset(
            [
                *("close", "read", "readline", "readlines", "seek", "truncate"),
                *("write", "writelines"),
            ]
        ),
    ),
    (
        (calendar.Calendar, difflib.SequenceMatcher),
        frozenset(["setfirstweekday", "set_seq1", "set_seq2", "set_seqs"]),
    ),
    ((graphlib.TopologicalSorter,), frozenset(["done", "get_ready", "prepare"])),
    (
        (mimetypes.MimeTypes,),
        frozenset(["add_type", "read", "read_windows_registry", "readfp"]),
    ),
    ((sched.scheduler,), frozenset(["cancel", "enter", "enterabs", "run"])),
    (
        (configparser.RawConfigParser,),
        frozenset(
            [
                *("add_section", "read", "read_dict", "read_file", "read_string"),
                *("remove_option", "remove_section", "set"),
            ]
        ),
    ),
)
"""Their methods that no builtin container has."""

_OF_LIBRARIES = frozenset(
    [
        *("byteswap", "fill", "frombytes", "fromfile", "fromlist", "fromunicode"),
        *("itemset", "parse_line", "partition", "put", "resize", "set", "setflags"),
        *("add_attachment", "add_header", "attach", "clear_content", "del_param"),
        *("load", "replace_header", "set_content", "set_param", "set_payload"),
    ]
)
"""Methods by which arrays, headers, mails, cookies and elements of XML change."""

_HARMLESS = (
    FunctionType,
    BuiltinFunctionType,
    MethodType,
    ModuleType,
    type,
    Logger,
    threading.local,
    type(threading.Lock()),
    type(threading.RLock()),
    threading.Condition,
    threading.Semaphore,
)

_FIELD: type = type(collections.namedtuple("_Row", "name").name)  # type: ignore[attr-defined] # a descriptor
"""What a field is in the class of a named tuple; a property on PyPy."""

_CACHE = type(lru_cache(print))

_INNER: Mapping[type, str] = MappingProxyType(
    {
        MethodType: "__func__",
        staticmethod: "__func__",
        classmethod: "__func__",
        partial: "func",
        partialmethod: "func",
        cached_property: "func",
        property: "fget",
    }
)
"""Where what wraps a function keeps it."""

_MOST_WRAPPERS = 64


class Unknown(enum.Enum):
    """The object that is shared but cannot be looked at."""

    UNKNOWN = enum.auto()


UNKNOWN = Unknown.UNKNOWN


def module_label(namespace: Mapping[str, object]) -> str:
    """Return the module's name, for a script that of its file."""
    name = str(namespace.get("__name__", "?"))
    if name != "__main__":
        return name
    file = os.path.basename(str(namespace.get("__file__", name)))
    return os.path.splitext(file)[0]


def class_label(cls: type) -> str:
    """Return the qualified name of the class with its module."""
    module = sys.modules.get(cls.__module__)
    home = cls.__module__ if module is None else module_label(module.__dict__)
    return f"{home}.{cls.__qualname__}"


def is_options(cls: type) -> bool:
    """Tell whether objects of the class are Tornado's parsers of options."""
    return _derives_from(cls, "tornado.options", "OptionParser")


def options_of(parser: object) -> dict[str, object]:
    """Return the values of the options of such a parser, by name."""
    attributes: dict[str, object] = object.__getattribute__(parser, "__dict__")
    options: dict[str, Any] = dict(attributes["_options"])  # type: ignore[call-overload] # Tornado's
    return {name.replace("-", "_"): one.value() for name, one in options.items()}


def mapping_behind(view: MappingProxyType[object, object]) -> object:
    """Return the mapping that a mapping proxy shows."""
    return gc.get_referents(view)[0]


def bytes_behind(view: memoryview) -> object:
    """Return what a view of memory shows; the view itself if it shows nothing more."""
    try:
        return view.obj
    except ValueError:
        return view


def is_application(cls: type) -> bool:
    """Tell whether objects of the class are Tornado applications."""
    return _derives_from(cls, "tornado.web", "Application")


def _derives_from(cls: type, module: str, name: str) -> bool:
    return any(
        each.__name__ == name and each.__module__ == module for each in cls.__mro__
    )


def is_container(cls: type) -> bool:
    """Tell whether objects of the class are containers of txloop."""
    for each in cls.__mro__:  # a generator would take twice as long
        if str(each.__module__).startswith("txloop.") and each is not Unknown:
            return True
    return False


def runs_none_of_programs(cls: type) -> bool:
    """Tell whether no method of a class is the program's: it is Python's, or ours."""
    ours = cls is not Unknown and str(cls.__module__).startswith("txloop.")
    return ours or cls in CHANGEABLE or cls in IMMUTABLE or cls is tuple


def has_type(thing: object, *kinds: type[_Kind]) -> TypeGuard[_Kind]:
    """Tell whether the object is of one of the types.

    Unlike `isinstance` it never asks the object, which may be a proxy that answers by
    running code of the program.
    """
    return issubclass(type(thing), kinds)


def class_has(cls: type, name: str) -> bool:
    """Tell whether a class has an attribute, without asking its metaclass."""
    if type(cls) is type:
        return hasattr(cls, name)
    return any(name in each.__dict__ for each in cls.__mro__)


def class_attribute(cls: type, name: str, default: object) -> Any:
    """Return an attribute as its class has it, without asking a metaclass."""
    found = (each.__dict__[name] for each in cls.__mro__ if name in each.__dict__)
    return next(found, default)


def is_plain(thing: object) -> bool:
    """Tell whether the object is a builtin container that can change."""
    return has_type(thing, *CHANGEABLE) and not is_container(type(thing))


def is_data(thing: object) -> bool:
    """Tell whether the object is of a builtin type that keeps data."""
    return is_plain(thing) or has_type(thing, *IMMUTABLE, tuple)


def can_change(thing: object) -> bool:
    """Tell whether the object is a container that is not ours, and can change."""
    return is_plain(thing) or is_of_others(thing)


def is_of_others(thing: object) -> bool:
    """Tell whether it is a container of a library: an array, a cache, headers ..."""
    cls = type(thing)
    if is_container(cls) or is_plain(thing) or has_type(thing, mmap.mmap):
        return False  # of memory that processes share there are no copies
    if has_type(thing, *_LIBRARY):
        return True
    giver = next((one for one in cls.__mro__ if "__setitem__" in vars(one)), None)
    return giver is not None and own_module_of(giver) is None


def changes_by(thing: object, method: str) -> bool:
    """Tell whether calling the method of such a container changes it."""
    if method in MUTATORS:
        return True
    if method in _OF_LIBRARIES and type(thing) not in CHANGEABLE and can_change(thing):
        return True
    return any(has_type(thing, *kinds) and method in names for kinds, names in _CHANGES)


def makes_values(thing: object) -> bool:
    """Tell whether reading a key that is not there gives the dict a new value."""
    if not has_type(thing, collections.defaultdict):
        return False
    factory = vars(collections.defaultdict)["default_factory"]
    return factory.__get__(thing) is not None


def is_harmless(thing: object) -> bool:
    """Tell whether a worker may have a copy of the object, which no program notices."""
    return has_type(thing, *_HARMLESS)


def is_cache(thing: object) -> bool:
    """Tell whether `functools.lru_cache` has made the object."""
    if type(thing) is FunctionType:  # as on PyPy
        return "cache_clear" in thing.__dict__
    return type(thing) is _CACHE


def is_iterator(thing: object) -> bool:
    """Tell whether `next` would change the object."""
    return class_has(type(thing), "__next__") and not is_container(type(thing))


def is_field(raw: object) -> bool:
    """Tell whether the raw class attribute is a field of a named tuple."""
    return issubclass(type(raw), _FIELD) and not functions_of(raw)


def attributes_of(thing: object) -> dict[str, object]:
    """Return the object's own attributes, looked up past its class."""
    try:
        found: object = object.__getattribute__(thing, "__dict__")
    except (AttributeError, TypeError):  # the latter of a class with another's __dict__
        return {}
    return found if isinstance(found, dict) else {}


def in_slot(descriptor: Any, thing: object) -> object:
    """Return what a slot or a field of an object holds, UNKNOWN if it is empty."""
    try:
        found: object = descriptor.__get__(thing)
        return found
    except AttributeError:
        return UNKNOWN


def functions_of(thing: object) -> tuple[FunctionType, ...]:
    """Return the functions that a call of the object runs, wrappers first.

    What a library's wrapper calls is what it holds. `__wrapped__` may be another
    function: a decorator of the program's that uses both has set it anew.
    """
    found: list[FunctionType] = []
    things = [thing]
    for each in things:  # it grows
        if len(things) > _MOST_WRAPPERS:  # so long a chain is a circle
            break
        # PyPy's own functions are of this type too, but have no module.
        if has_type(each, FunctionType) and each.__globals__ is not None:
            if any(each is one for one in found):
                continue
            found.append(each)
            if not is_own_function(each):
                held = contents_of(each).values()
                things += [one for one in held if has_type(one, FunctionType, *_INNER)]
        if type(each) is FunctionType:  # as most are
            things.append(each.__dict__.get("__wrapped__"))
        elif issubclass(type(each), tuple(_INNER)):
            kind = next(kind for kind in _INNER if has_type(each, kind))
            things.append(getattr(each, _INNER[kind]))
        elif type(each) not in _WITHOUT_ATTRIBUTES:
            things.append(getattr_static(each, "__wrapped__", None))
    return tuple(found)

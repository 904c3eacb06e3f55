"""What the scan says: a finding has a place, a name and a remedy.

A remedy that would break the program is none: what a container cannot hold is named
with what has to become of it, and what no container can stand for is left alone.

Findings are built from what the walk saw; this module looks at no source.
"""

from __future__ import annotations

import array
import collections
import enum
import itertools
import os
import sys
import weakref
from dataclasses import dataclass, field
from types import BuiltinFunctionType, FunctionType, MappingProxyType, ModuleType
from typing import TYPE_CHECKING

from txloop.scan.live_objects import (
    IMMUTABLE,
    UNKNOWN,
    class_has,
    class_label,
    has_type,
    is_container,
    is_plain,
    module_label,
)
from txloop.stm.callables import with_article
from txloop.stm.held import becomes_reference
from txloop.stm.immutability import CHANGEABLE
from txloop.stm.origin import is_own_module, own_module_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

TRUST_WRITE = (
    "mark with @transactional(trust=True) if each worker may keep its own copy"
)
TRUST_READ = (
    "mark with @transactional(trust=True) if it is written before the first request "
    "only"
)

VOUCH = (
    "mark it yourself with @txloop.transactional if it may run beside others and more "
    "than once"
)

SETTLE = (
    "mark it yourself with @txloop.transactional if it changes nothing that others "
    "share, with trust=True to have nothing else looked at"
)

_WHOLE = (*IMMUTABLE, FunctionType, BuiltinFunctionType, type)
_OF_CHANGEABLE = ("__next__", "__setitem__", "acquire", "append", "close", "put")

_BARE_BASES = ("abc", "builtins", "enum", "typing")
"""The modules of bases that a container may have, too."""

_MOST = 100  # parts of a container that are looked at


def advice(thing: object, name: str = "", kept: Iterable[type] = ()) -> str:
    """Return what to make of the thing, or of what its name stands for, instead.

    Args:
        thing: The object, or UNKNOWN.
        name: What findings call it.
        kept: Classes whose objects the program puts into it.
    """
    if _is_foreign(name):
        return f"leave the handler on the loop thread: {name} is not the program's own"
    holder, _, attribute = name.rpartition(".")
    if attribute == "__dict__":
        return f"make the class of {holder} a txloop.TObject, and set attributes there"
    parts = list(_parts(thing))
    held = dict.fromkeys(type(part) for part in parts if not _travels(part))
    made = [*held, *kept]
    if own_module_of(type(thing)) is not None and not is_plain(thing):
        made.append(type(thing))
    tied = next(filter(_is_tied, made), None)
    if tied is not None:
        label = with_article(class_label(tied))
        return f"leave the handler on the loop thread: no container can hold {label}"
    own = [cls for cls in held if own_module_of(cls) is not None]
    plain = any(map(is_plain, parts)) or any(cls in CHANGEABLE for cls in kept)
    own += (
        cls
        for cls in sorted(kept, key=class_label)
        if cls not in (*own, *CHANGEABLE) and not becomes_reference(cls)
    )
    found = _container(thing)
    if plain:
        found += " (txloop.share makes containers of what it holds, too)"
    if own:
        classes = " and ".join(map(_place, own))
        found += f", and {classes}, whose objects it holds, a txloop.TObject"
    return found


def condition(thing: object, kept: Iterable[type] = ()) -> str:
    """Return what the advice asks of what the thing will hold, if that is unknown."""
    if is_plain(thing) and not [*_parts(thing), *kept]:
        return " (what it is to hold must be immutable, or a container, too)"
    return ""


def short_path(file: str) -> str:
    """Return the path from the work directory, or as it is where that is longer."""
    relative = os.path.relpath(file)
    return file if relative.startswith(os.pardir) else relative


CONTAINERS: Mapping[str, str] = MappingProxyType(
    {
        "Counter": "TCounterDict",
        "OrderedDict": "TOrderedDict",
        "count": "TCount",
        "defaultdict": "TDefaultDict",
        "deque": "TDeque",
        "dict": "TDict",
        "int": "TVar",
        "list": "TList",
        "set": "TSet",
    }
)
"""What stands for objects of builtin classes, by their names."""

_PLAIN_INSTEAD: tuple[tuple[type, str], ...] = (
    (array.array, "list"),
    (collections.UserList, "list"),
    (collections.ChainMap, "dict"),
    (collections.UserDict, "dict"),
)
_WEAK = (weakref.WeakKeyDictionary, weakref.WeakSet, weakref.WeakValueDictionary)


def _container(thing: object) -> str:
    """Return the container to use instead of the thing."""
    cls = type(thing)
    name = cls.__name__
    if has_type(thing, dict):
        return f"make this {name} a txloop.{CONTAINERS.get(name, 'TDict')}"
    if name == "deque" and is_plain(thing):
        return "make this deque a txloop.TDeque"
    if has_type(thing, set):
        return (
            f"make this {name} a txloop container or an immutable frozenset "
            "in a txloop.TVar"
        )
    if class_has(cls, "append") and is_plain(thing):
        return (
            f"make this {name} a txloop container or an immutable tuple "
            "in a txloop.TVar"
        )
    if has_type(thing, *_WEAK):
        weak = with_article(name)
        return f"leave the handler on the loop thread: no container is {weak}"
    for kind, plain in _PLAIN_INSTEAD:
        if issubclass(cls, kind):
            return f"use a plain {plain} instead of this {name}, in a txloop container"
    if cls is itertools.count:
        return "make this count a txloop.TCount"
    if class_has(cls, "__next__"):
        return "keep the next value in a txloop.TVar"
    if thing is not UNKNOWN and own_module_of(cls) is not None:
        return f"make {_place(cls)} a txloop.TObject"
    return "keep the value in a txloop.TVar"


def _parts(thing: object) -> Iterator[object]:
    """Yield some of what a builtin container holds, deeply."""
    waiting: list[object] = [thing] if is_plain(thing) else []
    seen = 0
    while waiting and seen < _MOST:
        holder = waiting.pop()
        for part in itertools.islice(_values(holder), _MOST):
            seen += 1
            yield part
            if is_plain(part) or has_type(part, tuple):
                waiting.append(part)


def _values(holder: object) -> Iterable[object]:
    if has_type(holder, dict):
        return [*dict.values(holder), *dict.keys(holder)]
    if has_type(holder, bytearray):
        return ()
    return list(holder)  # type: ignore[call-overload,no-any-return] # a list, set ...


def _is_tied(cls: type) -> bool:
    """Tell whether its objects can be neither values nor made containers."""
    if cls in CHANGEABLE or is_container(cls) or becomes_reference(cls):
        return False
    if own_module_of(cls) is None:
        return any(class_has(cls, name) for name in _OF_CHANGEABLE)
    return any(
        own_module_of(base) is None and base.__module__ not in _BARE_BASES
        for base in cls.__mro__
    )


def _travels(part: object) -> bool:
    """Tell whether a container takes the part as it is, as far as its type tells."""
    cls = type(part)
    if has_type(part, *_WHOLE, *CHANGEABLE) or is_container(cls):
        return True
    if becomes_reference(cls):
        return True
    if own_module_of(cls) is not None:
        return issubclass(cls, tuple | enum.Enum)
    return not any(class_has(cls, name) for name in _OF_CHANGEABLE)


def _place(cls: type) -> str:
    return f"the class {class_label(cls)}"


def _is_foreign(name: str) -> bool:
    """Tell whether a module that is not the program's holds the name."""
    owner = name.rpartition(".")[0]
    main = module_label(vars(sys.modules["__main__"]))
    while owner:
        module = sys.modules.get(owner)
        if isinstance(module, ModuleType):
            return not is_own_module(module) and owner != main
        owner = owner.rpartition(".")[0]
    return False


class FindingKind(enum.Enum):
    """Why a function cannot run as a transaction in a worker."""

    WRITES_GLOBAL = "assigns the module-level"
    MUTATES_GLOBAL = "changes the module-level"
    WRITES_CLASS = "changes the class attribute"
    WRITES_CLOSURE = "changes the closure variable"
    WRITES_APPLICATION = "changes the application's"
    WRITES_ARGUMENT = "changes its argument"
    CHANGES_PROCESS = "changes the whole process by"
    ACTS_OUTSIDE = ""  # its name says what it does
    READS_WRITTEN = "reads what other code writes,"
    NOT_FOLLOWED = "uses what cannot be followed:"
    REACHES = "reaches"  # of which a copy is of no use
    NOT_READ = "could not be read:"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the program that keeps a function on the loop thread.

    Picklable, and safe to keep: it refers to no object of the program.

    Attributes:
        kind: What the line does.
        name: What is shared, such as ``app.hits``.
        file: The file of the line, as the interpreter names it; "" if it is not known.
        line: Its number, from 1.
        function: The qualified name of the function in which the line stands.
        remedy: What to do about it.
        advice: That part of it that says what to make of the shared object.
        written: For a read, the line that makes it stale.
        thing: The type of the shared object, "" where it is not known.
        identity: The identity of the object, where all that changes it is known by
            that; else 0.
        holds: The names of the program's classes whose objects are put into it.
    """

    kind: FindingKind
    name: str
    file: str
    line: int
    function: str
    remedy: str
    advice: str = field(default="", compare=False)
    written: str = field(default="", compare=False)
    thing: str = field(default="", compare=False)
    identity: int = field(default=0, compare=False)
    holds: tuple[str, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return self.describe()

    def describe(self) -> str:
        """Return the finding as one line, its file relative to the work directory."""
        return f"{self.statement()}; {self.remedy}"

    def statement(self) -> str:
        """Return where it is and what happens there, without what to do about it."""
        act = f"{self.kind.value} {self.name}".strip()
        if not self.file:
            return f"it {act}"
        return f"{short_path(self.file)}:{self.line}: {self.function}() {act}"

"""What a plain object looked like, and whether it looks otherwise now.

A picture holds on to what an object held: as long as it does, no other object can have
that identity. Parts are compared by identity first; atoms may also be equal. No code of
the program runs for it, neither ``__eq__`` nor ``__hash__``.

Another thread may change an object while it is looked at; that counts as a change.
"""

from __future__ import annotations

import abc
import functools
import operator
import weakref
from collections import OrderedDict
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from txloop.watch import limits
from txloop.watch.caches import cache_results, filled_by_each
from txloop.watch.ends import is_missed
from txloop.watch.kinds import ATOMS
from txloop.watch.parts import builtin_base

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence, Set

__all__ = [
    "INTERNAL",
    "Items",
    "Keys",
    "Living",
    "Members",
    "Names",
    "Namespace",
    "Results",
    "Thing",
    "all_same",
]


INTERNAL = frozenset(
    [
        *("__abstractmethods__", "__annotate_func__", "__annotations__"),
        *("__annotations_cache__", "__dict__", "__doc__", "__slotnames__"),
        *("__builtins__", "__cached__", "__file__", "__loader__", "__path__"),
        *("__spec__", "__warningregistry__", "__weakref__", "_abc_cache"),
        "_abc_impl",
        *("_abc_negative_cache", "_abc_negative_cache_version", "_abc_registry"),
        *("_txloop_judged", "_txloop_targets", "__txloop_mark__"),
    ]
)
"""Attributes that the interpreter, or txloop, sets when it likes."""


class _Gone:
    """What is there instead of an attribute that is not."""


_GONE: Final = _Gone()


def _same(old: object, new: object) -> bool:
    if old is new:
        return True
    kind = type(old)
    if kind is not type(new):
        return False
    return old == new if kind in ATOMS else False


def all_same(old: Iterable[object], look: Callable[[], Iterable[object]]) -> bool:
    """Tell whether what `look` returns is, part by part, what it was."""
    return all(map(operator.is_, old, look())) or all(map(_same, old, look()))


class Names(NamedTuple):
    """The attributes that matter.

    Attributes:
        present: Those that were there.
        wanted: Those and others, which may come to be there.
    """

    present: tuple[str, ...]
    wanted: Set[str]


class Thing(abc.ABC):
    """An object under watch.

    Attributes:
        object: Itself, which lives as long as this.
        name: What the program calls it.
        parts: How much there is to look at.
        whole: Whether all of it is looked at; not so if it is too large.
    """

    __slots__ = ("name", "object", "parts", "whole")

    def __init__(self, thing: Any, name: str) -> None:
        self.object = thing
        self.name = name
        self.parts = 1
        self.whole = True
        self.retake()

    @abc.abstractmethod
    def retake(self) -> None:
        """Make a new picture: how the object is now is how it should be."""

    @abc.abstractmethod
    def difference(self, names: Names | None) -> str | None:
        """Return what is otherwise than in the picture, "" for all of it, or None.

        Args:
            names: Of what has attributes, those that matter; None for all.
        """


class Items(Thing):
    """A list or a deque."""

    __slots__ = ("_base", "_picture", "_size")

    def retake(self) -> None:
        thing = self.object
        self._base = builtin_base(thing)
        self._size = self._base.__len__(thing)
        most = self._size if self._size <= limits.LARGE else limits.FIRST_PARTS
        self._picture = tuple(islice(self._base.__iter__(thing), most))
        self.parts = 1 + len(self._picture)
        self.whole = most == self._size

    def difference(self, names: Names | None) -> str | None:
        thing, base = self.object, self._base
        if base.__len__(thing) != self._size:
            return ""
        try:
            same = all_same(self._picture, functools.partial(base.__iter__, thing))
        except RuntimeError:  # a deque that has just changed
            return ""
        return None if same else ""


class Keys(Thing):
    """A dict, with its order."""

    __slots__ = ("_base", "_keys", "_size", "_values")

    def retake(self) -> None:
        thing = self.object
        ordered = issubclass(type(thing), OrderedDict)
        self._base: Any = OrderedDict if ordered else dict
        while True:
            try:
                self._size = dict.__len__(thing)
                most = self._size if self._size <= limits.LARGE else limits.FIRST_PARTS
                self._keys = tuple(islice(self._base.keys(thing), most))
                self._values = tuple(islice(self._base.values(thing), most))
            except RuntimeError:  # another thread has just changed its size
                continue
            break
        self.parts = 1 + 2 * len(self._keys)
        self.whole = most == self._size

    def difference(self, names: Names | None) -> str | None:
        thing, base = self.object, self._base
        if dict.__len__(thing) != self._size:
            return ""
        try:
            if not all_same(self._keys, functools.partial(base.keys, thing)):
                return ""
            if not all_same(self._values, functools.partial(base.values, thing)):
                return self._which(tuple(base.values(thing)))
        except RuntimeError:
            return ""
        return None

    def _which(self, values: Sequence[object]) -> str:
        for key, old, new in zip(self._keys, self._values, values, strict=False):
            if not _same(old, new) and type(key) in ATOMS:
                return f"[{key!r}]"
        return ""


class Members(Thing):
    """A set."""

    __slots__ = ("_picture",)

    def retake(self) -> None:
        self._picture = frozenset(self.object)  # with the hashes that are known there
        self.parts = 1 + len(self._picture)

    def difference(self, names: Names | None) -> str | None:
        return None if frozenset.__eq__(self._picture, self.object) else ""


class Living(Thing):
    """A container that does not keep its members alive: they may vanish by themselves.

    What it holds are references. Those that are pictured stay, and tell whether what
    they led to lives: then it was taken out.
    """

    __slots__ = ("_picture",)

    def retake(self) -> None:
        self._picture = self._look()
        self.parts = 1 + len(self._picture)

    def _look(self) -> dict[int, tuple[Any, object]]:
        """Return the references by their identities, each with what it stands for."""
        data = vars(self.object).get("data", ())
        if not isinstance(data, dict):  # a WeakSet's
            return {id(one): (one, None) for one in list(data)}
        pairs = list(data.items())
        if issubclass(type(self.object), weakref.WeakValueDictionary):
            pairs = [(value, key) for key, value in pairs]
        return {id(one): (one, other) for one, other in pairs}

    def difference(self, names: Names | None) -> str | None:
        now = self._look()
        for identity, (reference, other) in self._picture.items():
            if identity not in now:
                if weakref.ref.__call__(reference) is not None:
                    return ""
            elif not _same(other, now[identity][1]):
                return ""
        return "" if now.keys() - self._picture.keys() else None


class Results(Thing):
    """An `lru_cache`: it may grow, but not by what can be changed."""

    __slots__ = ("_picture",)

    def retake(self) -> None:
        self._picture = cache_results(self.object)
        self.parts = 1 + len(self._picture)

    def difference(self, names: Names | None) -> str | None:
        if self.object in filled_by_each:
            return None
        known = set(map(id, self._picture))
        new = [one for one in cache_results(self.object) if id(one) not in known]
        return "" if new else None


class _Missed(weakref.ref[Any]):
    """Stands in a picture for what that must not keep alive."""

    __slots__ = ()


class Namespace(Thing):
    """What has attributes: a module, a class, an object; of those some may matter."""

    __slots__ = ("_class", "_look", "_picture")

    def __init__(
        self, thing: Any, name: str, look: Callable[[], Mapping[str, object]]
    ) -> None:
        """Picture `thing`; `look` returns its attributes, perhaps the very dict."""
        self._look = look
        super().__init__(thing, name)

    @property
    def attributes(self) -> Mapping[str, object]:
        """What it has now."""
        return self._look()

    def retake(self) -> None:
        self._class = type(self.object)
        self._picture = dict(self._look())
        for name, thing in self._picture.items():
            if is_missed(thing):  # and perhaps no code names it
                with suppress(TypeError):  # one with __slots__
                    self._picture[name] = _Missed(thing)
        self.parts = 1 + len(self._picture)

    def difference(self, names: Names | None) -> str | None:
        if type(self.object) is not self._class:
            return ".__class__"
        now, old = self._look(), self._picture
        present = old if names is None else names.present
        for name in present:
            value, before = now.get(name, _GONE), old.get(name, _GONE)
            if value is before or name in INTERNAL:
                continue
            if type(before) is _Missed and before() is value is not None:
                continue
            if not _same(before, value):
                return f".{name}"
        if len(now) != len(old):
            for name in list(now):
                wanted = names is None or name in names.wanted
                if wanted and name not in old and name not in INTERNAL:
                    return f".{name}"
        return None

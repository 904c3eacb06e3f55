"""What definitions are beside their attributes: code, defaults, bases, imports.

It stays what a `def` or a `class` has made of them, as a rule. But all of it can be
exchanged while the program runs, and is read whenever code calls a function.
"""

from __future__ import annotations

import abc
import sys
import weakref
from typing import TYPE_CHECKING, Any

from txloop.watch.pictures import Thing, all_same

if TYPE_CHECKING:
    from txloop.watch.pictures import Names
    from txloop.watch.places import Job
    from txloop.watch.walk import Walk

__all__ = [
    "Bases",
    "Definition",
    "Function",
    "Import",
    "Registered",
    "Subclasses",
    "note_besides",
]


class Definition(Thing):
    """What no container can stand for; nor has it a class that is worth telling."""

    __slots__ = ()


class Function(Definition):
    """What a function runs and by which defaults, and whether it gets attributes.

    Those that it has already are a namespace's.
    """

    __slots__ = ("_code", "_defaults", "_is_bare", "_named")

    def retake(self) -> None:
        function = self.object
        self._code = function.__code__
        self._defaults = function.__defaults__
        self._named = _parts_of(function.__kwdefaults__)
        self._is_bare = not vars(function)

    def difference(self, names: Names | None) -> str | None:
        function = self.object
        if function.__code__ is not self._code:
            return ".__code__"
        defaults, named = function.__defaults__, function.__kwdefaults__
        if defaults is not self._defaults and not _same_parts(self._defaults, defaults):
            return ".__defaults__"
        if named is not self._named and not _same_parts(self._named, _parts_of(named)):
            return ".__kwdefaults__"
        if self._is_bare and function.__dict__:
            for name in function.__dict__:
                if names is None or name in names.wanted:
                    return f".{name}"
        return None


def _parts_of(named: dict[str, object] | None) -> tuple[object, ...] | None:
    return None if named is None else (*named, *named.values())


def _same_parts(old: tuple[Any, ...] | None, new: tuple[Any, ...] | None) -> bool:
    # PyPy makes a tuple of the defaults each time.
    if old is None or new is None or len(old) != len(new):
        return False
    return all_same(old, lambda: new)


class Bases(Definition):
    """The classes that a class is derived from, in the order in which it asks them."""

    __slots__ = ("_picture",)

    def retake(self) -> None:
        self._picture = self.object.__mro__

    def difference(self, names: Names | None) -> str | None:
        now = self.object.__mro__
        same = now is self._picture or _same_parts(self._picture, now)
        return None if same else ".__bases__"


class Import(Definition):
    """What code gets that imports a module when it runs; the name is the module's."""

    __slots__ = ()

    def retake(self) -> None:
        """Leave it: the picture is the module itself."""

    def difference(self, names: Names | None) -> str | None:
        return None if sys.modules.get(self.name) is self.object else ", in sys.modules"


class Registered(Thing):
    """The classes that were registered with an abstract one."""

    __slots__ = ("_picture", "_token")

    def retake(self) -> None:
        self._token = abc.get_cache_token()
        self._picture = _registry(self.object)

    def difference(self, names: Names | None) -> str | None:
        token = abc.get_cache_token()
        if token == self._token:  # no class was registered, with any abstract one
            return None
        if _registry(self.object).keys() - self._picture.keys():
            return ""
        self._token = token
        return None


def _registry(cls: Any) -> dict[int, object]:
    """Return the references to the registered classes, which are there for good."""
    own = vars(cls).get("_abc_registry")  # as on PyPy
    references = abc._get_dump(cls)[0] if own is None else own.data  # type: ignore[attr-defined] # of its own
    return {id(one): one for one in references}


class Subclasses(Thing):
    """The subclasses that a class tells of; they may go by themselves."""

    __slots__ = ("_picture",)

    def retake(self) -> None:
        found = type.__subclasses__(self.object)
        self._picture = {id(one): weakref.ref(one) for one in found}
        self.parts = 1 + len(found)

    def difference(self, names: Names | None) -> str | None:
        for cls in type.__subclasses__(self.object):
            known = self._picture.get(id(cls))
            if known is None or known() is not cls:
                return ""
        return None


def note_besides(walk: Walk, job: Job, kind: type[Thing], what: str = "") -> None:
    """Have something looked at that is no attribute of an object."""
    key = id(job.thing), kind
    if key not in walk.table:
        walk.table[key] = kind(job.thing, f"{what}{job.name}")
    walk.note(job, walk.table[key])

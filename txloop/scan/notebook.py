"""The walk's notebook: which reads and changes of shared state count."""

from __future__ import annotations

import ast
import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from txloop.scan.access import ANY_CLASS, ANY_MODULE, WHOLE, Access, Act
from txloop.scan.evidence import DISPLAYS
from txloop.scan.finding import FindingKind
from txloop.scan.live_objects import (
    UNKNOWN,
    can_change,
    is_container,
    is_harmless,
    is_iterator,
)
from txloop.scan.parts import is_lost
from txloop.scan.value import Family, Instance, Live, Role, Slot, Value, setting
from txloop.stm.origin import own_module_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FunctionType

_ANY = {Family.CLASS: ANY_CLASS, Family.GLOBAL: ANY_MODULE}

_CHANGES = {
    Family.GLOBAL: FindingKind.MUTATES_GLOBAL,
    Family.CLASS: FindingKind.WRITES_CLASS,
    Family.CLOSURE: FindingKind.WRITES_CLOSURE,
    Family.APPLICATION: FindingKind.WRITES_APPLICATION,
    Family.ARGUMENT: FindingKind.WRITES_ARGUMENT,
}


_MOST_SHOWN = 60  # characters of an expression

_ENVIRONMENT: Slot = ("os.environ", "contents")


class Place(NamedTuple):
    """Where a walk is.

    Attributes:
        file: The file.
        function: The qualified name of the function.
        unless: Where the code has asked before: see `Access`.
    """

    file: str
    function: str
    unless: frozenset[Slot]


class Notebook:
    """What a walk has seen.

    Attributes:
        accesses: What was seen, in order, repetitions included.
        kept: The program's and the plain containers' classes of which new objects are
            put into shared ones, by what findings call these.
        containers: How often a container was made or used, or an attribute of one.
        changed: How often one was changed that is there already.
    """

    def __init__(self, place: Callable[[], Place]) -> None:
        """Open an empty one; `place` tells where the walk is."""
        self._place = place
        self.accesses: list[Access] = []
        self.kept: dict[str, set[type]] = {}
        self.containers = 0
        self.changed = 0

    def use(self, value: Value) -> None:
        """Count a use of a value, if it is a container."""
        if isinstance(value, Instance):
            self.containers += is_container(value.type)
        elif isinstance(value, Live):
            self.containers += is_container(type(value.thing))

    def use_to_change(self, value: Value) -> None:
        """Count a change of a value, if it is a container that is there already."""
        self.changed += isinstance(value, Live) and is_container(type(value.thing))

    def read(self, live: Live, node: ast.AST) -> None:
        """Write down that the slot of the value is read, and what is in it."""
        self.use(live)
        if live.thing is os.environ:
            self.read_environment(node)
            return
        inner = live.family is Family.CLOSURE and live.thing is UNKNOWN
        if live.slots and not inner and not is_harmless(live.thing):
            self._write_down(Act.READ, FindingKind.READS_WRITTEN, live, node)

    def read_of_any_class(self, name: str, node: ast.AST) -> None:
        """Write down that an attribute is read of what may be a class."""
        live = Live(UNKNOWN, shown(node), Family.CLASS, ((ANY_CLASS, name),))
        self._write_down(Act.READ, FindingKind.READS_WRITTEN, live, node)

    def run_anything(self, node: ast.AST) -> None:
        """Write down that a call may run any function of the program."""
        slots: tuple[Slot, ...] = tuple((one, WHOLE) for one in _ANY.values())
        live = Live(UNKNOWN, shown(node), Family.CLASS, slots)
        self._write_down(Act.READ, FindingKind.READS_WRITTEN, live, node)

    def escape(self, value: Value, node: ast.AST) -> None:
        """Write down that code which is not scanned may read all of the object."""
        if not isinstance(value, Live) or is_harmless(value.thing):
            return
        cls = type(value.thing)
        if own_module_of(cls) is not None and not is_container(cls):
            whole = Live(value.thing, value.name, value.family, ((value.key, WHOLE),))
            self.read(whole, node)

    def assign(self, live: Live, node: ast.AST, *, certain: bool = True) -> None:
        """Write down that the slot of the value is assigned."""
        kind = _CHANGES[live.family]
        if live.family is Family.GLOBAL:
            kind = FindingKind.WRITES_GLOBAL
        self._write_down(Act.ASSIGN, kind, live, node, certain=certain)

    def assign_part(self, live: Live, node: ast.AST) -> None:
        """Write down that an attribute or a key of a shared object is assigned."""
        self._write_down(Act.ASSIGN, _CHANGES[live.family], live, node)

    def change(self, value: Value, node: ast.AST) -> None:
        """Write down that the object is changed, if it is plain or unknown."""
        if is_lost(value):
            self.lose(node)
        if not isinstance(value, Live):
            return
        self.use_to_change(value)
        thing, kind = value.thing, _CHANGES[value.family]
        if thing is os.environ:
            self._change_environment(node)
        elif value.role is Role.SETTINGS:
            self.assign_part(setting(value, UNKNOWN), node)
        elif thing is UNKNOWN:
            self._write_down(Act.CHANGE, kind, value, node, certain=False)
        elif can_change(thing) or is_iterator(thing):
            self._write_down(Act.CHANGE, kind, value, node)

    def change_by_library(self, value: Live, function: FunctionType) -> None:
        """Write down that a library's function changes the object; it is not read."""
        code = function.__code__
        place = Place(code.co_filename, function.__qualname__, frozenset())
        node = ast.Pass(lineno=code.co_firstlineno)
        if can_change(value.thing):
            # No other code of the module does that: so it is no part of a module.
            live = replace(value, family=Family.CLOSURE)
            kind = _CHANGES[live.family]
            self._write_down(Act.CHANGE, kind, live, node, place=place)

    def hand_over(self, value: Live, node: ast.AST) -> None:
        """Write down that a library may change a plain object that it gets."""
        kind, words = _CHANGES[value.family], f"{shown(node)}, which gets {value.name}"
        self._write_down(Act.CHANGE, kind, value, node, certain=False)
        self.lose(node, words)

    def change_process(self, changer: str, node: ast.AST) -> None:
        """Write down that a function is called that changes the whole process."""
        live = Live(UNKNOWN, changer, Family.GLOBAL)
        self._write_down(Act.ASSIGN, FindingKind.CHANGES_PROCESS, live, node)

    def clear_cache(self, cache: Live, node: ast.AST) -> None:
        """Write down that what an `lru_cache` keeps is thrown away."""
        live = replace(cache, slots=((id(cache.thing), "results"),))
        self.assign_part(live, node)

    def fill_cache(self, cache: Live, node: ast.AST) -> None:
        """Write down that to make what an `lru_cache` keeps changes containers.

        It is to happen once in the program, and not in each process.
        """
        self.clear_cache(cache, node)

    def use_cache(self, cache: Live, node: ast.AST) -> None:
        """Write down that the function of an `lru_cache` is called.

        That reads what others may clear, and counts, which matters to `ask_cache` only.
        """
        live = replace(cache, slots=((id(cache.thing), "results"),))
        self._write_down(Act.READ, FindingKind.READS_WRITTEN, live, node)
        words = f"{cache.name}, whose calls the program counts"
        self._lose(replace(cache, name=words, slots=_count_of(cache)), node)

    def ask_cache(self, cache: Live, node: ast.AST) -> None:
        """Write down that the calls matter which an `lru_cache` has counted."""
        live = replace(cache, slots=_count_of(cache))
        self._write_down(Act.ASSIGN, _CHANGES[live.family], live, node, certain=False)
        self.lose(node)

    def read_environment(self, node: ast.AST) -> None:
        """Write down that the environment is read, which other code may change."""
        words = "os.environ, which the program changes"
        self._lose(Live(UNKNOWN, words, Family.GLOBAL, (_ENVIRONMENT,)), node)

    def _change_environment(self, node: ast.AST) -> None:
        """Write down that the environment is changed, or set to what it is.

        That is no finding: the watch compares it, and most code sets it to the same.
        """
        live = Live(UNKNOWN, "os.environ", Family.GLOBAL, (_ENVIRONMENT,))
        kind = FindingKind.CHANGES_PROCESS
        self._write_down(Act.ASSIGN, kind, live, node, certain=False)

    def act_outside(self, words: str, node: ast.AST) -> None:
        """Write down that the world outside the program is changed."""
        live = Live(UNKNOWN, words, Family.GLOBAL)
        self._write_down(Act.READ, FindingKind.ACTS_OUTSIDE, live, node)

    def lose(self, node: ast.AST, words: str = "") -> None:
        """Write down that what the expression uses could not be followed."""
        self._lose(Live(UNKNOWN, words or shown(node), Family.GLOBAL), node)

    def lose_function(self, function: FunctionType) -> None:
        """Write down that a function has no source."""
        code, name = function.__code__, function.__qualname__
        place = self._place()._replace(file=code.co_filename, function=name)
        live = Live(UNKNOWN, f"{name}, which has no source", Family.GLOBAL)
        self._lose(live, ast.Pass(lineno=code.co_firstlineno), place)

    def keep(self, holder: Value, value: Value, node: ast.AST | None) -> None:
        """Write down that the value of the expression is put into a shared object."""
        made = DISPLAYS.get(type(node))
        cls = None if made is None else type(made)
        if isinstance(value, Instance) and own_module_of(value.type) is not None:
            cls = value.type
        if isinstance(holder, Live) and cls is not None and not is_container(cls):
            self.kept.setdefault(holder.name, set()).add(cls)

    def _lose(self, live: Live, node: ast.AST, place: Place | None = None) -> None:
        kind = FindingKind.NOT_FOLLOWED
        self._write_down(Act.READ, kind, live, node, place=place)

    def _write_down(
        self,
        act: Act,
        kind: FindingKind,
        live: Live,
        node: ast.AST,
        *,
        certain: bool = True,
        place: Place | None = None,
    ) -> None:
        file, function, unless = place or self._place()
        slots = live.slots
        if live.family in _ANY and act is not Act.READ and certain:
            # What a container holds is not known where it is read.
            names = {name for _, name in slots}
            slots += tuple((_ANY[live.family], name) for name in names)
        access = Access(
            act,
            kind,
            live.name,
            slots,
            live.thing,
            certain,
            file,
            getattr(node, "lineno", 0),
            function,
            unless,
        )
        self.accesses.append(access)


def shown(node: ast.AST) -> str:
    """Return the source of an expression, not more than the beginning of a long one."""
    if isinstance(node, ast.Call):
        node = node.func
    text = ast.unparse(node).partition("\n")[0]
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def _count_of(cache: Live) -> tuple[Slot, ...]:
    """Return the slot of the number of calls of an `lru_cache`."""
    return ((id(cache.thing), "count"),)

"""The names that a piece of code sees: its own, those around it, the module's.

A frame belongs to one walk. Aliases are followed in the order of the source, the last
assignment counts.
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from txloop.scan.live_objects import UNKNOWN, module_label
from txloop.scan.parts import made_of
from txloop.scan.source import private
from txloop.scan.syntax import bound_in, declared_in, nonlocal_in
from txloop.scan.value import Family, Live, Value, either, shared

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator, Mapping

    from txloop.scan.syntax import FunctionNode
    from txloop.scan.value import Arguments, Slot


@dataclass(slots=True, eq=False)
class Frame:
    """What a name means in a function, a comprehension or a class body.

    Attributes:
        file: Where the code stands.
        qualname: The name of the function, that of the one around a comprehension.
        namespace: The globals.
        local: The values of its own names.
        outer: The frame around it, where the walk came through that.
        cells: What the closure of a live function holds.
        global_names: Those declared `global`.
        outer_names: Those declared `nonlocal`.
        receiver: The value of the first parameter of a method.
        transparent: Whether `:=` binds in the frame around it.
        returned: What it returns or yields, as far as it may be shared.
        owner: The name of the class in whose body the function stands, or "".
        in_loop: Whether a loop of it is being walked through.
    """

    file: str
    qualname: str
    namespace: dict[str, object]
    local: dict[str, Value] = field(default_factory=dict)
    outer: Frame | None = None
    cells: Mapping[str, object] = field(default_factory=dict)
    global_names: frozenset[str] = frozenset()
    outer_names: frozenset[str] = frozenset()
    receiver: Value = None
    transparent: bool = False
    returned: Value = None
    owner: str = ""
    in_loop: bool = False

    def attribute(self, name: str) -> str:
        """Return the attribute that the name means here, which may be a private one."""
        return private(name, self.outermost.owner)

    @property
    def outermost(self) -> Frame:
        """The frame of the function in which all of this stands."""
        return self if self.outer is None else self.outer.outermost

    def enter(self, node: FunctionNode) -> None:
        """Bind the names of the function that are not bound yet."""
        self.global_names, self.outer_names = declared_in(node), nonlocal_in(node)
        for name in bound_in(node):
            self.local.setdefault(name, None)

    def inner(self, name: str) -> Frame:
        """Return a frame of a function or class that stands in this one."""
        qualname = f"{self.qualname}.<locals>.{name}" if name else self.qualname
        return Frame(self.file, qualname, self.namespace, outer=self)

    def all_around(self) -> Iterator[tuple[str, Value]]:
        """Yield the names of this frame and of those around it, with their values."""
        frame: Frame | None = self
        while frame is not None:
            yield from frame.local.items()
            frame = frame.outer

    def holder(self, name: str) -> Frame | None:
        """Return the frame, from this one outwards, whose own the name is."""
        frame: Frame | None = self
        while frame is not None and name not in frame.global_names:
            if name in frame.local:
                return frame
            frame = frame.outer
        return None

    def value(self, name: str) -> Value:
        """Return what the name stands for."""
        holder = self.holder(name)
        if holder is not None:
            found = holder.local[name]
            if found is None and holder.qualname != self.qualname:  # it is around this
                slots = ((holder.variables, name),)
                return Live(UNKNOWN, name, Family.CLOSURE, slots)
            return found
        if name in self.outermost.cells and not self.is_global(name):
            return self._cell(name)
        return self._global(name)

    @property
    def variables(self) -> str:
        """What identifies the variables of this function as owner of a slot."""
        return f"{self.file}:{self.qualname}"

    def slot(self, name: str) -> Slot:
        """Return the slot of a global."""
        return (id(self.namespace), name)

    def label(self, name: str) -> str:
        """Return what findings call a global."""
        return f"{module_label(self.namespace)}.{name}"

    def is_global(self, name: str) -> bool:
        """Tell whether the name is declared `global` here or around this."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.global_names:
                return True
            frame = frame.outer
        return False

    def _cell(self, name: str) -> Live:
        frame = self.outermost
        around = frame.qualname.split(".<locals>.")[:-1]
        slots = tuple(
            (f"{frame.file}:{'.<locals>.'.join(around[: depth + 1])}", name)
            for depth in range(len(around))
        )
        return shared(frame.cells[name], name, Family.CLOSURE, slots)

    def _global(self, name: str) -> Live:
        if name in self.namespace:
            thing = self.namespace[name]
        elif name in vars(builtins):  # where a program may put its own, too
            slot = (id(vars(builtins)), name)
            return Live(vars(builtins)[name], name, Family.GLOBAL, (slot,))
        else:
            thing = UNKNOWN
        return shared(thing, self.label(name), Family.GLOBAL, (self.slot(name),))


@dataclass(frozen=True, slots=True, eq=False)
class Nested:
    """A function that stands in another; it is walked where its name is used."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    frame: Frame
    name: str
    in_class: bool = False

    @property
    def is_decorated(self) -> bool:
        """Whether its name may mean another function."""
        return bool(self.node.decorator_list)


def bind(node: FunctionNode, receiver: Value, arguments: Arguments) -> dict[str, Value]:
    """Return the parameters' values, with the receiver as the first."""
    rest, named = node.args.vararg, node.args.kwarg
    names = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    known = {*names, *(each.arg for each in node.args.kwonlyargs)}
    values = arguments.positional
    if receiver is not None:
        values = (receiver, *values)
    bound: dict[str, Value] = dict(zip(names, values, strict=False))
    bound |= {name: it for name, it in arguments.keywords.items() if name in known}
    others = arguments.others
    if others:
        bound = {**dict.fromkeys(known, either(others)), **bound}
    if rest is not None:
        bound[rest.arg] = made_of([*values[len(names) :], *others])
    if named is not None:
        more = (it for name, it in arguments.keywords.items() if name not in known)
        bound[named.arg] = made_of([*more, *others])
    return bound

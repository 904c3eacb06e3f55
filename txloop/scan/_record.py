"""The walk's notebook: which reads and changes of shared state count."""

from __future__ import annotations

import abc
import ast
from types import MappingProxyType
from typing import TYPE_CHECKING

from txloop.origin import own_module_of
from txloop.scan.access import WHOLE, Access, Act
from txloop.scan.element import setting
from txloop.scan.finding import FindingKind
from txloop.scan.things import UNKNOWN, is_container, is_harmless, is_iterator, is_plain
from txloop.scan.value import Arguments, Family, Instance, Live, Role, Value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FunctionType

    from txloop.scan.frame import Frame
    from txloop.scan.source import Sources
    from txloop.scan.value import Slot

_CHANGES = {
    Family.GLOBAL: FindingKind.MUTATES_GLOBAL,
    Family.CLASS: FindingKind.WRITES_CLASS,
    Family.CLOSURE: FindingKind.WRITES_CLOSURE,
    Family.APPLICATION: FindingKind.WRITES_APPLICATION,
    Family.ARGUMENT: FindingKind.WRITES_ARGUMENT,
}


_DISPLAYS: Mapping[type | None, type] = MappingProxyType(
    {
        ast.Dict: dict,
        ast.DictComp: dict,
        ast.List: list,
        ast.ListComp: list,
        ast.Set: set,
        ast.SetComp: set,
    }
)


class Record(ast.NodeVisitor, abc.ABC):
    """Visits syntax and writes down what it does to shared state.

    Attributes:
        frame: The names that the code being visited sees.
        accesses: What was seen, in order, repetitions included.
        kept: The program's and the plain containers' classes of which new objects are
            put into shared ones, by what findings call these.
        outside: What was seen that changes the world outside the program.
        unless: Where the code being visited has asked before: see `Access`.
    """

    frame: Frame

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.accesses: list[Access] = []
        self.kept: dict[str, set[type]] = {}
        self.outside: list[Access] = []
        self.unless: frozenset[Slot] = frozenset()

    @abc.abstractmethod
    def run(
        self,
        functions: tuple[FunctionType, ...],
        receiver: Value,
        arguments: Arguments,
    ) -> Value:
        """Walk through the program's functions among these, as called like this."""

    def value(self, node: ast.AST) -> Value:
        """Visit the expression and return what it stands for."""
        found: Value = self.visit(node)
        return found

    def read(self, live: Live, node: ast.AST) -> None:
        """Write down that the slot of the value is read, and what is in it."""
        inner = live.family is Family.CLOSURE and live.thing is UNKNOWN
        if live.slots and not inner and not is_harmless(live.thing):
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
        self._write_down(Act.ASSIGN, kind, live, node, certain)

    def assign_part(self, live: Live, node: ast.AST) -> None:
        """Write down that an attribute or a key of a shared object is assigned."""
        self._write_down(Act.ASSIGN, _CHANGES[live.family], live, node)

    def change(self, value: Value, node: ast.AST) -> None:
        """Write down that the object is changed, if it is plain or unknown."""
        if not isinstance(value, Live):
            return
        if value.role is Role.SETTINGS:
            self.assign_part(setting(value, UNKNOWN), node)
        elif value.thing is UNKNOWN:
            self._change(value, node, certain=False)
        elif is_plain(value.thing) or is_iterator(value.thing):
            self._change(value, node, certain=True)

    def change_process(self, changer: str, node: ast.AST) -> None:
        """Write down that a function is called that changes the whole process."""
        live = Live(UNKNOWN, changer, Family.GLOBAL)
        self._write_down(Act.ASSIGN, FindingKind.CHANGES_PROCESS, live, node)

    def act_outside(self, words: str, node: ast.AST) -> None:
        """Write down that the world outside the program is changed."""
        live = Live(UNKNOWN, words, Family.GLOBAL)
        self._write_down(Act.READ, FindingKind.ACTS_OUTSIDE, live, node)
        self.outside.append(self.accesses.pop())

    def keep(self, holder: Value, value: Value, node: ast.AST | None) -> None:
        """Write down that the value of the expression is put into a shared object."""
        cls = _DISPLAYS.get(type(node))
        if isinstance(value, Instance) and own_module_of(value.type) is not None:
            cls = value.type
        if isinstance(holder, Live) and cls is not None and not is_container(cls):
            self.kept.setdefault(holder.name, set()).add(cls)

    def _change(self, live: Live, node: ast.AST, *, certain: bool) -> None:
        self._write_down(Act.CHANGE, _CHANGES[live.family], live, node, certain)

    def _write_down(
        self,
        act: Act,
        kind: FindingKind,
        live: Live,
        node: ast.AST,
        certain: bool = True,
    ) -> None:
        self.accesses.append(
            Access(
                act,
                kind,
                live.name,
                live.slots,
                live.thing,
                certain,
                self.frame.file,
                getattr(node, "lineno", 0),
                self.frame.qualname,
                self.unless,
            )
        )

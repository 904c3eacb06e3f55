"""What the program's own functions write: the other half of a stale read.

Built once for each module and each handler, and again when the source of a module or
the set of its names changes. What depends on the application is built again for another
one: many a program's tests make one each. What runs before requests are served only, or
not at all, is no write (`reach`): it happens before the fork.
"""

from __future__ import annotations

import ast
import os
import weakref
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from txloop.scan.access import Act, Writes
from txloop.scan.evidence import texts_of_templates, words_in_templates
from txloop.scan.live_objects import UNKNOWN, class_label, has_type, is_application
from txloop.scan.member import class_at, settings
from txloop.scan.reach import Reach
from txloop.scan.rendering import acts_in
from txloop.scan.source import Sources
from txloop.scan.unnamed import walk_logs
from txloop.scan.value import Arguments, Family, Instance, Live, Value, application
from txloop.scan.walk import Walk
from txloop.stm.origin import claimed, file_of, own_module_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import ModuleType

    from txloop.scan.access import Access
    from txloop.scan.source import Definition, Source


_FIRST = ("__init__", "initialize", "prepare")
"""Methods of a handler that may keep on it what others use."""


@dataclass(frozen=True, slots=True)
class Served:
    """A handler class as it is mounted.

    Attributes:
        handler: The class.
        arguments: What it is registered with, passed to ``initialize``.
        application: The application.
    """

    handler: type
    arguments: Mapping[str, object]
    application: object


class _State(NamedTuple):
    """A module as it was when it was looked at, with how many names it had."""

    module: ModuleType
    source: Source
    names: int


@dataclass(frozen=True, slots=True, eq=False)
class _Indexed:
    """What the functions of a module, as it was, do.

    Attributes:
        state: The module as it was.
        accesses: What they write.
        asked: Whether that depends on the application.
    """

    state: _State
    accesses: tuple[Access, ...]
    asked: bool


class Program:
    """The program's own modules: their sources, and what they write.

    The loop thread's, like the scan.
    """

    def __init__(self) -> None:
        self.sources = Sources()
        self._providers: list[Callable[[], Iterable[Served]]] = []
        self._modules: dict[str, _Indexed] = {}
        self._handlers: dict[type, tuple[Access, ...]] = {}
        self._states: list[_State] = []  # of the modules, when handlers were looked at
        self._application: Callable[[], object] = _unknown
        self._claimed = claimed()
        self._known: object = None
        self._stands: bool | None = None  # in `standing`: whether it was looked at
        self._writes = Writes()
        self._plain_calls: dict[object, Value] = {}
        self._templates: object = None  # where they are looked for
        self._words: set[str] | None = None  # in them; None: any

    def add_served(self, provider: Callable[[], Iterable[Served]]) -> None:
        """Have the handlers looked at that a function returns."""
        self._providers.append(provider)

    @contextmanager
    def standing(self) -> Iterator[None]:
        """Look at the program once only while the block runs, which runs none of it."""
        outer, self._stands = self._stands, bool(self._stands)
        try:
            yield
        finally:
            self._stands = outer

    @property
    def is_known(self) -> bool:
        """Whether such a block has looked at the program already."""
        return bool(self._stands)

    def writes(self) -> Writes:
        """Return what all functions of the program write."""
        if self._stands:
            return self._writes
        self.sources.refresh()
        self._plain_calls.clear()
        # Rules may name a handler twice, and Tornado's own routers each other's rules.
        mounted = (one for provider in self._providers for one in provider())
        served = [*{_numbers(one): one for one in mounted}.values()]
        self._take_application(served)
        self._read_templates(served)
        indexed = tuple(map(self._indexed, self.sources.modules()))
        known = indexed, tuple(map(_identity, served)), self._templates
        if known != self._known:
            self._known = known
            self._writes = self._collect(indexed, served)
        if self._stands is not None:
            self._stands = True
        return self._writes

    def _take_application(self, served: list[Served]) -> None:
        """Look at the only application, if there is one, wherever the code has it."""
        unique = {id(one.application): one.application for one in served}
        (only,) = unique.values() if len(unique) == 1 else (UNKNOWN,)
        if claimed() is not self._claimed:
            self._claimed = claimed()
            self._modules.clear()
            self._handlers.clear()
        if only is not self._application():
            known = only is not UNKNOWN
            self._application = weakref.ref(only) if known else _unknown
            for name in [name for name, one in self._modules.items() if one.asked]:
                del self._modules[name]

    def _folders(self, served: list[Served]) -> tuple[set[str], set[str]]:
        """Return the folders of modules, and those of templates."""
        files = (os.path.abspath(file_of(each)) for each in self.sources.modules())
        paths = (_settings(one.application).get("template_path") for one in served)
        templates = {path for path in paths if isinstance(path, str)}
        return set(map(os.path.dirname, files)), templates

    def _read_templates(self, served: list[Served]) -> None:
        """Read what templates do with what they are given, if there may be others."""
        folders = self._folders(served)
        held: list[str] = []
        for module in self.sources.modules():
            source = self.sources.source(file_of(module), module.__dict__)
            held += source.templates
        if (folders, held) == self._templates:
            return
        self._templates = folders, held
        self._words = words_in_templates(*folders)
        texts = filter(None, texts_of_templates(*folders))
        acts = acts_in((*texts, *held))
        if acts != self.sources.acts:
            self.sources.acts = acts
            self._modules.clear()
            self._handlers.clear()

    def _indexed(self, module: ModuleType) -> _Indexed:
        name, namespace = module.__name__, module.__dict__
        source = self.sources.source(file_of(module), namespace)
        known = self._modules.get(name)
        state = _State(module, source, len(namespace))
        if known is None or known.state != state:
            walk = self._walk(self._application(), {})
            accesses = _accesses(walk, module, source)
            known = _Indexed(state, accesses, walk.asked)
            self._modules[name] = known
        return known

    def _walk(self, app: object, evidence: Mapping[str, object]) -> Walk:
        return Walk(self.sources, evidence, app, plain_calls=self._plain_calls)

    def _forget_handlers(self, states: list[_State], served: list[Served]) -> None:
        """Forget what those do that are no longer mounted; all, if modules changed."""
        still = {one.handler for one in served} if states == self._states else set()
        self._states = states
        self._handlers = {k: v for k, v in self._handlers.items() if k in still}

    def _of_handler(
        self, served: Served, evidence: Mapping[str, object]
    ) -> tuple[Access, ...]:
        """Return what the methods of a handler write as it is mounted."""
        known = None if served.arguments else self._handlers.get(served.handler)
        if known is None:
            walk = self._walk(served.application, evidence)
            known = _accesses_of_handler(walk, served)
            if not (walk.asked or served.arguments):
                self._handlers[served.handler] = known
        return known

    def _collect(self, indexed: tuple[_Indexed, ...], served: list[Served]) -> Writes:
        """Return what the functions of all modules write once requests are served."""
        states = [each.state for each in indexed]
        reach = Reach([(one.module, one.source) for one in states], self._words)
        writes = Writes()
        for one in states:
            for name, prototype in one.source.evidence:
                writes.add_evidence(name, prototype)
        accesses = [access for module in indexed for access in module.accesses]
        self._forget_handlers(states, served)
        for each in served:
            accesses += self._of_handler(each, writes.evidence)
        walk = self._walk(self._application(), writes.evidence)
        walk_logs(walk)
        accesses += _writing(walk)
        running = [
            access
            for access in accesses
            if reach.may_run(access.file, access.function, access.line)
        ]
        settled = set()
        for access in running:
            if access.targets() & access.unless:
                settled.add((access.file, access.line))
            else:
                writes.unsettled.update(access.targets())
        writes.late.update(reach.assigned_late())
        # On objects that are not known.
        writes.loose.update(
            name for name, *place in writes.late if tuple(place) not in settled
        )
        for access in filter(writes.may_happen, running):
            writes.add(access)
        return writes


def _unknown() -> object:
    return UNKNOWN


def _numbers(served: Served) -> tuple[int, ...]:
    arguments = id(served.arguments) if served.arguments else 0
    return id(served.handler), arguments, id(served.application)


def _identity(served: Served) -> tuple[object, ...]:
    # Numbers are used again for new objects; of two applications one may be gone.
    return *_numbers(served)[:2], weakref.ref(served.application)


def _settings(app: object) -> dict[str, object]:
    found = settings(app).thing
    return found if has_type(found, dict) else {}


def _accesses(walk: Walk, module: ModuleType, source: Source) -> tuple[Access, ...]:
    """Return what the functions of the module write."""
    instances: dict[type, Instance] = {}
    for definition in source.outermost:
        cls = class_at(module.__dict__, definition.owner)
        receiver = None
        if cls is not None and not isinstance(definition.node, ast.Lambda):
            receiver = _receiver(definition, cls, instances)
        local = _parameters(definition, receiver)
        cells = {} if cls is None else {"__class__": cls}
        walk.walk_definition(definition, module.__dict__, local, cells)
    return _writing(walk)


def _accesses_of_handler(walk: Walk, served: Served) -> tuple[Access, ...]:
    """Return what the methods of a handler write as it is mounted."""
    instance = Instance(served.handler)
    own = [each for each in served.handler.__mro__ if own_module_of(each) is not None]
    names = dict.fromkeys((*_FIRST, *(name for each in own for name in each.__dict__)))
    for name in names:
        given = keywords(served.arguments) if name == "initialize" else {}
        walk.call_method(instance, name, Arguments((), given))
    return _writing(walk)


def _writing(walk: Walk) -> tuple[Access, ...]:
    walk.finish()
    return tuple(each for each in walk.notes.accesses if each.act is not Act.READ)


def _receiver(
    definition: Definition, cls: type, instances: dict[type, Instance]
) -> Value:
    """Return what the first parameter of the method stands for."""
    name = definition.qualname.rpartition(".")[2]
    raw = cls.__dict__.get(name)
    implicit = name in {"__new__", "__init_subclass__", "__class_getitem__"}
    if has_type(raw, staticmethod) and not implicit:
        return None
    if has_type(raw, classmethod) or implicit:
        return Live(cls, class_label(cls), Family.CLASS)
    if is_application(cls) and name != "__init__":
        return application()
    return instances.setdefault(cls, Instance(cls))


def _parameters(definition: Definition, receiver: Value) -> dict[str, Value]:
    """Return the values of the parameters: unknown, but with a slot in initialize."""
    arguments = definition.node.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    local: dict[str, Value] = {}
    if receiver is not None and names:
        local[names.pop(0)] = receiver
    if definition.qualname.endswith(".initialize"):
        names += [each.arg for each in arguments.kwonlyargs]
        local.update((name, _argument(UNKNOWN, name)) for name in names)
    return local


def keywords(arguments: Mapping[str, object]) -> dict[str, Value]:
    """Return the values of the arguments with which a handler is registered."""
    return {name: _argument(thing, name) for name, thing in arguments.items()}


def _argument(thing: object, name: str) -> Live:
    """Return the value of an argument with which handlers are registered."""
    label = f"initialize({name})"
    return Live(thing, label, Family.APPLICATION, (("initialize", name),))

"""One walk: which objects lie ahead, and which names code uses of them."""

from __future__ import annotations

import sys
from collections import deque
from typing import TYPE_CHECKING

from txloop.stm.origin import is_own_module, own_module_of
from txloop.watch import limits
from txloop.watch.ambient import (
    MAKING_FILES,
    Ambient,
    Umask,
    is_seeded,
    is_shared_generator,
    translations,
)
from txloop.watch.code import CONSTRUCTING, TELLS_SUBCLASSES, add_subclasses
from txloop.watch.definitions import Function
from txloop.watch.ends import Trail, is_missed
from txloop.watch.hooks import called_by, hooks
from txloop.watch.kinds import ATOMS, CODE, Kind, is_live_stream, kind_of
from txloop.watch.library import record_keeper
from txloop.watch.names import uses_any_attribute
from txloop.watch.pictures import INTERNAL, Names, Namespace, Thing
from txloop.watch.places import Held, Job, Place, Reach, Space, Watched
from txloop.watch.states import State
from txloop.watch.visits import VISITS, thing_of, use_library

if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Iterable, Mapping, Set

    from txloop.scan import Patch
    from txloop.watch.places import Roots, Table

__all__ = ["Walk"]

_ROUTING = frozenset(["default_router", "wildcard_router"])

# Settings that Tornado reads itself while a handler runs.
_SETTINGS = frozenset(
    [
        *("autoescape", "compiled_template_cache", "cookie_secret", "debug"),
        *("cross_origin_protection", "default_handler_args", "default_handler_class"),
        *("key_version", "login_url", "serve_traceback", "static_handler_class"),
        *("static_hash_cache", "static_path", "static_url_prefix", "template_loader"),
        *("template_path", "template_whitespace", "trusted_origins"),
        *("xsrf_cookie_kwargs", "xsrf_cookie_name", "xsrf_cookie_version"),
        "xsrf_cookies",
    ]
)

_CONSTRUCTORS = frozenset(["__init__", "__new__", "__post_init__"])

_RENDERING = frozenset(["render", "render_string"])

# What templates use of a handler and its application.
_RENDERED = (
    *("application", "create_template_loader", "get_template_namespace"),
    *("render_string", "template_loader", "ui_methods", "ui_modules"),
)


class Walk:
    """One walk; belongs to the thread that makes it.

    Attributes:
        table: What is under watch so far.
        reach: What this walk has found.
        names: The attributes that code names.
        seen: What was gone into, by identity.
        spaces: What has attributes, of which those count that code names.
        modules: The globals of own code, likewise, by the identity of their dict.
        everything: Whether to go into everything, whether code names it or not.
        any_attribute: Whether code may use attributes that it does not name.
        any_global: Likewise, globals.
        constructs: Whether code may make more objects of a known class.
        unconstructed: Classes of which no more are made, so far.
        states: Modules that keep something for the process.
        libraries: Modules that were gone through for functions of the program.
        handlers: Handlers of log records.
        patches: What the program sets in libraries that were not met, so far.
        by_value: Whether it is about what travels by value.
        missed: The first object whose end the program notices.
        trail: From where it came to what, if that matters.
    """

    def __init__(
        self,
        table: Table,
        roots: Roots | None,
        patches: Iterable[Patch] = (),
        *,
        by_value: bool = False,
    ) -> None:
        """Begin nowhere yet; without roots, it is to go into everything."""
        self.table = table
        self.reach = Reach()
        self.names: set[str] = set() if roots is None else {*roots.names}
        self.seen: set[object] = set()
        self.spaces: list[Space] = []
        self.modules: dict[int, Space] = {}
        self.everything = roots is None
        self.any_attribute = self.any_global = self.constructs = self.everything
        self.unconstructed: list[Job] = []
        self.states: set[str | None] = set()
        self.libraries: set[int] = set()
        self.handlers: list[Job] = []
        self.patches = list(patches)
        self.by_value = by_value
        self.missed: Held | None = None
        self.trail: Trail | None = None
        self._roots = roots
        self._ahead: deque[Job] = deque()
        self._own: dict[type, bool] = {}

    def begin(
        self, things: Iterable[tuple[str, object]], most: int = 10 * limits.MOST_THINGS
    ) -> None:
        """Walk from these objects as far as it goes, past `most` objects at most."""
        for name, thing in things:
            self.add(thing, name, None)
        while self._ahead:
            if len(self.reach.watched) >= limits.MOST_THINGS or len(self.seen) >= most:
                self.reach.complete = False
                if self.trail is not None:
                    for job in self._ahead:
                        self.trail.note(job.thing)
                return
            job = self._ahead.popleft()
            if id(job.thing) not in self.seen:
                self.seen.add(id(job.thing))
                self._visit(job)

    def begin_at_attributes(self, thing: types.SimpleNamespace) -> None:
        """Walk from those attributes of an object, too, that code will name."""
        self.add_space(Job(thing, "", None, True), lambda: vars(thing))

    def begin_at_hooks(self, any_hook: bool) -> None:
        """Walk from the program's code that others call, where that may happen."""
        for hook in hooks():
            if any_hook or hook.is_used(self.names):
                self.use(hook.called)
                self.begin([(hook.name, hook.thing)])
        self.begin(translations(self.names))

    def end(self) -> Reach:
        """Return what was found."""
        reach = self.reach
        for space in (*self.spaces, *self.modules.values()):
            space.watched.names = self._names_of(space)
        for watched in reach.watched:
            if isinstance(watched.thing, Function) and not self.any_attribute:
                watched.names = Names((), self.names)
        self._watch(Ambient, "ambient", "", Names((), self.names))
        if self.everything or not MAKING_FILES.isdisjoint(self.names):
            self._watch(Umask, "umask", "the umask")
        for name in filter(None, self.states):
            self._watch(State, f"state of {name}", name)
        for job in self.handlers:
            kept = record_keeper(job.thing, self.names)
            if kept is not None and reach.held is None:
                reach.held = Held.of(f"{job.name}.{kept}", job.thing, job.place)
        reach.held = reach.held or self.missed
        return reach

    def _names_of(self, space: Space) -> Names | None:
        if space.used is None:
            wanted, every = self.names | space.besides, self.any_attribute
        else:
            wanted, every = space.used, self.any_global
        if every:
            return None
        attributes = space.thing.attributes
        present = [
            one
            for one in list(attributes)
            if _is_used(one, wanted) and one not in INTERNAL
        ]
        return Names(tuple(present), wanted)

    def _watch(
        self, kind: type[Thing], key: str, name: str, names: Names | None = None
    ) -> None:
        thing = self.table.get(key) or self.table.setdefault(key, kind(None, name))
        self.reach.watched.insert(0, Watched(thing, names=names))

    def add(
        self, thing: object, name: str, place: Place | None, near: bool = True
    ) -> None:
        """Have the walk go into something, unless nothing leads on from it."""
        if type(thing) in ATOMS:
            return
        if self.trail is not None:
            self.trail.see(thing)
        if id(thing) not in self.seen:
            self._ahead.append(Job(thing, name, place, near))

    def add_all(
        self, parts: Iterable[tuple[str, object]], job: Job, near: bool | None = None
    ) -> None:
        """Have it go into parts of something, whose names begin with its own."""
        near = job.near if near is None else near
        for name, part in parts:
            self.add(part, f"{job.name}{name}", job.place, near)

    def note(self, job: Job, thing: Thing) -> Watched:
        """Put something under watch."""
        watched = Watched(thing, job.place)
        self.reach.watched.append(watched)
        return watched

    def _visit(self, job: Job) -> None:
        if self.trail is not None:
            self.trail.enter(job.thing)
        if self.missed is None and is_missed(job.thing):
            held = Held.of(job.name, job.thing, job.place)
            self.missed = held._replace(is_missed=True)
        kind = kind_of(job.thing)
        common = kind is Kind.HELD_NEAR and is_shared_generator(job.thing)
        if common and not is_seeded():
            return
        if kind is Kind.HELD or (kind is Kind.HELD_NEAR and job.near):
            if self.reach.held is None and is_live_stream(job.thing):
                self.reach.held = Held.of(job.name, job.thing, job.place)
            return
        if kind in (Kind.NOTHING, Kind.HELD_NEAR):
            return
        if kind in CODE and not self.by_value:
            use_library(self, job)
        known = self.table.get(id(job.thing))
        if known is None:
            known = thing_of(job.thing, kind, job.name)
            if known is not None:
                self.table[id(job.thing)] = known
        if known is not None and not isinstance(known, Namespace):
            self.note(job, known)
            if not known.whole:
                self.reach.complete = False
        visit = VISITS.get(kind)
        if visit is not None:
            visit(self, job)

    def construct(self) -> None:
        """Go into the constructors of all classes, from now on and before."""
        self.constructs = True
        for job in self.unconstructed:
            self.add(job.thing, job.name, job.place)
        self.unconstructed.clear()

    def is_own(self, cls: type) -> bool:
        """Tell whether a class is the program's."""
        found = self._own.get(cls)
        if found is None:
            found = self._own[cls] = own_module_of(cls) is not None
        return found

    def space(
        self, job: Job, look: Callable[[], Mapping[str, object]], part: str = "has"
    ) -> Space:
        """Put what has attributes under watch: all of them, for all that is known."""
        key = id(job.thing), part
        known = self.table.get(key)
        if not isinstance(known, Namespace):
            known = self.table[key] = Namespace(job.thing, job.name, look)
        return Space(known, self.note(job, known), job)

    def add_space(
        self,
        job: Job,
        look: Callable[[], Mapping[str, object]],
        constructed: bool = True,
        part: str = "has",
    ) -> Space:
        """Go into an object with attributes, of which those count that code names."""
        space = self.space(job, look, part)
        self.spaces.append(space)
        names: Iterable[str] = list(look())
        if not self.any_attribute:
            names = [one for one in names if _is_used(one, self.names)]
        if not constructed:
            unnamed = _CONSTRUCTORS - self.names
            names = [one for one in names if one not in unnamed]
        self.enter(space, names)
        return space

    def enter(
        self, space: Space, names: Iterable[str], place: Place | None = None
    ) -> None:
        """Go into what has these names in a namespace."""
        attributes = space.thing.attributes
        label = space.thing.name
        for name in names:
            if name in INTERNAL or name in _ROUTING:
                continue
            thing = attributes.get(name)
            if thing is not None and type(thing) not in ATOMS:
                full = f"{label}.{name}" if label else name
                if name == "settings" and type(thing) is dict:
                    self._add_settings(thing, full, space)
                else:
                    self.add(thing, full, place or space.job.place, space.job.near)

    def _add_settings(
        self, settings: dict[str, object], name: str, space: Space
    ) -> None:
        if id(settings) not in self.seen:
            self.seen.add(id(settings))
            job = space.job._replace(thing=settings, name=name)
            self.add_space(job, lambda: settings).besides = _SETTINGS

    def use(self, names: frozenset[str]) -> None:
        """Count these attributes as named by code, also of what was reached before."""
        new = names.union(*called_by(names)) - self.names
        if not new:
            return
        self.names |= new
        if not new.isdisjoint(CONSTRUCTING):
            self.construct()
        if TELLS_SUBCLASSES in new:
            self._ask_for_subclasses()
        if self.any_attribute:
            return
        if uses_any_attribute(new):
            self.any_attribute = True
            for space in self.spaces:
                self.enter(space, list(space.thing.attributes))
            return
        for space in self.spaces:
            attributes = space.thing.attributes
            self.enter(space, [name for name in new if name in attributes])
        if not new.isdisjoint(_RENDERING):
            in_templates = () if self._roots is None else self._roots.template_names()
            names = frozenset((*in_templates, *_RENDERED))
            self.use(names)
            if "import" in names:
                self._import_as_templates_do(names)

    def _import_as_templates_do(self, names: frozenset[str]) -> None:
        """Go into modules of the program that templates may import."""
        for name in names:
            module = sys.modules.get(name)
            if is_own_module(module):
                self.add(module, name, None)

    def _ask_for_subclasses(self) -> None:
        for space in list(self.spaces):
            if issubclass(type(space.job.thing), type):
                add_subclasses(self, space.job)


def _is_used(name: str, names: Set[str]) -> bool:
    # Those of the interpreter are called by operators, and `keys` by `dict` and `**`.
    special = name.startswith("__") and name.endswith("__")
    return special or name == "keys" or name in names

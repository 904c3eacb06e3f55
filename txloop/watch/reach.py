"""The walk from a function to the plain objects that it can reach.

It follows the names that code uses: in the globals of own functions, in closures and
defaults, in classes of the program and their bases, in objects, containers and what
wraps functions. Names are collected on the way, as in rapid type analysis (Bacon and
Sweeney, 1996): an attribute that no reached code names is not gone into, unless code
uses attributes that it does not name (`getattr`, `vars`). So an application that all
handlers have does not tie them all to what a few of them use.

The walk is wide before it is deep, and ends after `MOST_THINGS`: what is nearest to the
code is under watch, whatever there is besides.
"""

from __future__ import annotations

import abc
import contextvars
import functools
import logging
import sys
import threading
import types
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from txloop.origin import is_own_function, is_own_module, own_module_of
from txloop.scan.things import class_label, module_label
from txloop.watch.ambient import MAKING_FILES, Ambient, Umask
from txloop.watch.hooks import hooks, kept_by_module, libraries_behind
from txloop.watch.kinds import (
    ATOMS,
    Kind,
    is_harmless,
    is_live_stream,
    is_tornados_application,
    kind_of,
)
from txloop.watch.library import (
    ADAPTING,
    Registered,
    Subclasses,
    flags_of,
    logging_attributes,
    numbers_of,
    record_keeper,
)
from txloop.watch.names import (
    imports_of,
    names_in_code,
    names_in_format,
    names_of,
    uses_any_attribute,
    uses_any_global,
)
from txloop.watch.parts import BUILTIN, attributes_of, contents_of, parts_of, wrapped
from txloop.watch.pictures import (
    INTERNAL,
    Names,
    Namespace,
    Thing,
    cache_results,
    thing_of,
)
from txloop.watch.randomness import is_seeded, is_shared_generator, shared_generators
from txloop.watch.states import State, state_behind
from txloop.watch.templates import names_in_templates

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Set

__all__ = [
    "MOST_THINGS",
    "Place",
    "Reach",
    "Roots",
    "Table",
    "census",
    "is_by_reference",
    "pictures_by_value",
    "reach_of",
]

MOST_THINGS = 20_000
"""After so many objects the walk ends."""

MOST_PICTURED = 2_000
"""After so many objects, the walk through the whole program ends."""

_MOST_CHILDREN = 4_000
"""Of the parts of a container, so many are gone into."""

Table = dict[object, Thing]
"""What is under watch, by identity: one picture of each object is enough."""

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
_CONSTRUCTING = frozenset(["__class__", "type"])  # names that lead to an object's class

_RENDERING = frozenset(["render", "render_string"])
# What templates use of a handler and its application.
_RENDERED = (
    *("application", "create_template_loader", "get_template_namespace"),
    *("render_string", "template_loader", "ui_methods", "ui_modules"),
)

_TELLS_SUBCLASSES = "__subclasses__"

# Bases that use no attribute of their own, and call no method but those of operators.
_BARE = ("abc", "builtins", "typing", "collections.abc", "_collections_abc")

# Of handlers it is known what Tornado calls; what it calls of an application is called
# on the loop thread.
_CALLED_BY_NAME = (("tornado.web", "RequestHandler"), ("tornado.web", "Application"))

# Likewise, for records are handled when a transaction has committed.
_LOGGING = (logging.Filter, logging.Formatter, logging.Handler)

# Of functions of `functools`, what their closures keep to be fast.
_MEMORIES = frozenset(["cache", "cache_token", "dispatch_cache", "hits", "misses"])


class Place(NamedTuple):
    """Where the program uses something: the code, and the name that it has there."""

    code: types.CodeType
    name: str


@dataclass(frozen=True, slots=True)
class Roots:
    """Where a function's walk begins.

    Attributes:
        key: Tells functions apart.
        things: Objects, with the names that messages call them.
        names: Names that are used whatever the code says: methods that are called.
        template_names: Returns those that templates use; asked if any is rendered.
        receiver: Stands for the object whose method runs: of its attributes, those
            count that code names.
    """

    key: Hashable
    things: tuple[tuple[str, object], ...]
    names: frozenset[str] = frozenset()
    template_names: Callable[[], Iterable[str]] = tuple
    receiver: types.SimpleNamespace | None = None


class Held(NamedTuple):
    """Something reached of which a copy is of no use."""

    name: str
    thing: object
    place: Place | None


@dataclass(slots=True)
class Reach:
    """What a function can reach.

    Attributes:
        things: What is under watch, the nearest first.
        names: For each of them, the attributes that matter; None for all.
        places: Where the function's code uses them, if known.
        held: The first of which a copy is of no use, or None.
        caches: Names of the caches of `lru_cache` that it uses.
        complete: Whether that is all.
    """

    things: list[Thing] = field(default_factory=list)
    names: list[Names | None] = field(default_factory=list)
    places: list[Place | None] = field(default_factory=list)
    held: Held | None = None
    caches: list[str] = field(default_factory=list)
    complete: bool = True


def reach_of(roots: Roots, table: Table, any_hook: bool = False) -> Reach:
    """Return what a function can reach; new things are added to `table`.

    Args:
        roots: Where the walk begins.
        table: What is under watch so far.
        any_hook: Whether all counts that others call, not only where code names what
            calls it.
    """
    walk = _Walk(table, roots.names)
    walk.template_names = roots.template_names
    if roots.receiver is not None:
        walk.begin_at_attributes(roots.receiver)
    walk.begin(roots.things)
    walk.begin_at_hooks(any_hook)
    return walk.end()


def census(things: Iterable[tuple[str, object]], table: Table) -> None:
    """Put what `things` and the program's modules lead to into `table`.

    The nearest first, and not all of a large program: it is for functions that are
    first called later, and takes its time from the first request.
    """
    walk = _Walk(table)
    walk.use_all()
    modules = [one for one in list(sys.modules.values()) if is_own_module(one)]
    modules_named = ((module_label(vars(one)), one) for one in modules)
    walk.begin((*things, *modules_named), MOST_PICTURED)
    walk.end()


def pictures_by_value(things: Iterable[tuple[str, object]]) -> list[Thing]:
    """Return what travels by value with some objects, with pictures of its own."""
    walk = _Walk({})
    walk.use_all()
    walk.by_value = True
    walk.begin(things)
    return walk.found


class _Job(NamedTuple):
    """An object that the walk has to go into."""

    thing: Any
    name: str
    place: Place | None
    near: bool  # the program's own code has it, not an object of a library


@dataclass(slots=True, eq=False)
class _Space:
    """A namespace, and which of its names are used so far."""

    thing: Namespace
    index: int  # in the reach
    near: bool
    whole: bool = False  # whether all of it is used, as of an object of a library
    used: set[str] | None = None  # of globals; of others, what the walk's code names
    besides: frozenset[str] = frozenset()  # ... and a library's
    place: Place | None = None


class _Walk:
    """One walk; belongs to the thread that makes it."""

    def __init__(self, table: Table, names: Iterable[str] = ()) -> None:
        self._table = table
        self._names: set[str] = set(names)
        self._reach = Reach()
        self._ahead: deque[_Job] = deque()
        self._seen: set[object] = set()
        self._spaces: list[_Space] = []  # whose attributes code names
        self._modules: dict[int, _Space] = {}  # by their dict: globals of own code
        self._own: dict[type, bool] = {}
        self._any_attribute = False
        self._any_global = False
        self._constructs = False  # objects of classes that it has objects of
        self._makes_files = False
        self._unconstructed: list[_Job] = []  # classes of objects
        self._bare_functions: list[_Job] = []  # without attributes
        self._states: set[str] = set()  # modules that keep something for the process
        self._libraries: set[int] = set()  # modules, gone through for own functions
        self._handlers: list[_Job] = []  # of log records
        self.by_value = False
        self.template_names: Callable[[], Iterable[str]] = tuple

    def use_all(self) -> None:
        """Go into everything, whether code names it or not."""
        self._any_attribute = self._any_global = self._makes_files = True
        self._constructs = True

    def begin(
        self, things: Iterable[tuple[str, object]], most: int = 10 * MOST_THINGS
    ) -> None:
        """Walk from these objects as far as it goes, past `most` objects at most."""
        for name, thing in things:
            self._add(thing, name, None)
        while self._ahead:
            if len(self._reach.things) >= MOST_THINGS or len(self._seen) >= most:
                self._reach.complete = False
                return
            job = self._ahead.popleft()
            if id(job.thing) not in self._seen:
                self._seen.add(id(job.thing))
                self._visit(job)

    def begin_at_attributes(self, thing: types.SimpleNamespace) -> None:
        """Walk from those attributes of an object, too, that code will name."""
        self._add_space(_Job(thing, "", None, True), lambda: vars(thing))

    def begin_at_hooks(self, any_hook: bool) -> None:
        """Walk from the program's code that others call, where that may happen."""
        for hook in hooks():
            if any_hook or hook.is_used(self._names):
                self._use(hook.called)
                self.begin([(hook.name, hook.thing)])

    @property
    def found(self) -> list[Thing]:
        """What was found so far."""
        return self._reach.things

    def end(self) -> Reach:
        """Return what was found."""
        reach = self._reach
        for space in (*self._spaces, *self._modules.values()):
            reach.names[space.index] = self._names_of(space)
        self._watch(Ambient, "ambient", "", Names((), self._names))
        if self._makes_files:
            self._watch(Umask, "umask", "the umask")
        for name in self._states:
            self._watch(State, f"state of {name}", name)
        for job in self._handlers:
            kept = record_keeper(job.thing, self._names)
            if kept is not None and reach.held is None:
                reach.held = Held(f"{job.name}.{kept}", job.thing, job.place)
        return reach

    def _names_of(self, space: _Space) -> Names | None:
        if space.used is None:
            wanted, every = self._names | space.besides, self._any_attribute
        else:
            wanted, every = space.used, self._any_global
        if every or space.whole:
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
        thing = self._table.get(key)
        if thing is None:
            thing = self._table[key] = kind(None, name, None)
        self._reach.things.insert(0, thing)
        self._reach.names.insert(0, names)
        self._reach.places.insert(0, None)

    def _add(
        self, thing: object, name: str, place: Place | None, near: bool = True
    ) -> None:
        if type(thing) not in ATOMS and id(thing) not in self._seen:
            self._ahead.append(_Job(thing, name, place, near))

    def _add_all(
        self, parts: Iterable[tuple[str, object]], job: _Job, near: bool | None = None
    ) -> None:
        near = job.near if near is None else near
        for name, part in parts:
            self._add(part, f"{job.name}{name}", job.place, near)

    def _note(self, job: _Job, thing: Thing) -> int:
        self._reach.things.append(thing)
        self._reach.names.append(None)
        self._reach.places.append(job.place)
        return len(self._reach.things) - 1

    # What an object leads to, by its kind

    def _visit(self, job: _Job) -> None:
        kind = kind_of(job.thing)
        common = kind is Kind.HELD_NEAR and is_shared_generator(job.thing)
        if common and not is_seeded():
            return
        if kind is Kind.HELD or (kind is Kind.HELD_NEAR and job.near):
            if self._reach.held is None and is_live_stream(job.thing):
                self._reach.held = Held(job.name, job.thing, job.place)
            return
        if kind in (Kind.NOTHING, Kind.HELD_NEAR):
            return
        if kind in _FROM_LIBRARIES and not self.by_value:
            self._use_library(job)
        known = self._table.get(id(job.thing))
        if known is None:
            known = thing_of(job.thing, kind, job.name, job.place)
            if known is not None:
                self._table[id(job.thing)] = known
        if known is not None and not isinstance(known, Namespace):
            self._note(job, known)
            if not known.whole:
                self._reach.complete = False
        visit = _VISITS.get(kind)
        if visit is not None:
            visit(self, job)

    def _visit_items(self, job: _Job) -> None:
        parts = list(islice(parts_of(job.thing), _MOST_CHILDREN))
        self._add_all(((f"[{index}]", one) for index, one in enumerate(parts)), job)
        self._note_rest(job, parts)
        self._visit_subclass(job)

    def _visit_members(self, job: _Job) -> None:
        parts = list(islice(parts_of(job.thing), _MOST_CHILDREN))
        self._add_all((("", one) for one in parts), job)
        self._note_rest(job, parts)
        self._visit_subclass(job)

    def _note_rest(self, job: _Job, parts: list[object]) -> None:
        """Take note of the parts that are too many to be gone into, if that matters."""
        if len(parts) < _MOST_CHILDREN or self.by_value:
            return
        if any(map(_can_change, parts)):
            self._reach.complete = False

    def _visit_dict(self, job: _Job) -> None:
        items = list(islice(dict.items(job.thing), _MOST_CHILDREN))
        self._note_rest(job, [value for _, value in items])
        for key, value in items:
            known = type(key) in ATOMS
            label = f"{job.name}[{key!r}]" if known else f"{job.name}[...]"
            self._add(key, job.name, job.place, job.near)
            self._add(value, label, job.place, job.near)
        self._visit_subclass(job)

    def _visit_subclass(self, job: _Job) -> None:
        """Go into what a container has besides its parts."""
        if type(job.thing).__module__ not in BUILTIN:
            self._visit_object(job)

    def _visit_cache(self, job: _Job) -> None:
        self._reach.caches.append(job.name)
        self._add_space(job, lambda: vars(job.thing))
        self._add(job.thing.__wrapped__, job.name, job.place)
        self._add_all((("(...)", one) for one in cache_results(job.thing)), job)

    def _visit_wrapper(self, job: _Job) -> None:
        for part in wrapped(job.thing):
            if type(part) is str:  # whose method `format` may be
                self._use(frozenset(names_in_format(part)))
            self._add(part, job.name, job.place, job.near)
        if issubclass(type(job.thing), classmethod):
            self._construct()

    def _visit_getter(self, job: _Job) -> None:
        """Take the attributes that it gets for such as code names."""
        _, arguments = job.thing.__reduce__()[:2]
        names = [one for one in arguments if type(one) is str]
        self._use(frozenset(part for name in names for part in name.split(".")))

    def _visit_template(self, job: _Job) -> None:
        """Go into what a template, or those of a loader, are given and use."""
        attributes = vars(job.thing)
        compiled = attributes.get("compiled")
        if isinstance(compiled, types.CodeType):
            self._use(frozenset(names_in_code(compiled)))
        else:
            self._use(frozenset(names_in_templates({"template_loader": job.thing}, "")))
        for name in ("dict", "namespace"):
            self._add(attributes.get(name), f"{job.name}.{name}", job.place, job.near)

    def _visit_buffer(self, job: _Job) -> None:
        """Go into an array of objects."""
        dtype = getattr(job.thing, "dtype", None)
        if getattr(dtype, "hasobject", False):
            parts = job.thing.ravel()[:_MOST_CHILDREN].tolist()
            self._add_all((("[...]", one) for one in parts), job)

    def _visit_function(self, job: _Job) -> None:
        function = job.thing
        code = function.__code__
        if type(code) is not types.CodeType:  # one of PyPy's own
            return
        own = is_own_function(function) or _is_made_by_program(function)
        if self.by_value and is_by_reference(function):
            return
        if own:
            self._use_globals(function)
            self._use_imports(function)
            self._use(names_of(function))
        cells = contents_of(function)
        if "on_commit" in code.co_names:  # some may be its effects' alone
            used = names_of(function)
            cells = {name: one for name, one in cells.items() if name in used}
        if own and cells:
            look = functools.partial(contents_of, function)
            space = self._space(job._replace(name=""), look, "cells")
            space.whole = True
        of_functools = function.__module__ == "functools"
        for name, thing in cells.items():
            if not (of_functools and name in _MEMORIES):
                self._add(thing, name, Place(code, name))
        defaults = [*(function.__defaults__ or ())]
        defaults += (function.__kwdefaults__ or {}).values()
        for default in defaults:
            name = f"a default of {job.name or code.co_name}"
            self._add(default, name, Place(code, code.co_name))
        if own and (vars(function) or self._any_attribute):
            self._add_space(job, lambda: vars(function))
        elif own:  # code may give it some
            self._bare_functions.append(job)
        elif "__wrapped__" in vars(function):
            self._add(function.__wrapped__, job.name, job.place)

    def _visit_class(self, job: _Job, of_object: bool = False) -> None:
        """Go into a class of the program's, and its bases.

        Args:
            job: The class.
            of_object: Whether only an object of it is there: no other one is made of
                it, as long as no code leads from that to its class.
        """
        if self.by_value:
            return
        called = self._is_called_by_library(job.thing)
        for cls in job.thing.__mro__:
            if not self._is_own(cls):
                continue
            each = job._replace(thing=cls, name=class_label(cls))
            if not of_object:
                self._seen.add(id(cls))
            space = self._add_space(
                each, functools.partial(_class_attributes, cls), not of_object
            )
            if called:
                attributes = list(space.thing.attributes.items())
                self._enter(space, [name for name, one in attributes if _is_code(one)])
            if issubclass(type(cls), abc.ABCMeta):
                self._note_besides(each, Registered, "what is registered with ")
            if _TELLS_SUBCLASSES in self._names:
                self._add_subclasses(each)
        if self._is_own(type(job.thing)):
            self._add(type(job.thing), class_label(type(job.thing)), job.place)

    def _is_called_by_library(self, cls: type) -> bool:
        """Tell whether a class is derived from one that calls methods by their names.

        What its names are, no code of the program tells: ``default`` of a JSONEncoder,
        ``visit_...`` of a NodeVisitor.
        """
        return not issubclass(cls, _LOGGING) and any(
            not self._is_own(base)
            and str(base.__module__) not in _BARE
            and (base.__module__, base.__name__) not in _CALLED_BY_NAME
            and not is_harmless(base)
            and str(base.__module__).partition(".")[0] != "txloop"
            for base in cls.__mro__
        )

    def _add_subclasses(self, job: _Job) -> None:
        """Go into the subclasses of a class, from where code may ask for them."""
        self._note_besides(job, Subclasses, "the subclasses of ")
        for cls in type.__subclasses__(job.thing):
            self._add(cls, class_label(cls), job.place)

    def _note_besides(self, job: _Job, kind: type[Thing], what: str) -> None:
        """Have something looked at that is no attribute of an object."""
        key = id(job.thing), kind
        thing = self._table.get(key)
        if thing is None:
            thing = kind(job.thing, f"{what}{job.name}", job.place)
            self._table[key] = thing
        self._note(job, thing)

    def _use_library(self, job: _Job) -> None:
        """Take in what of the program's is kept by the modules behind something."""
        state = state_behind(job.thing)
        if state is not None:
            self._states.add(state)
        for module in libraries_behind(job.thing, self._names):
            if id(module) not in self._libraries:
                self._libraries.add(id(module))
                for name, thing in kept_by_module(module, self._names):
                    self._add(thing, name, job.place)

    def _visit_logging(self, job: _Job) -> None:
        if issubclass(type(job.thing), logging.LoggerAdapter):
            self._use(ADAPTING)
        if issubclass(type(job.thing), logging.Handler):
            self._handlers.append(job)
        if self._is_own(type(job.thing)):
            self._add_class_of(job)
        self._add_space(job, logging_attributes(job.thing))

    def _visit_decimals(self, job: _Job) -> None:
        self._space(job, numbers_of(job.thing)).whole = True
        self._add_space(job, flags_of(job.thing), part="flags")

    def _visit_module(self, job: _Job) -> None:
        for generator in shared_generators(job.thing, self._names):
            self._add(generator, job.name, job.place)
        own = is_own_module(job.thing) or _is_made_by_hand(job.thing)
        if own and not self.by_value:
            self._add_space(job, lambda: job.thing.__dict__)

    def _visit_object(self, job: _Job) -> None:
        cls = type(job.thing)
        own = any(map(self._is_own, cls.__mro__))
        if own:
            self._add_class_of(job)
        self._visit_attributes(job, own)

    def _add_class_of(self, job: _Job) -> None:
        """Go into the class of an object, of which there need be no other."""
        cls = type(job.thing)
        key = "class of an object", cls
        if self._constructs or not self._names.isdisjoint(_CONSTRUCTING):
            self._add(cls, class_label(cls), job.place)
        elif id(cls) not in self._seen and key not in self._seen:
            self._seen.add(key)
            each = _Job(cls, class_label(cls), job.place, job.near)
            self._visit_class(each, of_object=True)
            self._unconstructed.append(each)

    def _construct(self) -> None:
        """Go into the constructors of all classes, from now on and before."""
        self._constructs = True
        for job in self._unconstructed:
            self._add(job.thing, job.name, job.place)
        self._unconstructed.clear()

    def _visit_attributes(self, job: _Job, own: bool) -> None:
        look = attributes_of(job.thing)
        if look is None:
            return
        if self._names_tell(type(job.thing)):
            self._add_space(job, look)
            return
        space = self._space(job, look)
        space.whole = True
        near = job.near and own
        parts = [(f".{name}", one) for name, one in list(look().items())]
        self._add_all(parts[:_MOST_CHILDREN], job, near=near)

    def _names_tell(self, cls: type) -> bool:
        """Tell whether only code of the program uses attributes of these objects."""
        if cls is threading.local or is_tornados_application(cls):
            return True
        foreign = [one for one in cls.__mro__ if not self._is_own(one)]
        return self._is_own(cls) and all(
            one is threading.local or one.__module__ in _BARE or is_harmless(one)
            for one in foreign
        )

    def _is_own(self, cls: type) -> bool:
        found = self._own.get(cls)
        if found is None:
            found = self._own[cls] = own_module_of(cls) is not None
        return found

    # Namespaces

    def _space(
        self, job: _Job, look: Callable[[], Mapping[str, object]], part: str = "has"
    ) -> _Space:
        key = id(job.thing), part
        known = self._table.get(key)
        if not isinstance(known, Namespace):
            known = Namespace(job.thing, job.name, job.place, look)
            self._table[key] = known
        space = _Space(known, self._note(job, known), job.near, place=job.place)
        self._spaces.append(space)
        return space

    def _add_space(
        self,
        job: _Job,
        look: Callable[[], Mapping[str, object]],
        constructed: bool = True,
        part: str = "has",
    ) -> _Space:
        """Take in what has attributes, of which those count that code names."""
        space = self._space(job, look, part)
        names: Iterable[str] = list(look())
        if not self._any_attribute:
            names = [one for one in names if _is_used(one, self._names)]
        if not constructed:
            unnamed = _CONSTRUCTORS - self._names
            names = [one for one in names if one not in unnamed]
        self._enter(space, names)
        return space

    def _enter(
        self, space: _Space, names: Iterable[str], place: Place | None = None
    ) -> None:
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
                    self._add(thing, full, place or space.place, space.near)

    def _add_settings(
        self, settings: dict[str, object], name: str, space: _Space
    ) -> None:
        if id(settings) not in self._seen:
            self._seen.add(id(settings))
            job = _Job(settings, name, space.place, space.near)
            self._add_space(job, lambda: settings).besides = _SETTINGS

    def _use_globals(self, function: types.FunctionType) -> None:
        namespace = function.__globals__
        if self.by_value and namespace is _namespace_of(function):
            return
        space = self._modules.get(id(namespace))
        if space is None:
            job = _Job(namespace, module_label(namespace), None, True)
            space = self._space(job, lambda: namespace, "globals")
            self._spaces.pop()
            space.used = set()
            self._modules[id(namespace)] = space
        code = function.__code__
        names: Iterable[str] = names_of(function)
        if self._any_global or uses_any_global(names):
            self._any_global = True
            names = list(namespace)
        assert space.used is not None
        for name in names:
            if name not in space.used:
                space.used.add(name)
                self._enter(space, (name,), Place(code, name))

    def _use_imports(self, function: types.FunctionType) -> None:
        """Go into modules that code imports when it runs."""
        package = function.__globals__.get("__package__")
        for name in imports_of(function.__code__):
            for full in (name, f"{package}.{name}"):
                module = sys.modules.get(full)
                if module is not None and (is_own_module(module) or full == name):
                    self._add(module, full, Place(function.__code__, name))

    def _visit_weak(self, job: _Job) -> None:
        data = vars(job.thing)["data"]
        parts = [*data, *(data.values() if type(data) is dict else ())]
        self._add_all((("", one) for one in parts[:_MOST_CHILDREN]), job)

    def _visit_variable(self, job: _Job) -> None:
        """Go into what a context variable is, unless it is set."""
        for context in (contextvars.Context(), contextvars.copy_context()):
            with suppress(LookupError):
                self._add(context.run(job.thing.get), job.name, job.place)

    def _use(self, names: frozenset[str]) -> None:
        """Take in names of attributes, for what was reached before, too."""
        new = names - self._names
        if not new:
            return
        self._names |= new
        if not new.isdisjoint(_CONSTRUCTING):
            self._construct()
        self._makes_files = self._makes_files or not MAKING_FILES.isdisjoint(new)
        if _TELLS_SUBCLASSES in new:
            self._ask_for_subclasses()
        if self._any_attribute:
            return
        if uses_any_attribute(new):
            self._any_attribute = True
            for job in self._bare_functions:
                self._add_space(job, functools.partial(vars, job.thing))
            for space in self._spaces:
                self._enter(space, list(space.thing.attributes))
            return
        for space in self._spaces:
            attributes = space.thing.attributes
            self._enter(space, [name for name in new if name in attributes])
        if not new.isdisjoint(_RENDERING):
            self._use(frozenset((*self.template_names(), *_RENDERED)))

    def _ask_for_subclasses(self) -> None:
        for space in list(self._spaces):
            thing = space.thing
            if issubclass(type(thing.object), type):
                place = space.place
                self._add_subclasses(_Job(thing.object, thing.name, place, space.near))


_VISITS: dict[Kind, Callable[[_Walk, _Job], None]] = {
    Kind.PARTS: _Walk._visit_items,
    Kind.LIST: _Walk._visit_items,
    Kind.DICT: _Walk._visit_dict,
    Kind.SET: _Walk._visit_members,
    Kind.CACHE: _Walk._visit_cache,
    Kind.WRAPPER: _Walk._visit_wrapper,
    Kind.GETTER: _Walk._visit_getter,
    Kind.TEMPLATE: _Walk._visit_template,
    Kind.BUFFER: _Walk._visit_buffer,
    Kind.FUNCTION: _Walk._visit_function,
    Kind.CLASS: _Walk._visit_class,
    Kind.MODULE: _Walk._visit_module,
    Kind.OBJECT: _Walk._visit_object,
    Kind.VARIABLE: _Walk._visit_variable,
    Kind.WEAK: _Walk._visit_weak,
    Kind.LOGGING: _Walk._visit_logging,
    Kind.DECIMALS: _Walk._visit_decimals,
}

_FROM_LIBRARIES = (Kind.CLASS, Kind.FUNCTION, Kind.MODULE, Kind.WRAPPER)


def _is_used(name: str, names: Set[str]) -> bool:
    # Those of the interpreter are called by operators.
    return name in names or (name.startswith("__") and name.endswith("__"))


def _can_change(thing: object) -> bool:
    return type(thing) not in ATOMS and kind_of(thing) not in (
        *(Kind.NOTHING, Kind.CLASS, Kind.MODULE, Kind.FUNCTION, Kind.WRAPPER),
        *(Kind.PARTS, Kind.GETTER),
    )


def _is_code(thing: object) -> bool:
    kind = kind_of(thing)
    return kind is Kind.FUNCTION or kind is Kind.WRAPPER


def _is_made_by_program(function: types.FunctionType) -> bool:
    """Tell whether a function has no file, and no module of a library either.

    Dataclasses make such functions in the module of the class, `exec` in any namespace.
    """
    if not function.__code__.co_filename.startswith("<"):
        return False
    module = sys.modules.get(str(function.__globals__.get("__name__")))
    return module is None or is_own_module(module)


def _is_made_by_hand(module: types.ModuleType) -> bool:
    """Tell whether a module has not been imported: the program keeps things in it."""
    attributes = vars(module)
    known = sys.modules.get(str(attributes.get("__name__"))) is module
    return not known and not attributes.get("__file__")


def _class_attributes(cls: type) -> Mapping[str, object]:
    return cls.__dict__


def is_by_reference(function: Any) -> bool:
    """Tell whether a function is the same one wherever it is unpickled."""
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is function


def _namespace_of(function: types.FunctionType) -> object:
    module = sys.modules.get(str(function.__globals__.get("__name__")))
    return None if module is None else vars(module)

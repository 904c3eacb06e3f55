"""What an attribute of a value stands for.

Looks where the interpreter would look, without running descriptors or `__getattr__`:
the object's own attributes, then its classes.
"""

from __future__ import annotations

import enum
import sys
from contextvars import ContextVar
from dataclasses import replace
from functools import cached_property, partialmethod
from logging import Logger
from types import FunctionType, MemberDescriptorType, ModuleType
from typing import TYPE_CHECKING, Any

from txloop.scan.known import METHODS
from txloop.scan.libraries import is_of_library
from txloop.scan.live_objects import (
    UNKNOWN,
    attributes_of,
    can_change,
    changes_by,
    class_label,
    functions_of,
    has_type,
    in_slot,
    is_cache,
    is_container,
    is_data,
    is_field,
    is_of_others,
    is_options,
    module_label,
    options_of,
    runs_none_of_programs,
)
from txloop.scan.special import is_pythons, overridden_by
from txloop.scan.value import (
    FOREIGN,
    SOMETHING,
    Arguments,
    Bound,
    Descriptor,
    Family,
    Inherited,
    Instance,
    Live,
    Member,
    Parts,
    Role,
    Super,
    Unfollowed,
    Value,
    application,
    sample,
    shared,
)
from txloop.stm.origin import is_own_function, own_module_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from txloop.scan.source import Sources
    from txloop.scan.value import Slot


_PRESET = "a preset argument"
_NAMES = ("__name__", "__qualname__")  # which every class has, as texts
_VALUE = vars(enum.Enum)["value"]


def member(value: Value, name: str, sources: Sources) -> Value:
    """Return what `value.name` stands for."""
    if isinstance(value, Live):
        found = _of_live(value, name, sources)
        return sample(found) if value.sample else found
    if isinstance(value, Instance):
        return _of_instance(value, name, sources)
    if isinstance(value, Super):
        return _of_super(value, name)
    if isinstance(value, Parts):
        return Member(value, name)
    return value if isinstance(value, Unfollowed) else None


def setters(value: Value, name: str, given: Value) -> list[Descriptor]:
    """Return what `value.name = given` runs.

    That is nothing where it just assigns; of a name that is not known, "?", it is what
    any may run.
    """
    if not isinstance(value, (Live, Instance)):
        return []
    if isinstance(value, Live) and value.thing is UNKNOWN:
        return []
    cls = value.type if isinstance(value, Instance) else type(value.thing)
    names = {name}
    if name == "?":
        names = {each for owner in cls.__mro__ for each in vars(owner)}
    called = []
    for each in sorted(names):
        found = _look_up(cls, each)
        if found is None:
            continue
        if has_type(found[1], property):
            functions = tuple(filter(is_own_function, functions_of(found[1].fset)))
            called.append(Descriptor(functions, value, Arguments((given,))))
        elif own := own_functions(type(found[1]), "__set__"):
            owner = _of_its_class(cls, found, each)
            called.append(Descriptor(own, owner, Arguments((value, given))))
    return called


def settings(thing: object) -> Live:
    """Return the value of the settings of the application."""
    own = attributes_of(thing).get("settings", UNKNOWN)
    return Live(own, "application.settings", Family.APPLICATION, role=Role.SETTINGS)


def class_of(value: Value) -> Value:
    """Return what `type(value)` stands for."""
    if isinstance(value, Instance):
        return class_value(value.type)
    if isinstance(value, Live) and value.thing is not UNKNOWN:
        return class_value(type(value.thing))
    return None


def class_at(namespace: Mapping[str, object], qualname: str) -> type | None:
    """Return the class of that name in the namespace of a module, or None."""
    found: object = None
    for name in qualname.split("."):
        found = namespace.get(name)
        if not has_type(found, type):
            return None
        namespace = found.__dict__
    return found if has_type(found, type) else None


def class_slots(cls: type, name: str) -> tuple[Slot, ...]:
    """Return the slots that a read of the class attribute may look at."""
    owners = [each for each in cls.__mro__ if name in each.__dict__]
    return tuple((id(each), name) for each in dict.fromkeys([cls, *owners]))


def class_attribute_label(cls: type, name: str) -> str:
    """Return what findings call the class attribute."""
    found = _look_up(cls, name)
    return f"{class_label(cls if found is None else found[0])}.{name}"


def own_functions(cls: type, name: str) -> tuple[FunctionType, ...]:
    """Return what the special method runs that a class of the program gives it."""
    having = (each for each in cls.__mro__ if name in vars(each))
    own = (vars(each)[name] for each in having if own_module_of(each) is not None)
    raw = next(own, None)
    return () if raw is None else functions_of(raw)


def is_per_thread(cls: type, name: str) -> bool:
    """Tell whether each thread has its own: a `threadlocalproperty` of txloop."""
    found = _look_up(cls, name)
    return found is not None and is_container(type(found[1]))


def class_value(cls: type) -> Live:
    """Return the value of a class."""
    return Live(cls, class_label(cls), Family.CLASS)


def _look_up(cls: type, name: str) -> tuple[type, object] | None:
    """Return the class that has the attribute, and the attribute as it is there."""
    for owner in cls.__mro__:
        if name in owner.__dict__:
            return owner, owner.__dict__[name]
    return None


def _of_live(live: Live, name: str, sources: Sources) -> Value:
    thing = live.thing
    if live.role is Role.APPLICATION and name == "settings":
        return settings(thing)
    if live.role is Role.SETTINGS or (thing is UNKNOWN and name in METHODS):
        return Member(live, name)
    if thing is UNKNOWN:
        slots = ((live.key, name),) if live.role else live.slots
        label = f"{live.name}.{name}" if live.role else live.name
        return Live(UNKNOWN, label, live.family, slots)
    if has_type(thing, ModuleType):
        return of_module(thing, name)
    if has_type(thing, type):
        return _of_class(thing, name)
    return _of_object(live, name, sources)


def of_module(module: ModuleType, name: str) -> Live:
    """Return what `module.name` stands for."""
    namespace = module.__dict__
    thing = namespace.get(name, UNKNOWN)
    if thing is UNKNOWN:
        thing = sys.modules.get(f"{namespace.get('__name__')}.{name}", UNKNOWN)
    label = f"{module_label(namespace)}.{name}"
    return shared(thing, label, Family.GLOBAL, ((id(namespace), name),))


def _of_class(cls: type, name: str) -> Value:
    found = _look_up(cls, name)
    if found is None:
        above = _look_up(type(cls), name)
        if above is not None and own_module_of(above[0]) is not None:
            return _class_member(type(cls), above, name, class_value(cls))
        label = class_attribute_label(cls, name)
        is_text = name in _NAMES and above is not None and above[0] is type
        thing = getattr(cls, name) if is_text else UNKNOWN
        return shared(thing, label, Family.CLASS, class_slots(cls, name))
    if has_type(found[1], classmethod):
        return _class_method(found[1], cls)
    return _class_member(cls, found, name, receiver=None)


def _of_object(live: Live, name: str, sources: Sources) -> Value:
    thing, cls = live.thing, type(live.thing)
    found = _look_up(cls, name)
    raw = None if found is None else found[1]
    attributes = attributes_of(thing)
    if name == "__dict__" and (has_type(thing, FunctionType) or own_module_of(cls)):
        thing = attributes
    elif is_options(cls) and name in options_of(thing):
        thing = options_of(thing)[name]
    elif raw is _VALUE:
        thing = attributes.get("_value_", UNKNOWN)
    elif name in attributes and not own_functions(type(raw), "__set__"):
        thing = attributes[name]
    elif has_type(raw, MemberDescriptorType) or is_field(raw):
        thing = in_slot(raw, thing)
    elif found is None:
        thing = UNKNOWN
    elif own_module_of(found[0]) is None and _is_method(thing, name):
        return Member(live, name)
    elif (
        has_type(thing, Logger)
        and has_type(raw, FunctionType)
        and not is_own_function(raw)
    ):  # it may get a name of its own, by which it is called
        return shared(raw, f"{live.name}.{name}", live.family)
    else:
        return _of_object_or_class(
            live, name, _class_member(cls, found, name, live), sources
        )
    guess = thing is UNKNOWN and live.role is None and own_module_of(cls) is None
    # A function has what is assigned to it, mostly when it first runs.
    guess = guess and not has_type(live.thing, FunctionType)
    if is_container(cls) or guess:
        return None
    return shared(thing, f"{live.name}.{name}", live.family, ((live.key, name),))


def _is_method(thing: object, name: str) -> bool:
    """Tell whether it is a method of a container, of which it is known what it does."""
    if has_type(thing, ContextVar):
        return name == "get"
    if is_of_others(thing):
        return name in METHODS or changes_by(thing, name)
    return can_change(thing)


def _of_object_or_class(live: Live, name: str, found: Value, sources: Sources) -> Value:
    """Return what an object has from its class, until the object is given its own."""
    if not isinstance(found, Live):
        return found
    found = replace(found, slots=((live.key, name), *found.slots))
    own = sources.are_rebound(type(live.thing), name)
    if not own or can_change(found.thing):
        return found
    return replace(found, name=f"{live.name}.{name}", family=live.family)


def _of_instance(instance: Instance, name: str, sources: Sources) -> Value:
    if name in instance.attributes:
        return instance.attributes[name]
    if name == "__class__":
        return class_value(instance.type)
    found = _look_up(instance.type, name)
    if name in sources.assigned(instance.type):
        if found is not None and (
            has_type(found[1], FunctionType, property) or _reads(found[1])
        ):
            return _class_member(instance.type, found, name, receiver=instance)
        return None if name in instance.unshared else SOMETHING
    if found is not None and own_module_of(found[0]) is not None:
        return _class_member(instance.type, found, name, receiver=instance)
    if name == "application":
        return application()
    if name == "settings":
        return settings(UNKNOWN)
    return _inherited(instance, name, found)


def has_special(value: Instance | Live, names: Iterable[str]) -> bool:
    """Tell whether the program may have given an object one of these methods.

    Or Python's library may, which calls others of it.
    """
    if isinstance(value, Live):
        return not runs_none_of_programs(type(value.thing))
    found = (_look_up(value.type, name) for name in names)
    owners = (one[0] for one in found if one is not None and one[0] is not object)
    return any(own_module_of(one) is not None or is_pythons(one) for one in owners)


def _inherited(
    instance: Instance, name: str, found: tuple[type, object] | None
) -> Value:
    """Return the value of an attribute that the program's classes do not have."""
    asked = _look_up(instance.type, "get_current_user")
    if name == "current_user" and asked and own_module_of(asked[0]) is not None:
        return Descriptor(functions_of(asked[1]), instance)
    if found is not None and is_data(found[1]):
        return _class_member(instance.type, found, name, receiver=instance)
    if found is not None:
        if is_of_library(found[0]):
            return FOREIGN
        return _of_base(instance.type, found[0], name, instance)
    if "__getattr__" in (each for cls in instance.type.__mro__ for each in vars(cls)):
        return SOMETHING
    bases = [cls for cls in instance.type.__mro__ if own_module_of(cls) is None]
    if any(map(is_of_library, bases)):
        return FOREIGN
    return None if len(bases) > 1 or name in instance.unshared else SOMETHING


def _of_super(value: Super, name: str) -> Value:
    receiver = value.receiver
    if isinstance(receiver, Instance):
        cls = receiver.type
    elif isinstance(receiver, Live):
        thing = receiver.thing
        cls = thing if has_type(thing, type) else type(thing)
    else:
        return None
    if issubclass(value.after, type):
        cls = type(cls)  # in a method of its metaclass
    order = list(cls.__mro__)
    later = order[order.index(value.after) + 1 :] if value.after in order else []
    for owner in later:
        if name in owner.__dict__:
            if owner is type and name == "__call__":
                return receiver
            found = _called(owner.__dict__[name], receiver)
            plain = isinstance(receiver, Live) and can_change(receiver.thing)
            if found is None and plain and isinstance(receiver, Live):
                return Member(receiver, name)
            return found or _of_base(cls, owner, name, receiver)
    return None


def _of_base(cls: type, owner: type, name: str, receiver: Value) -> Inherited | None:
    """Return a method of the standard library, if it may call some of the program's."""
    called = overridden_by(cls, owner, name)
    return Inherited(called, receiver) if called else None


def _class_member(
    cls: type, found: tuple[type, object], name: str, receiver: Value
) -> Value:
    """Return what a class has under the name, bound to the receiver if there is one."""
    owner, raw = found
    if has_type(raw, classmethod):
        return _class_method(raw, cls)
    if reads := _reads(raw):
        given = Arguments((receiver, class_value(cls)))
        return Descriptor(reads, _of_its_class(cls, found, name), given)
    called = _called(raw, receiver)
    if called is not None:
        return called
    # What a library's class has is the program's business where it is plain state.
    if own_module_of(owner) is None and receiver is not None and not is_data(raw):
        return _of_base(cls, owner, name, receiver)
    if receiver is not None and (added := _of_base(cls, owner, name, receiver)):
        return added
    if receiver is not None and is_container(cls):
        return None
    return _of_its_class(cls, found, name)


def _of_its_class(cls: type, found: tuple[type, object], name: str) -> Value:
    """Return the value of what a class has under the name, as it is there."""
    owner, raw = found
    label = f"{class_label(owner)}.{name}"
    return shared(raw, label, Family.CLASS, class_slots(cls, name))


def _reads(raw: object) -> tuple[FunctionType, ...]:
    """Return what reading the raw class attribute runs, if it is a descriptor.

    One that can be called stands for a method: what its `__get__` binds is not known.
    """
    if own_functions(type(raw), "__call__"):
        return ()
    return own_functions(type(raw), "__get__")


def _class_method(raw: classmethod[Any, ..., Any], cls: type) -> Bound:
    return Bound(functions_of(raw), class_value(cls), _cache(raw.__func__))


def _called(raw: object, receiver: Value) -> Value:
    """Return the method or property that the raw class attribute is, or None."""
    functions = tuple(filter(is_own_function, functions_of(raw)))
    if has_type(raw, property, cached_property):
        return None if receiver is None else Descriptor(functions, receiver)
    if has_type(raw, staticmethod):
        return Bound(functions, None, _cache(raw.__func__))
    if has_type(raw, partialmethod):
        placed = (shared(one, _PRESET, Family.CLASS) for one in raw.args)
        named = {
            name: shared(one, _PRESET, Family.CLASS)
            for name, one in raw.keywords.items()
        }
        return Bound(functions, receiver, None, Arguments(tuple(placed), named))
    return Bound(functions, receiver, _cache(raw)) if functions else None


def _cache(thing: object) -> object:
    return thing if is_cache(thing) else None

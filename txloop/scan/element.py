"""What a subscript of a value stands for."""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from dataclasses import replace

from txloop.scan.access import SOME
from txloop.scan.things import PLAIN, UNKNOWN, has_type
from txloop.scan.value import Live, shared


def element(holder: Live, index: object = UNKNOWN) -> Live | None:
    """Return the element of a plain container or tuple, or one that stands for all.

    One that cannot be looked up is None: it may be a container of txloop.
    """
    thing = holder.thing
    if thing is UNKNOWN:
        return holder
    found: object = UNKNOWN
    if has_type(thing, dict):
        found = _value_of(thing, index)
    elif has_type(thing, list) or has_type(thing, tuple) or has_type(thing, deque):
        found = _item_of(thing, index)
    if found is UNKNOWN:
        return None
    value = shared(found, holder.name, holder.family, holder.slots)
    return replace(value, sample=True)


def _value_of(thing: dict[object, object], index: object) -> object:
    found = dict.get(thing, index, UNKNOWN)
    if found is UNKNOWN:
        found = next(iter(dict.values(thing)), UNKNOWN)
    if found is UNKNOWN and has_type(thing, defaultdict):
        factory = thing.default_factory
        found = factory() if factory in PLAIN else UNKNOWN
    return found


def _item_of(
    thing: list[object] | tuple[object, ...] | deque[object], index: object
) -> object:
    position = index if isinstance(index, int) else 0
    if not -len(thing) <= position < len(thing):
        position = 0
    return next(itertools.islice(thing, position % (len(thing) or 1), None), UNKNOWN)


def setting(settings: Live, key: object) -> Live:
    """Return the value of one setting; any of them for a key that is not known."""
    if not isinstance(key, str):
        slot = (settings.key, SOME)
        return Live(settings.thing, settings.name, settings.family, (slot,))
    own = settings.thing
    thing = dict.get(own, key, UNKNOWN) if has_type(own, dict) else UNKNOWN
    slots = ((settings.key, key), (settings.key, SOME))
    return shared(thing, f'{settings.name}["{key}"]', settings.family, slots)

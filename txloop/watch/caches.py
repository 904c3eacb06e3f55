"""What an `lru_cache` has kept.

A cache may differ from worker to worker, but not by what can be changed: that would be
state. Except where the program has each worker fill it, by an `on_worker_start` that is
the cache itself: then each has a model, or a connection, of its own.
"""

from __future__ import annotations

import gc
from types import FunctionType
from typing import Any

from txloop.watch.kinds import CODE, Kind, kind_of

__all__ = ["cache_results", "filled_by_each", "note_start_hook"]

filled_by_each: set[object] = set()
"""The caches that each worker fills for itself; a registry, filled at import."""


def note_start_hook(function: object) -> None:
    """Note a function that each worker calls when it starts, if it is a cache."""
    if kind_of(function) is Kind.CACHE:
        filled_by_each.add(function)


def cache_results(cache: Any) -> list[object]:
    """Return those of the results in an `lru_cache` that can be changed."""
    on_pypy = type(cache) is FunctionType
    results = _results_in_closure(cache) if on_pypy else _results_in_object(cache)
    return [one for one in results if _is_mutable(one) and type(one) is not object]


def _results_in_closure(cache: FunctionType) -> list[object]:
    """Return the results in a cache that is a function of Python, as on PyPy."""
    cells = dict(zip(cache.__code__.co_freevars, cache.__closure__ or (), strict=True))
    if "cache" not in cells:  # one of size 0
        return []
    entries = list(cells["cache"].cell_contents.values())
    # A bounded one has links, from each entry to the entries before and after it.
    return [link[3] for link in entries] if "root" in cells else entries


def _results_in_object(cache: Any) -> list[object]:
    """Return the results in a cache that is an object of its own, as on CPython."""
    attributes = getattr(cache, "__dict__", None)
    referents = gc.get_referents(cache)
    results: list[object] = []
    for entries in referents:
        if type(entries) is not dict or entries is attributes:
            continue
        values = list(entries.values())
        if values and type(values[0]).__name__ != "_lru_list_elem":
            results += values
            continue
        # A bounded one has its keys and results itself; what is in its dict has none.
        others = {id(entries), id(attributes), id(cache.__wrapped__), *map(id, entries)}
        results += [one for one in referents if id(one) not in others]
    return results


def _is_mutable(thing: object, depth: int = 0) -> bool:
    kind = kind_of(thing)
    if kind is Kind.PARTS:
        return depth < 4 and any(_is_mutable(part, depth + 1) for part in thing)  # type: ignore[attr-defined] # a tuple or the like
    return kind not in CODE and kind not in (Kind.NOTHING, Kind.CACHE)

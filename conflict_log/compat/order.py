"""The order of a dict of Python 2, in which PyPy's tool leaves rows that cost the same.

Python 2.7 hashes text and tuples the same way in every run, and a dict lists its keys
in the order of their slots. Slots, collisions and growth are those of its dictobject.c
on a 64-bit machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["slot_order"]

_MASK: Final = (1 << 64) - 1
_FACTOR: Final = 1_000_003
_LARGE: Final = 50_000

_Key = tuple[int | bytes, ...]


def slot_order(keys: Iterable[_Key]) -> list[_Key]:
    """Return distinct keys, given in the order of insertion, as Python 2 lists them."""
    slots: list[tuple[int, _Key] | None] = [None] * 8
    for used, key in enumerate(keys, 1):
        _put(slots, (_hash_tuple(key), key))
        if used * 3 >= len(slots) * 2:
            size = 8
            while size <= used * (2 if used > _LARGE else 4):
                size *= 2
            before, slots = slots, [None] * size
            for entry in before:
                if entry is not None:
                    _put(slots, entry)
    return [entry[1] for entry in slots if entry is not None]


def _put(slots: list[tuple[int, _Key] | None], entry: tuple[int, _Key]) -> None:
    """Put an entry into the first free slot of its key's sequence."""
    mask = len(slots) - 1
    perturb = slot = entry[0]
    while slots[slot & mask] is not None:
        slot = slot * 5 + perturb + 1 & _MASK
        perturb >>= 5
    slots[slot & mask] = entry


def _hash_tuple(key: _Key) -> int:
    """Return the hash of a tuple, as a number without sign."""
    total, factor, left = 0x345678, _FACTOR, len(key)
    for item in key:
        left -= 1
        inner = item if isinstance(item, int) else _hash_text(item)
        total = (total ^ inner) * factor & _MASK
        factor = factor + 82_520 + left + left & _MASK
    return _not_minus_one(total + 97_531 & _MASK)


def _hash_text(text: bytes) -> int:
    """Return the hash of a string of bytes, as a number without sign."""
    if not text:
        return 0
    total = text[0] << 7
    for byte in text:
        total = total * _FACTOR & _MASK ^ byte
    return _not_minus_one(total ^ len(text))


def _not_minus_one(total: int) -> int:
    """Return a hash; -1 stands for an error, and -2 for both."""
    return _MASK - 1 if total == _MASK else total

"""TCache: a shared cache, which forgets; and `cached`, which fills one by itself.

An entry is a cell of a dict, filled by the transaction that missed it. What is too
much, or too old, is taken out after the commit, on the loop thread. That must not abort
those that have just read it: an entry says the same whether it is there or not. So the
cache remembers which versions only evicted, and they do not count as changes of an
entry; what the program deletes or replaces does.

Which entries go is decided by when they were filled. By their last use was rejected:
each look would be a write, with which all other looks conflict.
"""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from txloop.cells.claims import Claims
from txloop.cells.kinds import check_key
from txloop.cells.shareable import shareable
from txloop.cells.tdict import TDict, as_dict
from txloop.errors import TxConfigurationError
from txloop.stm.attempt import running
from txloop.stm.callables import with_article
from txloop.stm.container import NEWEST, reduced_with
from txloop.stm.primitives import on_commit
from txloop.stm.store import committed
from txloop.stm.types import MISSING
from txloop.stm.versions import Entry, value_at

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

__all__ = ["TCache", "cached"]

K = TypeVar("K")
V = TypeVar("V")
P = ParamSpec("P")
R = TypeVar("R")

_claims = Claims()
_MANY = 1000  # versions; of more, those that no entry has are forgotten


class TCache(TDict[K, V]):
    """A `TDict` that forgets what is too much or too old, as a cache of `cachetools`.

    An entry that is too old is not there. The oldest ones are taken out after the
    commit that filled one too many, which conflicts with nothing. Two transactions that
    fill the same entry conflict; the second one runs again and finds it. The rest is as
    in `TDict`.

    >>> pages = TCache(maxsize=2)
    >>> for number in range(3):
    ...     pages[number] = f"page {number}"
    >>> pages
    TCache({1: 'page 1', 2: 'page 2'}, maxsize=2)

    Attributes:
        maxsize: How many entries it keeps.
        ttl: How many seconds after it was filled an entry is too old, or None.
        timer: Tells the time; the same in every process.
    """

    __slots__ = ("_evictions", "_rules")

    _rules: tuple[int, float | None, Callable[[], float]]  # travels with references
    _evictions: set[int]  # versions that only evicted; the owner's

    def __init__(
        self,
        maxsize: int = 128,
        ttl: float | None = None,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make an empty one.

        Raises:
            TxConfigurationError: if it could hold nothing.
        """
        if isinstance(maxsize, bool) or not isinstance(maxsize, int) or maxsize < 1:
            raise TxConfigurationError(f"maxsize must be at least 1, got {maxsize!r}")
        if ttl is not None and not ttl > 0:
            raise TxConfigurationError(f"ttl must be more than 0 s, got {ttl!r}")
        self._rules = maxsize, ttl, timer
        self._adopt({})

    @property
    def maxsize(self) -> int:
        """How many entries it keeps."""
        return self._rules[0]

    @property
    def ttl(self) -> float | None:
        """How many seconds after it was filled an entry is too old, or None."""
        return self._rules[1]

    @property
    def timer(self) -> Callable[[], float]:
        """What tells the time."""
        return self._rules[2]

    @property
    def currsize(self) -> int:
        """How many entries it has, those included that are too old or too many."""
        return super().__len__()

    def expire(self) -> None:
        """Take out what is too old, after the commit."""
        on_commit(_evict, self)

    # Reading

    def __getitem__(self, key: K) -> V:
        value = self._found(key)
        return self.__missing__(key) if value is MISSING else cast("V", value)

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the value of `key`, or `default` if it is not there."""
        value = self._found(key)
        return default if value is MISSING else value

    def __contains__(self, key: object) -> bool:
        if self.ttl is None:
            return super().__contains__(key)
        return self._found(key) is not MISSING

    def __len__(self) -> int:
        return super().__len__() if self.ttl is None else len(self._contents())

    def __iter__(self) -> Iterator[K]:
        return super().__iter__() if self.ttl is None else iter(self._contents())

    def __repr__(self) -> str:
        ttl = "" if self.ttl is None else f", ttl={self.ttl}"
        name = type(self).__name__
        return f"{name}({self._contents()!r}, maxsize={self.maxsize}{ttl})"

    # Writing

    def __setitem__(self, key: K, value: V) -> None:
        check_key(key)
        self._fill({key: shareable(value)})

    def update(self, *items: Any, **values: Any) -> None:
        """Fill several entries, in one commit."""
        given = as_dict(*items) if items else {}
        for key, value in (given | values).items():
            self[key] = value

    @classmethod
    def fromkeys(cls, keys: Any, value: Any = None, /) -> Any:
        """Return a new one with these keys, large enough for all."""
        found = dict.fromkeys(keys, value)
        made = cls(max(len(found), 1))
        made.update(found)
        return made

    # How

    def _fill(self, values: dict[Any, Any]) -> None:
        _, ttl, timer = self._rules
        if ttl is not None:
            until = timer() + ttl
            values = {key: (value, until) for key, value in values.items()}
        attempt = running.attempt
        for key, value in values.items():
            # Out and in, so that the order is that in which entries were filled.
            if attempt is None:
                committed.install([(self, key, MISSING), (self, key, value)])
            else:
                attempt.write(self, key, MISSING)
                attempt.write(self, key, value)
        on_commit(_evict, self)

    def _found(self, key: object) -> Any:
        value = super()._found(key)
        _, ttl, timer = self._rules
        if ttl is None or value is MISSING:
            return value
        value, until = value
        return value if timer() < until else MISSING

    def _contents(self) -> dict[K, V]:
        contents: dict[Any, Any] = super()._contents()
        _, ttl, timer = self._rules
        if ttl is None:
            return contents
        now = timer()
        return {key: one for key, (one, until) in contents.items() if now < until}

    def _tx_like(self, contents: dict[K, V]) -> TCache[K, V]:
        made: TCache[K, V] = type(self).__new__(type(self))
        TCache.__init__(made, *self._rules)
        made.update(contents)
        return made

    def _tx_start(self, number: int, cells: Any) -> None:
        super()._tx_start(number, cells)
        self._evictions = set()

    def _tx_changed_since(self, key: Hashable, presence: bool, snapshot: int) -> int:
        entry: Any = self._tx_cells.get(key, MISSING)
        if type(entry) is Entry and entry.version in self._evictions:
            older: Any = entry.older
            changed = type(older) is Entry and older.version > snapshot
            return older.version if changed else 0
        return super()._tx_changed_since(key, presence, snapshot)

    def __reduce__(self) -> tuple[object, ...]:
        return reduced_with(self, "_rules")


def _evict(cache: TCache[Any, Any]) -> None:
    """Take out what is too much, and too old; on the loop thread, after a commit."""
    maxsize, ttl, timer = cache._rules
    surplus = cache._tx_size - maxsize
    if surplus <= 0 and ttl is None:
        return
    now = timer() if ttl is not None else 0.0
    gone: list[Any] = []
    for key, cell in cache._tx_cells.items():
        value: Any = value_at(cell, NEWEST)
        if value is MISSING:
            continue
        if len(gone) >= surplus and (ttl is None or now < value[1]):
            break
        gone.append(key)
    if not gone:
        return
    evictions = cache._evictions
    evictions.add(committed.install([(cache, key, MISSING) for key in gone]))
    if len(evictions) > _MANY:
        needed = {
            cell.version for cell in cache._tx_cells.values() if type(cell) is Entry
        }
        evictions &= needed


def _arguments(*args: Any, **kwargs: Any) -> tuple[object, ...]:
    return (args, tuple(sorted(kwargs.items()))) if kwargs else args


def cached(
    cache: TDict[Any, Any] | None = None,
    key: Callable[..., Hashable] = _arguments,
    *,
    maxsize: int = 128,
    ttl: float | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Keep what a function returns, by its arguments, as `cachetools.cached` does.

    What is kept, and returned, is what a container makes of it: a plain list becomes a
    `TList`. Exceptions are not kept. A transaction that calls the function looks the
    result up and fills it in as a part of itself; all may call it that may write. Where
    many ask for the same at the same time, one computes it and the others wait, without
    a worker; not in transactions that commit in an order. The function gets the
    attributes `cache`, `cache_key` and `cache_clear`.

    >>> @cached(maxsize=100, ttl=60)
    ... def square(number):
    ...     return number * number
    >>> square(3), len(square.cache)
    (9, 1)

    Args:
        cache: Where to keep it; a new `TCache` if None. May serve several functions, if
            their keys differ.
        key: Makes the key from the arguments.
        maxsize: How many results a new one keeps.
        ttl: For how many seconds, or None.
    """
    kept: Any = TCache(maxsize, ttl) if cache is None else cache
    if not isinstance(kept, TDict):
        raise TxConfigurationError(
            "a cache must be a txloop.TCache or TDict, not "
            f"{with_article(type(kept).__name__)}; @cached() makes one"
        )

    _claims.prepare()

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            place: Any = key(*args, **kwargs)
            value = kept._found(place)
            if value is MISSING:
                with _claims.claimed(kept._tx_number, place):
                    value = shareable(function(*args, **kwargs))
                    kept[place] = value
            return cast("R", value)

        made: Any = wrapper
        made.cache = kept
        made.cache_key = key
        made.cache_lock = None
        made.cache_clear = kept.clear
        return wrapper

    return decorate

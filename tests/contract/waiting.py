"""Bodies that wait for something, and what is seen of their waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.engine import note
from txloop import TDict, TVar, on_commit, retry

if TYPE_CHECKING:
    from tests.engine import Engine

__all__ = [
    "await_for",
    "await_key",
    "await_open",
    "kinds",
    "put",
    "set_to",
    "take",
    "take_and_count",
    "take_and_note",
    "until_waiting",
    "waiting",
]


def kinds(engine: Engine, *kinds: type[Any]) -> list[tuple[str, int]]:
    """Return what happened of these kinds, in order, as pairs of name and number."""
    return [
        (type(event).__name__, event.transaction)
        for event in engine.events
        if isinstance(event, kinds)
    ]


def waiting(engine: Engine) -> int:
    """Return how many transactions wait."""
    return engine.dispatcher.stats().waiting


def until_waiting(engine: Engine, count: int) -> None:
    """Run the loop until so many transactions wait."""
    engine.until(lambda: waiting(engine) == count)


def await_open(open_: TVar[Any]) -> object:
    """Wait until it is true."""
    if not open_.value:
        retry()
    return open_.value


def await_for(open_: TVar[Any], timeout: float | None) -> object:
    """Wait until it is true, or the time is over."""
    if not open_.value:
        retry(timeout=timeout)
        return "timed out"
    return open_.value


def await_key(shared: TDict[Any, Any], key: object) -> object:
    """Wait until the key is there."""
    if key not in shared:
        retry()
    return shared[key]


def take(stock: TDict[Any, Any]) -> object:
    """Take the first item of a dict, if there is any."""
    for key in stock:
        return stock.pop(key)
    retry()
    return None


def take_and_count(stock: TDict[Any, Any], taken: TVar[int]) -> object:
    """Take the first item, and count it."""
    thing = take(stock)
    taken.value += 1
    return thing


def take_and_note(stock: TDict[Any, Any], name: object) -> object:
    """Take the first item, and note who did."""
    on_commit(note, name)
    return take(stock)


def put(stock: TDict[Any, Any], key: object, value: object = None) -> None:
    """Put something there to take."""
    stock[key] = value or key


def set_to(variable: TVar[Any], value: object) -> None:
    """Set it."""
    variable.value = value

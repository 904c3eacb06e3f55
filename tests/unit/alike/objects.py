"""The plain objects that containers are compared with, and how two are compared."""

from __future__ import annotations

import copy
import re
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import ItemsView, KeysView, ValuesView
from typing import TYPE_CHECKING, Any

import txloop
from txloop.stm.container import Container

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MAKERS", "PYPY", "Differences", "said", "shown"]

PYPY = sys.implementation.name == "pypy"

MAKERS: dict[str, Callable[[], Any]] = {
    "list": lambda: [1, "a", 3],
    "empty list": list,
    "dict": lambda: {"a": 1, 1: "x"},
    "empty dict": dict,
    "set": lambda: {1, 2, "a"},
    "empty set": set,
    "deque": lambda: deque([1, "a", 3]),
    "empty deque": deque,
    "full deque": lambda: deque([1, "a", 3], 3),
    "deque for nothing": lambda: deque(maxlen=0),
    "defaultdict": lambda: defaultdict(list, {"a": [1], 1: [2]}),
    "defaultdict without factory": lambda: defaultdict(None, {"a": 1}),
    "OrderedDict": lambda: OrderedDict({"a": 1, 1: "x"}),
    "empty OrderedDict": OrderedDict,
    "Counter": lambda: Counter({"a": 2, 1: 1}),
    "empty Counter": Counter,
}


def shown(value: Any) -> str:
    """Return what two answers are compared by; sets have no order here."""
    if isinstance(value, Container):
        value = txloop.plain(value)
    if isinstance(value, KeysView | ItemsView | ValuesView):
        return repr(value)
    name = type(value).__name__
    if hasattr(value, "__next__"):
        return f"iterator {shown(list(value))}"
    if isinstance(value, dict):
        return f"{name} {[(shown(key), shown(one)) for key, one in value.items()]}"
    if isinstance(value, list | tuple | deque):
        return f"{name} {[shown(one) for one in value]}"
    if isinstance(value, set | frozenset):
        return f"{name} {sorted(map(shown, value))}"
    return without_places(f"{name} {value!r}")


def without_places(text: str) -> str:
    """Return a text without the places of objects in memory, which differ anyway."""
    return re.sub(" at 0x[0-9a-f]+| with id=[0-9]+", "", text)


def said(act: Callable[[Any], Any], one: Any) -> tuple[str, str]:
    """Return what comes of it: a value, or the type of an error and its text."""
    try:
        answer = act(one)
    except Exception as error:
        return type(error).__name__, without_places(str(error))
    return "value", "itself" if answer is one else shown(answer)


class Differences:
    """Does the same to a plain object and to its container, and prints what differs."""

    def compare(
        self,
        what: str,
        make: Callable[[], Any],
        act: Callable[[Any], Any],
        words: bool = True,
    ) -> None:
        """Compare answers, or errors, and what is in both afterwards.

        Args:
            what: What to print where they differ.
            make: Makes a plain object.
            act: What is done to it, and then to its container.
            words: Whether the texts of errors count, too.
        """
        plain, shared = make(), txloop.share(make())
        wanted, found = said(act, plain), said(act, shared)
        if not words and wanted[0] == found[0] != "value":
            wanted = found
        if (wanted, shown(plain)) != (found, shown(shared)):
            print(what, wanted, found, shown(plain), shown(shared), sep=" | ")


def copied(values: Any) -> Any:
    """Return a deep copy, as no call may see what another one did."""
    return copy.deepcopy(values)

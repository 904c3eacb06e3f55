"""share() and plain(): the containers of the module collections, there and back."""

from __future__ import annotations

import copy
import pickle
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import pytest

from tests.comparing import RUNS
from txloop import (
    TCounterDict,
    TDefaultDict,
    TDeque,
    TDict,
    TOrderedDict,
    TVar,
    TxValueError,
    plain,
    share,
)

KINDS = {
    "defaultdict": (defaultdict(list, a=[1], b=[]), TDefaultDict),
    "empty defaultdict": (defaultdict(int), TDefaultDict),
    "OrderedDict": (OrderedDict(b=1, a=[2]), TOrderedDict),
    "deque": (deque([1, [2]]), TDeque),
    "deque with maxlen": (deque([1, 2, 3], 2), TDeque),
    "Counter": (Counter("banana"), TCounterDict),
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(("original", "kind"), KINDS.values(), ids=KINDS)
def test_there_and_back(original, kind, run):
    # WHEN
    shared = run(share, [original, original])
    back = plain(shared)

    # THEN
    assert kind is type(shared[0])
    assert original == shared[0]
    assert shared[0] is shared[1]
    assert type(original) is type(back[0])
    assert original == back[0]
    assert back[0] is back[1]
    assert original is not back[0]
    for name in ("default_factory", "maxlen"):
        assert getattr(original, name, 0) == getattr(back[0], name, 0)


@pytest.mark.parametrize(("original", "kind"), KINDS.values(), ids=KINDS)
def test_what_is_stored_becomes_one_as_well(original, kind):
    # WHEN
    shared: TVar[Any] = TVar(original)

    # THEN
    assert kind is type(shared.value)
    assert original == shared.value


@pytest.mark.parametrize(("original", "kind"), KINDS.values(), ids=KINDS)
def test_copies_are_of_its_kind_and_pickles_references(original, kind):
    # GIVEN
    shared = share(original)

    # WHEN
    copies = [copy.copy(shared), copy.deepcopy(shared)]

    # THEN
    assert [kind, kind] == list(map(type, copies))
    assert [shared, shared] == copies
    assert shared is pickle.loads(pickle.dumps(shared))
    assert type(original) is type(shared.copy())


class Own(TDefaultDict[str, int]):
    """A class of the program's, with its own default."""

    __slots__ = ()

    def __missing__(self, key: str) -> int:
        return len(key)


def test_a_derived_class_may_have_its_own_default():
    # GIVEN
    derived = type("Sized", (TDict,), {"__missing__": lambda self, key: len(key)})

    # THEN
    for one in (Own(), derived()):
        assert 3 == one["abc"]
        assert one.get("abc") is None
        assert {} == one


def test_a_factory_that_can_change_is_refused_with_advice():
    seen: list[int] = []

    with pytest.raises(TxValueError, match=r"refers to 'seen', which can change"):
        TDefaultDict(lambda: len(seen))
    with pytest.raises(TypeError, match="first argument must be callable or None"):
        TDefaultDict(5)  # type: ignore[call-overload] # that is the point


def test_a_deque_counts_from_its_end_and_may_hold_nothing():
    assert 1 == TDeque([1, 2])[-2]
    assert (0, []) == (TDeque([1], 0).maxlen, [*TDeque([1], 0)])


def test_what_contains_itself_can_be_shown():
    # GIVEN
    shared: Any = TDefaultDict(list)

    # WHEN
    shared["me"] = shared

    # THEN
    assert "TDefaultDict(<class 'list'>, {'me': TDefaultDict(...)})" == repr(shared)
    assert "TOrderedDict({'a': 1})" == repr(TOrderedDict(a=1))
    assert "TDeque([1, 2])" == repr(TDeque([1, 2]))
    assert "TDeque([2], maxlen=1)" == repr(TDeque([1, 2], 1))
    assert "TCounterDict({'b': 2, 'a': 1})" == repr(TCounterDict("abb"))
    assert "TCounterDict()" == repr(TCounterDict())


def test_json_has_them_as_objects_and_lists():
    assert [{"a": 2}, {"a": 1}, [1, 2]] == [
        TCounterDict("aa")._tx_as_json(),
        TOrderedDict(a=1)._tx_as_json(),
        TDeque([1, 2])._tx_as_json(),
    ]


def test_a_wrong_maxlen_is_refused_as_by_a_deque():
    for wrong in (-1, "x", 1.5):
        with pytest.raises((TypeError, ValueError)) as found:
            TDeque((), wrong)  # type: ignore[arg-type] # that is the point
        with pytest.raises(type(found.value)):
            deque(maxlen=wrong)  # type: ignore[arg-type] # likewise

"""Each container does what its plain one does: see `tests.model.machines`."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from functools import partial

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from tests.model.dict_steps import (
    counter_dict_steps,
    counts,
    default_dict_steps,
    dict_steps,
    dicts,
    ordered_dict_steps,
    perform_on_dict,
)
from tests.model.machines import machine_of
from tests.model.nested_steps import nested_steps, perform_on_nested, trees
from tests.model.object_steps import (
    Count,
    PlainPoint,
    SharedPoint,
    counter_steps,
    object_steps,
    perform_on_counter,
    perform_on_object,
)
from tests.model.set_steps import OrderedSet, elements, perform_on_set, set_steps
from txloop import (
    TCounter,
    TCounterDict,
    TDefaultDict,
    TDict,
    TOrderedDict,
    TSet,
    share,
)

NUMBERS = st.integers(-2, 3)

MACHINES = {
    "dict": machine_of(perform_on_dict, dict_steps(), dicts(), TDict),
    "default dict": machine_of(
        perform_on_dict,
        default_dict_steps(),
        dicts(),
        partial(TDefaultDict, int),
        partial(defaultdict, int),
    ),
    "ordered dict": machine_of(
        perform_on_dict, ordered_dict_steps(), dicts(), TOrderedDict, OrderedDict
    ),
    "counter dict": machine_of(
        perform_on_dict, counter_dict_steps(), counts(), TCounterDict, Counter
    ),
    "set": machine_of(perform_on_set, set_steps(), elements(), TSet, OrderedSet),
    "object": machine_of(
        perform_on_object, object_steps(), NUMBERS, SharedPoint, PlainPoint
    ),
    "counter": machine_of(
        perform_on_counter, counter_steps(), NUMBERS, TCounter, Count
    ),
    "nested": machine_of(perform_on_nested, nested_steps(), trees(), share),
}


def check(name: str, examples: int, steps: int) -> None:
    budget = settings(
        max_examples=examples, stateful_step_count=steps, report_multiple_bugs=False
    )
    run_state_machine_as_test(MACHINES[name], settings=budget)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", MACHINES)
def test_a_container_does_what_its_plain_one_does(name):
    check(name, examples=8, steps=10)


@pytest.mark.slow
@pytest.mark.timeout(600)  # a failure is shrunk for up to 300 s
@pytest.mark.parametrize("name", MACHINES)
def test_a_container_does_it_in_whatever_order(name):
    check(name, examples=25, steps=40)

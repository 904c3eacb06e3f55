"""Classes derived from `TypedDict`: calls of them make plain dicts."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import shared

CLASSES = {
    "a class": "class Event(TypedDict):\n    name: str\n",
    "one with an argument": "class Event(typing.TypedDict, total=False):\n    x: int\n",
    "a derived one": (
        "class Named(TypedDict):\n    name: str\nclass Event(Named):\n    x: int\n"
    ),
    "a call": "Event = TypedDict('Event', {'name': str})\n",
}


@pytest.mark.parametrize("case", CLASSES)
def test_what_it_makes_is_a_container_where_it_is_used_on(case):
    source = CLASSES[case] + (
        "log = []\ndef emit(name):\n    event = Event(name=name)\n"
        "    log.append(event)\n    event['at'] = 1\n"
    )

    assert "event = txloop.share(Event(name=name))" in shared(source, "log")


def test_one_of_another_module_is_known_too():
    source = (
        "from kinds import Event\nlog = []\ndef emit(name):\n"
        "    event = Event(name=name)\n    log.append(event)\n    event['at'] = 1\n"
    )
    others = {"kinds": CLASSES["a class"]}

    found = shared(source, "log", others=others)

    assert "event = txloop.share(Event(name=name))" in found

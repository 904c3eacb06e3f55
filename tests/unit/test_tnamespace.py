"""TNamespace: objects with attributes of any name, beside plain ones."""

from __future__ import annotations

import copy
import sys
from typing import Any

import pytest

from tests.comparing import RUNS
from txloop import TList, TNamespace, TObject
from txloop.cells import undeclared


class Methods:
    limit = 9

    def __init__(self, **given: object) -> None:
        self.first = 1
        for name, value in given.items():
            setattr(self, name, value)
        self.last: Any = 2

    def save(self) -> str:
        return "saved"

    @property
    def title(self) -> str:
        return self.name.title()  # type: ignore[attr-defined, no-any-return] # by name


class Plain(Methods):
    def save(self) -> str:
        return "plain " + super().save()


class Shared(TNamespace):
    limit = 9
    __init__ = Methods.__init__
    title = Methods.title

    def save(self) -> str:
        return "plain saved"


class Declared(TObject, dataclass=False):
    def __init__(self, name: str) -> None:
        self.name = name

    def fill(self) -> None:
        self.count = 3


PYPY = sys.implementation.name == "pypy"

put: Any = setattr
delete: Any = delattr
fields: Any = vars


def adds_while_it_goes(one: Any) -> None:
    for _ in fields(one):
        one.added = 1


def changes_half(one: Any) -> None:
    for name, value in {"a": 1, "b": None, "c": 3}.items():
        if value is None:
            raise ValueError(name)
        put(one, name, value)


def made_bare(one: Any) -> Any:
    kind: Any = type(one)
    bare = kind.__new__(kind)
    fields(bare).update(name="bare")
    return bare.name, fields(bare)


SCRIPTS = {
    "set": lambda one: put(one, "note", 1),
    "a class attribute": lambda one: put(one, "limit", one.limit + 1),
    "a method": lambda one: (put(one, "save", "x"), one.save),
    "a method, deleted": lambda one: (put(one, "save", 1), delete(one, "save")),
    "a property": lambda one: put(one, "title", 1),
    "past a property": lambda one: (fields(one).update(title=1), one.title),
    "set again": lambda one: (delete(one, "first"), put(one, "first", 3)),
    "not there": lambda one: one.nothing,
    "not there, deleted": lambda one: delete(one, "nothing"),
    "default": lambda one: getattr(one, "nothing", 5),
    "whether it is there": lambda one: (hasattr(one, "nothing"), hasattr(one, "name")),
    "what fails inside": lambda one: (delete(one, "name"), one.title),
    "update": lambda one: fields(one).update({"note": 1, "name": "new"}),
    "no name": lambda one: (fields(one).update({5: 1}), fields(one)[5]),
    "an item": lambda one: fields(one).__setitem__("note", one.first),
    "deleted item": lambda one: fields(one).__delitem__("first"),
    "no item": lambda one: fields(one).__delitem__("nothing"),
    "pop": lambda one: (fields(one).pop("first"), fields(one).pop("nothing", 4)),
    "popitem": lambda one: fields(one).popitem(),
    "clear": lambda one: (fields(one).clear(), put(one, "note", 1)),
    "setdefault": lambda one: fields(one).setdefault("note", one.first),
    "kept": lambda one: (names := fields(one), put(one, "note", 1), len(names))[-1],
    "kept items": lambda one: (
        items := fields(one).items(),
        delete(one, "first"),
        [*items],
    )[-1],
    "the same": lambda one: fields(one) is one.__dict__,
    "a loop": adds_while_it_goes,
    "half": changes_half,
    "copy": lambda one: fields(copy.copy(one)),
    "deep copy": lambda one: fields(copy.deepcopy(one)),
    "bare": made_bare,
    "equal": lambda one: (one == one, one == copy.copy(one)),
    "class": lambda one: (type(one).limit, hasattr(type(one), "name")),
}


def _done(run: Any, script: Any, one: Any) -> object:
    try:
        return run(script, one)
    except Exception as error:
        return type(error), str(error).replace("Shared", "Plain")


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("case", SCRIPTS)
def test_it_does_as_a_plain_object_does(case, run):
    plain, shared = Plain(name="ann", age=3), Shared(name="ann", age=3)

    expected = _done(lambda script, one: script(one), SCRIPTS[case], plain)

    assert expected == _done(run, SCRIPTS[case], shared)
    # What was deleted and is set again has a place of its own on PyPy.
    ordered = dict if PYPY and case == "set again" else list
    assert ordered(vars(plain).items()) == ordered(vars(shared).items())
    assert [vars(plain).get("save")] == [vars(shared).get("save")]
    assert "plain saved" == Shared().save()


@pytest.mark.parametrize("run", RUNS)
def test_it_is_made_with_names_of_its_own(run):
    shared: Any = run(lambda: Shared(zeta=[1], alpha=2))

    assert ["first", "zeta", "alpha", "last"] == [*vars(shared)]
    assert isinstance(shared.zeta, TList)


def test_an_attribute_of_one_class_is_none_of_another():
    class Other(TNamespace):
        pass

    Shared(only_here=1)

    assert not hasattr(Other(), "only_here")
    assert not hasattr(Other, "only_here")


def test_more_names_than_are_kept_do_no_harm(monkeypatch):
    monkeypatch.setattr(undeclared, "_MOST_NAMES", 0)
    shared: Any = Shared()

    shared.one_too_many = 1
    del shared.first

    try:
        assert (1, 2) == (shared.one_too_many, shared.last)
        assert "one_too_many" in vars(shared)
        assert not hasattr(shared, "not_there")
        del shared.one_too_many
        assert not hasattr(shared, "one_too_many")
    finally:
        delete(TNamespace, "__getattr__")


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("case", ["kept", "kept items", "the same", "a loop"])
def test_the_namespace_of_every_shared_object_shows_what_is_set_meanwhile(case, run):
    def script(one: Any) -> Any:
        names = vars(one)
        items = names.items()
        one.fill()
        return {"kept": len(names), "kept items": [*items]}.get(
            case, vars(one) is names
        )

    expected = {"kept": 2, "kept items": [("name", "ann"), ("count", 3)]}.get(
        case, True
    )

    assert expected == run(script, Declared("ann"))


def test_a_loop_over_a_namespace_notices_what_is_set_meanwhile():
    def script(one: Any) -> None:
        for _ in vars(one):
            one.fill()

    with pytest.raises(RuntimeError, match="changed size"):
        script(Declared("ann"))


def test_what_it_is_given_twice_at_once_stays_one():
    shared: Any = Shared()
    row = [0]

    fields(shared).update(a=row, b=row)

    assert shared.a is shared.b


@pytest.mark.parametrize("run", RUNS)
def test_names_that_come_from_clients_may_be_ours(run):
    shared: Any = Shared(first=3)
    ours = ("_tx_cells", "_tx_changed", "_tx_number", "_tx_told", "_tx_row", "_tx_open")

    def script() -> object:
        for name in ours:
            put(shared, name, 7)
        fields(shared).update(dict.fromkeys(ours, 8))
        delete(shared, "_tx_cells")
        return [*fields(shared)]

    expected = ["first", "last", *ours[1:]]

    assert expected == run(script)
    assert (3, 8) == (shared.first, fields(shared)["_tx_told"])
    assert expected == [*fields(shared)]

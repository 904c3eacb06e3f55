"""Values of which only the program, or pydantic, knows that they never change."""

from __future__ import annotations

import subprocess
import sys
import types
from typing import Any, ClassVar

import pytest

from txloop import TDict, TVar, TxConfigurationError, TxValueError, register_immutable
from txloop.cells import kinds


@pytest.fixture(autouse=True)
def _forget(monkeypatch):
    monkeypatch.setattr(kinds, "_registered", {})


class Money:
    __slots__ = ("amount",)

    def __init__(self, amount: int) -> None:
        self.amount = amount


class Euro(Money):
    __slots__ = ()


def test_what_the_program_vouches_for_is_taken():
    # GIVEN
    advice = r"may be mutable .* say so: txloop\.register_immutable\(Money\)$"
    with pytest.raises(TxValueError, match=advice):
        TVar(Money(1))

    # WHEN
    returned = register_immutable(Money)

    # THEN
    assert Money is returned
    for value in (Money(1), Euro(2), (Money(3), "x")):
        assert value is TVar(value).value
    with pytest.raises(TxValueError, match="is equal only to itself"):
        TDict({Money(1): 1})


def test_only_classes_are_registered():
    with pytest.raises(TxConfigurationError, match="takes a class, not int 5; give it"):
        register_immutable(5)  # type: ignore[arg-type] # that is the point


@pytest.fixture
def pydantic(monkeypatch):
    """Have a module that looks like pydantic, which not everybody has."""
    module: Any = types.ModuleType("pydantic")
    module.BaseModel = Model
    monkeypatch.setitem(sys.modules, "pydantic", module)


class Model:
    model_config: ClassVar[Any] = {}

    def __init__(self, **fields: object) -> None:
        self.__dict__.update(fields)


class Frozen(Model):
    model_config: ClassVar[Any] = {"frozen": True}


class Extended(Frozen):
    __pydantic_extra__: ClassVar[Any] = {"more": [1]}


@pytest.mark.usefixtures("pydantic")
def test_frozen_models_are_values_if_their_parts_are():
    # GIVEN
    model = Frozen(x=1, parts=(Frozen(y="a"), frozenset({2})))

    # THEN
    assert model is TVar(model).value
    with pytest.raises(TxValueError, match=r"its field 'x' can change.* a tuple"):
        TVar(Frozen(x=[1]))
    with pytest.raises(TxValueError, match="its field 'more' can change"):
        TVar(Extended(x=1))
    with pytest.raises(TxValueError, match=r"freeze its class: model_config = Config"):
        TVar(Model(x=1))


def test_neither_is_imported_without_need():
    script = """if True:
        import sys, txloop
        txloop.TVar((1, "a"))
        try:
            txloop.TVar(object())
        except txloop.TxValueError:
            pass
        print(sorted({"numpy", "pydantic"} & sys.modules.keys()))
    """
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert "[]" == found.stdout.strip()

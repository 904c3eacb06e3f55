"""Which objects of numpy are values; nobody has to have numpy for that."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest

from txloop import TVar, TxValueError


def stand_in():
    """Return a module that looks like numpy, which not everybody has."""
    numpy: Any = types.ModuleType("numpy")
    numpy.generic = type("generic", (), {})
    numpy.void = type("void", (numpy.generic,), {})
    numpy.float64 = type("float64", (numpy.generic, float), {})
    numpy.bool_ = type("bool_", (numpy.generic,), {})
    numpy.ndarray = Array
    return numpy


class Array:
    """Has what is looked at of an array."""

    def __init__(self, *, writeable=False, has_objects=False, whole=True, base=None):
        self.flags = types.SimpleNamespace(
            writeable=writeable, c_contiguous=whole, f_contiguous=False
        )
        self.dtype = types.SimpleNamespace(hasobject=has_objects)
        self.base = base


Array.__name__ = "ndarray"


@pytest.fixture
def numpy(monkeypatch):
    numpy = stand_in()
    monkeypatch.setitem(sys.modules, "numpy", numpy)
    return numpy


def test_the_scalars_of_numpy_are_values(numpy):
    for value in (numpy.float64(1.5), numpy.bool_()):
        assert value is TVar(value).get()

    with pytest.raises(TxValueError, match=r"^void .* store its item\(\), a tuple$"):
        TVar(numpy.void())


ARRAYS = {
    "whole": (Array(), True),
    "of bytes": (Array(base=b"raw"), True),
    "of another": (Array(base=Array()), True),
    "writeable": (Array(writeable=True), False),
    "of what is writeable": (Array(base=Array(writeable=True)), False),
    "of what may be anything": (Array(base=memoryview(b"")), False),
    "of objects": (Array(has_objects=True), False),
    "in pieces": (Array(whole=False), False),
}


@pytest.mark.parametrize(("array", "is_value"), ARRAYS.values(), ids=ARRAYS)
def test_an_array_is_a_value_if_nobody_can_write_to_it(numpy, array, is_value):
    if is_value:
        assert array is TVar(array).get()
        return
    advice = r"array = array.copy\(\); array.flags.writeable = False$"
    if array.dtype.hasobject:
        advice = r"store what its tolist\(\) returns$"
    with pytest.raises(TxValueError, match=f"^ndarray .* is mutable .*{advice}"):
        TVar(array)

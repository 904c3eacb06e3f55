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


FAULTS = {
    "writeable": "is mutable",
    "of objects": "holds objects that may be mutable",
    "in pieces": "is not stored in one piece",
}

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


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_is_a_value_if_nobody_can_write_to_it(numpy, name):
    array, is_value = ARRAYS[name]
    fault = FAULTS.get(name, "is a view of what can be written to")
    if is_value:
        assert array is TVar(array).get()
        return
    advice = r"array = array.copy\(\); array.flags.writeable = False$"
    if array.dtype.hasobject:
        advice = r"store what its tolist\(\) returns$"
    with pytest.raises(TxValueError, match=f"^ndarray .* {fault} and may .*{advice}"):
        TVar(array)


def test_the_numpy_that_is_there_is_taken():
    """What a program has imported; of the stand-in above, only the shape is tested."""
    numpy = pytest.importorskip("numpy")
    fixed = numpy.arange(6)
    fixed.flags.writeable = False
    taken = [
        *(numpy.float64(1.5), numpy.int32(3), numpy.bool_(True), numpy.str_("a")),
        *(numpy.datetime64("2026-01-01"), numpy.timedelta64(3, "s"), fixed),
        fixed.reshape(2, 3),
    ]

    # THEN
    for value in taken:
        assert value is TVar(value).get()
    for refused in (numpy.arange(3), fixed[::2], numpy.array([[]], dtype=object)):
        with pytest.raises(TxValueError, match="may not be shared"):
            TVar(refused)

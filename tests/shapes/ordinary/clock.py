"""A module of the program with state of its own, without shapes."""

from __future__ import annotations

hours = 0
months = 0
days: list[int] = []
_ticks = {"n": 0}
_beats = {"n": 0}


def tick():
    _ticks["n"] += 1
    return _ticks["n"]


def ticked():
    return _ticks["n"]


def beat():
    _beats["n"] += 1


def beats():
    return _beats["n"]

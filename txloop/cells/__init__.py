"""The containers that hold shared state."""

from __future__ import annotations

from txloop.cells.channel import Channel
from txloop.cells.share import plain, share
from txloop.cells.tcounter import TCounter
from txloop.cells.tdict import TDict
from txloop.cells.tlist import TList
from txloop.cells.tobject import TObject
from txloop.cells.tset import TSet
from txloop.cells.tvar import TVar

__all__ = [
    "Channel",
    "TCounter",
    "TDict",
    "TList",
    "TObject",
    "TSet",
    "TVar",
    "plain",
    "share",
]

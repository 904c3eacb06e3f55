"""The containers that hold shared state."""

from __future__ import annotations

from txloop.cells.channel import Channel
from txloop.cells.kinds import register_immutable
from txloop.cells.likeness import like_plain
from txloop.cells.share import plain, share
from txloop.cells.tcache import TCache, cached
from txloop.cells.tcounter import TCounter
from txloop.cells.tcounterdict import TCounterDict
from txloop.cells.tdefaultdict import TDefaultDict
from txloop.cells.tdeque import TDeque
from txloop.cells.tdict import TDict
from txloop.cells.tlist import TList
from txloop.cells.tobject import TObject
from txloop.cells.tordereddict import TOrderedDict
from txloop.cells.tset import TSet
from txloop.cells.tvar import TVar

__all__ = [
    "Channel",
    "TCache",
    "TCounter",
    "TCounterDict",
    "TDefaultDict",
    "TDeque",
    "TDict",
    "TList",
    "TObject",
    "TOrderedDict",
    "TSet",
    "TVar",
    "cached",
    "like_plain",
    "plain",
    "register_immutable",
    "share",
]

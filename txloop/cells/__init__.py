"""The containers that hold shared state.

::

    tvar          TVar: one value
    tdict         TDict: a conflict per key
    views         its keys, items and values
    owned         attributes of classes that are derived from it, or from TList
    tdefaultdict  TDefaultDict: makes the values of missing keys
    tcounterdict  TCounterDict: counts
    tordereddict  TOrderedDict: an order that can be changed
    tset          TSet: a conflict per element
    set_order     the order of a plain set
    keyed         what dicts and sets have in common
    tlist         TList: a conflict per item
    tdeque        TDeque: may have a greatest length
    sequence      what lists and deques have in common
    list_chunks   how items lie in cells
    list_cells    how a list reads and writes its cells
    list_writes   what one attempt writes to one list
    tcounter      TCounter: a number to which many add at once; TCount: drawn one by one
    channel       Channel: a queue between transactions
    channel_cells how its things lie in cells
    tobject       TObject: a conflict per attribute
    tnamespace    TNamespace: one with attributes of any name
    undeclared    these attributes
    attributes    its attributes, by name; those of a class that stays what it is
    namespaces    the `__dict__` of these objects
    introspected  what tools are told of a class and its constructor
    assigned      which attributes the code of a class assigns
    orders        the order of objects, as dataclasses have it
    tcache        TCache: a cache that forgets; `cached`
    claims        which attempt computes what a cache misses
    share         from plain objects to containers and back, deeply
    shareable     what may be stored: immutable values and containers
    kinds         the same by the kinds of values, and what to do about the rest
    foreign       objects of numpy and pydantic that never change
    copies        deep copies of what containers hold
    bulk          whether many values can be stored as they are
    likeness      containers as JSON; those that pass for plain objects: `like_plain`
    part_by_part  what goes through plain objects part by part, and containers then
    live          loops that see what their bodies do
    bare          dicts that may be taken for their cells
    searching     which of many dicts is equal to one
    heaps         what heapq has, for lists of both kinds
    sets          methods of set as functions, for sets of both kinds
    locks         a lock for which nothing ever waits
"""

from __future__ import annotations

from txloop.cells import sets
from txloop.cells.channel import Channel
from txloop.cells.kinds import register_immutable
from txloop.cells.likeness import like_plain
from txloop.cells.locks import FreeLock
from txloop.cells.share import plain, share
from txloop.cells.tcache import TCache, cached
from txloop.cells.tcounter import TCount, TCounter
from txloop.cells.tcounterdict import TCounterDict
from txloop.cells.tdefaultdict import TDefaultDict
from txloop.cells.tdeque import TDeque
from txloop.cells.tdict import TDict
from txloop.cells.tlist import TList
from txloop.cells.tnamespace import TNamespace
from txloop.cells.tobject import TObject
from txloop.cells.tordereddict import TOrderedDict
from txloop.cells.tset import TSet
from txloop.cells.tvar import TVar

__all__ = [
    "Channel",
    "FreeLock",
    "TCache",
    "TCount",
    "TCounter",
    "TCounterDict",
    "TDefaultDict",
    "TDeque",
    "TDict",
    "TList",
    "TNamespace",
    "TObject",
    "TOrderedDict",
    "TSet",
    "TVar",
    "cached",
    "like_plain",
    "plain",
    "register_immutable",
    "sets",
    "share",
]

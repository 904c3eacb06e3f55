"""Objects that are reached through weak references."""

from __future__ import annotations

import weakref

from tornado.web import RequestHandler

from tests.shapes.shape import burn, writes


class Node:
    def __init__(self):
        self.hits = 0


kept = [Node()]
weak_values = weakref.WeakValueDictionary({"a": kept[0]})
weak_keys = weakref.WeakKeyDictionary({kept[0]: [0]})
weakly = weakref.ref(kept[0])


@writes()
class WeakValue(RequestHandler):
    def get(self):
        node = weak_values["a"]
        hits = node.hits
        burn()
        node.hits = hits + 1
        self.write(str(kept[0].hits))


@writes()
class WeakKey(RequestHandler):
    def get(self):
        burn()
        for node, row in list(weak_keys.items()):
            row[0] += 1
            self.write(f"{type(node).__name__} {row}")


@writes()
class WeakReference(RequestHandler):
    def get(self):
        burn()
        node = weakly()
        node.rows = [*getattr(node, "rows", []), 1]
        self.write(str(len(kept[0].rows)))

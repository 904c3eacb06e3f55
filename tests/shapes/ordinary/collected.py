"""Sets, buffers, queues and the containers of `collections`, heaps and sorted lists."""

from __future__ import annotations

import array
import collections
import heapq
import io
import operator
import random
import types
from bisect import insort
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict

from tornado.web import RequestHandler

from tests.shapes.shape import burn, writes

members = set()
united = set()
pool = set(range(500))
differing = set(range(500))
buffer = bytearray()
cells = array.array("l", [0])
raw = bytearray(8)
view = memoryview(raw)
out = io.StringIO()
binary = io.BytesIO()
recent = collections.deque(maxlen=5)
ring = collections.deque([1, 2, 3])
tally = Counter()
totals = defaultdict(int)
lists = defaultdict(list)
tree = defaultdict(lambda: defaultdict(int))
order = OrderedDict((n, n) for n in "abc")
scopes = ChainMap({"n": 0}, {"other": 1})
registry = UserDict()
rows = UserList()
space = types.SimpleNamespace(n=0, rows=[])
hidden = {"n": 0}
proxy = types.MappingProxyType(hidden)


@writes()
class SetAdd(RequestHandler):
    def get(self):
        burn()
        members.add(len(members))
        self.write(str(len(members)))


@writes()
class SetUpdate(RequestHandler):
    def get(self):
        burn()
        united.update({len(united), len(united) + 1})
        self.write(str(len(united)))


@writes(total=lambda: len(pool))
class SetPop(RequestHandler):
    def get(self):
        burn()
        self.write(str(pool.pop()))


@writes()
class SetDifference(RequestHandler):
    def get(self):
        global differing
        burn()
        differing -= {max(differing)}
        self.write(str(len(differing)))


@writes()
class Bytearray(RequestHandler):
    def get(self):
        burn()
        buffer.extend(b"x")
        self.write(str(len(buffer)))


@writes()
class Array(RequestHandler):
    def get(self):
        before = cells[0]
        burn()
        cells[0] = before + 1
        self.write(str(cells[0]))


@writes()
class Memoryview(RequestHandler):
    def get(self):
        before = view[0]
        burn()
        view[0] = before + 1
        self.write(str(raw[0]))


@writes()
class TextBuffer(RequestHandler):
    def get(self):
        burn()
        out.write("line\n")
        self.write(str(len(out.getvalue())))


@writes()
class ByteBuffer(RequestHandler):
    def get(self):
        burn()
        binary.write(b"ab")
        self.write(str(binary.tell()))


@writes()
class Deque(RequestHandler):
    def get(self):
        burn()
        recent.append((recent[-1] if recent else 0) + 1)
        self.write(str(recent[-1]))


@writes()
class DequeRotate(RequestHandler):
    def get(self):
        burn()
        ring.rotate(1)
        self.write(str(ring[0]))


@writes()
class CounterUpdate(RequestHandler):
    def get(self):
        burn()
        tally.update(["page"])
        self.write(str(tally["page"]))


@writes()
class DefaultdictInt(RequestHandler):
    def get(self):
        burn()
        totals["a"] += 1
        self.write(str(totals["a"]))


@writes()
class DefaultdictList(RequestHandler):
    def get(self):
        burn()
        lists["a"].append(1)
        self.write(str(len(lists["a"])))


@writes()
class DefaultdictTree(RequestHandler):
    def get(self):
        burn()
        tree["x"]["y"] += 1
        self.write(str(tree["x"]["y"]))


@writes()
class MoveToEnd(RequestHandler):
    def get(self):
        burn()
        first = next(iter(order))
        order.move_to_end(first)
        self.write(first)


@writes()
class ChainedMaps(RequestHandler):
    def get(self):
        n = scopes["n"]
        burn()
        scopes["n"] = n + 1
        self.write(str(scopes["n"]))


@writes()
class UserDictItem(RequestHandler):
    def get(self):
        key = len(registry)
        burn()
        registry[key] = 1
        self.write(str(len(registry)))


@writes()
class UserListAppend(RequestHandler):
    def get(self):
        burn()
        rows.append(1)
        self.write(str(len(rows)))


@writes()
class Namespace(RequestHandler):
    def get(self):
        burn()
        space.n += 1
        space.rows.append(space.n)
        self.write(str(len(space.rows)))


@writes()
class BehindProxy(RequestHandler):
    def get(self):
        burn()
        hidden["n"] += 1
        self.write(str(proxy["n"]))


heap = []
ordered = []
deck = random.Random(5)
cards = list(range(52))
operated = [0]
popped = list(range(500))
heapq.heapify(popped)


@writes()
class HeapPush(RequestHandler):
    def get(self):
        burn()
        heapq.heappush(heap, -len(heap))
        self.write(str(heap[0]))


@writes()
class HeapPop(RequestHandler):
    def get(self):
        burn()
        self.write(str(heapq.heappop(popped)))


@writes()
class Insort(RequestHandler):
    def get(self):
        burn()
        insort(ordered, len(ordered))
        self.write(str(ordered[-1]))


@writes()
class Shuffle(RequestHandler):
    def get(self):
        burn()
        deck.shuffle(cards)
        self.write(str(cards[:10]))


@writes()
class OperatorFunctions(RequestHandler):
    def get(self):
        before = operator.getitem(operated, 0)
        burn()
        operator.setitem(operated, 0, before + 1)
        self.write(str(operated[0]))

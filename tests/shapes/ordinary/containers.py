"""Plain containers at module level that handlers fill, empty and order."""

from __future__ import annotations

from tornado.web import RequestHandler

from tests.shapes.shape import burn, writes

hits = {"n": 0}
by_name = {}
groups = {}
updated = {}
tokens = {f"token {n}": n for n in range(500)}
pending = {n: n for n in range(500)}
merged = {}
nested = {"a": {"b": {"n": 0}}}
swapped = {"old": 0, "new": 1}
keyed = {(0, 0): 0}


@writes(total=lambda: hits["n"])
class DictItem(RequestHandler):
    def get(self):
        burn()
        hits["n"] += 1
        self.write(str(hits["n"]))


@writes()
class DictGetDefault(RequestHandler):
    def get(self):
        known = by_name.get("ann", 0)
        burn()
        by_name["ann"] = known + 1
        self.write(str(by_name["ann"]))


@writes()
class DictSetdefault(RequestHandler):
    def get(self):
        burn()
        groups.setdefault("new", []).append(1)
        self.write(str(len(groups["new"])))


@writes()
class DictUpdate(RequestHandler):
    def get(self):
        burn()
        updated.update({len(updated): "x"})
        self.write(str(len(updated)))


@writes(total=lambda: len(tokens))
class DictPopitem(RequestHandler):
    def get(self):
        burn()
        self.write(tokens.popitem()[0])


@writes()
class DictDel(RequestHandler):
    def get(self):
        burn()
        first = next(iter(pending))
        del pending[first]
        self.write(str(first))


@writes()
class DictMerge(RequestHandler):
    def get(self):
        global merged
        burn()
        merged |= {len(merged): 0}
        self.write(str(len(merged)))


@writes()
class DictNested(RequestHandler):
    def get(self):
        burn()
        nested["a"]["b"]["n"] += 1
        self.write(str(nested["a"]["b"]["n"]))


@writes()
class DictSwap(RequestHandler):
    def get(self):
        burn()
        swapped["old"], swapped["new"] = swapped["new"], swapped["old"] + 2
        self.write(str(swapped["old"]))


@writes()
class DictTupleKey(RequestHandler):
    def get(self):
        burn()
        keyed[0, 0] += 1
        self.write(str(keyed[0, 0]))


log = []
front = []
tickets = list(range(500))
sliced = []
added = []
scores = [0]
turned = [1, 2]
extended = []
marked = [0] * 500
removed = list(range(500))
grid = [[0] * 3 for _ in range(3)]
deleted_slice = list(range(500))


@writes(total=lambda: len(log))
class ListAppend(RequestHandler):
    def get(self):
        burn()
        log.append("x")
        self.write(str(len(log)))


@writes()
class ListInsert(RequestHandler):
    def get(self):
        burn()
        front.insert(0, len(front))
        self.write(str(front[0]))


@writes(total=lambda: len(tickets))
class ListPop(RequestHandler):
    def get(self):
        burn()
        self.write(str(tickets.pop()))


@writes()
class ListSliceAssign(RequestHandler):
    def get(self):
        burn()
        sliced[:] = [*sliced, 1]
        self.write(str(len(sliced)))


@writes()
class ListAugmented(RequestHandler):
    def get(self):
        global added
        burn()
        added += [1]
        self.write(str(len(added)))


@writes()
class ListSort(RequestHandler):
    def get(self):
        burn()
        scores.append(scores[0] + 1)
        scores.sort(reverse=True)
        self.write(str(scores[0]))


@writes()
class ListReverse(RequestHandler):
    def get(self):
        burn()
        turned.reverse()
        self.write(str(turned))


@writes()
class ListExtend(RequestHandler):
    def get(self):
        burn()
        extended.extend(i for i in range(2))
        self.write(str(len(extended)))


@writes()
class ListItemByIndex(RequestHandler):
    def get(self):
        burn()
        index = marked.index(0)
        marked[index] = 1
        self.write(str(index))


@writes()
class ListRemove(RequestHandler):
    def get(self):
        burn()
        removed.remove(removed[0])
        self.write(str(removed[0]))


@writes()
class ListOfLists(RequestHandler):
    def get(self):
        burn()
        grid[1][1] += 1
        self.write(str(grid[1]))


@writes()
class ListDeleteSlice(RequestHandler):
    def get(self):
        burn()
        del deleted_slice[:2]
        self.write(str(deleted_slice[0]))

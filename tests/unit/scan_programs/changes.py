"""Programs that change an object of a module. See `test_scan`."""

from __future__ import annotations

from importlib.util import find_spec

PROGRAMS = {
    "item": """
    cache = {}
    def get(key):
        cache[key] = 1  # MUTATES_GLOBAL app.cache
    """,
    "item of an item": """
    state = {"a": {"b": 0}}
    def get():
        state["a"]["b"] = 1  # MUTATES_GLOBAL app.state
    """,
    "incremented item": """
    cache = {}
    def get(key):
        cache[key] += 1  # MUTATES_GLOBAL app.cache
    """,
    "deleted item": """
    cache = {}
    def get(key):
        del cache[key]  # MUTATES_GLOBAL app.cache
    """,
    "slice": """
    rows = []
    def get():
        rows[:] = []  # MUTATES_GLOBAL app.rows
    """,
    "in-place operator on an attribute of a module": """
    import app
    names = set()
    def get():
        app.names |= {1}  # MUTATES_GLOBAL app.names, WRITES_GLOBAL app.names
    """,
    "element of a defaultdict that does not exist yet": """
    from collections import defaultdict
    groups = defaultdict(list)
    def get(key):
        groups[key].append(1)  # MUTATES_GLOBAL app.groups
    """,
    "reading what a defaultdict does not have yet": """
    from collections import defaultdict
    class Account:
        pass
    counts = defaultdict(int)
    accounts = defaultdict(Account)
    none = defaultdict(None)
    def get(key):
        counts.get(key), none[key]
        accounts[key].name = "a"  # MUTATES_GLOBAL app.accounts
        return counts[key]  # MUTATES_GLOBAL app.counts
    """,
    "a dict that makes what it does not have": """
    made = []
    class Rooms(dict):
        def __missing__(self, name):
            made.append(name)  # MUTATES_GLOBAL app.made
            return name
    rooms = Rooms()
    def get(key):
        return rooms[key]
    """,
    "attributes of an object, by its __dict__": """
    class State:
        count = 0
        def put(self, **given):
            self.__dict__.update(given)  # MUTATES_GLOBAL app.state.__dict__
    state = State()
    def get(key):
        state.__dict__["count"] = 1  # MUTATES_GLOBAL app.state.__dict__
        state.put(a=1)
        fresh = State()
        fresh.put(b=1)
        return {**state.__dict__}
    """,
    "attributes of an object, by vars": """
    class State:
        count = 0
        def put(self, **given):
            vars(self).update(given)  # MUTATES_GLOBAL app.state.__dict__
    state = State()
    def get(key):
        vars(state)["count"] = 1  # MUTATES_GLOBAL app.state.__dict__
        state.put(a=1)
        fresh = State()
        fresh.put(b=1)
        return {k: v for k, v in vars(fresh).items() if not k.startswith("_")}
    """,
    "what __new__ does": """
    class Registry:
        made = 0
        only = None
        def __new__(cls):
            if cls.only is None:
                cls.only = super().__new__(cls)
                cls.only.items = {}
            cls.made += 1  # WRITES_CLASS app.Registry.made
            return cls.only
    Registry()
    def get(key):
        Registry().items[key] = 1  # WRITES_CLASS app.Registry.only.items
    """,
    "what the __call__ of a metaclass does": """
    class Singleton(type):
        made = {}
        def __call__(cls, *arguments):
            if cls not in cls.made:
                one = super(Singleton, cls).__call__(*arguments)
                cls.made[cls] = one  # WRITES_CLASS app.Singleton.made
            return cls.made[cls]
    class Other(metaclass=Singleton):
        pass
    class Book(metaclass=Singleton):
        started = 0
        def __init__(self, orders):
            Book.started += 1  # WRITES_CLASS app.Book.started
            self.orders = orders
        def add(self, order):
            self.orders.append(order)  # WRITES_CLASS app.Singleton.made.orders
    Other(), Book([])
    def get(order):
        Book([]).add(order)
    """,
    "what operators call": """
    class Rows:
        def __init__(self):
            self.rows, self.asked = [[]], 0
        def __iter__(self):
            return iter(self.rows)
        def __contains__(self, row):
            self.asked = 1  # MUTATES_GLOBAL app.store.asked
        def __eq__(self, other):
            self.compared = 1  # MUTATES_GLOBAL app.store.compared
        def __bool__(self):
            self.tested = 1  # MUTATES_GLOBAL app.store.tested
            return True
        def __format__(self, spec):
            self.shown = 1  # MUTATES_GLOBAL app.store.shown
            return ""
        def __mul__(self, other):
            self.rows.append(other)  # MUTATES_GLOBAL app.store.rows
        def __getattr__(self, name):
            self.missed = name  # MUTATES_GLOBAL app.store.missed
        def __setattr__(self, name, value):
            names.append(name)  # MUTATES_GLOBAL app.names
            super().__setattr__(name, value)
    names = []
    store = Rows()
    def get(row):
        if store:
            row = f"{store}"
        for each in store:
            each.append(row)  # MUTATES_GLOBAL app.store.rows
        return row in store or store == row or store * 2 or store.name
    """,
    "what an operator that adds to something calls": """
    class Rows:
        def __init__(self):
            self.rows = []
        def __iadd__(self, row):
            self.rows.append(row)  # MUTATES_GLOBAL app.store.rows
            return self
    class Sum:
        def __add__(self, number):
            numbers.append(number)  # MUTATES_GLOBAL app.numbers
            return self
        def __rsub__(self, number):
            numbers.append(number)  # MUTATES_GLOBAL app.numbers
            return 0
    store, numbers = Rows(), []
    def get(row):
        found = store
        found += row
        total = Sum()
        total += 1
        left = 1
        left -= total
    """,
    "what builtins call": """
    class Rows:
        def __len__(self):
            self.counted = 1  # MUTATES_GLOBAL app.store.counted
            return 1
        def __iter__(self):
            self.begun = 1  # MUTATES_GLOBAL app.store.begun
            return iter([])
        def __str__(self):
            self.shown = 1  # MUTATES_GLOBAL app.store.shown
            return ""
        def __neg__(self):
            self.negated = 1  # MUTATES_GLOBAL app.store.negated
        def __rsub__(self, other):
            self.taken = 1  # MUTATES_GLOBAL app.store.taken
        def __lt__(self, other):
            self.compared = 1  # MUTATES_GLOBAL app.store.compared
            return True
    class Row:
        def __lt__(self, other):
            self.compared = 1  # MUTATES_GLOBAL app.rows.compared
            return True
    class Pages:
        def __iter__(self):
            return self
        def __next__(self):
            raise StopIteration
    store, rows, pages, numbers = Rows(), [Row()], Pages(), iter([])
    def get():
        len(store), list(store), str(store), -store, 1 - store, 1 > store
        list(pages)  # MUTATES_GLOBAL app.pages
        dict(zip(numbers, "ab"))  # MUTATES_GLOBAL app.numbers
        return sorted(rows), isinstance(pages, Pages), bool(numbers)
    """,
    "what a descriptor of the program keeps": """
    class Field:
        def __init__(self, start):
            self.value = start
        def __get__(self, one, owner):
            self.reads = 1  # WRITES_CLASS app.Sized.size.reads
            return self.value
        def __set__(self, one, value):
            self.value = value  # WRITES_CLASS app.Row.count.value
    class Row:
        count = Field(0)
        def __init__(self, **given):
            for name in given:
                setattr(self, name, given[name])
    class Sized:
        size = Field(0)
    Sized.size
    def get(count):
        Row(count=count)
        return Sized().size
    """,
    "element by get, values, items and iteration": """
    rooms = {"a": []}
    rows = [[]]
    def get():
        rooms.get("a").append(1)  # MUTATES_GLOBAL app.rooms
        for room in rooms.values():
            room.append(1)  # MUTATES_GLOBAL app.rooms
        for name, room in rooms.items():
            room.append(1)  # MUTATES_GLOBAL app.rooms
        for row in rows:
            row.append(1)  # MUTATES_GLOBAL app.rows
        return [row.pop() for row in rows]  # MUTATES_GLOBAL app.rows
    """,
    "element of a copy of some": """
    rows = [{"count": 0}]
    def get(first):
        for row in rows[first:]:
            row["count"] += 1  # MUTATES_GLOBAL app.rows
        rows[:1][0]["count"] = 1  # MUTATES_GLOBAL app.rows
        for row in rows.copy():
            row["count"] += 1  # MUTATES_GLOBAL app.rows
        for row in rows + [{}]:
            row["count"] = 1  # MUTATES_GLOBAL app.rows
        mine = rows[first:]
        mine.append({})
        mine += [{}]
        mine[0].clear()  # MUTATES_GLOBAL app.rows
    """,
    "element of a copy of a dict": """
    rooms = {"a": {"count": 0}}
    def get():
        rooms.copy()["a"]["count"] = 1  # MUTATES_GLOBAL app.rooms
        (rooms | {})["a"]["count"] = 1  # MUTATES_GLOBAL app.rooms
        for name, room in list(rooms.items()):
            room["count"] += 1  # MUTATES_GLOBAL app.rooms
        for name, room in sorted(rooms.items()):
            room["count"] += 1  # MUTATES_GLOBAL app.rooms
        name, room = max(rooms.items())
        room["count"] += 1  # MUTATES_GLOBAL app.rooms
    """,
    "element of a tuple": """
    shards = ([], [])
    def get(number):
        shards[number].append(1)  # MUTATES_GLOBAL app.shards
    """,
    "attribute of an object": """
    class Config:
        def __init__(self):
            self.count = 0
    config = Config()
    def get():
        config.count += 1  # MUTATES_GLOBAL app.config.count
    """,
    "attribute of an object of the standard library": """
    from types import SimpleNamespace
    config = SimpleNamespace(rows=[])
    def get():
        config.count = 1  # MUTATES_GLOBAL app.config.count
        config.rows.append(1)  # MUTATES_GLOBAL app.config.rows
    """,
    "attribute in a slot": """
    class Config:
        __slots__ = ("rows",)
        def __init__(self):
            self.rows = []
    config = Config()
    def get():
        config.rows.append(1)  # MUTATES_GLOBAL app.config.rows
    """,
    "method of an object": """
    class Store:
        def __init__(self):
            self.items = []
        def add(self, item):
            self.items.append(item)  # MUTATES_GLOBAL app.STORE.items
    STORE = Store()
    def get():
        STORE.add(1)
    """,
    "special methods of an object": """
    class Store:
        def __init__(self):
            self.items = {}
            self.reads = 0
        def __setitem__(self, key, item):
            self.items[key] = item  # MUTATES_GLOBAL app.STORE.items
        def __delitem__(self, key):
            del self.items[key]  # MUTATES_GLOBAL app.STORE.items
        def __getitem__(self, key):
            self.reads += 1  # MUTATES_GLOBAL app.STORE.reads
        def __call__(self):
            self.items.clear()  # MUTATES_GLOBAL app.STORE.items
        def __enter__(self):
            self.items.clear()  # MUTATES_GLOBAL app.STORE.items
        def __exit__(self, *error):
            self.items.clear()  # MUTATES_GLOBAL app.STORE.items
    STORE = Store()
    def get(key):
        STORE[key] = STORE[key]
        del STORE[key]
        STORE()
        with STORE:
            pass
    """,
    "setter and getter of a property": """
    class Store:
        def __init__(self):
            self.items = []
        @property
        def last(self):
            return self.items.pop()  # MUTATES_GLOBAL app.STORE.items
        @last.setter
        def last(self, item):
            self.items.append(item)  # MUTATES_GLOBAL app.STORE.items
    STORE = Store()
    def get():
        STORE.last = STORE.last
    """,
    "subclass of dict": """
    class Store(dict):
        def __setitem__(self, key, item):
            super().__setitem__(key, item)  # MUTATES_GLOBAL app.STORE
    STORE = Store()
    def get():
        STORE["a"] = 1  # MUTATES_GLOBAL app.STORE
        STORE.update(b=2)  # MUTATES_GLOBAL app.STORE
    """,
    "iterator": """
    import itertools
    numbers = itertools.count()
    def get():
        return next(numbers)  # MUTATES_GLOBAL app.numbers
    """,
    "iterator in a loop": """
    numbers = (each for each in range(3))
    def get():
        for number in numbers:  # MUTATES_GLOBAL app.numbers
            return number
    """,
    "iterator of the program": """
    class Numbers:
        last = 0
        def __next__(self):
            self.last += 1  # MUTATES_GLOBAL app.numbers.last
            return self.last
    numbers = Numbers()
    def get():
        return next(numbers)  # MUTATES_GLOBAL app.numbers
    """,
    "function of the standard library": """
    import heapq
    import random
    from txloop.cells import heaps
    heap = []
    table = [[]]
    def get():
        heapq.heappush(heap, 1)  # MUTATES_GLOBAL app.heap
        heaps.heapify(heap)  # MUTATES_GLOBAL app.heap
        heaps.heapreplace(table, []).append(1)  # MUTATES_GLOBAL app.table
        random.shuffle(heap)  # MUTATES_GLOBAL app.heap
    """,
    "function and method of libraries": """
    import cloudpickle
    import pluggy
    manager = pluggy.PluginManager("app")
    rows, more, numbers = [], [], [1]
    def get():
        cloudpickle.register_pickle_by_value(rows)  # READS_WRITTEN app.rows
        manager.register(more)  # READS_WRITTEN app.more
        cloudpickle.dumps(numbers)
    """,
    "containers of libraries": """
    import ctypes
    import sortedcontainers
    from tornado.httputil import HTTPHeaders
    from xml.etree import ElementTree
    class Scores(sortedcontainers.SortedList):
        pass
    scores, headers = Scores([1]), HTTPHeaders()
    tree, buffer = ElementTree.Element("a"), (ctypes.c_int * 3)()
    def get(key):
        scores.add(key)  # MUTATES_GLOBAL app.scores
        del scores[0]  # MUTATES_GLOBAL app.scores
        headers["Name"] = key  # MUTATES_GLOBAL app.headers
        tree.set(key, "1")  # MUTATES_GLOBAL app.tree
        ElementTree.SubElement(tree, key)  # MUTATES_GLOBAL app.tree
        buffer[0] = 1  # MUTATES_GLOBAL app.buffer
    """,
    "function of operator": """
    import operator
    rows, table = [], {}
    def get(key):
        operator.iadd(rows, [key])  # MUTATES_GLOBAL app.rows
        operator.setitem(table, key, 1)  # MUTATES_GLOBAL app.table
        operator.methodcaller("copy")(rows)
    """,
    "method that operator calls by its name": """
    import operator
    rows = []
    push = operator.methodcaller("append", 1)
    adding = operator.attrgetter("append")
    def get():
        push(rows)  # MUTATES_GLOBAL app.rows
        adding(rows)  # MUTATES_GLOBAL app.rows
    """,
    "method of a builtin class": """
    rows, table = [], {}
    steps = {"add": list.append}
    def get(key):
        list.append(rows, key)  # MUTATES_GLOBAL app.rows
        steps[key](rows, key)  # MUTATES_GLOBAL app.rows
        list(map(list.append, [rows], [key]))  # MUTATES_GLOBAL app.rows
        dict.get(table, key)
    """,
    "method that was taken before": """
    import itertools
    rows = []
    push = rows.append
    steps = {"add": rows.append, "count": rows.count}
    def get(key):
        push(key)  # MUTATES_GLOBAL push
        steps["add"](key)  # MUTATES_GLOBAL steps['add']
        list(map(push, [key]))  # MUTATES_GLOBAL app.push
        sorted(key, key=push)  # MUTATES_GLOBAL app.push
        itertools.starmap(push, [[key]])  # MUTATES_GLOBAL app.push
        list(map(steps["count"], [key]))
        return steps["count"](key)
    """,
    "partial of what changes an object": """
    import bisect
    import functools
    rows = []
    insert = functools.partial(bisect.insort, rows)
    push = functools.partial(rows.append)
    def add(to, key, more=None):
        more.append(key)  # MUTATES_GLOBAL app.note
    note = functools.partial(add, more=rows)
    def get(key):
        insert(key)  # MUTATES_GLOBAL app.insert
        push(key)  # MUTATES_GLOBAL push
        note([], key)
    """,
    "members of an enumeration": """
    import enum
    class Color(enum.Enum):
        RED = 1
        BLUE = 2
        def __init__(self, code):
            self.hits = []
        def hit(self):
            self.hits.append(1)  # WRITES_CLASS app.Color.hits
    def get(code):
        Color(code).hit()
        Color[code].hit()
        for each in Color:
            each.hit()
    """,
    "method that is passed on": """
    rows = []
    def get(items):
        return list(map(rows.append, items))  # MUTATES_GLOBAL app.rows
    """,
    "alias": """
    cache = {}
    def get(key):
        known = cache
        known[key] = 1  # MUTATES_GLOBAL app.cache
    """,
    "alias of an element, under a lock": """
    import threading
    lock = threading.Lock()
    STATE = {"x": []}
    def get():
        with lock:
            rows = STATE["x"]
            rows.append(1)  # MUTATES_GLOBAL app.STATE
    """,
    "alias of a method": """
    rows = []
    def get():
        add = rows.append  # MUTATES_GLOBAL app.rows
        add(1)
    """,
    "alias by unpacking, by or, by if": """
    pair = ([], [])
    def get(flag):
        first, second = pair
        second.append(1)  # MUTATES_GLOBAL app.pair
        one, other = 1, pair[0]
        other.append(1)  # MUTATES_GLOBAL app.pair
        (None or pair[0]).append(1)  # MUTATES_GLOBAL app.pair
        (pair[0] if flag else []).append(1)  # MUTATES_GLOBAL app.pair
        if it := pair[0]:
            it += [1]  # MUTATES_GLOBAL app.pair
    """,
    "module imported in the function": """
    rows = []
    def get():
        import app
        from app import rows as others
        app.rows.append(1)  # MUTATES_GLOBAL app.rows
        others.append(1)  # MUTATES_GLOBAL app.rows
    """,
    "private attribute": """
    class Store:
        def __init__(self):
            self.__items = []
        def add(self, item):
            self.__items.append(item)  # MUTATES_GLOBAL app.STORE._Store__items
            self.__count = 1  # MUTATES_GLOBAL app.STORE._Store__count
    STORE = Store()
    def get():
        STORE.add(1)
    """,
    "linked objects": """
    class Node:
        def __init__(self):
            self.next = self
            self.seen = 0
        def walk(self):
            self.seen += 1  # MUTATES_GLOBAL app.NODE.seen
            self.next.walk()
    NODE = Node()
    def get():
        NODE.walk()
    """,
}

_SHOWN = """
    import logging
    import sys
    class Row:
        def __init__(self):
            self.shown = 0
        def __str__(self):
            self.shown += 1  # MUTATES_GLOBAL app.row.shown
            return "row"
    row = Row()
    log = logging.getLogger("a")
    def get():
        return USE
    """

for _use in (
    *('"%s" % row', '"%s %s" % (1, row)', '"%(a)s" % {"a": row}', 'f"{[row]}"'),
    *('"{}".format(row)', '"{a}".format(a=row)', 'logging.info("%s", row)'),
    *('logging.getLogger("a").error("%s", row)', 'log.info("%s", row)'),
    *('(log.info if row else log.error)("%s", row)', "print(row, file=sys.stderr)"),
    *('", ".join(map(str, [row]))', "str([row])", "repr({1: [row]})"),
):
    PROGRAMS[f"texts of an object: {_use}"] = _SHOWN.replace("USE", _use)

if find_spec("numpy"):
    PROGRAMS["arrays"] = """
    import numpy
    numbers, grid, fixed, given = numpy.zeros(3), [numpy.zeros(2)], numpy.zeros(3), [1]
    def get(key):
        numbers[key] += 1  # MUTATES_GLOBAL app.numbers
        numbers.fill(0)  # MUTATES_GLOBAL app.numbers
        grid[0][1] = 1  # MUTATES_GLOBAL app.grid
        return fixed[key], fixed.sum(), fixed.shape, numpy.array(given)
    """

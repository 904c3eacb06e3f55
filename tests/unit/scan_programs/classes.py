"""Programs that write class attributes. See `test_scan`."""

from __future__ import annotations

PROGRAMS = {
    "attribute of a class": """
    class Handler:
        count = 0
        def get(self):
            Handler.count += 1  # WRITES_CLASS app.Handler.count
    """,
    "attribute of the object's class": """
    class Handler:
        count = 0
        def get(self):
            self.__class__.count = 1  # WRITES_CLASS app.Handler.count
            type(self).count = 2  # WRITES_CLASS app.Handler.count
    """,
    "attribute of a base class": """
    class Counted:
        count = 0
    class Handler(Counted):
        def get(self):
            type(self).count += 1  # WRITES_CLASS app.Counted.count
    """,
    "class method": """
    class Handler:
        count = 0
        @classmethod
        def note(cls):
            cls.count += 1  # WRITES_CLASS app.Handler.count
        def get(self):
            self.note()
    """,
    "class method by the class": """
    class Store:
        count = 0
        @classmethod
        def note(cls):
            cls.count += 1  # WRITES_CLASS app.Store.count
    def get():
        Store.note()
    """,
    "list of the class through the instance": """
    class Handler:
        seen = []
        def get(self):
            self.seen.append(1)  # WRITES_CLASS app.Handler.seen
            self.seen += [1]  # WRITES_CLASS app.Handler.seen
    """,
    "object of the class through the instance": """
    class Store:
        def __init__(self):
            self.items = []
        def add(self, item):
            self.items.append(item)  # WRITES_CLASS app.Handler.store.items
    class Handler:
        store = Store()
        def get(self):
            self.store.add(1)
    """,
    "list of the class of a local object": """
    class Room:
        every = []
        def __init__(self):
            self.every.append(self)  # WRITES_CLASS app.Room.every
    def get():
        return Room()
    """,
    "class of a shared object": """
    class Store:
        count = 0
    store = Store()
    def get():
        type(store).count = 1  # WRITES_CLASS app.Store.count
    """,
    "new attribute of a class": """
    class Store:
        pass
    def get():
        Store.count = 1  # WRITES_CLASS app.Store.count
        return Store.count
    """,
    "list of a class by super": """
    class Noting:
        seen = []
        @classmethod
        def note(cls):
            cls.seen.append(1)  # WRITES_CLASS app.Noting.seen
    class Handler(Noting):
        @classmethod
        def note(cls):
            super().note()
        def get(self):
            self.note()
    """,
    "partialmethod": """
    import functools
    class Switch:
        state = "off"
        def set(self, state, log):
            self.state = state  # MUTATES_GLOBAL app.switch.state
            log.append(state)  # MUTATES_GLOBAL app.log
        turn_on = functools.partialmethod(set, "on")
    switch, log = Switch(), []
    def get():
        switch.turn_on(log)
    """,
    "__getattribute__": """
    class Counted:
        reads = 0
        def __init__(self):
            self.rows = []
        def __getattribute__(self, name):
            object.__setattr__(self, "reads", 1)  # MUTATES_GLOBAL app.counted.reads
            return object.__getattribute__(self, name)
    counted = Counted()
    def get():
        return counted.rows
    """,
}

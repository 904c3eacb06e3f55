"""Programs that ask whether something is there before they make it. See `test_scan`.

Where it is there when the program is looked at, and stays, nothing is written.
"""

from __future__ import annotations

PROGRAMS = {
    "configuration that is there": """
    config = None
    def load():
        global config
        if config is None:
            config = {"a": 1}
        return config
    load()
    def get():
        return load()["a"], config["a"]
    """,
    "configuration that is not there yet": """
    config = None
    def load():
        global config
        if config is None:
            config = {"a": 1}  # WRITES_GLOBAL app.config
        return config
    def get():
        return load()["a"]
    """,
    "configuration that is there, with an early return": """
    config = None
    def load():
        global config
        if config is not None:
            return config
        config = {"a": 1}
        return config
    load()
    def get():
        return load()
    """,
    "configuration that is forgotten": """
    config = None
    def load():
        global config
        if config is None:
            config = {"a": 1}  # WRITES_GLOBAL app.config
        return config
    load()
    class Other:
        def post(self):
            global config
            config = None
    class Handler:
        def get(self):
            return load()
    """,
    "configuration of which parts are forgotten": """
    config = {}
    def load():
        if not config:
            config.update(a=1)  # MUTATES_GLOBAL app.config
        return config
    load()
    class Other:
        def post(self):
            config.clear()
    class Handler:
        def get(self):
            return load()
    """,
    "key that is there": """
    config = {}
    def load():
        if "a" not in config:
            config["a"] = 1
        return config["a"]
    load()
    def get():
        return load()
    """,
    "key that may be any": """
    config = {}
    def load(key):
        if key not in config:
            config[key] = 1  # MUTATES_GLOBAL app.config
        return config[key]
    load("a")
    def get(key):
        return load(key)
    """,
    "key of which the value is looked at": """
    config = {"b": 1}
    def load():
        found = config.get("a")
        if found is None:
            found = config["a"] = 1  # MUTATES_GLOBAL app.config
        return found
    def get():
        return load()
    """,
    "object that is there": """
    class Store:
        known = None
        @classmethod
        def one(cls):
            if cls.known is None:
                cls.known = cls()
            return cls.known
        def __init__(self):
            self.rows = None
        def load(self):
            if self.rows is None:
                self.rows = [1]
            return self.rows
    Store.one().load()
    store = Store.one()
    def get():
        return Store.one(), store.load()
    """,
    "object whose contents are not there yet": """
    class Store:
        def __init__(self):
            self.rows = None
        def load(self):
            if self.rows is None:
                self.rows = [1]  # MUTATES_GLOBAL app.store.rows
            return self.rows
    store = Store()
    def get():
        return store.load()
    """,
    "object that may be let go by what is not known": """
    class Store:
        def __init__(self):
            self.rows = [1]
        def load(self):
            if self.rows is None:
                self.rows = [1]  # MUTATES_GLOBAL app.store.rows
            return self.rows
    store = Store()
    class Other:
        def post(self, any_store):
            any_store.rows = None
    class Handler:
        def get(self):
            return store.load()
    """,
    "one of several objects": """
    class Store:
        def __init__(self, rows):
            self.rows = rows
        def load(self):
            if self.rows is None:
                self.rows = [1]  # MUTATES_GLOBAL app.stores.rows
            return self.rows
    stores = [Store([1]), Store(None)]
    def get():
        return [store.load() for store in stores]
    """,
    "one of two names": """
    class Store:
        def __init__(self, rows):
            self.rows = rows
        def load(self):
            if self.rows is None:
                self.rows = [1]  # MUTATES_GLOBAL app.x.rows, MUTATES_GLOBAL app.y.rows
            return self.rows
    x, y = Store([1]), Store(None)
    def get(which):
        store = x
        if which:
            store = x if which else y
        return store.load()
    """,
    "function that is called where it matters, too": """
    config, rows = 1, []
    def note():
        rows.append(1)  # MUTATES_GLOBAL app.rows
    def get():
        if config is None:
            note()
        note()
    """,
    "flag that is asked for the other way": """
    ready, rows = True, []
    def get():
        if ready:
            rows.append(1)  # MUTATES_GLOBAL app.rows
        else:
            rows.append(2)
    """,
    "two questions": """
    config, rows = {"a": 1}, []
    def get(key):
        if config is None and key:
            rows.append(1)
        if config is None or key:
            rows.append(2)  # MUTATES_GLOBAL app.rows
    """,
}

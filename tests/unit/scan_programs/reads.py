"""Programs that read what other code writes. See `test_scan`."""

from __future__ import annotations

PROGRAMS = {
    "global": """
    hits = 0
    def note():
        global hits
        hits += 1
    def get():
        return hits  # READS_WRITTEN app.hits
    """,
    "global that is assigned at start-up": """
    db = None
    def main():
        global db
        db = object()
    def get():
        return db  # READS_WRITTEN app.db
    """,
    "attribute that a function gets when it first runs": """
    def note():
        note.calls = 1
    def get():
        return getattr(note, "calls", 0)  # READS_WRITTEN app.note.calls
    """,
    "attribute of a class that a container holds": """
    import txloop
    class Kind:
        used = 0
    kinds = txloop.TDict(plain=Kind)
    def use():
        Kind.used += 1
    def get():
        return kinds["plain"].used  # READS_WRITTEN app.Kind.used
    """,
    "class that a container holds and a call makes an object of": """
    import txloop
    class Kind:
        used = 0
        def __init__(self):
            self.number = Kind.used
    kinds = txloop.TDict(plain=Kind)
    def use():
        Kind.used += 1
    def get():
        return kinds["plain"]()  # READS_WRITTEN app.Kind.used
    """,
    "function that a container holds": """
    import txloop
    used = 0
    def number():
        return used
    commands = txloop.TDict(number=number)
    def use():
        global used
        used += 1
    def get():
        return commands["number"]()  # READS_WRITTEN app.used
    """,
    "dict": """
    rates = {}
    def refresh():
        rates["usd"] = 1
    def get():
        return rates["usd"]  # READS_WRITTEN app.rates
    """,
    "dict that a mapping proxy shows": """
    import types
    _rates = {}
    rates = types.MappingProxyType(_rates)
    def refresh():
        _rates["usd"] = 1
    def get():
        return rates["usd"]  # READS_WRITTEN app.rates
    """,
    "name in builtins": """
    import builtins
    builtins.rates_of_all = {}
    def refresh():
        builtins.rates_of_all["usd"] = 1
    def get():
        return rates_of_all["usd"]  # READS_WRITTEN rates_of_all
    """,
    "option of Tornado's": """
    from tornado.options import OptionParser
    options = OptionParser()
    options.define("limit", default=1)
    def refresh(limit):
        options.limit = limit
    def get():
        return options.limit  # READS_WRITTEN app.options.limit
    """,
    "what a class of Tornado's is given": """
    import tornado.web
    class Handler(tornado.web.UIModule):
        def get(self):
            return self.rates["usd"]  # READS_WRITTEN tornado.web.UIModule.rates
    tornado.web.UIModule.rates = {}
    def refresh():
        tornado.web.UIModule.rates["usd"] = 1
    """,
    "dict that only unmarked methods change": """
    rates = {}
    class Feed:
        def refresh(self):
            rates.update(usd=1)
    def main(every):
        every(Feed().refresh)
    def get():
        return dict(rates)  # READS_WRITTEN app.rates
    """,
    "dict that a lambda changes": """
    rates = {}
    refresh = lambda: rates.update(usd=1)
    def get():
        return "usd" in rates  # READS_WRITTEN app.rates
    """,
    "dict that a nested function changes": """
    rates = {}
    def main(every):
        def refresh():
            rates["usd"] = 1
        every(refresh)
    def get():
        return len(rates)  # READS_WRITTEN app.rates
    """,
    "dict that is changed at commit": """
    from txloop.fake import on_commit
    rates = {}
    def note():
        on_commit(lambda: rates.update(usd=1))
    def get():
        return rates  # READS_WRITTEN app.rates
    """,
    "attribute of an object": """
    class Config:
        def __init__(self):
            self.count = 0
            self.name = "a"
        def note(self):
            self.count += 1
    config = Config()
    def refresh():
        config.note()
    def get():
        return (
            config.name,
            config.count,  # READS_WRITTEN app.config.count
        )
    """,
    "what an object has from its class until it is assigned": """
    class Counter:
        count = 0
        limit = 9
        def note(self):
            self.count += 1
    counter = Counter()
    def refresh():
        counter.note()
    def get():
        return (
            counter.limit,
            counter.count,  # READS_WRITTEN app.counter.count
        )
    """,
    "whole object, by code that is not scanned": """
    class Config:
        count = 0
    config = Config()
    def refresh():
        config.count += 1
    def get():
        return str(config)  # READS_WRITTEN app.config
    """,
    "object in a method": """
    class Store:
        def __init__(self):
            self.items = []
        def add(self, item):
            self.items.append(item)
        def size(self):
            return len(self.items)  # READS_WRITTEN app.STORE.items
    STORE = Store()
    def refresh():
        STORE.add(1)
    def get():
        return STORE.size()
    """,
    "attribute of a class": """
    class Handler:
        count = 0
        def on_finish(self):
            type(self).count += 1
        def get(self):
            return self.count  # READS_WRITTEN app.Handler.count
    """,
    "attribute of a class by a subclass": """
    class Counted:
        count = 0
        @classmethod
        def note(cls):
            cls.count += 1
    def tick():
        Counted.note()
    class Handler(Counted):
        def get(self):
            return Handler.count  # READS_WRITTEN app.Counted.count
    """,
    "list of a class": """
    class Handler:
        seen = []
        def on_finish(self):
            self.seen.append(1)
        def get(self):
            return self.seen  # READS_WRITTEN app.Handler.seen
    """,
    "attribute of the application": """
    class Other:
        def get(self):
            self.application.hits = 1
    class Handler:
        def get(self):
            return self.application.hits  # READS_WRITTEN application.hits
    """,
    "attribute that the application's own class writes": """
    from tornado.web import Application
    class App(Application):
        def tick(self):
            self.hits = 1
    def main(application, every):
        every(application.tick)
    class Handler:
        def get(self):
            return self.application.hits  # READS_WRITTEN application.hits
    """,
    "list of the application": """
    class Other:
        def get(self):
            self.application.users.append(1)
    class Handler:
        def get(self):
            return self.application.users  # READS_WRITTEN application.users
    def main(application):
        application.users = []
    """,
    "setting": """
    class Other:
        def get(self):
            self.settings["a"] = 1
    class Handler:
        def get(self):
            return (
                self.settings["a"],  # READS_WRITTEN application.settings["a"]
                self.settings.get("a"),  # READS_WRITTEN application.settings["a"]
                self.settings["b"],
            )
    """,
    "setting that may be the one that is written": """
    class Other:
        def get(self, key):
            self.settings[key] = 1
    class Handler:
        def get(self):
            return self.settings["a"]  # READS_WRITTEN application.settings["a"]
    """,
    "name of a class that is assigned": """
    class Handler:
        def get(self):
            return self.__class__.__name__  # READS_WRITTEN app.Handler.__name__
    def rename():
        Handler.__name__ = "Page"
    """,
    "all attributes of an object, by its __dict__": """
    class State:
        count = 0
    state = State()
    def post():
        state.count = 1
    def get():
        return {**state.__dict__}  # READS_WRITTEN app.state
    """,
    "all attributes of an object, by vars": """
    class State:
        count = 0
    state = State()
    def post():
        state.count = 1
    def get():
        return [k for k, v in vars(state).items()]  # READS_WRITTEN app.state
    """,
}

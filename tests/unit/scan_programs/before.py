"""Programs in which what writes runs before requests are served, or not at all.

Those that look like it, and write later, have a mark. See `test_scan`.
"""

from __future__ import annotations

PROGRAMS = {
    "method that nothing calls": """
    rates = {}
    class Feed:
        def reset(self):
            rates.clear()
    feed = Feed()
    def get():
        return rates["usd"]
    """,
    "method that is called by its name in a string": """
    rates = {}
    class Feed:
        def reset(self):
            rates.clear()
    def act(feed):
        getattr(feed, "reset")()
    def get():
        return rates["usd"]  # READS_WRITTEN app.rates
    """,
    "method whose name is put together": """
    rates = {}
    class Feed:
        def act_reset(self):
            rates.clear()
    def act(feed, name):
        getattr(feed, "act_" + name)()
    def get():
        return rates["usd"]  # READS_WRITTEN app.rates
    """,
    "method that any name may call": """
    rates = {}
    class Feed:
        def reset(self):
            rates.clear()
    def act(feed, name):
        getattr(feed, name)()
    def get():
        return rates["usd"]  # READS_WRITTEN app.rates
    """,
    "method that a template calls": """
    rates = {}
    class Feed:
        def reset(self):
            rates.clear()
            return ""
    PAGE = "<p>{{ feed.reset() }}</p>"
    def get():
        return rates["usd"]  # READS_WRITTEN app.rates
    """,
    "method that is passed on": """
    rates = {}
    class Feed:
        def reset(self):
            rates.clear()
    def start(feed, every):
        every(feed.reset)
    def get():
        return rates["usd"]  # READS_WRITTEN app.rates
    """,
    "method that a library calls": """
    import ast
    rates = {}
    class Feed(ast.NodeVisitor):
        def reset(self):
            rates.clear()
    def get():
        return rates["usd"]  # READS_WRITTEN app.rates
    """,
    "method that Tornado calls": """
    from tornado.web import RequestHandler
    rates = {}
    class Other(RequestHandler):
        def prepare(self):
            rates.clear()
    def get():
        return rates["usd"]  # READS_WRITTEN app.rates
    """,
    "function that a method calls that nothing calls": """
    rates = {}
    def clear():
        rates.clear()
    class Feed:
        def reset(self):
            clear()
    def get():
        return rates["usd"]
    """,
    "registry by a decorator": """
    commands = {}
    def register(function):
        commands[function.__name__] = function
        return function
    @register
    def hello():
        return 1
    def get(name):
        return commands[name]()
    """,
    "registry by a decorator that is made": """
    commands = {}
    def register(name):
        def keep(function):
            commands[name] = function
            return function
        return keep
    @register("hello")
    def hello():
        return 1
    def get(name):
        return commands[name]()
    """,
    "registry by a method": """
    class Registry:
        def __init__(self):
            self.commands = {}
        def register(self, name):
            def keep(function):
                self.commands[name] = function
                return function
            return keep
    registry = Registry()
    @registry.register("hello")
    def hello():
        return 1
    def get(name):
        return registry.commands[name]()
    """,
    "registry of subclasses": """
    class Plugin:
        known = []
        def __init_subclass__(cls):
            Plugin.known.append(cls)
    class One(Plugin):
        pass
    def get():
        return Plugin.known
    """,
    "registry that a metaclass fills": """
    class Listed(type):
        known = {}
        def __new__(mcs, name, bases, names):
            cls = super().__new__(mcs, name, bases, names)
            Listed.known[name] = cls
            return cls
    class One(metaclass=Listed):
        pass
    def get():
        return Listed.known
    """,
    "method of a metaclass that code calls": """
    class Table(type):
        def __init__(cls, *names):
            cls.rows = []
        def add(cls, row):
            cls.rows.append(row)
    class User(metaclass=Table):
        pass
    def act(row):
        User.add(row)
    def get():
        return User.rows  # READS_WRITTEN app.User.rows
    """,
    "registry of subclasses that are made later": """
    class Plugin:
        known = []
        def __init_subclass__(cls):
            Plugin.known.append(cls)
    def make():
        class One(Plugin):
            pass
    def get():
        return Plugin.known  # READS_WRITTEN app.Plugin.known
    """,
    "registry that is filled by a request, too": """
    commands = {}
    def register(function):
        commands[function.__name__] = function
        return function
    @register
    def hello():
        return 1
    class Other:
        def post(self, body):
            register(body)
    class Handler:
        def get(self, name):
            return commands[name]()  # READS_WRITTEN app.commands
    """,
    "counter in what a decorator returns": """
    calls = {}
    def counted(function):
        def call(*args):
            calls[function] = calls.get(function, 0) + 1
            return function(*args)
        return call
    @counted
    def hello():
        return 1
    def get():
        return calls  # READS_WRITTEN app.calls
    """,
    "counter in what a decorator returns that is made": """
    calls = {}
    def counted(name):
        def wrap(function):
            def call(*args):
                calls[name] = calls.get(name, 0) + 1
                return function(*args)
            return call
        return wrap
    @counted("hello")
    def hello():
        return 1
    def get():
        return calls  # READS_WRITTEN app.calls
    """,
    "configuration that is loaded at import": """
    config = {}
    def load():
        global config
        config = {"a": 1}
    load()
    def get():
        return config["a"]
    """,
    "configuration that main loads": """
    from tornado.ioloop import IOLoop
    config = {}
    def load():
        config.update(a=1)
    def main():
        load()
        config["b"] = 2
        IOLoop.current().start()
    if __name__ == "__main__":
        main()
    def get():
        return config["a"]
    """,
    "configuration that a coroutine loads": """
    import asyncio
    config = {}
    def load():
        config.update(a=1)
    async def main():
        load()
        await asyncio.Event().wait()
    if __name__ == "__main__":
        asyncio.run(main())
    def get():
        return config["a"]
    """,
    "configuration that a coroutine loads before it listens": """
    import asyncio
    config = {}
    async def main(make, connect):
        config["db"] = await connect()
        make().listen(80)
        await asyncio.Event().wait()
    if __name__ == "__main__":
        asyncio.run(main(1, 2))
    def get():
        return config["a"]
    """,
    "configuration that a coroutine loads again and again": """
    import asyncio
    config = {}
    def load():
        config.update(a=1)
    async def main(make):
        make().listen(80)
        while True:
            load()
            await asyncio.sleep(60)
    if __name__ == "__main__":
        asyncio.run(main(1))
    def get():
        return config["a"]  # READS_WRITTEN app.config
    """,
    "configuration that is loaded again after a wait": """
    import asyncio
    config = {}
    async def main(make):
        make().listen(80)
        config["a"] = await asyncio.sleep(60)
    if __name__ == "__main__":
        asyncio.run(main(1))
    def get():
        return config["a"]  # READS_WRITTEN app.config
    """,
    "configuration that run_sync loads": """
    from tornado.ioloop import IOLoop
    config = {}
    async def load():
        config.update(a=1)
    if __name__ == "__main__":
        IOLoop.current().run_sync(load)
    def get():
        return config["a"]
    """,
    "configuration that a generator loads": """
    config = {}
    def load():
        yield
        config.update(a=1)
    steps = load()
    def get():
        return config["a"]  # READS_WRITTEN app.config
    """,
    "configuration that a timer loads again": """
    from tornado.ioloop import PeriodicCallback
    config = {}
    def load():
        config.update(a=1)
    def main():
        load()
        PeriodicCallback(load, 1000)
    main()
    def get():
        return config["a"]  # READS_WRITTEN app.config
    """,
    "state that the application loads when it is made": """
    from tornado.web import Application
    class App(Application):
        def __init__(self):
            super().__init__()
            self.load()
        def load(self):
            self.rates = {}
            self.rates["usd"] = 1
    class Handler:
        def get(self):
            return self.application.rates
    if __name__ == "__main__":
        App()
    """,
    "state that the application loads again": """
    from tornado.web import Application
    class App(Application):
        def __init__(self):
            super().__init__()
            self.load()
        def load(self):
            self.rates = {}
    class Other:
        def post(self):
            self.application.load()
    class Handler:
        def get(self):
            return self.application.rates  # READS_WRITTEN application.rates
    """,
    "object that counts those that are made": """
    class Row:
        made = 0
        def __init__(self):
            Row.made += 1
    first = Row()
    def get():
        return Row.made
    """,
    "object that is made later, too": """
    class Row:
        made = 0
        def __init__(self):
            Row.made += 1
    class Small(Row):
        pass
    first = Row()
    class Other:
        def post(self):
            Small()
    class Handler:
        def get(self):
            return Row.made  # READS_WRITTEN app.Row.made
    """,
    "object that is made from its class": """
    class Row:
        made = 0
        def __init__(self):
            Row.made += 1
        def another(self):
            return type(self)()
    first = Row()
    def get():
        return Row.made  # READS_WRITTEN app.Row.made
    """,
    "registry by a decorator, where any name may be called": """
    commands = {}
    def register(name):
        def keep(function):
            commands[name] = function
            return function
        return keep
    @register("hello")
    def hello():
        return 1
    def act(thing, name):
        return getattr(thing, name)()
    def get(name):
        return commands[name]()
    """,
}

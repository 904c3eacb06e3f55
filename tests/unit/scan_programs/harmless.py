"""Programs that give nothing to find. See `test_scan`."""

from __future__ import annotations

PROGRAMS = {
    "local state": """
    def get():
        rows, names = [], {}
        rows.append(1)
        names["a"] = 1
        return rows
    """,
    "methods of builtin types that are passed on": """
    import functools
    SIZES = {"a": 1}
    def get(rows):
        found = functools.partial(dict.__getitem__, SIZES)
        return list(map(str.upper, rows)), sorted(rows, key=found), dict.get(SIZES, 1)
    """,
    "methods of loggers by names of their own": """
    import logging
    log, ROWS = logging.getLogger("app"), []
    def get(status):
        write = log.info if status < 400 else log.error
        write("%d", status)
    def post():
        ROWS.append(1)
    """,
    "local name that hides a global one": """
    cache, rows, names = {}, [], {}
    def get(cache, *rows, **names):
        cache[1] = 1
        names["a"] = rows
    """,
    "local name that is bound later": """
    rows = []
    def get():
        def note():
            rows.append(1)
        rows = []
        note()
        return rows
    """,
    "nested function that is given local state": """
    def get(handler, number):
        def amount(params, *keys, of="amount"):
            return params.get(of), [key.upper() for key in keys], params.values()
        def count(number):
            return number and count(number - 1).bit_length()
        return amount({"amount": number}, "a"), count(number)
    """,
    "names that statements bind": """
    a = b = c = d = e = f = g = []
    def get(rows):
        for a in rows:
            a.append(1)
        with rows as b:
            b.append(1)
        try:
            import json as c
        except ImportError as d:
            d.append(1)
        match rows:
            case [e, *f]:
                e.append(1)
                f.append(1)
        c.append(1)
        return [g.append(1) for g in rows]
    """,
    "alias that is let go": """
    cache = {}
    def get():
        known = cache
        known = {}
        known["a"] = 1
    """,
    "copy": """
    cache = {"a": []}
    def get():
        known = dict(cache)
        other = cache.copy()
        known["a"] = other["a"] = 1
    """,
    "constant": """
    LIMIT, NAMES, CODES = 3, ("a", "b"), {"a": 1}
    def get():
        return LIMIT, NAMES, CODES["a"], CODES.get("b"), len(CODES)
    """,
    "state that a module fills while it is imported": """
    CODES = {}
    for each in range(3):
        CODES[each] = each
    TOTAL = 0
    TOTAL += 1
    def get():
        return CODES, TOTAL
    """,
    "keys of a dict": """
    CODES = {"a": []}
    def get():
        for key in CODES:
            key += "b"
    """,
    "containers": """
    from txloop.fake import TDict, TVar
    import app
    games, hits, rooms = TDict(), TVar(0), {"a": TDict()}
    class Handler:
        seen = TDict()
        def get(self, key):
            games[key] = 1
            games.update(a=1)
            del games[key]
            hits.value += 1
            app.hits.value = 1
            self.seen[key] = 1
            rooms[key][key] = 1
            rooms.get(key).pop(key)
            return games[key], hits.value
    def refresh():
        games["a"] = 1
        hits.value += 1
    """,
    "objects of own subclasses of containers": """
    from txloop.fake import TObject
    class Game(TObject):
        def move(self, number):
            self.number = number
            self.moves.append(number)
    game = Game()
    def get():
        game.move(1)
        game.number = 2
        Game().move(1)
    """,
    "attributes of the handler": """
    class Handler:
        users = None
        def prepare(self):
            self.rows = []
            self.users = {}
        def get(self):
            self.rows.append(1)
            self.users["a"] = 1
            self.count = 1
            self.count += 1
    """,
    "number of the class that becomes one of the instance": """
    class Handler:
        count = 0
        def get(self):
            self.count += 1
    """,
    "attributes of local objects": """
    class Row:
        def __init__(self):
            self.cells = []
        def add(self, cell):
            self.cells.append(cell)
            self.size = len(self.cells)
    def get():
        row = Row()
        row.add(1)
        row.name = "a"
    """,
    "lock": """
    import threading
    lock = threading.Lock()
    def change():
        global lock
        lock = threading.Lock()
    def get():
        with lock:
            return 1
    """,
    "logging": """
    import logging
    logger = logging.getLogger("a")
    def get():
        logger.info("a")
        logging.warning("b")
    """,
    "random and time": """
    import random, time
    def get():
        return random.random(), random.choice([1]), time.time()
    """,
    "thread-local storage": """
    import threading
    local = threading.local()
    def get():
        local.count = 1
    """,
    "objects of libraries": """
    import queue
    from tornado.httpclient import HTTPClient
    waiting = queue.Queue()
    client = HTTPClient
    def get():
        waiting.put(1)
        client.update()
    """,
    "remembered results": """
    import functools
    @functools.lru_cache(maxsize=None)
    def square(number):
        return number * number
    def get():
        return square(3)
    """,
    "functions, classes and modules that are replaced": """
    import json
    def answer():
        return 1
    class Row:
        pass
    def change():
        global json, answer, Row
        json = answer = Row = None
    def get():
        return json.dumps(answer()), Row()
    """,
    "effect": """
    import txloop.fake
    from functools import partial
    from txloop.fake import on_commit
    rows, names = [], {}
    def get():
        def note():
            rows.append(1)
        on_commit(note)
        on_commit(lambda: rows.append(1))
        on_commit(rows.append, 1)
        txloop.fake.on_commit(partial(rows.append, 1))
    """,
    "attribute that no class has, of what a container holds": """
    import txloop
    class Kind:
        used = 0
    kinds = txloop.TDict(plain=Kind)
    def use():
        Kind.used += 1
        kinds["plain"].seen = 1
    def get():
        return kinds["plain"].name, kinds["plain"].show(1)
    """,
    "call that cannot be resolved": """
    def get(database, name):
        database.update(a=1)
        database.rows.append(1)
        getattr(database, name)(1)
        [print][0](1)
        missing.append(1)
    """,
    "what initialize keeps": """
    class Handler:
        def initialize(self, database, cache):
            self.database = database
            self.db = self.cache = cache
        def get(self):
            self.database.append(1)
            self.db["a"] = 1
            self.cache.count = 1
    """,
    "what the application holds, as far as the source tells": """
    from txloop.fake import TDict
    class Handler:
        def get(self):
            self.application.games["a"] = 1
            self.application.database.update(a=1)
            self.settings["games"]["a"] = 1
            return self.settings["debug"], self.application.games
    def main(application):
        application.games = TDict()
    """,
    "on_finish": """
    rows = []
    class Handler:
        def on_finish(self):
            rows.append(1)
        def get(self):
            pass
    """,
    "another verb": """
    rows = []
    class Handler:
        def post(self):
            rows.append(1)
        def get(self):
            pass
    """,
    "function that is not called": """
    rows = []
    def note():
        rows.append(1)
    def get():
        return note
    """,
    "one of two lambdas on one line": """
    rows = []
    get, other = lambda: 1, lambda: rows.append(1)
    """,
    "private attribute of the instance": """
    class Handler:
        __rows = []
        def prepare(self):
            self.__rows = []
        def get(self):
            self.__rows.append(1)
    """,
    "setter of the library, on the handler": """
    from tornado.web import RequestHandler
    class Handler(RequestHandler):
        def get(self):
            self.current_user = "a"
            self.request.remote_ip = "b"
            self.set_header("c", "d")
            self.write({"e": self.settings.get("debug")})
    """,
    "function that is called with what it may change": """
    rows = []
    def note(where):
        where.append(1)
    def get():
        note([])
    """,
    "closure variable that is not assigned yet": """
    def make():
        def get():
            return later
        if not make:
            later = []
        return get
    get = make()
    """,
    "slot that is not assigned yet": """
    class Store:
        __slots__ = ("items",)
    store = Store()
    def get():
        return store.items
    """,
    "method that no base class has": """
    class Handler:
        def get(self):
            super().get()
            super().rows.append(1)
    """,
    "import of what is not there": """
    def get():
        from . import nothing
        from nowhere import rows
        rows.append(1)
    """,
    "keys of objects, and slices of these": """
    class Person:
        def __init__(self):
            self.age = 1
        def show(self):
            return str(self.age)
    people = {"ann": Person(), "bob": Person()}
    rows = [{"name": "ann"}]
    def get(first):
        for name, person in sorted(people.items(), key=lambda pair: pair[1].age):
            name.upper() + person.show()
        for number, (name, person) in enumerate(list(people.items())[:9]):
            name.upper() + person.show()
        mine = rows[first:]
        mine.append({})
        mine += [{}]
        mine.reverse()
        return max(people.items())[0].upper()
    """,
}

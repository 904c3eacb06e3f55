"""Programs that write state in what they call. See `test_scan`."""

from __future__ import annotations

PROGRAMS = {
    "function": """
    rows = []
    def note():
        rows.append(1)  # MUTATES_GLOBAL app.rows
    def get():
        note()
    """,
    "argument": """
    rows = []
    def note(value, where):
        where.append(value)  # MUTATES_GLOBAL app.rows
    def get():
        note(1, rows)
        note(1, where=rows)
    """,
    "handler as an argument": """
    def note(handler):
        handler.application.hits = 1  # WRITES_APPLICATION application.hits
    class Handler:
        def get(self):
            note(self)
    """,
    "returned state": """
    rows = []
    def every():
        return rows
    def get():
        every().append(1)  # MUTATES_GLOBAL app.rows
    """,
    "awaited state": """
    rows = []
    async def every():
        return rows
    async def get():
        (await every()).append(1)  # MUTATES_GLOBAL app.rows
    """,
    "method": """
    rows = []
    class Handler:
        def note(self):
            rows.append(1)  # MUTATES_GLOBAL app.rows
        def get(self):
            self.note()
    """,
    "method of the base class": """
    rows = []
    class Noting:
        def get(self):
            rows.append(1)  # MUTATES_GLOBAL app.rows
    class Handler(Noting):
        def get(self):
            super().get()
    """,
    "method of the base class, the old way": """
    rows = []
    class Noting:
        def get(self):
            rows.append(1)  # MUTATES_GLOBAL app.rows
    class Handler(Noting):
        def get(self):
            super(Handler, self).get()
            Noting.get(self)
    """,
    "property": """
    rows = []
    class Handler:
        @property
        def noted(self):
            rows.append(1)  # MUTATES_GLOBAL app.rows
        def get(self):
            return self.noted
    """,
    "cached property": """
    import functools
    rows = []
    class Handler:
        @functools.cached_property
        def noted(self):
            rows.append(1)  # MUTATES_GLOBAL app.rows
        def get(self):
            return self.noted
    """,
    "static method": """
    rows = []
    class Handler:
        @staticmethod
        def note():
            rows.append(1)  # MUTATES_GLOBAL app.rows
        def get(self):
            self.note()
    """,
    "constructor": """
    rows = []
    class Row:
        def __init__(self):
            rows.append(self)  # MUTATES_GLOBAL app.rows
    def get():
        Row()
    """,
    "constructor of a data class": """
    from dataclasses import dataclass
    rows = []
    @dataclass
    class Row:
        number: int
        def __post_init__(self):
            rows.append(self)  # MUTATES_GLOBAL app.rows
    def get():
        Row(1)
    """,
    "method of a local object": """
    rows = []
    class Row:
        def note(self):
            rows.append(self)  # MUTATES_GLOBAL app.rows
    def get():
        row = Row()
        row.note()
    """,
    "decorated function": """
    import functools
    rows = []
    def noted(function):
        @functools.wraps(function)
        def wrapper(*args):
            rows.append(1)  # MUTATES_GLOBAL app.rows
            return function(*args)
        return wrapper
    @noted
    def get():
        rows.append(2)  # MUTATES_GLOBAL app.rows
    """,
    "function in a wrapper of Tornado's that is decorated": """
    import functools
    from tornado import gen
    rows = []
    def noted(function):
        @functools.wraps(function)
        @gen.coroutine
        def wrapper(*args):
            rows.append(1)  # MUTATES_GLOBAL app.rows
            return function(*args)
        return wrapper
    @noted
    def get():
        rows.append(2)  # MUTATES_GLOBAL app.rows
    """,
    "remembered function": """
    import functools
    rows = []
    @functools.lru_cache
    def note():
        rows.append(1)  # MUTATES_GLOBAL app.rows
    def get():
        note()
    """,
    "partial": """
    import functools
    rows = []
    def note(where, value):
        where.append(value)  # MUTATES_GLOBAL app.note_row
    note_row = functools.partial(note, rows)
    def get():
        note_row(1)
    """,
    "bound method": """
    class Store:
        def __init__(self):
            self.count = 0
        def note(self):
            self.count += 1  # MUTATES_GLOBAL app.Store.count
    note = Store().note
    def get():
        note()
    """,
    "nested function": """
    rows = []
    def get():
        def note():
            rows.append(1)  # MUTATES_GLOBAL app.rows
        note()
    """,
    "nested function's argument": """
    rows, others = [], []
    def get():
        def note(where, value=1, *more, **named):
            where.append(value)  # MUTATES_GLOBAL app.rows
            for each in more:
                each.append(1)  # MUTATES_GLOBAL app.others
        made = []
        note(made)
        note(rows, 1, others)
    """,
    "what a nested function returns": """
    rows = []
    def get(number):
        def every(number):
            return every(number - 1) if number else rows
        every(number).append(1)  # MUTATES_GLOBAL app.rows
    """,
    "nested functions of one name": """
    rows, others = [], []
    def get(number):
        if number:
            def note(where):
                where.append(1)  # MUTATES_GLOBAL app.rows
        else:
            def note(where):
                others.append(where)  # MUTATES_GLOBAL app.others
        note(rows)
    """,
    "nested function whose variables change": """
    rows = []
    def get():
        where = []
        def note():
            where.append(1)  # MUTATES_GLOBAL app.rows
        note()
        where = rows
        note()
    """,
    "nested function, decorated": """
    rows = []
    def get(register):
        @register
        def note():
            rows.append(1)  # MUTATES_GLOBAL app.rows
    """,
    "lambda": """
    rows = []
    def get():
        return map(lambda row: rows.append(row), [1])  # MUTATES_GLOBAL app.rows
    """,
    "nested class": """
    rows = []
    def get():
        class Row:
            def __init__(self):
                rows.append(self)  # MUTATES_GLOBAL app.rows
        return Row()
    """,
    "recursion": """
    rows = []
    def even(number):
        rows.append(number)  # MUTATES_GLOBAL app.rows
        return odd(number - 1)
    def odd(number):
        return even(number - 1)
    def get():
        return even(3)
    """,
    "lambda by name": """
    rows = []
    get = lambda: rows.append(1)  # MUTATES_GLOBAL app.rows
    """,
    "getattr": """
    rows = []
    class Handler:
        def note(self):
            rows.append(1)  # MUTATES_GLOBAL app.rows
        def get(self):
            getattr(self, "note")()
    """,
    "function that a builtin calls": """
    rows = []
    def note(row):
        rows.append(row)  # MUTATES_GLOBAL app.rows
    def by(row):
        rows.append(row)  # MUTATES_GLOBAL app.rows
    def get(items):
        return list(map(note, sorted(items, key=by)))
    """,
    "alternatives of a transaction that may wait": """
    from txloop.fake import or_else
    rows = []
    def first():
        rows.append(1)  # MUTATES_GLOBAL app.rows
    def get():
        return or_else(first, lambda: rows.clear())  # MUTATES_GLOBAL app.rows
    """,
    "argument after a starred one": """
    rows, others = [], []
    def note(first, second):
        first.append(1)  # MUTATES_GLOBAL app.rows
        second.append(1)  # MUTATES_GLOBAL app.others
    def get(items):
        note(rows, *items, others)
    """,
    "what starred arguments bring": """
    rows, table, log, seen = [], {}, [], []
    def push(to, item):
        to.append(item)  # MUTATES_GLOBAL app.rows
    def put(to, item):
        to[item] = 1  # MUTATES_GLOBAL app.table
    def each(*every):
        every[1].append(1)  # MUTATES_GLOBAL app.log
    def named(**every):
        every["to"].append(1)  # MUTATES_GLOBAL app.seen
    def run(function, *arguments):
        function(*arguments)
    def get(item):
        run(push, rows, item)
        given = {"to": table, "item": item}
        put(**given)
        each(item, log)
        named(to=seen)
    """,
    "lambdas on one line": """
    rows = []
    pass_by, get = lambda: 1, lambda: rows.append(1)  # MUTATES_GLOBAL app.rows
    """,
    "object that can be called": """
    rows = []
    class Note:
        def __call__(self):
            rows.append(1)  # MUTATES_GLOBAL app.rows
    get = Note()
    """,
    "local object that is called": """
    rows = []
    class Note:
        def __call__(self):
            rows.append(1)  # MUTATES_GLOBAL app.rows
    def get():
        Note()()
    """,
    "starred target": """
    rows = []
    def get(items):
        first, *rest = items
        rows.extend(rest)  # MUTATES_GLOBAL app.rows
    """,
    "property of the class of a shared object": """
    class Store:
        def __init__(self):
            self.items = []
        @property
        def every(self):
            return self.items
    STORE = Store()
    def get():
        STORE.every.append(1)  # MUTATES_GLOBAL app.STORE.items
    """,
    "method that any name may mean": """
    class Store:
        def __init__(self):
            self.rows = []
        def do_add(self):
            self.rows.append(1)  # MUTATES_GLOBAL app.store.rows
        def undo(self):
            self.rows.pop()  # MUTATES_GLOBAL app.store.rows
    store = Store()
    def get(name):
        return getattr(store, name)()
    """,
    "method whose name is put together": """
    class Store:
        def __init__(self):
            self.rows = []
        def do_add(self):
            self.rows.append(1)  # MUTATES_GLOBAL app.store.rows
        def undo(self):
            self.rows.pop()
    store = Store()
    def get(name):
        return getattr(store, f"do_{name}")()
    """,
    "the end of a new object": """
    ended = []
    class File:
        def __init__(self, name):
            self.name = name
        def __del__(self):
            ended.append(self.name)  # MUTATES_GLOBAL app.ended
    def get(name):
        File(name)
    """,
    "a class that is made by a call": """
    made = []
    class Plugin:
        def __init_subclass__(cls):
            made.append(cls)  # MUTATES_GLOBAL app.made
    def get(name):
        type(name, (Plugin,), {})
        type(name, (object,), {})
    """,
    "what total_ordering makes of a method": """
    import functools
    compared = []
    @functools.total_ordering
    class Task:
        def __eq__(self, other):
            asked[0] = 1  # MUTATES_GLOBAL app.asked
            return True
        def __lt__(self, other):
            compared.append(other)  # MUTATES_GLOBAL app.compared
            return True
    asked, task = {}, Task()
    def get():
        return Task() >= Task(), Task() != Task()
    """,
    "what it makes, by a name": """
    from functools import total_ordering
    compared = []
    @total_ordering
    class Task:
        def __gt__(self, other):
            compared.append(other)  # MUTATES_GLOBAL app.compared
            return True
    task = Task()
    def get():
        return task.__le__(Task())
    """,
    "what operators of abstract classes call": """
    import collections.abc as abc
    read = []
    class Table(abc.Mapping):
        def __getitem__(self, key):
            read.append(key)  # MUTATES_GLOBAL app.read
            return key
        def __iter__(self):
            gone_over.append(1)  # MUTATES_GLOBAL app.gone_over
            return iter("ab")
        def __len__(self):
            return 2
    class Row(abc.Sequence):
        def __getitem__(self, number):
            parts.append(number)  # MUTATES_GLOBAL app.parts
            return "ab"[number]
        def __len__(self):
            return 2
    gone_over, parts = [], []
    def get():
        return Table() == Table(), [one for one in Row()]
    """,
    "what operators of an abstract class call of an object that is there": """
    import collections.abc as abc
    read = []
    class Table(abc.Mapping):
        def __getitem__(self, key):
            read.append(key)  # MUTATES_GLOBAL app.read
            return key
        def __iter__(self):
            return iter("ab")
        def __len__(self):
            return 2
    table = Table()
    def get(key):
        return key in table
    """,
}

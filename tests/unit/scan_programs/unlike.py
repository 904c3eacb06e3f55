"""Programs whose plain containers hold parts that are not alike. See `test_scan`."""

from __future__ import annotations

PROGRAMS = {
    "a row that may be missing": """
    rows = {"a": None, "b": {"count": 0}}
    def get(name):
        if rows[name]:
            rows[name]["count"] += 1  # MUTATES_GLOBAL app.rows
    """,
    "a row that comes after an empty one": """
    rows = [[], [{"count": 0}]]
    def get():
        for row in rows:
            for each in row:
                each["count"] += 1  # MUTATES_GLOBAL app.rows
    """,
    "pairs, of which the first has nothing": """
    rows = [(0, None), (1, {"count": 0})]
    def get():
        for number, row in rows:
            if row:
                row["count"] += number  # MUTATES_GLOBAL app.rows
    """,
    "values of dicts, of which the first is empty": """
    rows = {"a": {}, "b": {"c": {"count": 0}}}
    def get():
        for row in rows.values():
            for each in row.values():
                each["count"] += 1  # MUTATES_GLOBAL app.rows
    """,
    "a key that only the second row has": """
    rows = [{"name": "a"}, {"name": "b", "tags": []}]
    def get(number):
        rows[number].get("tags", []).append(1)  # MUTATES_GLOBAL app.rows
    """,
    "objects, of which the first has none of them": """
    class Player:
        def __init__(self):
            self.score = 0
    class Room:
        def __init__(self, players):
            self.players = players
    rooms = [Room([]), Room([Player()])]
    def get():
        for room in rooms:
            for player in room.players:
                player.score += 1  # MUTATES_GLOBAL app.rooms.players.score
    """,
    "objects with slots": """
    class Room:
        __slots__ = ("topics",)
        def __init__(self, topics):
            self.topics = topics
    rooms = [Room(None), Room({})]
    def get(name):
        for room in rooms:
            if room.topics is not None:
                room.topics[name] = 1  # MUTATES_GLOBAL app.rooms.topics
    """,
    "methods of one object": """
    class Store:
        def __init__(self):
            self.rows = []
            self.listeners = [self.look, self.note]
        def look(self):
            return 1
        def note(self):
            self.rows.append(1)  # MUTATES_GLOBAL app.Store.rows
    store = Store()
    def get():
        for listener in store.listeners:
            listener()
    """,
    "partial functions": """
    import functools
    rows = []
    def note(row):
        rows.append(row)  # MUTATES_GLOBAL app.rows
    steps = [functools.partial(len), functools.partial(note)]
    def get(row):
        for step in steps:
            step(row)
    """,
    "objects that keep different functions": """
    rows = []
    def note(row):
        rows.append(row)  # MUTATES_GLOBAL app.rows
    class Step:
        def __init__(self, function):
            self.function = function
        def __call__(self, row):
            self.function(row)
    steps = {"measure": Step(len), "note": Step(note)}
    def get(name, row):
        steps[name](row)
    """,
    "functions in tables of a table": """
    rows = []
    def note(row):
        rows.append(row)  # MUTATES_GLOBAL app.rows
    steps = {"measure": {"run": len}, "note": {"run": note}}
    def get(name, row):
        steps[name]["run"](row)
    """,
    "a function after one of Python's": """
    rows = []
    def note(row):
        rows.append(row)  # MUTATES_GLOBAL app.rows
    steps = [(1, len), (2, note)]
    def get(row):
        for number, step in steps:
            step(row)
    """,
    "members of an enumeration": """
    import enum
    class Room(enum.Enum):
        NONE = None
        HALL = {"count": 0}
    def get(name):
        if Room[name].value:
            Room[name].value["count"] += 1  # MUTATES_GLOBAL app.Room.value
    """,
    "the default of a context variable": """
    import contextvars
    state = contextvars.ContextVar("state", default={})
    def get():
        state.get()["count"] = 1  # MUTATES_GLOBAL app.state
    """,
    "a context variable that may have none": """
    import contextvars
    state = contextvars.ContextVar("state")
    def get():
        try:
            return state.get()
        except LookupError:
            state.set({})
    """,
    "a context variable of numbers": """
    import contextvars
    depth = contextvars.ContextVar("depth", default=0)
    def get():
        depth.set(depth.get() + 1)
    """,
    "a row behind many that are not like it": """
    rows = [{"number": number} for number in range(5000)]
    rows[4900]["tags"] = []
    def get(number):
        rows[number].get("tags", []).append(1)  # MUTATES_GLOBAL app.rows
    """,
    "a function behind many that are not like it": """
    rows = []
    def note(row):
        rows.append(row)  # MUTATES_GLOBAL app.rows
    steps = [len] * 4900 + [note] + [len] * 50
    def get(number, row):
        steps[number](row)
    """,
    "an attribute behind many others": """
    class Room:
        def __init__(self, topics):
            for number in range(30):
                setattr(self, "name%d" % number, "")
            self.topics = topics
    rooms = [Room(None), Room({})]
    def get(number, name):
        if rooms[number].topics is not None:
            rooms[number].topics[name] = 1  # MUTATES_GLOBAL app.rooms.topics
    """,
}

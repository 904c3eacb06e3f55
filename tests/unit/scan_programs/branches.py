"""Programs with statements of which parts run, one or the other. See `test_scan`."""

from __future__ import annotations

PROGRAMS = {
    "one of three, or what it was before": """
    a, b, c = [], [], {}
    def get(number):
        if number:
            rows = a
        elif number is None:
            rows = b
        else:
            rows = c
        if number:
            rows = []
        rows.clear()  # MUTATES_GLOBAL app.a, MUTATES_GLOBAL app.b, MUTATES_GLOBAL app.c
    """,
    "not of a branch that leaves": """
    rows, others = [], []
    def get(number):
        where = []
        if number:
            where = rows
            return len(where)
        elif number is None:
            where = others
            raise ValueError(where)
        where.append(1)
    """,
    "of a `try`, or of what follows an error": """
    a, b, c = [], [], []
    def get(key):
        try:
            rows = a
        except KeyError:
            rows = b
        else:
            rows = c
        rows.clear()  # MUTATES_GLOBAL app.b, MUTATES_GLOBAL app.c
        try:
            one = {}[key]
        except KeyError:
            return a
        one.clear()
    """,
    "of branches in a loop": """
    a, b = [], []
    def get(numbers):
        for number in numbers:
            if number:
                rows = a
            else:
                rows = b
            rows.clear()  # MUTATES_GLOBAL app.a, MUTATES_GLOBAL app.b
    """,
    "what a name has before a branch that binds it": """
    rows, others = [], []
    def get(number):
        where = rows
        if number:
            where = []
        elif number is None:
            where.append(1)  # MUTATES_GLOBAL app.rows
        else:
            where = others
            where.append(1)  # MUTATES_GLOBAL app.others
    """,
    "what a branch puts into a name's list": """
    rows = []
    def get(number):
        where = []
        if number:
            where.append(rows)
        else:
            where.append(1)
        where[0].append(1)  # MUTATES_GLOBAL app.rows
    """,
    "parts of a mapping that is matched": """
    STATE = {"rows": [1], "more": {"names": []}}
    def get():
        match STATE:
            case {"rows": rows}:
                rows.append(1)  # MUTATES_GLOBAL app.STATE
            case {"more": {"names": [*_] as names}, **rest}:
                names.append(1)  # MUTATES_GLOBAL app.STATE
                rest.clear()
    """,
    "parts of a sequence that is matched": """
    ROWS = [[1], [2]]
    def get():
        match ROWS:
            case [first, *rest]:
                rest.clear()
                first.append(1)  # MUTATES_GLOBAL app.ROWS
            case [] | [_] as whole:
                whole.append(1)  # MUTATES_GLOBAL app.ROWS
    """,
    "attributes of an object that is matched": """
    class Room:
        __match_args__ = ("names",)
        def __init__(self):
            self.names, self.topic = [], "none"
    ROOM = Room()
    def get():
        match ROOM:
            case Room(names, topic="none"):
                names.append(1)  # MUTATES_GLOBAL app.ROOM.names
            case Room(topic=str(topic)):
                ROOM.topic = topic + "!"  # MUTATES_GLOBAL app.ROOM.topic
    """,
    "names of other cases": """
    a, b, c = [], [], []
    def get(number):
        match number:
            case 1:
                rows = a
            case [*rows] if rows:
                rows.clear()
            case (2 | 3) as name:
                rows = b
            case _:
                rows = c
                return rows
        rows.clear()  # MUTATES_GLOBAL app.a, MUTATES_GLOBAL app.b
    """,
    "what a pattern is compared with": """
    class Key:
        asked = 0
        def __eq__(self, other):
            Key.asked += 1  # WRITES_CLASS app.Key.asked
            return False
    class Keys:
        ONE = Key()
    def get(given):
        match given:
            case Keys.ONE:
                return 1
    """,
}

"""Programs that assign state of a module. See `test_scan`."""

from __future__ import annotations

PROGRAMS = {
    "assignment": """
    hits = 0
    def get():
        global hits
        hits = 1  # WRITES_GLOBAL app.hits
    """,
    "increment": """
    hits = 0
    def get():
        global hits
        hits += 1  # WRITES_GLOBAL app.hits
        return hits
    """,
    "deletion": """
    hits = 0
    def get():
        global hits
        del hits  # WRITES_GLOBAL app.hits
    """,
    "loop variable": """
    last = 0
    def get():
        global last
        for last in range(3):  # WRITES_GLOBAL app.last
            pass
    """,
    "unpacking": """
    a, b = 1, 2
    def get():
        global a
        a, c = 3, 4  # WRITES_GLOBAL app.a
    """,
    "walrus in a comprehension": """
    last = None
    def get():
        global last
        return [last := each for each in range(3)]  # WRITES_GLOBAL app.last
    """,
    "import": """
    json = None
    def get():
        global json
        import json  # WRITES_GLOBAL app.json
    """,
    "function": """
    def answer():
        return 1
    def get():
        global answer
        def answer():  # WRITES_GLOBAL app.answer
            return 2
    """,
    "global that does not exist yet": """
    def get():
        global hits
        hits = 1  # WRITES_GLOBAL app.hits
    """,
    "attribute of a module": """
    import sys
    def get():
        sys.hits = 1  # WRITES_GLOBAL sys.hits
    """,
    "setattr on a module": """
    import sys
    def get():
        setattr(sys, "hits", 1)  # WRITES_GLOBAL sys.hits
    """,
    "globals()": """
    def get():
        globals()["hits"] = 1  # MUTATES_GLOBAL app.globals()
    """,
    "attribute of a function": """
    def get():
        get.hits = 1  # MUTATES_GLOBAL app.get.hits
    """,
    "in every kind of statement": """
    hits = 0
    async def get(lock, rows):
        global hits
        async with lock as it:
            hits += 1  # WRITES_GLOBAL app.hits
        async for row in rows:
            hits += 1  # WRITES_GLOBAL app.hits
        while rows:
            hits += 1  # WRITES_GLOBAL app.hits
        else:
            hits += 1  # WRITES_GLOBAL app.hits
        if rows:
            hits += 1  # WRITES_GLOBAL app.hits
        elif lock:
            hits += 1  # WRITES_GLOBAL app.hits
        try:
            hits += 1  # WRITES_GLOBAL app.hits
        except ValueError as error:
            hits += 1  # WRITES_GLOBAL app.hits
        finally:
            hits += 1  # WRITES_GLOBAL app.hits
        match rows:
            case [first, *rest]:
                hits += 1  # WRITES_GLOBAL app.hits
            case {"a": it, **others}:
                hits = 1  # WRITES_GLOBAL app.hits
    """,
    "what another branch has bound in a loop": """
    rows, others = [], []
    def get(numbers):
        while numbers:
            if numbers.pop():
                where = others
            else:
                where.append(1)  # MUTATES_GLOBAL app.others
        for each in numbers:
            if each:
                where = rows
            elif each is None:
                where.append(1)  # MUTATES_GLOBAL app.rows
    """,
}

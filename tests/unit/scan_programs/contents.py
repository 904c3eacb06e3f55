"""Programs whose objects come out of containers. See `test_scan`."""

from __future__ import annotations

PROGRAMS = {
    "method of an object out of a container": """
    from txloop.fake import TDict, TObject
    log = []
    class Game(TObject):
        def note(self):
            log.append(1)  # MUTATES_GLOBAL app.log
    games = TDict()
    def get():
        games["a"].note()
    """,
    "inherited method in a loop": """
    from txloop.fake import TDict, TObject
    log = []
    class Noting:
        def note(self):
            log.append(1)  # MUTATES_GLOBAL app.log
    class Game(Noting, TObject): ...
    games = TDict()
    def get():
        return [game.note() for game in games]
    """,
    "property of an object out of a container": """
    from txloop.fake import TDict, TObject
    log = []
    class Game(TObject):
        @property
        def number(self):
            return len(log)  # READS_WRITTEN app.log
    games = TDict()
    def note():
        log.append(1)
    def get():
        return games["a"].number
    """,
    "method of a value out of a container": """
    import enum, typing
    from txloop.fake import TDict
    log = []
    class Move(typing.NamedTuple):
        number: int
        def note(self):
            log.append(1)  # MUTATES_GLOBAL app.log
    class Kind(enum.Enum):
        PLAIN = 1
        def tell(self):
            log.append(2)  # MUTATES_GLOBAL app.log
    games = TDict()
    def get():
        game = games["a"]
        game.note()
        game.tell()
    """,
    "what a method of an object out of a container returns": """
    from txloop.fake import TDict, TObject
    log = []
    class Game(TObject):
        def rows(self):
            return log
    games = TDict()
    def get():
        games["a"].rows().append(1)  # MUTATES_GLOBAL app.log
    """,
    "what a method of an object out of a container changes of its own": """
    from txloop.fake import TDict, TObject
    class Game(TObject):
        def __init__(self):
            self.moves = []
        def move(self, number):
            self.number = number
            self.moves.append(number)
            self.moves[0].clear()
    games = TDict()
    def get():
        games["a"].move(1)
        games["a"].moves.append(2)
    """,
    "what a builtin applies to objects": """
    class Row:
        def note(self):
            log.append(1)  # MUTATES_GLOBAL app.log
        def mark(self):
            marks.append(1)  # MUTATES_GLOBAL app.marks
        def size(self):
            sizes.append(1)  # MUTATES_GLOBAL app.sizes
    log, marks, sizes = [], [], []
    rows = {"a": Row()}
    def get():
        def marked(row):
            return row.mark()
        list(map(lambda row: row.note(), rows.values()))
        list(filter(marked, rows.values()))
        return max(rows["a"], rows["a"], key=lambda row: row.size())
    """,
    "what a builtin applies to objects out of a container": """
    from txloop.fake import TDict, TObject
    class Game(TObject):
        def score(self):
            return self.number
        def name(self):
            return names  # READS_WRITTEN app.names
    names = []
    games = TDict()
    def note():
        names.append(1)
    def get():
        best = sorted(games, key=lambda game: game.score())
        return [*map(lambda game: game.name(), best)]
    """,
    "method of Tornado's beside one of that name": """
    import tornado.web
    from txloop.fake import TObject
    log = []
    class Game(TObject):
        def write(self, chunk):
            log.append(chunk)
    class Handler(tornado.web.RequestHandler):
        def get(self):
            self.write("a")
    """,
    "method of Tornado's that the program has put there": """
    import tornado.web
    from txloop.fake import TObject
    log = []
    class Game(TObject):
        def write(self, chunk):
            log.append(chunk)  # MUTATES_GLOBAL app.log
    class Handler(tornado.web.RequestHandler):
        def initialize(self):
            self.write = games["a"].write
        def get(self):
            self.write("a")
    games = {}
    """,
}

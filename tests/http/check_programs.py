"""Programs that are checked, and then run: see `test_check_alike`."""

from __future__ import annotations

PROGRAMS = {
    "state of the module": """
    import json
    from tornado.ioloop import IOLoop
    from tornado.options import define, options, parse_command_line
    from tornado.web import Application, RequestHandler
    define("port", default=8888, type=int)
    items = []
    codes = {"a": 1}
    class Items(RequestHandler):
        def get(self):
            self.write(json.dumps(items))
        def post(self):
            items.append({"name": "a"})
    class Codes(RequestHandler):
        def get(self):
            self.write(codes)
    class Unmounted(RequestHandler):
        def get(self):
            items.clear()
    if __name__ == "__main__":
        parse_command_line()
        Application([("/items", Items), ("/codes", Codes)]).listen(options.port)
        IOLoop.current().start()
    """,
    "objects on the application": """
    import asyncio
    from tornado.web import Application, RequestHandler
    class Game:
        def __init__(self):
            self.moves = 0
    class Games:
        def __init__(self):
            self.games = {}
        def new(self, name):
            self.games[name] = Game()
        def find(self, name):
            return self.games.get(name)
        def forget(self, name):
            del self.games[name]
    class Main(RequestHandler):
        def get(self):
            self.write("hello")
    class NewGame(RequestHandler):
        def post(self):
            self.application.games.new("a")
    class OneGame(RequestHandler):
        def get(self):
            self.write(str(self.application.games.find("a") is None))
    class App(Application):
        def __init__(self):
            super().__init__([("/", Main), ("/new", NewGame), ("/one", OneGame)])
            self.games = Games()
    async def main():
        App().listen(8888)
        await asyncio.Event().wait()
    if __name__ == "__main__":
        asyncio.run(main())
    """,
    "routes of one class": """
    import asyncio
    from tornado.web import Application, RequestHandler
    class Look(RequestHandler):
        def initialize(self, table):
            self.table = table
        def get(self):
            self.write(str(len(self.table)))
    class Keep(Look):
        def put(self):
            self.table.append(1)
    table = []
    async def main():
        Application([
            ("/empty", Look, {"table": ()}),
            ("/look", Look, {"table": table}),
            ("/keep", Keep, {"table": table}),
            ("/other", Keep, {"table": []}),
        ]).listen(8888)
        await asyncio.Event().wait()
    asyncio.run(main())
    """,
    "what is over before the first request": """
    import asyncio
    from tornado.web import Application, RequestHandler
    commands, config = {}, {}
    def register(name):
        def keep(function):
            commands[name] = function
            return function
        return keep
    @register("hello")
    def hello():
        return "hello"
    def load():
        config.update(greeting="hello")
    class Box:
        def __init__(self):
            self.things = {"a": 1}
        def clear(self):
            self.things.clear()
    class Command(RequestHandler):
        def get(self):
            self.write(commands["hello"]() + config["greeting"])
    class Things(RequestHandler):
        def get(self):
            self.write(self.application.box.things)
    async def main():
        load()
        app = Application([("/", Command), ("/things", Things)])
        app.box = Box()
        app.listen(8888)
        await asyncio.Event().wait()
    asyncio.run(main())
    """,
    "kinds of verbs": """
    import asyncio
    import txloop
    from tornado.web import Application, RequestHandler
    from tornado.websocket import WebSocketHandler
    seen = []
    class Base(RequestHandler):
        def get(self):
            seen.append(1)
        def head(self):
            pass
    class Mine(Base):
        async def post(self):
            pass
    @txloop.transactional(trust=True)
    class Trusted(Base):
        pass
    class Socket(WebSocketHandler):
        async def on_message(self, text):
            seen.append(text)
    @txloop.transactional
    def note():
        seen.append(1)
    @txloop.transactional
    def count(numbers):
        return len(numbers)
    async def main():
        Application([("/", Mine), ("/trusted", Trusted), ("/s", Socket)]).listen(8888)
        await asyncio.Event().wait()
    asyncio.run(main())
    """,
    "what cannot be copied": """
    import asyncio
    import sqlite3
    import threading
    from tornado.web import Application, RequestHandler
    lock = threading.Lock()
    def next_number(numbers):
        return next(numbers)
    class Locked(RequestHandler):
        def get(self):
            with lock:
                self.write("locked")
    class Rows(RequestHandler):
        def get(self):
            self.write(str(self.application.base.execute("select 1").fetchall()))
        def head(self):
            pass
    class Numbers(RequestHandler):
        def initialize(self, numbers):
            self.numbers = numbers
        def get(self):
            self.write(str(next_number(self.numbers)))
    async def main():
        app = Application([
            ("/locked", Locked),
            ("/rows", Rows),
            ("/numbers", Numbers, {"numbers": iter(range(9))}),
        ])
        app.base = sqlite3.connect(":memory:")
        app.listen(8888)
        await asyncio.Event().wait()
    asyncio.run(main())
    """,
}

REQUESTS = {
    "state of the module": ["GET /items", "POST /items", "GET /codes"],
    "objects on the application": ["GET /", "GET /one", "POST /new"],
    "routes of one class": ["GET /empty", "GET /look", "PUT /other", "GET /other"],
    "what is over before the first request": ["GET /", "GET /things"],
    "what cannot be copied": [
        *("GET /locked", "GET /rows", "HEAD /rows", "GET /numbers"),
    ],
    "kinds of verbs": ["GET /", "HEAD /", "POST /", "GET /trusted", "HEAD /trusted"],
}

"""A game for two whose objects hang on the application."""

from __future__ import annotations

import sys

from game import Lobby
from tornado.ioloop import IOLoop
from tornado.web import Application, RequestHandler


class NewGame(RequestHandler):
    def get(self, one, other):
        game = self.application.lobby.new_game(one, other)
        self.write({"code": game.code, "turn": game.current.name})


class Take(RequestHandler):
    def get(self, code, name, heap, count):
        game = self.application.lobby.games.get(code)
        if game is None:
            self.set_status(404)
            self.write({"error": "no such game"})
            return
        said = game.take(name, int(heap), int(count))
        self.write({"said": said, "heaps": game.heaps, "players": repr(game.players)})


class Summary(RequestHandler):
    def get(self):
        self.write(self.application.lobby.summary())


class GameServer(Application):
    def __init__(self):
        super().__init__(
            [
                (r"/new/(\w+)/(\w+)", NewGame),
                (r"/take/(\w+)/(\w+)/(\d)/(\d)", Take),
                (r"/summary", Summary),
            ]
        )
        self.lobby = Lobby()


def main():
    http_server = GameServer().listen(int(sys.argv[1]), "127.0.0.1")
    [socket] = http_server._sockets.values()
    print("port", socket.getsockname()[1], flush=True)
    IOLoop.current().start()


if __name__ == "__main__":
    main()

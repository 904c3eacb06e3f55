"""Votes that are kept in a file, which is read, changed and written."""

from __future__ import annotations

import json
import os
import sys

from tornado.ioloop import IOLoop
from tornado.web import Application, RequestHandler

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "votes.json")


class Vote(RequestHandler):
    def get(self):
        name = self.get_argument("name", "")
        seen = (self.get_cookie("seen") or "").split(".")
        if name and name not in seen:
            with open(FILE) as file:
                votes = json.load(file)
            votes[name] = votes.get(name, 0) + 1
            with open(FILE, "w") as file:
                json.dump(votes, file)
            self.set_cookie("seen", ".".join([*filter(None, seen), name]))
        self.write("thank you" if name else "vote!")


class Results(RequestHandler):
    def get(self):
        with open(FILE) as file:
            votes = json.load(file)
        lines = [f"{name}: {count}" for name, count in sorted(votes.items())]
        self.write("\n".join(lines))


def main():
    with open(FILE, "w") as file:
        json.dump({}, file)
    application = Application([(r"/", Vote), (r"/results", Results)])
    http_server = application.listen(int(sys.argv[1]), "127.0.0.1")
    [socket] = http_server._sockets.values()
    print("port", socket.getsockname()[1], flush=True)
    IOLoop.current().start()


if __name__ == "__main__":
    main()

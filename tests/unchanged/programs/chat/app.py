"""A chat whose messages are in an object of the module; readers may wait for more."""

from __future__ import annotations

import asyncio
import sys

from tornado.locks import Condition
from tornado.web import Application, RequestHandler


class Room:
    size = 30

    def __init__(self):
        self.messages = []
        self.count = 0
        self.more = Condition()

    def add(self, author, body):
        self.count += 1
        self.messages.append({"id": self.count, "author": author, "body": body})
        if len(self.messages) > self.size:
            self.messages = self.messages[-self.size :]
        self.more.notify_all()
        return self.messages[-1]

    def since(self, number):
        return [message for message in self.messages if message["id"] > number]


room = Room()
authors = {}


class Messages(RequestHandler):
    def get(self):
        number = int(self.get_argument("since", "0"))
        self.write({"messages": room.since(number), "count": room.count})

    def post(self):
        author = self.get_argument("author", "somebody")
        authors[author] = authors.get(author, 0) + 1
        self.write(room.add(author, self.get_argument("body")))


class Waiting(RequestHandler):
    async def get(self):
        number = int(self.get_argument("since", "0"))
        while not (messages := room.since(number)):
            await room.more.wait()
        self.write({"messages": messages})


class Authors(RequestHandler):
    def get(self):
        self.write(" ".join(f"{name}={n}" for name, n in sorted(authors.items())))


async def main():
    application = Application(
        [(r"/messages", Messages), (r"/waiting", Waiting), (r"/authors", Authors)]
    )
    http_server = application.listen(int(sys.argv[1]), "127.0.0.1")
    [socket] = http_server._sockets.values()
    print("port", socket.getsockname()[1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())

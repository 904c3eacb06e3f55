"""A help desk: tickets are dataclasses, and what is shared hangs on the application."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field

from tornado.ioloop import IOLoop
from tornado.web import Application, HTTPError, RequestHandler


@dataclass
class Entry:
    author: str


@dataclass
class Ticket(Entry):
    title: str
    tags: list[str] = field(default_factory=list)
    done: bool = False

    def close(self):
        self.done = True


class Tickets(RequestHandler):
    def get(self):
        tickets = [asdict(one) for one in self.application.tickets.values()]
        self.write({"last": self.application.last, "tickets": tickets})

    def post(self):
        self.application.last += 1
        number = self.application.last
        ticket = Ticket(**json.loads(self.request.body))
        self.application.tickets[number] = ticket
        self.write({"number": number, "ticket": repr(ticket)})


class OneTicket(RequestHandler):
    def prepare(self):
        number = int(self.path_args[0])
        if number not in self.application.tickets:
            raise HTTPError(404, "no ticket %d", number)
        self.ticket = self.application.tickets[number]

    def get(self, number):
        self.write(asdict(self.ticket))

    def put(self, number):
        self.ticket.tags.append(self.get_query_argument("tag"))
        self.write({"tags": self.ticket.tags, "same": self.ticket == self.ticket})

    def delete(self, number):
        self.ticket.close()
        self.write(f"{self.ticket}")


def make_app():
    app = Application(
        [
            (r"/tickets", Tickets),
            (r"/tickets/(\d+)", OneTicket),
        ]
    )
    app.tickets = {}
    return app


def main():
    app = make_app()
    app.last = 0
    http_server = app.listen(int(sys.argv[1]), "127.0.0.1")
    [socket] = http_server._sockets.values()
    print("port", socket.getsockname()[1], flush=True)
    IOLoop.current().start()


if __name__ == "__main__":
    main()

"""A bank whose total never changes; run by `tests.soak.bank`, which does it harm."""

from __future__ import annotations

import asyncio
import json
import sys
import time

from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.netutil import bind_sockets
from tornado.web import Application, HTTPError, RequestHandler

import txloop
from txloop.loop.ioloop import TransactionLoop

ACCOUNTS = 16
MONEY = 1000

accounts = txloop.TDict({f"a{number}": MONEY for number in range(ACCOUNTS)})
ledger = txloop.TDict[str, int]({})  # how often each transfer took effect
told: dict[str, int] = {}  # how often each one's effect ran, on the loop thread


@txloop.transactional
class Transfer(RequestHandler):
    """Moves money in several steps, and writes before it may refuse or fail."""

    def post(self, name: str) -> None:
        giver, taker, amount, how = json.loads(self.request.body)
        ledger[name] = ledger.get(name, 0) + 1
        txloop.on_commit(tell, name)
        accounts[giver] -= amount
        time.sleep(0.002)  # here it may be killed
        accounts[taker] += amount
        if how == "fail":
            raise ValueError("it was asked to fail")
        if accounts[giver] < 0:
            raise HTTPError(409, reason="Not enough money")
        self.write("done")


def tell(name: str) -> None:
    """Note down that a transfer has taken effect."""
    told[name] = told.get(name, 0) + 1


@txloop.transactional
class Audit(RequestHandler):
    """Adds up all accounts, in whatever order, with pauses between."""

    def get(self) -> None:
        total = 0
        for number in range(ACCOUNTS):
            total += accounts[f"a{number}"]
            if number % 8 == 0:
                time.sleep(0.001)
        self.write({"total": total})


class Glance(RequestHandler):
    """The same on the loop thread, between transactions."""

    def get(self) -> None:
        self.write({"total": sum(accounts.values())})


class Books(RequestHandler):
    """Gives out what was noted down, and begins new books."""

    def post(self) -> None:
        self.write({"ledger": dict(ledger), "told": dict(told)})
        ledger.clear()
        told.clear()


class Figures(RequestHandler):
    """Says what the loop has done."""

    def get(self) -> None:
        stats = txloop.stats()
        loop = IOLoop.current()
        assert isinstance(loop, TransactionLoop)
        self.write(
            {
                "pending": loop.dispatcher.pending,
                "commits": stats.commits,
                "aborts": stats.aborts,
                "inline": stats.inline,
                "executor": stats.executor,
            }
        )


async def main() -> None:
    """Serve until told to end."""
    sockets = bind_sockets(0, "127.0.0.1")
    server = HTTPServer(
        Application(
            [
                ("/transfer/(.*)", Transfer),
                ("/audit", Audit),
                ("/glance", Glance),
                ("/books", Books),
                ("/figures", Figures),
            ]
        )
    )
    server.add_sockets(sockets)
    sys.stdout.write(f"port {sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    txloop.install(sys.argv[1], 3)  # type: ignore[arg-type] # checked by it
    asyncio.run(main())

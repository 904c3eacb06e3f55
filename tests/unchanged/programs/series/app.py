"""Numbers of a series, and how often each was asked for, in class attributes."""

from __future__ import annotations

import sys

from tornado.ioloop import IOLoop
from tornado.web import Application, RequestHandler


class Series(RequestHandler):
    known = [0, 1]
    asked = {}
    longest = 0

    def upto(self, count):
        while len(self.known) < count:
            self.known.append(self.known[-1] + self.known[-2])
        return self.known[:count]

    def get(self, count):
        count = int(count)
        self.asked[count] = self.asked.get(count, 0) + 1
        type(self).longest = max(self.longest, count)
        self.write(" ".join(map(str, self.upto(count))))


class Statistics(RequestHandler):
    def get(self):
        known, asked = len(Series.known), sum(Series.asked.values())
        self.write(f"{known} known, {asked} asked, {Series.longest} at most")


def main():
    application = Application([(r"/series/(\d+)", Series), (r"/stats", Statistics)])
    http_server = application.listen(int(sys.argv[1]), "127.0.0.1")
    [socket] = http_server._sockets.values()
    print("port", socket.getsockname()[1], flush=True)
    IOLoop.current().start()


if __name__ == "__main__":
    main()

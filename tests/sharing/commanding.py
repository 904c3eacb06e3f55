"""The command line in a folder with a program, for tests of ``share``."""

from __future__ import annotations

import subprocess
import sys

from tests import warm
from tests.unchanged.running import inherited_environment

__all__ = ["PROGRAM", "git", "program", "run"]

PROGRAM = '''\
"""A list, and how often it was asked for."""
import sys

import tornado.ioloop
import tornado.web

names = []  # in the order of arrival
asked = 0


class Names(tornado.web.RequestHandler):
    def get(self):
        global asked
        asked += 1
        self.write("%d: %s" % (asked, names))

    def post(self):
        names.append(self.get_argument("name"))
        self.set_status(201)


class Fails(tornado.web.RequestHandler):
    def get(self):
        self.write(str(asked))
        raise KeyError(names)  # line 25


def listen(routes):
    server = tornado.httpserver.HTTPServer(tornado.web.Application(routes, debug=True))
    sockets = tornado.netutil.bind_sockets(int((sys.argv[1:] or [0])[0]), "127.0.0.1")
    server.add_sockets(sockets)
    print("port", sockets[0].getsockname()[1], flush=True)


if __name__ == "__main__":
    listen([("/", Names), ("/fails", Fails)])
    tornado.ioloop.IOLoop.current().start()
'''


def program(folder, source=PROGRAM):
    (folder / "app.py").write_text(source)
    return folder


def run(folder, *arguments):
    """Run the command line in a folder; return its exit code, output and errors."""
    ended = warm.run(
        [sys.executable, "-m", "txloop", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env=inherited_environment(),
    )
    return ended.returncode, ended.stdout, ended.stderr


def git(folder, *arguments):
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
    )

"""Reads of the environment that code does not name: libraries read it for it."""

from __future__ import annotations

import os
import time
from os import getenv as ask

from tornado.web import RequestHandler

from tests.shapes.shape import IN_SERVER, burn, reads

if IN_SERVER:
    os.environ.update(SHAPES_ASKED="x", HOME="/home", TZ="UTC")
    time.tzset()


def change_home():
    os.environ["HOME"] += "x"


@reads(change_home)
class ReadsHome(RequestHandler):
    def get(self):
        burn()
        self.write(os.path.expanduser("~"))


def change_asked():
    os.environ["SHAPES_ASKED"] += "x"


@reads(change_asked)
class ReadsByAnotherName(RequestHandler):
    def get(self):
        burn()
        self.write(ask("SHAPES_ASKED"))


def change_zone():
    os.environ["TZ"] = "EST5" if os.environ["TZ"] == "UTC" else "UTC"
    time.tzset()


@reads(change_zone)
class ReadsLocalTime(RequestHandler):
    def get(self):
        burn()
        self.write(time.strftime("%H:%M", time.localtime(0)))

"""What belongs to the whole process, or to modules of Python's own library."""

from __future__ import annotations

import builtins
import calendar
import codecs
import cProfile
import decimal
import functools
import gc
import locale
import logging
import os
import random
import socket
import sys
import tempfile
import types
import warnings

from tornado.web import RequestHandler

from tests.shapes.shape import IN_SERVER, burn, writes

if IN_SERVER:
    os.environ["SHAPES_HITS"] = "0"
    os.environ.pop("SHAPES_NEW", None)


@writes(total=lambda: os.environ["SHAPES_HITS"])
class Environ(RequestHandler):
    def get(self):
        burn()
        os.environ["SHAPES_HITS"] = str(int(os.environ["SHAPES_HITS"]) + 1)
        self.write(os.environ["SHAPES_HITS"])


@writes()
class EnvironNewKey(RequestHandler):
    def get(self):
        burn()
        os.environ["SHAPES_NEW"] = os.environ.get("SHAPES_NEW", "") + "x"
        self.write(os.getenv("SHAPES_NEW", ""))


places = [tempfile.gettempdir(), os.path.dirname(os.path.abspath(__file__))]
if IN_SERVER:
    os.chdir(places[1])


@writes()
class WorkingDirectory(RequestHandler):
    def get(self):
        burn()
        here = os.getcwd()
        os.chdir(places[0] if here != os.path.realpath(places[0]) else places[1])
        self.write(here)


@writes()
class Umask(RequestHandler):
    def get(self):
        burn()
        before = os.umask(0)
        os.umask(before ^ 0o001)
        self.write(oct(before))


quiet = logging.getLogger("shapes.quiet")
quiet.setLevel(10)
loud = logging.getLogger("shapes.loud")


@writes()
class LoggerLevel(RequestHandler):
    def get(self):
        burn()
        quiet.setLevel(quiet.level + 1)
        self.write(str(quiet.getEffectiveLevel()))


@writes()
class LoggerHandlers(RequestHandler):
    def get(self):
        burn()
        loud.addHandler(logging.NullHandler())
        self.write(str(len(loud.handlers)))


@writes()
class LoggerByName(RequestHandler):
    def get(self):
        burn()
        log = logging.getLogger("shapes.named")
        log.setLevel(log.level + 1)
        self.write(str(log.level))


@writes()
class RecursionLimit(RequestHandler):
    def get(self):
        burn()
        sys.setrecursionlimit(sys.getrecursionlimit() + 1)
        self.write(str(sys.getrecursionlimit()))


@writes()
class DecimalPrecision(RequestHandler):
    def get(self):
        burn()
        decimal.DefaultContext.prec += 1
        self.write(str(decimal.DefaultContext.prec))


@writes()
class LocaleName(RequestHandler):
    def get(self):
        burn()
        now = locale.setlocale(locale.LC_NUMERIC)
        locale.setlocale(locale.LC_NUMERIC, "C" if now != "C" else "C.UTF-8")
        self.write(now)


@writes()
class SysPath(RequestHandler):
    def get(self):
        burn()
        sys.path.append(f"/nowhere/{len(sys.path)}")
        self.write(str(len(sys.path)))


@writes()
class SysModules(RequestHandler):
    def get(self):
        burn()
        plugins = [name for name in sys.modules if name.startswith("made_plugin")]
        name = f"made_plugin_{len(plugins)}"
        sys.modules[name] = types.ModuleType(name)
        self.write(name)


@writes()
class Builtins(RequestHandler):
    def get(self):
        burn()
        builtins.shape_visits = getattr(builtins, "shape_visits", 0) + 1
        self.write(str(builtins.shape_visits))


@writes()
class WarningsFilters(RequestHandler):
    def get(self):
        burn()
        warnings.filterwarnings("ignore", message=f"m{len(warnings.filters)}")
        self.write(str(len(warnings.filters)))


@writes()
class GarbageThreshold(RequestHandler):
    def get(self):
        burn()
        first, *others = gc.get_threshold()
        gc.set_threshold(first + 1, *others)
        self.write(str(gc.get_threshold()[0]))


@writes()
class SocketTimeout(RequestHandler):
    def get(self):
        burn()
        socket.setdefaulttimeout((socket.getdefaulttimeout() or 100) + 1)
        self.write(str(socket.getdefaulttimeout()))


@writes()
class CalendarWeekday(RequestHandler):
    def get(self):
        burn()
        calendar.setfirstweekday((calendar.firstweekday() + 1) % 7)
        self.write(str(calendar.firstweekday()))


@functools.singledispatch
def describe(thing):
    return "a thing"


@writes()
class SingledispatchRegister(RequestHandler):
    def get(self):
        burn()
        describe.register(type("Made", (), {}))(lambda thing: "made")
        self.write(str(len(describe.registry)))


class Legacy:
    def greet(self):
        return "hello"


def original(n):
    return n


@writes()
class MonkeyPatchOwnModule(RequestHandler):
    def get(self):
        global original
        burn()
        before = original
        original = lambda n: before(n) + 1
        self.write(str(original(0)))


@writes()
class MonkeyPatchClass(RequestHandler):
    def get(self):
        burn()
        text = Legacy().greet() + "!"
        Legacy.greet = lambda self: text
        self.write(Legacy().greet())


@writes()
class MonkeyPatchLibrary(RequestHandler):
    def get(self):
        burn()
        codecs.shape_calls = getattr(codecs, "shape_calls", 0) + 1
        self.write(str(codecs.shape_calls))


random.seed(11)


@writes()
class RandomModule(RequestHandler):
    def get(self):
        burn()
        self.write(str(random.random()))


@writes()
class FunctionDefaults(RequestHandler):
    def get(self):
        burn()
        original_default.__defaults__ = (original_default() + 1,)
        self.write(str(original_default()))


def original_default(n=0):
    return n


profiler = cProfile.Profile()


@writes()
class Profiler(RequestHandler):
    def get(self):
        burn()
        profiler.enable()
        sorted([1])
        profiler.disable()
        counts = [
            one.callcount for one in profiler.getstats() if "sort" in f"{one.code}"
        ]
        self.write(f"{counts}")

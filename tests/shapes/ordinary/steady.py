"""What is fine: nothing shared is changed, so that nothing holds it back."""

from __future__ import annotations

import collections
import copy
import datetime
import functools
import hashlib
import io
import itertools
import json
import random
import re
import struct
import time
import uuid

from tornado import template
from tornado.web import RequestHandler

from tests.shapes.shape import burn, steady

LIMIT = 10
NAMES = ("ann", "bob")
CONFIG = {"title": "Shop", "rates": {"eur": 1.1, "gbp": 1.2}, "days": ["mon", "tue"]}
WORD = re.compile(r"(\w+)@(\w+)")
ROWS = [{"name": "bob", "tags": ["x"]}, {"name": "ann", "tags": []}]
PAGE = template.Template("{{ title }}: {% for name in names %}{{ name }} {% end %}")
BADGE = struct.Struct("<hh")


@steady()
class ReadsConstants(RequestHandler):
    def get(self):
        burn()
        self.write(f"{LIMIT} {NAMES[0]}")


@steady()
class ReadsConfig(RequestHandler):
    def get(self):
        burn()
        self.write(f"{CONFIG['title']} {CONFIG['rates']['eur']} {len(CONFIG['days'])}")


@steady()
class CompiledPattern(RequestHandler):
    def get(self):
        burn()
        self.write(WORD.sub(r"\2", "me@home"))


@steady()
class PatternInside(RequestHandler):
    def get(self):
        burn()
        self.write(re.findall(r"[a-c]+%s" % self.get_argument("end", "d"), "abcd")[0])


@steady()
class CopiedRows(RequestHandler):
    def get(self):
        burn()
        mine = copy.deepcopy(ROWS)
        mine[0]["tags"].append("y")
        mine.append({})
        self.write(str(len(mine) + len(ROWS)))


@steady()
class SortedCopy(RequestHandler):
    def get(self):
        burn()
        ordered = sorted(ROWS, key=lambda row: row["name"])
        ordered.pop()
        self.write(ordered[0]["name"])


@steady()
class LocalContainers(RequestHandler):
    def get(self):
        burn()
        numbers, seen, by_key = [], set(), collections.defaultdict(list)
        for n in range(20):
            numbers.append(n)
            seen.add(n % 7)
            by_key[n % 3].append(n)
        counts = collections.Counter("hello")
        queue = collections.deque(numbers, maxlen=3)
        queue.rotate()
        self.write(f"{len(numbers)} {len(seen)} {len(by_key)} {counts['l']} {queue[0]}")


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def move(self, by):
        self.x += by
        return self


@steady()
class LocalObject(RequestHandler):
    def get(self):
        burn()
        point = Point(1, 2)
        point.move(3).y -= 1
        self.write(f"{point.x} {point.y}")


@steady()
class LocalGenerator(RequestHandler):
    def get(self):
        burn()

        def numbers():
            n = yield 0
            while True:
                n = yield n + 1

        generator = numbers()
        next(generator)
        self.write(f"{generator.send(3)} {next(itertools.count(5))}")


@steady()
class LocalClosure(RequestHandler):
    def get(self):
        burn()
        count = 0

        def bump():
            nonlocal count
            count += 1

        bump()
        bump()
        self.write(str(count))


@steady()
class LocalRandom(RequestHandler):
    def get(self):
        burn()
        self.write(str(random.Random(3).randint(1, 1000)))


@steady()
class LocalBuffers(RequestHandler):
    def get(self):
        burn()
        out = io.StringIO()
        out.write("x" * 10)
        raw = bytearray(b"abc")
        raw[0] = 65
        self.write(f"{len(out.getvalue())} {raw.decode()}")


@steady()
class Json(RequestHandler):
    def get(self):
        burn()
        self.write(json.dumps(json.loads('{"a": [1, 2]}'), sort_keys=True))


@steady()
class Digest(RequestHandler):
    def get(self):
        burn()
        digest = hashlib.sha256()
        digest.update(b"x")
        self.write(digest.hexdigest())


@steady()
class PackedBytes(RequestHandler):
    def get(self):
        burn()
        self.write(BADGE.pack(1, 2).hex() + struct.pack("<i", 7).hex())


@steady()
class Dates(RequestHandler):
    def get(self):
        burn()
        day = datetime.datetime.strptime("2020-02-28", "%Y-%m-%d")
        self.write(f"{day + datetime.timedelta(days=2):%Y-%m-%d}")


@steady()
class RandomAndTime(RequestHandler):
    def get(self):
        burn()
        values = [random.random(), time.time(), uuid.uuid4().int, random.choice(NAMES)]
        self.write(str(len(values)))


@functools.lru_cache(maxsize=None)
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@steady()
class CachedFunction(RequestHandler):
    def get(self):
        burn()
        self.write(str(fibonacci(60)))


def collatz(n):
    return 0 if n == 1 else 1 + collatz(n // 2 if n % 2 == 0 else 3 * n + 1)


@steady()
class PureRecursion(RequestHandler):
    def get(self):
        burn()
        self.write(str(collatz(27)))


@steady()
class RendersTemplate(RequestHandler):
    def get(self):
        burn()
        self.write(PAGE.generate(title="People", names=NAMES))

"""Iterators, generators and random numbers: asking them changes them."""

from __future__ import annotations

import csv
import io
import itertools
import queue
import random
import sqlite3
import tempfile
from functools import partial

from tornado.web import RequestHandler

from tests.shapes.shape import burn, writes

ids = itertools.count(1)
new_id = partial(next, itertools.count(10))
seats = itertools.cycle("ABC")
left = iter(range(1000))
numbers = iter([*range(1000)])
pairs = enumerate("x" * 1000)
together = zip(range(1000), range(1000), strict=True)
squares = map(lambda n: n * n, range(1000))
odd = filter(lambda n: n % 2, range(1000))
called = iter(lambda state=[0]: state.append(1) or len(state), 1000)
halves = itertools.islice(range(1000), 1, None, 2)
sums = itertools.accumulate(range(1000))
one, two = itertools.tee(range(1000))
keys = iter({n: n for n in range(1000)})


@writes()
class Count(RequestHandler):
    def get(self):
        burn()
        self.write(str(next(ids)))


@writes()
class PartialNext(RequestHandler):
    def get(self):
        burn()
        self.write(str(new_id()))


@writes()
class Cycle(RequestHandler):
    def get(self):
        burn()
        self.write(next(seats))


@writes()
class RangeIterator(RequestHandler):
    def get(self):
        burn()
        self.write(str(next(left)))


@writes()
class ListIterator(RequestHandler):
    def get(self):
        burn()
        for number in numbers:
            self.write(str(number))
            break


@writes()
class EnumerateObject(RequestHandler):
    def get(self):
        burn()
        self.write(str(next(pairs)))


@writes()
class ZipObject(RequestHandler):
    def get(self):
        burn()
        self.write(str(next(together)))


@writes()
class MapObject(RequestHandler):
    def get(self):
        burn()
        self.write(str(next(squares)))


@writes()
class FilterObject(RequestHandler):
    def get(self):
        burn()
        self.write(str(next(odd)))


@writes()
class CallableIterator(RequestHandler):
    def get(self):
        burn()
        self.write(str(next(called)))


@writes()
class IsliceObject(RequestHandler):
    def get(self):
        burn()
        self.write(str(next(halves)))


@writes()
class AccumulateObject(RequestHandler):
    def get(self):
        burn()
        self.write(str(next(sums)))


@writes()
class TeeObject(RequestHandler):
    def get(self):
        burn()
        self.write(f"{next(one)} {next(two)}")


@writes()
class DictIterator(RequestHandler):
    def get(self):
        burn()
        self.write(str(next(keys)))


def tickets():
    number = 100
    while True:
        yield number
        number += 1


def averages():
    total, count, average = 0, 0, 0
    while True:
        total += yield average
        count += 1
        average = total // count


def nested():
    yield from tickets()


ticket = tickets()
average = averages()
next(average)
delegated = nested()
expression = (n * n for n in range(1000))


@writes()
class OwnGenerator(RequestHandler):
    def get(self):
        burn()
        self.write(str(next(ticket)))


@writes()
class GeneratorSend(RequestHandler):
    def get(self):
        burn()
        average.send(3)
        self.write(str(average.gi_frame.f_locals["count"]))


@writes()
class YieldFrom(RequestHandler):
    def get(self):
        burn()
        self.write(str(next(delegated)))


@writes()
class GeneratorExpression(RequestHandler):
    def get(self):
        burn()
        self.write(str(next(expression)))


class Countdown:
    def __init__(self, start):
        self.n = start

    def __iter__(self):
        return self

    def __next__(self):
        self.n -= 1
        return self.n


countdown = Countdown(1000)


@writes()
class OwnIterator(RequestHandler):
    def get(self):
        burn()
        self.write(str(next(countdown)))


dice = random.Random(7)
roll = random.Random(8).random


@writes()
class SeededRandom(RequestHandler):
    def get(self):
        burn()
        self.write(str(dice.random()))


@writes()
class RandomMethod(RequestHandler):
    def get(self):
        burn()
        self.write(str(roll()))


waiting = queue.Queue()
ready = queue.Queue()
simple = queue.SimpleQueue()
urgent = queue.PriorityQueue()
for job in range(1000):
    ready.put(job)


@writes(total=waiting.qsize)
class QueuePut(RequestHandler):
    def get(self):
        size = waiting.qsize()
        burn()
        waiting.put(1)
        self.write(str(size))


@writes(total=ready.qsize)
class QueueGet(RequestHandler):
    def get(self):
        burn()
        self.write(str(ready.get_nowait()))


@writes()
class SimpleQueue(RequestHandler):
    def get(self):
        burn()
        simple.put(1)
        self.write(str(simple.qsize()))


@writes()
class PriorityQueue(RequestHandler):
    def get(self):
        burn()
        urgent.put(-urgent.qsize())
        self.write(str(urgent.queue[0]))


reader = csv.reader(io.StringIO("\n".join(f"{n},x" for n in range(1000))))
table = io.StringIO()
writer = csv.writer(table)
lines = io.StringIO("\n".join(map(str, range(1000))))


@writes()
class CsvReader(RequestHandler):
    def get(self):
        burn()
        self.write(next(reader)[0])


@writes()
class CsvWriter(RequestHandler):
    def get(self):
        burn()
        writer.writerow([1, 2])
        self.write(str(len(table.getvalue())))


@writes()
class ReadLine(RequestHandler):
    def get(self):
        burn()
        self.write(lines.readline())


memory = sqlite3.connect(":memory:", check_same_thread=False)
memory.execute("create table visits (id integer primary key)")
cursor = memory.cursor()


@writes()
class SqliteInMemory(RequestHandler):
    def get(self):
        burn()
        memory.execute("insert into visits default values")
        [[n]] = memory.execute("select count(*) from visits")
        self.write(str(n))


rows = sqlite3.connect(":memory:", check_same_thread=False)
rows.execute("create table counts (n integer)")
rows.execute("insert into counts values (0)")
counts = rows.cursor()


@writes()
class SqliteCursor(RequestHandler):
    def get(self):
        burn()
        counts.execute("update counts set n = n + 1")
        counts.execute("select n from counts")
        self.write(str(counts.fetchone()[0]))


journal = tempfile.TemporaryFile("w+")
spool = tempfile.SpooledTemporaryFile()


@writes()
class OpenFile(RequestHandler):
    def get(self):
        burn()
        journal.write("x")
        self.write(str(journal.tell()))


@writes()
class SpooledFile(RequestHandler):
    def get(self):
        burn()
        spool.write(b"x")
        self.write(str(spool.tell()))

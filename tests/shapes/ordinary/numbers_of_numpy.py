"""The same with numpy; only asked where it is installed."""

from __future__ import annotations

import numpy
from tornado.web import RequestHandler

from tests.shapes.shape import burn, reads, steady, writes

counts = numpy.zeros(4, dtype=int)
matrix = numpy.zeros((3, 3))
plane = numpy.zeros(3)
given_out = numpy.zeros(2)
row = matrix[1]
appended = numpy.zeros(0)
structured = numpy.zeros(2, dtype=[("hits", "i8")])
objects = numpy.array([[], []], dtype=object)
generator = numpy.random.default_rng(3)
weights = numpy.arange(12.0).reshape(3, 4)
stale = numpy.zeros(3)
summed = numpy.zeros(3)
numpy.random.seed(5)


@writes(total=lambda: int(counts[0]))
class NumpyItem(RequestHandler):
    def get(self):
        burn()
        counts[0] += 1
        self.write(str(counts[0]))


@writes()
class NumpyInPlace(RequestHandler):
    def get(self):
        global plane
        burn()
        plane += 1
        self.write(str(plane.sum()))


@writes()
class NumpyView(RequestHandler):
    def get(self):
        burn()
        row[0] = row[0] + 1
        self.write(str(matrix[1][0]))


@writes()
class NumpyRebound(RequestHandler):
    def get(self):
        global appended
        burn()
        appended = numpy.append(appended, 1)
        self.write(str(len(appended)))


@writes()
class NumpyStructured(RequestHandler):
    def get(self):
        burn()
        structured["hits"][1] += 1
        self.write(str(structured["hits"][1]))


@writes()
class NumpyOut(RequestHandler):
    def get(self):
        burn()
        numpy.add(given_out, 1, out=given_out)
        self.write(str(given_out))


@writes()
class NumpyGenerator(RequestHandler):
    def get(self):
        burn()
        self.write(str(generator.integers(10**9)))


@writes()
class NumpyGlobalGenerator(RequestHandler):
    def get(self):
        burn()
        self.write(str(numpy.random.randint(10**9)))


def raise_stale():
    stale[0] += 1


@reads(raise_stale)
class ReadsNumpyItem(RequestHandler):
    def get(self):
        burn()
        self.write(str(stale[0]))


def raise_summed():
    summed[1:] += 1


@reads(raise_summed, "coroutine")
class ReadsNumpySum(RequestHandler):
    def get(self):
        burn()
        self.write(str(summed.sum()))


@steady()
class NumpyModel(RequestHandler):
    def get(self):
        burn()
        given = numpy.array([1.0, 2.0, 3.0])
        self.write(str((given @ weights).tolist()))


@steady()
class NumpyLocal(RequestHandler):
    def get(self):
        burn()
        table = weights.copy()
        table[0] = 7
        table *= 2
        self.write(str(table.sum()))

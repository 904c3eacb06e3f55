"""Objects that go on from call to call, and others that show little of themselves."""

from __future__ import annotations

import codecs
import ctypes
import functools
import hashlib
import hmac
import operator
import struct
import weakref
import zlib

from tornado.web import RequestHandler

from tests.shapes.shape import burn, writes

digest = hashlib.sha256()


@writes()
class GoesOnHashing(RequestHandler):
    def get(self):
        burn()
        digest.update(b"x")
        self.write(digest.hexdigest())


signature = hmac.new(b"key", digestmod="sha256")


@writes()
class GoesOnSigning(RequestHandler):
    def get(self):
        burn()
        signature.update(b"x")
        self.write(signature.hexdigest())


packer = zlib.compressobj()


@writes()
class GoesOnCompressing(RequestHandler):
    def get(self):
        burn()
        packed = packer.compress(b"text") + packer.flush(zlib.Z_SYNC_FLUSH)
        self.write(packed.hex())


decoder = codecs.getincrementaldecoder("shift_jis")()


@writes()
class GoesOnDecoding(RequestHandler):
    def get(self):
        burn()
        self.write(repr(decoder.decode(b"\x82")))


numbers = (ctypes.c_int * 3)()


@writes()
class ArrayOfC(RequestHandler):
    def get(self):
        burn()
        numbers[1] += 1
        self.write(str(numbers[1]))


class Pair(ctypes.Structure):
    _fields_ = (("first", ctypes.c_int), ("second", ctypes.c_int))


pairs = {"a": Pair()}


@writes()
class StructureOfC(RequestHandler):
    def get(self):
        burn()
        pairs["a"].second += 1
        self.write(str(pairs["a"].second))


large = bytearray(1 << 20)


@writes()
class PacksIntoLargeBuffer(RequestHandler):
    def get(self):
        burn()
        (value,) = struct.unpack_from("i", large, 333_332)
        struct.pack_into("i", large, 333_332, value + 1)
        self.write(str(value))


table = {number: {"n": 0} for number in range(3_000)}


@writes()
class ChangesFarDownATable(RequestHandler):
    def get(self):
        burn()
        operator.setitem(table[2_900], "n", table[2_900]["n"] + 1)
        self.write(str(table[2_900]["n"]))


class Key:
    pass


key = Key()
flags: weakref.WeakKeyDictionary[Key, bool] = weakref.WeakKeyDictionary({key: False})
other = Key()
flags[other] = True


@writes()
class FlipsWeakValue(RequestHandler):
    def get(self):
        burn()
        flags[key] = not flags[key]
        self.write(str(flags[key]))


def scale(number, factors=None):
    return number * factors["by"]


scaled = functools.partial(scale, factors={"by": 1})


@writes()
class KeywordOfPartial(RequestHandler):
    def get(self):
        burn()
        scaled.keywords["factors"]["by"] += 1
        self.write(str(scaled(1)))


replaced = functools.partial(scale, factors={"by": 1})


@writes()
class ReplacesKeywordOfPartial(RequestHandler):
    def get(self):
        burn()
        replaced.keywords["factors"] = {"by": replaced.keywords["factors"]["by"] + 1}
        self.write(str(replaced(1)))

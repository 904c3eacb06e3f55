"""Reads of memory that unmarked code changes: mappings, and what ctypes shows."""

from __future__ import annotations

import ctypes
import mmap
import tempfile
from typing import ClassVar

from tornado.web import RequestHandler

from tests.shapes.shape import burn, reads, writes

private = mmap.mmap(-1, 64, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def count_in_private():
    private[0] += 1


@reads(count_in_private)
class ReadsPrivateMapping(RequestHandler):
    def get(self):
        burn()
        self.write(str(private[0]))


with tempfile.TemporaryFile() as file:
    file.write(bytes(64))
    file.flush()
    copied = mmap.mmap(file.fileno(), 64, access=mmap.ACCESS_COPY)


def count_in_copied():
    copied[1] += 1


@reads(count_in_copied, "coroutine")
class ReadsMappingThatIsCopied(RequestHandler):
    def get(self):
        burn()
        self.write(str(copied[1]))


together = mmap.mmap(-1, 64)


def count_together():
    together[2] += 1


@reads(count_together)
class ReadsSharedMapping(RequestHandler):
    def get(self):
        burn()
        self.write(str(together[2]))


counted = mmap.mmap(-1, 64, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


@writes()
class WritesPrivateMapping(RequestHandler):
    def get(self):
        count = counted[0] + 1
        burn()
        counted[0] = count
        self.write(str(count))


number = ctypes.c_int(1)
pointer = ctypes.pointer(number)


def raise_number():
    pointer.contents.value += 1


@reads(raise_number, "later")
class ReadsThroughPointer(RequestHandler):
    def get(self):
        burn()
        self.write(str(pointer.contents.value))


numbers = (ctypes.c_int * 4)()


def raise_numbers():
    numbers[2] += 1


@reads(raise_numbers)
class ReadsArrayOfC(RequestHandler):
    def get(self):
        burn()
        self.write(str(list(numbers)))


class Node(ctypes.Structure):
    _fields_: ClassVar = [("value", ctypes.c_int), ("next", ctypes.c_void_p)]


class Link(ctypes.Structure):
    _fields_: ClassVar = [("node", ctypes.POINTER(Node))]


node = Node(1)
link = Link(ctypes.pointer(node))


def raise_node():
    link.node.contents.value += 1


@reads(raise_node)
class ReadsThroughPointerInStructure(RequestHandler):
    def get(self):
        burn()
        self.write(str(link.node.contents.value))


nodes = (ctypes.POINTER(Node) * 2)(ctypes.pointer(Node(1)), ctypes.pointer(Node(2)))


def raise_nodes():
    nodes[1].contents.value += 1


@reads(raise_nodes)
class ReadsThroughPointersInArray(RequestHandler):
    def get(self):
        burn()
        self.write(str(nodes[1].contents.value))


class Word(ctypes.Union):
    _fields_: ClassVar = [("whole", ctypes.c_uint16), ("half", ctypes.c_uint8)]


word = Word(1)


def raise_word():
    word.half += 1


@reads(raise_word)
class ReadsUnion(RequestHandler):
    def get(self):
        burn()
        self.write(str(word.whole))


buffer = ctypes.create_string_buffer(b"a", 64)


def write_more():
    buffer.value += b"a"


@reads(write_more)
class ReadsBufferOfC(RequestHandler):
    def get(self):
        burn()
        self.write(buffer.value)

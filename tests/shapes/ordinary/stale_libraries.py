"""Reads, through libraries, of what unmarked code sets in them."""

from __future__ import annotations

import calendar
import cmd
import colorsys
import gettext
import html.parser
import json
import shlex
import string
import textwrap
from calendar import timegm
from difflib import HtmlDiff

from tornado.web import RequestHandler

from tests.shapes.shape import burn, reads, steady, writes


def move_epoch():
    calendar._EPOCH_ORD -= 1
    colorsys.rgb_to_hls(0, 0, 0)


@reads(move_epoch)
class CallsFunctionOfPatchedModule(RequestHandler):
    def get(self):
        burn()
        self.write(str(timegm((1970, 1, 1, 0, 0, 0))))


def widen_separator():
    json.JSONEncoder.item_separator = f"{json.JSONEncoder.item_separator} "


class Encoder(json.JSONEncoder):
    """The library's, and the program's."""


@reads(widen_separator, "coroutine")
class EncodesByPatchedClass(RequestHandler):
    def get(self):
        burn()
        self.write(json.JSONEncoder().encode([1, 2]))


def widen_colon():
    json.JSONEncoder.key_separator = f"{json.JSONEncoder.key_separator} "


@reads(widen_colon, "callback")
class EncodesByClassDerivedFromPatched(RequestHandler):
    def get(self):
        burn()
        self.write(Encoder().encode({"a": 1}))


def indent():
    json._default_encoder.indent = (json._default_encoder.indent or 0) + 1


@reads(indent)
class CallsWhatAnObjectOfTheLibraryDoes(RequestHandler):
    def get(self):
        burn()
        self.write(json.dumps([1]))


def more_spaces():
    import textwrap

    setattr(
        textwrap.TextWrapper,
        "prefix",
        getattr(textwrap.TextWrapper, "prefix", "") + " ",
    )


@reads(more_spaces)
class ReadsWhatIsNewInAClassOfALibrary(RequestHandler):
    def get(self):
        burn()
        wrapper = textwrap.TextWrapper()
        self.write(f"{getattr(wrapper, 'prefix', '')}.")


def rename_diff():
    from difflib import HtmlDiff as Html

    Html._default_prefix += 1


diff = HtmlDiff()


@reads(rename_diff)
class AsksObjectOfPatchedClass(RequestHandler):
    def get(self):
        burn()
        self.write(str(diff._default_prefix))


lexer = shlex


def take_more_letters():
    lexer.join = lambda words, join=lexer.join: join(words) + "."


@reads(take_more_letters)
class CallsReplacedFunction(RequestHandler):
    def get(self):
        burn()
        self.write(shlex.join(["a"]))


gettext.settings = {"language": "a"}


def change_language():
    gettext.settings["language"] += "a"


@reads(change_language)
class ReadsDictThatWasSetInALibrary(RequestHandler):
    def get(self):
        burn()
        self.write(gettext.settings["language"])


cmd.Cmd.told = 0


@writes()
class SetsInLibrary(RequestHandler):
    def get(self):
        told = cmd.Cmd.told
        burn()
        cmd.Cmd.told = told + 1
        self.write(str(cmd.Cmd.told))


html.parser.starttagopen = html.parser.starttagopen
string.Formatter.strict = True


@steady()
class ReadsWhatWasSetBefore(RequestHandler):
    def get(self):
        burn()
        parser = html.parser.HTMLParser()
        parser.feed("<b>")
        self.write(string.Formatter().format("{}", parser.rawdata))


counts = []


def counted(*colour, function=colorsys.rgb_to_hls):
    counts.append(colour)
    return function(*colour)


def instrument():
    colorsys.rgb_to_hls = counted


starting = [instrument]
for start in starting:
    start()


@steady()
class UsesInstrumentedLibrary(RequestHandler):
    def get(self):
        burn()
        self.write(str(colorsys.rgb_to_hsv(0, 0, 0)))

"""Reads through registries of Python and Tornado that unmarked code changes."""

from __future__ import annotations

import copyreg
import pickle
import sys
import types
import urllib.request
from copy import deepcopy

import tornado.locale
from tornado.web import RequestHandler

from tests.shapes.ordinary import clock as known
from tests.shapes.shape import burn, reads, steady

app: dict[str, object] = {}


def prepare(application):
    """Give an application what these shapes read."""
    app["application"] = application
    application.ui_methods["shapes_word"] = lambda handler: "a"
    tornado.locale._translations["xx"] = {"unknown": {"hello": "hola"}}
    tornado.locale._supported_locales |= {"xx"}


class Part:
    """Pickled by what `copyreg` knows."""

    def __init__(self, size=0):
        self.size = size


def reduce_part(part):
    return Part, (1,)


def register_reducer():
    size = deepcopy(Part()).size + 1
    copyreg.pickle(Part, lambda part: (Part, (size,)))


@reads(register_reducer)
class CopiesByNewReducer(RequestHandler):
    def get(self):
        burn()
        self.write(str(deepcopy(Part()).size))


class Piece(Part):
    """Likewise."""


def register_another():
    size = deepcopy(Piece()).size + 1
    copyreg.pickle(Piece, lambda part: (Piece, (size,)))


@reads(register_another)
class PicklesByNewReducer(RequestHandler):
    def get(self):
        burn()
        self.write(str(pickle.loads(pickle.dumps(Piece())).size))


class Opener(urllib.request.OpenerDirector):
    """Has one text for all addresses."""

    def __init__(self, text):
        super().__init__()
        self.text = text

    def open(self, fullurl, data=None, timeout=None):
        return self.text


urllib.request.install_opener(Opener("a"))


def install_opener():
    text = urllib.request.urlopen("https://shapes.invalid")
    urllib.request.install_opener(Opener(text + "a"))


@reads(install_opener)
class OpensByNewOpener(RequestHandler):
    def get(self):
        burn()
        self.write(urllib.request.urlopen("https://shapes.invalid"))


def retranslate():
    texts = tornado.locale._translations["xx"]["unknown"]
    texts["hello"] += "!"


@reads(retranslate)
class Translates(RequestHandler):
    def get(self):
        burn()
        self.write(tornado.locale.get("xx").translate("hello"))


def change_method():
    methods = app["application"].ui_methods
    word = methods["shapes_word"](None) + "a"
    methods["shapes_word"] = lambda handler: word


@reads(change_method)
class RendersUiMethod(RequestHandler):
    def get(self):
        burn()
        self.write(self.ui["shapes_word"]())


def make_plugin(name, word):
    module = types.ModuleType(name)
    module.__file__ = __file__
    module.word = word
    sys.modules[name] = module


make_plugin("shapes_plugin", "a")
make_plugin("shapes_addon", "a")


def replace(name):
    make_plugin(name, sys.modules[name].word + "a")


@reads(lambda: replace("shapes_plugin"))
class ImportsReplacedModule(RequestHandler):
    def get(self):
        import shapes_plugin

        burn()
        self.write(shapes_plugin.word)


@reads(lambda: replace("shapes_addon"))
class ImportsFromReplacedModule(RequestHandler):
    def get(self):
        from shapes_addon import word

        burn()
        self.write(word)


@steady()
class ImportsWhenItRuns(RequestHandler):
    def get(self):
        import colorsys

        from tests.shapes.ordinary import clock

        burn()
        self.write(f"{clock is known} {colorsys.rgb_to_hsv(0, 0, 0)}")

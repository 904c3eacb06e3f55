"""Methods and functions that libraries call, by names that the program never says."""

from __future__ import annotations

import argparse
import ast
import cmd
import enum
import functools
import html.parser
import json
import string
import types

from tornado.template import Template
from tornado.web import RequestHandler, UIModule

from tests.shapes.shape import burn, writes

encoded = {"n": 0}


class Encoder(json.JSONEncoder):
    def default(self, thing):
        encoded["n"] += 1
        return encoded["n"]


@writes(total=lambda: dict(encoded))
class EncodesJson(RequestHandler):
    def get(self):
        burn()
        self.write(json.dumps({"n": Encoder}, cls=Encoder))


tags: list[str] = []


class Parser(html.parser.HTMLParser):
    def handle_starttag(self, tag, attrs):
        tags.append(tag)


@writes()
class ParsesHtml(RequestHandler):
    def get(self):
        burn()
        Parser().feed("<b>")
        self.write(str(len(tags)))


visited = {"names": 0}


class Visitor(ast.NodeVisitor):
    def visit_Name(self, node):
        visited["names"] += 1


@writes()
class VisitsNodes(RequestHandler):
    def get(self):
        burn()
        Visitor().visit(ast.parse("a"))
        self.write(str(visited["names"]))


missing = {"n": 0}


class Colour(enum.Enum):
    RED = 1

    @classmethod
    def _missing_(cls, value):
        missing["n"] += 1
        return cls.RED


@writes()
class AsksEnum(RequestHandler):
    def get(self):
        burn()
        Colour(7)
        self.write(str(missing["n"]))


commands: list[str] = []


class Shell(cmd.Cmd):
    def do_note(self, text):
        commands.append(text)


@writes()
class RunsCommand(RequestHandler):
    def get(self):
        burn()
        Shell().onecmd("note it")
        self.write(str(len(commands)))


formatted = {"n": 0}


class Formatter(string.Formatter):
    def convert_field(self, value, conversion):
        formatted["n"] += 1
        return value


@writes()
class FormatsText(RequestHandler):
    def get(self):
        burn()
        Formatter().format("{}", 1)
        self.write(str(formatted["n"]))


parsed = {"n": 0}


class Counted(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        parsed["n"] += 1


@writes()
class ParsesArguments(RequestHandler):
    def get(self):
        burn()
        parser = argparse.ArgumentParser()
        parser.add_argument("--x", action=Counted)
        parser.parse_args(["--x", "1"])
        self.write(str(parsed["n"]))


counts = {"n": 0}


def count():
    counts["n"] += 1
    return counts["n"]


counting = Template("{{ count() }}", autoescape=None)


@writes()
class GeneratesTemplate(RequestHandler):
    def get(self):
        burn()
        self.write(counting.generate(count=count))


namespace: dict[str, object] = {"bumped": {"n": 0}}
exec("def bump():\n    bumped['n'] += 1\n    return bumped['n']\n", namespace)
bump = namespace["bump"]


@writes()
class CallsWhatWasExecuted(RequestHandler):
    def get(self):
        burn()
        self.write(str(bump()))


config = types.ModuleType("config")
vars(config)["hits"] = 0


@writes()
class KeepsInAModuleObject(RequestHandler):
    def get(self):
        burn()
        config.hits += 1
        self.write(str(config.hits))


@functools.lru_cache
def cached():
    return 1


@writes()
class AttributeOfCached(RequestHandler):
    def get(self):
        burn()
        vars(cached)["hits"] = vars(cached).get("hits", 0) + 1
        self.write(str(vars(cached)["hits"]))


styled = {"n": 0}


class Styled(UIModule):
    def render(self):
        return "styled"

    def embedded_css(self):
        styled["n"] += 1
        return str(styled["n"])


def prepare(application):
    """Give an application what Tornado calls."""
    application.ui_modules["Styled"] = Styled


@writes(total=lambda: dict(styled))
class RendersModule(RequestHandler):
    def get(self):
        burn()
        module = self.ui["modules"]["Styled"]()
        text = self.render_embed_css([self._active_modules["Styled"].embedded_css()])
        self.write(f"{module} {len(text) > 0}")

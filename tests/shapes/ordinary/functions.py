"""State in functions: closures, defaults, attributes, partials, decorators."""

from __future__ import annotations

import contextvars
import functools
import threading

from tornado.web import RequestHandler

from tests.shapes.shape import burn, writes


def make_counter():
    count = 0

    def counter():
        nonlocal count
        count += 1
        return count

    return counter


def make_log():
    lines = []

    def add(line):
        lines.append(line)
        return len(lines)

    return add


def make_pair():
    state = {"n": 0}

    def write():
        state["n"] += 1

    def read():
        return state["n"]

    return write, read


counter = make_counter()
add_line = make_log()
write_pair, read_pair = make_pair()


@writes()
class Nonlocal(RequestHandler):
    def get(self):
        burn()
        self.write(str(counter()))


@writes()
class ClosureList(RequestHandler):
    def get(self):
        burn()
        self.write(str(add_line("x")))


@writes(total=read_pair)
class TwoClosures(RequestHandler):
    def get(self):
        burn()
        write_pair()
        self.write(str(read_pair()))


def remember(item, seen=[]):
    number = len(seen) + 1
    burn()
    seen[:] = [item] * number
    return len(seen)


def keyword(*, cache={"n": 0}):
    n = cache["n"]
    burn()
    cache["n"] = n + 1
    return cache["n"]


@writes()
class DefaultArgument(RequestHandler):
    def get(self):
        self.write(str(remember(1)))


@writes()
class KeywordDefault(RequestHandler):
    def get(self):
        self.write(str(keyword()))


@writes()
class DefaultOfVerb(RequestHandler):
    def get(self, seen=[]):
        burn()
        seen.append(1)
        self.write(str(len(seen)))


def attributed():
    attributed.calls += 1
    return attributed.calls


attributed.calls = 0


@writes()
class FunctionAttribute(RequestHandler):
    def get(self):
        burn()
        self.write(str(attributed()))


@writes()
class VerbAttribute(RequestHandler):
    def get(self):
        burn()
        counts = VerbAttribute.get.__dict__
        counts["calls"] = counts.get("calls", 0) + 1
        self.write(str(counts["calls"]))


push = (pushed := []).append
collect = functools.partial(list.append, collected := [])
update = {"n": 0}.__setitem__
bump_in = functools.partial(update, "n")
actions = {"add": (acted := []).append, "size": acted.__len__}


@writes()
class BoundMethod(RequestHandler):
    def get(self):
        burn()
        push(1)
        self.write(str(len(pushed)))


@writes()
class Partial(RequestHandler):
    def get(self):
        burn()
        collect(1)
        self.write(str(len(collected)))


@writes()
class PartialOfBoundMethod(RequestHandler):
    def get(self):
        n = update.__self__["n"]
        burn()
        bump_in(n + 1)
        self.write(str(update.__self__["n"]))


@writes()
class DispatchTable(RequestHandler):
    def get(self):
        burn()
        actions["add"](1)
        self.write(str(actions["size"]()))


class Meter:
    def __init__(self):
        self.n = 0

    def read(self):
        self.n += 1
        return self.n


read_meter = Meter().read


@writes()
class BoundMethodOfObject(RequestHandler):
    def get(self):
        burn()
        self.write(str(read_meter()))


next_in_lambda = lambda state={"n": 0}: state.update(n=state["n"] + 1) or state["n"]


@writes()
class LambdaDefault(RequestHandler):
    def get(self):
        burn()
        self.write(str(next_in_lambda()))


requests_seen = contextvars.ContextVar("requests_seen", default=[])


@writes()
class ContextVariableDefault(RequestHandler):
    def get(self):
        burn()
        requests_seen.get().append(1)
        self.write(str(len(requests_seen.get())))


local = threading.local()
local.n = 0


@writes()
class ThreadLocal(RequestHandler):
    def get(self):
        burn()
        local.n += 1
        self.write(str(local.n))


cells = {"n": 0}


def through_cell():
    contents = through_cell.__globals__["cells"]
    contents["n"] += 1
    return contents["n"]


@writes()
class GlobalsOfFunction(RequestHandler):
    def get(self):
        burn()
        self.write(str(through_cell()))


def recursive(n, trail=()):
    if n == 0:
        depth["calls"] += 1
        return depth["calls"]
    return recursive(n - 1, (*trail, n))


depth = {"calls": 0}


@writes()
class Recursion(RequestHandler):
    def get(self):
        burn()
        self.write(str(recursive(5)))


class Template:
    def steps(self):
        return [self.first, self.second]

    def first(self):
        raise NotImplementedError

    def second(self):
        return workflow["n"]


class Concrete(Template):
    def first(self):
        workflow["n"] += 1


workflow = {"n": 0}
template: Template = Concrete()


@writes()
class TemplateMethod(RequestHandler):
    def get(self):
        burn()
        results = [step() for step in template.steps()]
        self.write(str(results[-1]))


# What atomically() and callbacks run, not a handler


tally = {"n": 0}
book = []


@writes(total=lambda: tally["n"])
def bump_tally():
    burn()
    tally["n"] += 1
    return tally["n"]


@writes()
def enter_into_book():
    burn()
    book.append(len(book))
    return len(book)


@writes()
def own_default(seen={"n": 0}):
    n = seen["n"]
    burn()
    seen["n"] = n + 1
    return seen["n"]


called_back = {"n": 0}
callback_lines = []
periods = []


@writes(total=lambda: called_back["n"], way="callback")
def callback_counts():
    burn()
    called_back["n"] += 1


@writes(total=lambda: len(callback_lines), way="later")
def timer_appends():
    burn()
    callback_lines.append(1)


@writes(total=lambda: called_objects.n, way="callback")
def callback_on_object():
    burn()
    called_objects.read()


called_objects = Meter()

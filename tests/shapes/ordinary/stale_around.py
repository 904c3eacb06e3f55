"""Reads of what unmarked code changes on the application, arguments and handlers."""

from __future__ import annotations

import types
from typing import ClassVar

from tornado import template
from tornado.web import RequestHandler

from tests.shapes.shape import burn, reads

app: dict[str, object] = {}


def prepare(application):
    """Give an application what these shapes read."""
    app["application"] = application
    application.online = 0
    application.names = []
    application.feed = types.SimpleNamespace(items={}, version=0)
    application.settings["motd"] = "hello"
    application.settings["limits"] = {"most": 1}


def change_application():
    app["application"].online += 1


@reads(change_application)
class ReadsApplicationAttribute(RequestHandler):
    def get(self):
        burn()
        self.write(str(self.application.online))


def change_names():
    app["application"].names.append("ann")


@reads(change_names, "websocket")
class ReadsApplicationList(RequestHandler):
    def get(self):
        burn()
        self.write(str(len(self.application.names)))


def change_feed():
    feed = app["application"].feed
    feed.version += 1
    feed.items[feed.version] = "x"


@reads(change_feed, "periodic")
class ReadsApplicationObject(RequestHandler):
    def get(self):
        burn()
        feed = self.application.feed
        self.write(f"{feed.version} {len(feed.items)}")


def change_motd():
    app["application"].settings["motd"] += "!"


@reads(change_motd)
class ReadsSetting(RequestHandler):
    def get(self):
        burn()
        self.write(self.settings["motd"])


def change_limits():
    app["application"].settings["limits"]["most"] += 1


@reads(change_limits, "coroutine")
class ReadsNestedSetting(RequestHandler):
    def get(self):
        burn()
        self.write(str(self.application.settings["limits"]["most"]))


given = [0]
store = types.SimpleNamespace(rows={"n": 0})


def change_given():
    given[0] += 1


@reads(change_given, kwargs={"given": given})
class ReadsArgument(RequestHandler):
    def initialize(self, given):
        self.given = given

    def get(self):
        burn()
        self.write(str(self.given[0]))


def change_store():
    store.rows["n"] += 1


@reads(change_store, "callback", kwargs={"store": store})
class ReadsArgumentObject(RequestHandler):
    def initialize(self, store):
        self.store = store

    def get(self):
        burn()
        self.write(str(self.store.rows["n"]))


class Base(RequestHandler):
    notice = "none"
    posts: ClassVar[list[str]] = []


def change_notice():
    Base.notice += "."


@reads(change_notice)
class ReadsBaseAttribute(Base):
    def get(self):
        burn()
        self.write(self.notice)


@reads(lambda: Base.posts.append("x"), "async")
class ReadsBaseList(Base):
    def get(self):
        burn()
        self.write(str(len(self.posts)))


allowed = {"ann"}


@reads(lambda: allowed.add(f"user {len(allowed)}"))
class ReadsInPrepare(RequestHandler):
    def prepare(self):
        self.known = len(allowed)

    def get(self):
        burn()
        self.write(str(self.known))


sessions = {}


def change_sessions():
    sessions["key"] = sessions.get("key", "user ") + "x"


@reads(change_sessions)
class ReadsCurrentUser(RequestHandler):
    def get_current_user(self):
        return sessions.get("key", "nobody")

    def get(self):
        burn()
        self.write(self.current_user)


page = template.Template("{{ len(entries) }} entries")
entries = []


@reads(lambda: entries.append("x"), "on_finish")
class ReadsInTemplate(RequestHandler):
    def get(self):
        burn()
        self.write(page.generate(entries=entries))


headers = {"X-Version": "1"}


def change_headers():
    headers["X-Version"] += "1"


@reads(change_headers)
class ReadsInDefaultHeaders(RequestHandler):
    def set_default_headers(self):
        for name, value in headers.items():
            self.set_header(name, value)

    def get(self):
        burn()
        self.write(self._headers["X-Version"])


features = {"new": False}


def change_features():
    features["new"] = not features["new"]


@reads(change_features)
class ReadsFlag(RequestHandler):
    def get(self):
        burn()
        self.write("new" if features["new"] else "old")


words = ["one"]


def change_words():
    words.append("more")


@reads(change_words, "prepare")
def count_words():
    burn()
    return len(words)


class Greeter:
    def __init__(self):
        self.word = "hello"

    def greet(self):
        return f"{self.word}, world"


greeter = Greeter()
greet = greeter.greet


def change_greeter():
    greeter.word += "o"


@reads(change_greeter, "executor")
class ReadsBoundMethod(RequestHandler):
    def get(self):
        burn()
        self.write(greet())


def make_reader():
    table = {"v": 0}

    def change():
        table["v"] += 1

    def read(table=table):
        return table["v"]

    return change, read


change_table, read_table = make_reader()


@reads(change_table)
class ReadsDefault(RequestHandler):
    def get(self):
        burn()
        self.write(str(read_table()))


# What one marked handler writes, another one reads


items = []
votes = {"n": 0}
scoreboard = Greeter()


@reads(lambda: items.append("x"), "marked")
class ReadsWhatMarkedWrites(RequestHandler):
    def get(self):
        burn()
        self.write({"items": list(items)})


def change_votes():
    votes["n"] += 1


@reads(change_votes, "marked")
class ReadsVotes(RequestHandler):
    def get(self):
        burn()
        self.write(str(votes["n"]))


def change_scoreboard():
    scoreboard.word += "!"


@reads(change_scoreboard, "marked")
class ReadsMarkedObject(RequestHandler):
    def get(self):
        burn()
        self.write(scoreboard.greet())


@reads(lambda: change_total(), "marked")
class ReadsMarkedGlobal(RequestHandler):
    def get(self):
        burn()
        self.write(str(total))


total = 0


def change_total():
    global total
    total += 1


@reads(lambda: setattr(Greeter, "loud", getattr(Greeter, "loud", 0) + 1), "marked")
class ReadsMarkedClass(RequestHandler):
    def get(self):
        burn()
        self.write(str(getattr(Greeter, "loud", 0)))

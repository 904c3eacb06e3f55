"""State that Tornado holds for the program: application, settings, arguments, hooks."""

from __future__ import annotations

import collections
import types
from typing import ClassVar

from tornado import template
from tornado.options import OptionParser
from tornado.web import HTTPError, RequestHandler, UIModule

from tests.shapes.shape import burn, writes


class State:
    def __init__(self, application):
        self.application = application
        self.games = {}

    def new_game(self):
        self.games[len(self.games)] = {"moves": []}
        return len(self.games)


class Links(UIModule):
    shown = 0

    def render(self):
        Links.shown += 1
        return f"shown {Links.shown}"


def prepare(application):
    """Give an application what these shapes expect of it."""
    application.hits = 0
    application.users = {}
    application.db = types.SimpleNamespace(rows=[], last=None)
    application.state = State(application)
    application.settings["visits"] = 0
    application.settings["cache"] = {}
    application.settings["board"] = types.SimpleNamespace(posts=[])
    application.ui_modules["Links"] = Links


@writes()
class ApplicationAttribute(RequestHandler):
    def get(self):
        burn()
        self.application.hits += 1
        self.write(str(self.application.hits))


@writes()
class ApplicationDict(RequestHandler):
    def get(self):
        burn()
        users = self.application.users
        users[len(users)] = "ann"
        self.write(str(len(users)))


@writes()
class ApplicationObject(RequestHandler):
    def get(self):
        burn()
        self.application.db.rows.append(1)
        self.application.db.last = len(self.application.db.rows)
        self.write(str(self.application.db.last))


@writes()
class ApplicationState(RequestHandler):
    def get(self):
        burn()
        self.write(str(self.application.state.new_game()))


@writes()
class StateOfState(RequestHandler):
    def get(self):
        burn()
        state = self.application.state.application.state
        state.extra = getattr(state, "extra", 0) + 1
        self.write(str(state.extra))


@writes()
class ApplicationNewAttribute(RequestHandler):
    def get(self):
        burn()
        self.application.late = getattr(self.application, "late", 0) + 1
        self.write(str(self.application.late))


@writes()
class SettingsItem(RequestHandler):
    def get(self):
        burn()
        self.settings["visits"] += 1
        self.write(str(self.settings["visits"]))


@writes()
class SettingsNested(RequestHandler):
    def get(self):
        burn()
        cache = self.application.settings["cache"]
        cache[len(cache)] = 1
        self.write(str(len(cache)))


@writes()
class SettingsObject(RequestHandler):
    def get(self):
        burn()
        board = self.settings.get("board")
        board.posts.append("x")
        self.write(str(len(board.posts)))


class Store:
    def __init__(self):
        self.data = {}

    def put(self, value):
        self.data[len(self.data)] = value
        return len(self.data)


@writes(kwargs={"users": []})
class InitializeList(RequestHandler):
    def initialize(self, users):
        self.users = users

    def get(self):
        burn()
        self.users.append("ann")
        self.write(str(len(self.users)))


@writes(kwargs={"store": Store()})
class InitializeObject(RequestHandler):
    def initialize(self, store):
        self.store = store

    def get(self):
        burn()
        self.write(str(self.store.put("x")))


@writes(kwargs={"counts": collections.defaultdict(int)})
class InitializeDefaultdict(RequestHandler):
    def initialize(self, counts):
        self.counts = counts

    def get(self):
        burn()
        self.counts["x"] += 1
        self.write(str(self.counts["x"]))


@writes(kwargs={"callback": [].append, "size": 3})
class InitializeBoundMethod(RequestHandler):
    def initialize(self, **kwargs):
        self.kwargs = kwargs

    def get(self):
        burn()
        self.kwargs["callback"](1)
        self.write(str(len(self.kwargs["callback"].__self__)))


@writes(kwargs={"config": {"limits": {"used": 0}}})
class InitializeNested(RequestHandler):
    def initialize(self, config):
        self.limits = config["limits"]

    def get(self):
        burn()
        self.limits["used"] += 1
        self.write(str(self.limits["used"]))


prepared = []
current_users = {"n": 0}
errors = []
headers = {"n": 0}
finished = []
logged = []
locales = []
etags = []
namespaces = []


@writes(total=lambda: len(prepared))
class Prepare(RequestHandler):
    def prepare(self):
        prepared.append(1)

    def get(self):
        burn()
        self.write(str(len(prepared)))


@writes()
class CurrentUser(RequestHandler):
    def get_current_user(self):
        current_users["n"] += 1
        return f"user {current_users['n']}"

    def get(self):
        burn()
        self.write(self.current_user)


@writes(total=lambda: len(errors))
class WriteError(RequestHandler):
    def write_error(self, status_code, **kwargs):
        errors.append(status_code)
        self.finish(f"error {len(errors)}")

    def get(self):
        burn()
        raise HTTPError(400, reason="Of course")


@writes()
class DefaultHeaders(RequestHandler):
    def set_default_headers(self):
        headers["n"] += 1
        self.set_header("X-Count", str(headers["n"]))

    def get(self):
        burn()
        self.write(self._headers["X-Count"])


@writes(total=lambda: len(finished))
class OnFinish(RequestHandler):
    def on_finish(self):
        finished.append(self.get_status())

    def get(self):
        burn()
        self.write("done")


@writes(total=lambda: len(logged))
class LogException(RequestHandler):
    def log_exception(self, *info):
        logged.append(info[0])

    def get(self):
        burn()
        raise HTTPError(409, reason="Taken")


@writes()
class UserLocale(RequestHandler):
    def get_user_locale(self):
        locales.append(1)

    def get(self):
        burn()
        self.write(f"{self.locale.code} {len(locales)}")


@writes(total=lambda: len(etags))
class ComputeEtag(RequestHandler):
    def compute_etag(self):
        etags.append(1)

    def get(self):
        burn()
        self.write("same")


page = template.Template("{{ count() }} {{ rows.append(1) or len(rows) }}")
page_rows: list[int] = []
page_calls: dict[str, int] = {"n": 0}


def count_page():
    page_calls["n"] += 1
    return page_calls["n"]


@writes()
class TemplateCalls(RequestHandler):
    def get(self):
        burn()
        self.write(page.generate(count=count_page, rows=page_rows))


@writes()
class UIModuleState(RequestHandler):
    def get(self):
        burn()
        text = self.get_template_namespace()["modules"].Links()
        self.write(text)


@writes()
class TemplateNamespace(RequestHandler):
    def get_template_namespace(self):
        namespaces.append(1)
        return super().get_template_namespace()

    def get(self):
        burn()
        self.get_template_namespace()
        self.write(str(len(namespaces)))


parser = OptionParser()
parser.define("visits", default=0, type=int)


@writes()
class OptionValue(RequestHandler):
    def get(self):
        burn()
        parser.visits = parser.visits + 1
        self.write(str(parser.visits))


class Hits(RequestHandler):
    hits: ClassVar[dict[str, int]] = {}

    def initialize(self):
        name = type(self).__name__
        self.hits[name] = self.hits.get(name, 0) + 1


@writes()
class InitializeCounts(Hits):
    def get(self):
        burn()
        self.write(str(self.hits["InitializeCounts"]))


@writes()
class DispatchedByName(RequestHandler):
    bag: ClassVar[list[str]] = []

    def do_add(self):
        self.bag.append("x")
        return len(self.bag)

    def get(self):
        burn()
        action = self.get_argument("action", "add")
        self.write(str(getattr(self, f"do_{action}")()))


class BaseView(RequestHandler):
    model: ClassVar[list[str]] = []

    def get(self):
        burn()
        self.write(str(self.answer()))

    def answer(self):
        raise NotImplementedError


@writes()
class GenericView(BaseView):
    def answer(self):
        self.model.append("x")
        return len(self.model)


@writes()
class SuperCall(CurrentUser):
    served = 0

    def get(self):
        SuperCall.served += 1
        self.write(f"{SuperCall.served} ")
        burn()

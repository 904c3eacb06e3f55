"""Applications as programs build them: several, changed later, with settings."""

from __future__ import annotations

import os
import threading
import weakref

import pytest
from tornado.routing import HostMatches, Router, Rule, RuleRouter
from tornado.web import Application, RequestHandler

from tests.engine import bury_the_dead
from tests.logs import expect_log
from tests.serving import FORKED, pair_of, serving
from txloop import atomically, transactional
from txloop.web import verdicts
from txloop.web.targets import targets_of


@transactional
class Named(RequestHandler):
    """Answers with what it was made with."""

    def initialize(self, name="", lock=None):
        self.name = name
        self.lock = lock

    def get(self, *args):
        locked = self.lock.locked() if self.lock else None
        setting = self.settings.get("setting")
        self.write(f"{self.name} {args} {setting} {locked}")


@transactional
class Placed(RequestHandler):
    def get(self):
        self.write(f"{os.getpid()}")


@transactional
class Page(RequestHandler):
    def get(self):
        self.render("page.html")


@transactional
class Linking(RequestHandler):
    def get(self):
        self.write(self.static_url("file.txt"))


class Counted(Application):
    """An application of the program's own, with an attribute that handlers read."""

    def __init__(self, handlers):
        super().__init__(handlers)
        self.motto = "read only"


@transactional
class Motto(RequestHandler):
    def get(self):
        assert isinstance(self.application, Counted)
        self.write(self.application.motto)


def get_all(*paths):
    """Return a talk that gets each path, twice."""
    return lambda server: [server.get(path).body for path in paths * 2]


def test_arguments_of_initialize(kind):
    def make():
        return Application(
            [
                ("/plain", Named),
                ("/one", Named, {"name": "one"}),
                ("/two/(.)", Named, {"name": "two"}),
                ("/lock", Named, {"name": "three", "lock": threading.Lock()}),
            ],
            setting=[1],
        )

    with pair_of(kind, make) as pair:
        bodies = pair.same(get_all("/plain", "/one", "/two/x", "/lock"))

        assert pair.server.sent_away()
    assert b"one () [1] None" == bodies[1]
    assert b"three () [1] False" == bodies[3]


def test_a_handler_class_that_is_local_to_a_function(kind):
    def make():
        text = "in a closure"

        @transactional
        class Local(RequestHandler):
            def get(self):
                self.write(f"{text} {type(self).__name__}")

        return Application([("/", Local)])

    with pair_of(kind, make) as pair:
        bodies = pair.same(get_all("/"))

        assert pair.server.sent_away()
    assert [b"in a closure Local"] * 2 == bodies


def test_two_applications_in_one_program(kind):
    """The same class, told apart by its application's settings and arguments."""

    def make(number):
        rules = [("/", Named, {"name": f"number {number}"})]
        return Application(rules, setting=number)

    second = make(2)
    with serving(kind, lambda: make(1)) as server:
        first_port = server.port

        async def listen():
            return server.listen(second)

        second_port = server.run(listen)
        bodies = []
        for port in (first_port, second_port) * 2:
            server.port = port
            bodies.append(server.get("/").body)

        assert server.sent_away()
    assert [b"number 1 () 1 None", b"number 2 () 2 None"] * 2 == bodies


def test_an_application_of_the_programs_own_class(kind):
    with pair_of(kind, lambda: Counted([("/", Motto)])) as pair:
        assert [b"read only"] * 2 == pair.same(get_all("/"))
        assert pair.server.sent_away()


def test_rules_for_hosts_and_nested_applications(kind):
    def make():
        inner = Application([("/inner/(.*)", Named, {"name": "inner"})])
        application = Application([("/", Named, {"name": "any host"})])
        application.add_handlers(r"other\.host", [("/", Named, {"name": "other"})])
        application.add_handlers(".*", [("/inner/.*", inner)])
        return application

    def talk(server):
        hosts = [{}, {"Host": "other.host"}]
        roots = [server.fetch("GET", "/", headers) for headers in hosts * 2]
        return [one.body for one in roots], server.get("/inner/x").body

    with pair_of(kind, make) as pair:
        roots, inner = pair.same(talk)

        assert pair.server.sent_away()
    assert [b"any host () None None", b"other () None None"] * 2 == roots
    assert b"inner ('x',) None None" == inner


@pytest.mark.at_owner("the program has a router of its own")
def test_a_router_of_the_programs_own(kind):
    """The HTTP server asks it, and it asks the application."""
    application = Application([("/", Named, {"name": "routed"})])
    router = RuleRouter([Rule(HostMatches(".*"), application)])

    with serving(kind, lambda: router) as server:  # type: ignore[arg-type,return-value]
        assert b"routed () None None" == server.get("/").body
        assert server.sent_away()


def test_the_default_handler_class(kind):
    def make():
        return Application(
            [], default_handler_class=Named, default_handler_args={"name": "default"}
        )

    with pair_of(kind, make) as pair:
        assert [b"default () None None"] * 2 == pair.same(get_all("/anywhere"))
        assert pair.server.sent_away()


class ByPath(Router):
    """Makes the arguments for each request."""

    def __init__(self, application):
        self.application = application

    def find_handler(self, request, **kwargs):
        return self.application.get_handler_delegate(
            request, Named, target_kwargs={"name": request.path}
        )


@pytest.mark.at_owner("the program has a router of its own")
def test_a_router_that_makes_arguments_for_each_request(kind):
    """A worker cannot know them, and nobody may keep them."""
    application = Application()

    with (
        expect_log(
            "txloop",
            "GET Named runs on the loop thread: a worker cannot load it",
            count=1 if kind in FORKED else 0,
        ),
        serving(kind, lambda: ByPath(application)) as server,  # type: ignore[arg-type,return-value]
    ):
        bodies = get_all("/a", "/b", "/c")(server)

    names = ["/a", "/b", "/c"] * 2
    assert [f"{name} () None None".encode() for name in names] == bodies
    bury_the_dead()
    assert 0 == sum(one.application is application for one in targets_of(Named))


def test_workers_know_the_handlers_although_a_function_came_first(kind):
    with serving(kind, lambda: Application([("/", Named, {"name": "n"})])) as server:

        async def talk():
            return await atomically(int)

        number = server.run(talk)
        answer = server.get("/")

        assert (0, b"n () None None") == (number, answer.body)
        assert server.sent_away()


def test_handlers_that_are_added_after_the_workers_were_forked(kind):
    def talk(server):
        first = server.get("/").body
        server.application.add_handlers(".*", [("/late", Named, {"name": "late"})])
        return [first, *get_all("/late", "/")(server)]

    def make():
        return Application([("/", Named, {"name": "early"})])

    with (
        expect_log(
            "txloop",
            "GET Named runs on the loop thread: a worker cannot load it"
            r".*Named was added to its application after the workers were forked",
            count=1 if kind in FORKED else 0,
        ),
        pair_of(kind, make) as pair,
    ):
        bodies = pair.same(talk)

    late, early = b"late () None None", b"early () None None"
    assert [early, late, early, late, early] == bodies


def test_an_application_that_is_made_after_the_workers_were_forked(kind):
    with (
        expect_log("txloop", "runs on the loop thread", count=int(kind in FORKED)),
        serving(kind, lambda: Application([("/", Placed)])) as server,
    ):
        server.get("/")
        late = Application([("/", Named, {"name": "late"})])

        async def listen():
            return server.listen(late)

        server.port = server.run(listen)
        bodies = [server.get("/").body for _ in range(2)]

    assert [b"late () None None"] * 2 == bodies


@pytest.mark.parametrize("cached", [True, False])
def test_templates_are_read_again_if_they_are_not_cached(cached, kind, tmp_path):
    """That is what debug mode sets."""
    page = tmp_path / "page.html"

    def make():
        return Application(
            [("/", Page)],
            template_path=str(tmp_path),
            compiled_template_cache=cached,
        )

    with serving(kind, make, workers=1) as server:
        page.write_text("first")
        first = server.get("/").body
        page.write_text("second")
        second = server.get("/").body

        assert server.sent_away()
    assert (b"first", b"first" if cached else b"second") == (first, second)


@pytest.mark.parametrize("cached", [True, False])
def test_static_files_are_read_again_if_they_are_not_cached(cached, kind, tmp_path):
    file = tmp_path / "file.txt"

    def make():
        return Application(
            [("/", Linking)], static_path=str(tmp_path), static_hash_cache=cached
        )

    with serving(kind, make, workers=1) as server:
        file.write_text("first")
        first = server.get("/").body
        file.write_text("second")
        second = server.get("/").body

        assert server.sent_away()
    assert cached == (first == second)


def test_a_scan_that_fails_holds_the_verb_and_ends_no_request(monkeypatch):
    # GIVEN
    def fail(*_, **__):
        raise LookupError("a mistake")

    monkeypatch.setattr(verdicts, "scan_handler", fail)
    monkeypatch.setattr(verdicts, "_verdicts", weakref.WeakKeyDictionary())
    read = r"^the code of GET Placed could not be read; please report"
    held = r"^GET Placed runs on the loop thread: it could not be read: LookupError"

    with (
        expect_log("txloop", read),
        expect_log("txloop", held),
        serving("processes", lambda: Application([("/", Placed)])) as server,
    ):
        # WHEN
        answers = {server.get("/").body for _ in range(5)}

    # THEN
    assert {b"%d" % os.getpid()} == answers

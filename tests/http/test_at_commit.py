"""What happens once, at the commit of a request: log lines and effects."""

from __future__ import annotations

import logging
import os
import threading

import pytest
from tornado.web import Application, RequestHandler

from tests.logs import expect_log
from tests.messages import Request
from tests.serving import FORKED, pair_of, serving
from txloop import TVar, on_commit, transactional

shop = logging.getLogger("shop")
noted: list[tuple[object, ...]] = []
stock_of_teapots = TVar(10)


def note(*what):
    """Be an effect that says where it ran."""
    noted.append((*what, os.getpid(), threading.get_ident()))


def note_stock():
    """Be an effect that looks at what was committed."""
    noted.append((stock_of_teapots.get(),))


def fail():
    """Be an effect that fails."""
    raise ValueError("an effect fails")


def here(*what):
    """Return what `note` notes on the loop thread."""
    return (*what, os.getpid(), threading.get_ident())


@transactional(trust=True)  # the test sets levels
class Logging(RequestHandler):
    def prepare(self):
        shop.info("prepare of %s", self.request.path, extra={"order": [1, 2]})

    def get(self):
        shop.debug("too detailed")
        shop.warning("get %(n)d", {"n": 5})
        logging.getLogger("shop.till").error("child %s %r", "a", "b")
        self.write("logged")

    def post(self):
        try:
            raise KeyError("teapot")
        except KeyError:
            shop.exception("not found")

    def put(self):
        shop.info("with the stack", stack_info=True)
        shop.log(35, "own level %s", self)


@transactional
class Buying(RequestHandler):
    def get(self):
        on_commit(note, "first")
        stock_of_teapots.set(stock_of_teapots.get() - 1)
        on_commit(note_stock)
        on_commit(note, "last", "with arguments")

    def post(self):
        on_commit(fail)
        on_commit(note, "after the failure")
        self.write("sold")

    def put(self):
        mine = []
        on_commit(lambda: mine.append(1))
        on_commit(note, "after the lambda")

    def delete(self):
        on_commit(stock_of_teapots.set, 99)


class LoggingApplication(Application):
    def log_request(self, handler):
        note("log_request", handler.get_status(), handler.left, handler.request.path)


@transactional
class Watched(RequestHandler):
    def get(self):
        self.left = {"by": "get"}
        self.set_status(202)


@transactional
class LoggingItself(Watched):
    def _log(self):
        note("_log", self.get_status(), self.left)


def make_application(**settings):
    return Application([("/logging", Logging), ("/buying", Buying)], **settings)


class Listener(logging.Handler):
    """Keeps records, and counts how often it was asked by a filter."""

    def __init__(self):
        super().__init__()
        self.records = []
        self.filtered = 0

    def emit(self, record):
        self.records.append(record)

    def filter(self, record):
        self.filtered += 1
        return True


@pytest.fixture
def listener():
    found = Listener()
    shop.addHandler(found)
    yield found
    shop.removeHandler(found)


@pytest.fixture(autouse=True, scope="module")
def _levels():
    """Before the workers are forked: they have the levels of that moment."""
    shop.setLevel(logging.INFO)
    yield
    shop.setLevel(logging.NOTSET)


@pytest.fixture(autouse=True)
def _clean():
    noted.clear()
    stock_of_teapots.set(10)


# Log lines


@pytest.mark.parametrize("verb", ["GET", "POST", "PUT"])
def test_the_program_logs_as_in_stock_tornado(verb, pair, listener):
    def talk(server):
        listener.records.clear()
        server.fetch(verb, "/logging")
        return [
            (
                record.name,
                record.levelname,
                record.getMessage().partition(" object at")[0],
                record.funcName,
                record.lineno,
                getattr(record, "order", None),
            )
            for record in listener.records
        ]

    lines = pair.same(talk)

    assert {"GET": 3, "POST": 2, "PUT": 3}[verb] == len(lines)
    assert pair.server.sent_away()


def test_a_traceback_in_the_log_leads_to_the_handler(pair, listener):
    pair.server.fetch("POST", "/logging")

    line = logging.Formatter().format(listener.records[-1])
    assert line.startswith("not found\nTraceback (most recent call last):")
    assert ", in post\n" in line
    assert 'raise KeyError("teapot")' in line
    assert line.endswith("KeyError: 'teapot'")


def test_a_record_tells_which_process_wrote_it(pair, listener):
    pair.server.get("/logging")

    writers = {record.process for record in listener.records}
    assert (writers == {os.getpid()}) == (pair.server.kind not in FORKED)


def test_a_filter_of_a_logger_is_asked_once(pair, listener):
    shop.addFilter(listener)
    try:
        pair.server.get("/logging")
    finally:
        shop.removeFilter(listener)

    names = [record.name for record in listener.records]
    assert ["shop", "shop", "shop.till"] == names
    # The child's record passes the parent's handlers, which ask filters of their own.
    assert 2 + 3 == listener.filtered


def test_a_filter_that_drops_a_record_is_obeyed(pair, listener):
    def drop(record):
        return "get" not in record.getMessage()

    shop.addFilter(drop)
    try:
        pair.server.get("/logging")
    finally:
        shop.removeFilter(drop)

    messages = [record.getMessage() for record in listener.records]
    assert ["prepare of /logging", "child a 'b'"] == messages


# The access log


@pytest.mark.at_owner("the program logs requests itself")
def test_log_function_is_called_once_and_sees_the_handler(kind):
    def log(handler):
        note("log_function", handler.get_status(), handler.left, handler.request.path)

    def make():
        return Application([("/watched", Watched)], log_function=log)

    def talk(server):
        noted.clear()
        server.get("/watched")
        return list(noted)

    with pair_of(kind, make) as pair:
        calls = pair.same(talk)
        assert pair.server.sent_away()

    assert [here("log_function", 202, {"by": "get"}, "/watched")] == calls


@pytest.mark.at_owner("the program logs requests itself")
@pytest.mark.parametrize("handler", [Watched, LoggingItself])
def test_an_overridden_log_is_called_once_and_sees_the_handler(handler, kind):
    def talk(server):
        noted.clear()
        server.get("/")
        return list(noted)

    with pair_of(kind, lambda: LoggingApplication([("/", handler)])) as pair:
        [call] = pair.same(talk)
        assert pair.server.sent_away()

    assert (202, {"by": "get"}) == call[1:3]


def test_each_request_is_in_the_access_log_once(pair):
    pair.same(
        lambda server: server.fetch_in_turn(
            [Request("GET", path) for path in ("/logging", "/lost", "/buying") * 3]
        )
    )


# Effects


def test_effects_run_once_at_the_commit_on_the_loop_thread(pair):
    pair.server.get("/buying")

    expected = [here("first"), (9,), here("last", "with arguments")]
    assert expected == noted


def test_an_effect_that_fails_is_logged_and_the_others_run(pair):
    with expect_log("txloop", r"an effect failed: fail, asked for at .*, line \d+"):
        answer = pair.server.fetch("POST", "/buying")

    assert b"sold" == answer.body
    assert [here("after the failure")] == noted


def test_a_method_of_a_container_is_an_effect(pair):
    pair.server.fetch("DELETE", "/buying")

    assert 99 == stock_of_teapots.get()
    assert pair.server.sent_away()


def test_an_effect_without_a_name_keeps_the_handler_on_the_loop(kind):
    """By value it would act on a copy, in silence."""
    with (
        serving(kind, make_application) as server,
        expect_log(
            "txloop",
            "PUT Buying runs on the loop thread: its effect .*<lambda> is not a funct",
            count=1 if kind in FORKED else 0,
        ),
    ):
        answers = [server.fetch("PUT", "/buying") for _ in range(2)]

    assert [200, 200] == [answer.status for answer in answers]
    assert [here("after the lambda")] * 2 == noted

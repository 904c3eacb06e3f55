"""What a handler sees of context variables and of decimal's settings: as in stock."""

from __future__ import annotations

import contextvars
import decimal
from decimal import Decimal

import pytest
from tornado.web import Application, RequestHandler

from tests.logs import expect_log
from tests.messages import Request
from tests.serving import pair_of
from txloop import on_commit, transactional


class Local:
    """As of a library: no module global leads to its variable."""

    def __init__(self):
        self._value: contextvars.ContextVar[str] = contextvars.ContextVar("hidden")

    def get(self):
        return self._value.get("unset")

    def set(self, value):
        self._value.set(value)


local = Local()


def make_application():
    return Application(
        [
            ("/seeing", Seeing),
            ("/own/(.*)", Own),
            ("/precision/(.*)", Precision),
            ("/finish", Finishing),
            ("/late/(.*)", Late),
        ]
    )


@transactional
class Seeing(RequestHandler):
    def get(self):
        self.write(f"{Decimal(1) / 3} {Decimal(1) / 0} {local.get()}")


@transactional
class Own(RequestHandler):
    """Computes with settings of its own, and leaves them behind."""

    def get(self, prec):
        with decimal.localcontext(prec=int(prec)):
            inner = Decimal(1) / 3
        middle = Decimal(1) / 3
        decimal.setcontext(decimal.Context(prec=int(prec)))
        local.set(prec)
        self.write(f"{inner} {middle} {Decimal(1) / 3} {local.get()}")


@transactional
class Precision(RequestHandler):
    """Changes what all of the program computes with, as one should not."""

    def get(self, prec):
        decimal.getcontext().prec = int(prec)
        self.write(str(Decimal(1) / 3))


@transactional(trust=True)
class Late(RequestHandler):
    """Changes them when it is told to."""

    def get(self, prec):
        if int(prec):
            decimal.getcontext().prec = int(prec)
        self.write(f"{prec} {Decimal(1) / 3}")


@transactional
class Finishing(RequestHandler):
    """Is looked at after the commit and the response, when its settings still hold."""

    def get(self):
        decimal.setcontext(decimal.Context(prec=2))
        on_commit(note_third)
        self.write("finishing")

    def on_finish(self):
        note_third()


def note_third():
    FINISHED.append(str(Decimal(1) / 3))


FINISHED: list[str] = []


def set_up():
    """Do what a program does at import."""
    settings = decimal.Context(prec=6, traps=[decimal.InvalidOperation])
    decimal.setcontext(settings)
    local.set("import")


def in_program(test):
    """Run a test in a context of its own, as a program of its own would."""
    context = contextvars.copy_context()
    context.run(set_up)
    context.run(test)


def fetched(*paths):
    def talk(server):
        return [server.get(path).body.decode() for path in paths]

    return talk


def test_the_settings_of_the_program_hold(kind):
    def test():
        with pair_of(kind, make_application) as pair:
            bodies = pair.same(fetched("/seeing", "/own/3", "/seeing", "/own/4"))
            assert pair.server.sent_away()

        assert ["0.333333 Infinity import", "0.333 0.333333 0.333 3"] == bodies[:2]
        assert ["0.333333 Infinity import", "0.3333 0.333333 0.3333 4"] == bodies[2:]

    in_program(test)


def test_settings_made_when_there_are_workers_hold_too(kind):
    def test():
        with pair_of(kind, make_application, early=True) as pair:
            before = pair.same(fetched("/seeing"))
            decimal.getcontext().prec = 4
            decimal.getcontext().rounding = decimal.ROUND_UP
            after = pair.same(fetched("/seeing"))
            assert pair.server.sent_away()

        assert ["0.333333 Infinity import"] == before
        assert ["0.3334 Infinity import"] == after

    in_program(test)


def test_who_changes_the_settings_of_all_runs_on_the_loop_thread(kind):
    def test():
        with (
            expect_log(
                "txloop",
                "GET Precision runs on the loop thread: it changes decimal's context",
                count=int(kind != "serial"),
            ),
            pair_of(kind, make_application) as pair,
        ):
            paths = ("/seeing", "/precision/3", "/seeing", "/precision/4", "/seeing")
            bodies = pair.same(fetched(*paths), before=set_precision)

        assert ["0.333", "0.3333"] == [bodies[1], bodies[3]]
        assert "0.3333 Infinity import" == bodies[4]

    in_program(test)


def test_who_changes_them_late_is_answered_once(kind):
    requests = [Request("GET", f"/late/{n}") for n in [*"0" * 20, 3, 0]]

    def talk(server):
        return [one.body.decode() for one in server.fetch_in_turn(requests)]

    def test():
        told = expect_log("txloop", "it changes decimal's", count=int(kind != "serial"))
        with told, pair_of(kind, make_application) as pair:
            bodies = pair.same(talk, before=set_precision)

        assert ["0 0.333333", "3 0.333", "0 0.333"] == bodies[-3:]

    in_program(test)


def set_precision():
    decimal.getcontext().prec = 6


@pytest.mark.at_owner("it has an on_finish of its own")
def test_the_settings_of_a_handler_hold_at_the_commit_and_in_on_finish(kind):
    def test():
        FINISHED.clear()
        with pair_of(kind, make_application) as pair:
            pair.same(fetched("/finish", "/finish"))

        assert ["0.33"] * 8 == FINISHED

    in_program(test)

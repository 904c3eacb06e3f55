"""What belongs to the process is looked at, where it may matter to code."""

from __future__ import annotations

import abc
import calendar
import csv
import decimal
import functools
import gc
import gettext
import logging
import logging.handlers
import mimetypes
import numbers as numbers_abc
import signal
import socket
import warnings
from mimetypes import guess_type as guess
from xml.etree import ElementTree

import pytest
import tornado.locale

from tests.reached import subject_of
from txloop.watch.definitions import Registered

log = logging.getLogger("tests.ambient")


class Shape(abc.ABC):  # noqa: B024 # classes are registered with it
    pass


class Plugin:
    """Knows its subclasses."""


kept: list[object] = []
numbers = decimal.Context(prec=5)


def nothing():
    return 1


def guesses():
    return guess("a.ambient")


def asks_for_timeout():
    return socket.getdefaulttimeout()


def asks_for_signal():
    return signal.getsignal(signal.SIGUSR1)


def asks_within():
    import gc  # that is seen, too

    return gc.isenabled()


def warns():
    warnings.warn("old", stacklevel=1)


def asks_shape(cls):
    return issubclass(cls, Shape)


def asks_plugins():
    return Plugin.__subclasses__()


def divides():
    return numbers.divide(1, 3)


def asks_for_flags():
    return divides(), numbers.flags


def logs():
    log.info("hello")


def asks_for_handlers():
    return log.handlers


def translates(handler):
    return handler.locale.translate("hello")


def adds_handler():
    log.addHandler(logging.NullHandler())


def change_environment(monkeypatch):
    monkeypatch.setenv("TZ", "changed")


def change_types(monkeypatch):
    monkeypatch.setitem(mimetypes._db.types_map[True], ".ambient", "x/y")  # type: ignore[attr-defined] # by which it looks up


def guess_once(monkeypatch):
    guesses()


def change_timeout(monkeypatch):
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(100)
    return lambda: socket.setdefaulttimeout(before)


def change_signal(monkeypatch):
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    return lambda: signal.signal(signal.SIGUSR1, before)


def change_garbage(monkeypatch):
    gc.disable()
    return gc.enable


def change_filters(monkeypatch):
    monkeypatch.setattr(warnings, "filters", [*warnings.filters[1:]])


def reads_rows():
    return csv.reader("a", "ambient")


def writes_tree():
    return ElementTree.tostring


def asks_for_week():
    return calendar.monthcalendar(2026, 11)


def change_dialect(monkeypatch):
    csv.register_dialect("ambient", delimiter="|")
    return lambda: csv.unregister_dialect("ambient")


def register_dialect_again(monkeypatch):
    csv.register_dialect("excel", csv.excel)


def change_prefix(monkeypatch):
    known = ElementTree._namespace_map  # type: ignore[attr-defined] # by which it looks up
    monkeypatch.setitem(known, "http://ambient", "a")


def change_week(monkeypatch):
    calendar.setfirstweekday(6)
    return lambda: calendar.setfirstweekday(0)


def change_level_name(monkeypatch):
    monkeypatch.setitem(logging._levelToName, 17, "AMBIENT")


def change_registered(monkeypatch):
    kept.append(Shape.register(type("Registered", (), {})))


def change_subclasses(monkeypatch):
    kept.append(type("Sub", (Plugin,), {}))


def change_precision(monkeypatch):
    monkeypatch.setattr(numbers, "prec", 6)


def change_flags(monkeypatch):
    divides()
    return numbers.clear_flags


def change_level(monkeypatch):
    monkeypatch.setattr(log, "level", log.level + 1)


def change_disabled(monkeypatch):
    monkeypatch.setattr(log, "disabled", not log.disabled)


def change_default_locale(monkeypatch):
    monkeypatch.setattr(tornado.locale, "_default_locale", "de")


def change_translations(monkeypatch):
    monkeypatch.setattr(tornado.locale, "_translations", {"de": {}})


def change_gettext(monkeypatch):
    """Read the texts of a locale as `load_gettext_translations` does."""
    texts = {"de": gettext.NullTranslations()}
    monkeypatch.setattr(tornado.locale, "_translations", texts)
    monkeypatch.setattr(tornado.locale, "_use_gettext", True)


def change_handlers(monkeypatch):
    handler = logging.NullHandler()
    log.addHandler(handler)
    return functools.partial(log.removeHandler, handler)


@pytest.mark.parametrize(
    ("function", "change", "what"),
    [
        (nothing, change_environment, "os.environ"),
        (guesses, change_types, "the tables of mimetypes"),
        (asks_for_timeout, change_timeout, "the default timeout of sockets"),
        (asks_for_signal, change_signal, "the signal handlers"),
        (asks_within, change_garbage, "how garbage is collected"),
        (warns, change_filters, "warnings.filters"),
        (reads_rows, change_dialect, "the dialects and limits of csv"),
        (writes_tree, change_prefix, "the prefixes of XML's namespaces"),
        (asks_for_week, change_week, "the first day of a week"),
        (logs, change_level_name, "a logger's level"),
        (
            asks_shape,
            change_registered,
            "what is registered with tests.unit.test_ambient.Shape",
        ),
        (
            asks_plugins,
            change_subclasses,
            "the subclasses of tests.unit.test_ambient.Plugin",
        ),
        (divides, change_precision, "tests.unit.test_ambient.numbers.prec"),
        (asks_for_flags, change_flags, "tests.unit.test_ambient.numbers.flags"),
        (logs, change_level, "a logger's level"),
        (logs, change_disabled, "a logger's level"),
        (translates, change_default_locale, "the translations"),
        (translates, change_translations, "the translations"),
        (translates, change_gettext, "the translations"),
        (
            asks_for_handlers,
            change_handlers,
            "tests.unit.test_ambient.log.handlers",
        ),
        (
            adds_handler,
            change_handlers,
            "tests.unit.test_ambient.log.addHandler",
        ),
    ],
)
def test_a_change_is_seen_where_it_matters(function, change, what, monkeypatch):
    # GIVEN
    subject = subject_of(function)
    before = subject.look_at_all()

    # WHEN
    restore = change(monkeypatch)
    found = subject.look_at_all()
    if restore is not None:
        restore()

    # THEN
    assert before is None
    assert found is not None
    assert what == found.name


@pytest.mark.parametrize(
    ("function", "change"),
    [
        (nothing, change_types),
        (nothing, change_timeout),
        (nothing, change_signal),
        (nothing, change_garbage),
        (nothing, change_filters),
        (nothing, change_dialect),
        (nothing, change_level),
        (nothing, change_default_locale),
        (divides, change_flags),
        (logs, change_handlers),
        (guesses, guess_once),
        (reads_rows, register_dialect_again),
    ],
)
def test_a_change_that_does_not_matter_is_passed_over(function, change, monkeypatch):
    # GIVEN
    subject = subject_of(function)

    # WHEN
    restore = change(monkeypatch)
    found = subject.look_at_all()
    if restore is not None:
        restore()

    # THEN
    assert found is None


def test_a_lazy_start_of_mimetypes_is_no_change(monkeypatch):
    # GIVEN
    monkeypatch.setattr(mimetypes, "inited", False)
    monkeypatch.setattr(mimetypes, "_db", None)
    subject = subject_of(guesses)

    # WHEN
    guesses()

    # THEN
    assert subject.look_at_all() is None


def test_classes_that_others_register_elsewhere_are_no_change():
    picture = Registered(Shape, "shape")

    numbers_abc.Number.register(type("Stranger", (), {}))

    assert picture.difference(None) is None

"""The program's own code that Python or a library calls: no handler names it."""

from __future__ import annotations

import abc
import calendar
import copyreg
import decimal
import importlib
import logging
import pickle
import shutil
import sys
import warnings

from tornado.web import RequestHandler

from tests.shapes.shape import IN_SERVER, burn, writes

reduced, warned, sought, made = [0], [0], [0], [0]
archived, patched = [0], [0]


class Part:
    """Pickled by what `copyreg` knows."""


def reduce_part(part):
    reduced[0] += 1
    return Part, ()


copyreg.pickle(Part, reduce_part)


@writes(total=lambda: reduced[0])
class PicklesByCopyreg(RequestHandler):
    def get(self):
        burn()
        pickle.dumps(Part())
        self.write("pickled")


def note_warning(*arguments, **more):
    warned[0] += 1


@writes(total=lambda: warned[0])
class ShowsWarning(RequestHandler):
    def get(self):
        burn()
        warnings.warn("old", stacklevel=1)
        self.write("warned")


class Tee:
    """Has no more of a stream than what `print` uses."""

    def __init__(self, stream):
        self.stream = stream
        self.lines = []

    def write(self, text):
        self.lines.append(text)
        return self.stream.write(text)

    def flush(self):
        self.stream.flush()


tee = Tee(sys.stdout)


@writes(total=lambda: len(tee.lines))
class PrintsToOwnStream(RequestHandler):
    def get(self):
        burn()
        print("hello")  # noqa: T201
        self.write("printed")


class Seeker:
    """An import hook that counts."""

    def find_spec(self, name, path=None, target=None):
        sought[0] += name == "not_there"


@writes(total=lambda: sought[0])
class ImportsWhatIsNotThere(RequestHandler):
    def get(self):
        burn()
        try:
            importlib.import_module("not_there")
        except ImportError:
            self.write("not there")


made_before = logging.getLogRecordFactory()
counted_log = logging.getLogger("shapes.counted")
counted_log.addHandler(logging.NullHandler())
counted_log.propagate = False
counted_log.setLevel(logging.INFO)
numbered_log = counted_log.getChild("numbered")


def make_record(name, *arguments, **more):
    made[0] += name == "shapes.counted"
    return made_before(name, *arguments, **more)


@writes(total=lambda: made[0])
class LogsByOwnFactory(RequestHandler):
    def get(self):
        burn()
        counted_log.info("hello")
        self.write("logged")


class Numbering(logging.LoggerAdapter):
    """Gives what is logged a number."""

    def process(self, message, options):
        self.extra["number"] += 1
        return message, options


numbering = Numbering(numbered_log, {"number": 0})


@writes()
class LogsByOwnAdapter(RequestHandler):
    def get(self):
        burn()
        numbering.info("hello")
        self.write(str(numbering.extra["number"]))


def archive(base_name, base_dir, **options):
    archived[0] += 1
    return base_name


@writes(total=lambda: archived[0])
class ArchivesByOwnFormat(RequestHandler):
    def get(self):
        burn()
        self.write(shutil.make_archive("name", "shapes"))


def count_leap(year):
    patched[0] += 1
    return False


@writes(total=lambda: patched[0])
class CallsPatchedLibrary(RequestHandler):
    def get(self):
        burn()
        self.write(str(calendar.isleap(2000)))


class Registry(abc.ABC):
    """Has no subclasses but those that are registered."""


candidates = [type(f"Candidate{n}", (), {}) for n in range(100)]


@writes()
class RegistersWithAbstractClass(RequestHandler):
    def get(self):
        burn()
        known = sum(issubclass(one, Registry) for one in candidates)
        Registry.register(candidates[known])
        self.write(str(known))


numbers = decimal.Context(prec=5)


@writes()
class LeavesDecimalFlags(RequestHandler):
    def get(self):
        burn()
        before = bool(numbers.flags[decimal.Inexact])
        numbers.divide(1, 3)
        self.write(str(before))


if IN_SERVER:
    warnings.simplefilter("always")
    warnings.showwarning = note_warning
    sys.meta_path.insert(0, Seeker())
    logging.setLogRecordFactory(make_record)
    shutil.register_archive_format("shapes", archive)
    calendar.isleap = count_leap
    sys.stdout = tee

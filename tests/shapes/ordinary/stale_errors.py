"""Reads of what unmarked code changes of exceptions that the program keeps."""

from __future__ import annotations

from tornado.web import HTTPError, RequestHandler

from tests.shapes.shape import burn, reads, steady, writes


class Failure(Exception):
    """What went wrong last."""

    def __init__(self, message):
        super().__init__(message)
        self.count = 0


class Coded(Exception):
    __slots__ = ("code",)


kept_value = ValueError("a")


def change_arguments():
    kept_value.args = (*kept_value.args, "b")


@reads(change_arguments)
class ShowsArguments(RequestHandler):
    def get(self):
        burn()
        self.write(str(kept_value))


failure = Failure("a")


def fail_again():
    failure.args = (failure.args[0] + "a",)


@reads(fail_again, "coroutine")
class ShowsOwnException(RequestHandler):
    def get(self):
        burn()
        self.write(str(failure))


counted = [Failure("a")]


def count_failure():
    vars(counted[0])["count"] += 1


@reads(count_failure)
class ReadsAttributeOfException(RequestHandler):
    def get(self):
        burn()
        self.write(str(counted[0].count))


noted = {"last": KeyError("a")}


@reads(lambda: noted["last"].add_note("again"))
class ReadsNotes(RequestHandler):
    def get(self):
        burn()
        self.write(str(getattr(noted["last"], "__notes__", [])))


denied = HTTPError(403, "no")


def change_reason():
    denied.reason = f"{denied.reason}!"


@reads(change_reason)
class ReadsReasonOfHttpError(RequestHandler):
    def get(self):
        burn()
        self.write(str(denied))


missing = OSError(2, "gone", "a")


def change_file():
    missing.filename += "a"


@reads(change_file)
class ReadsFileOfOsError(RequestHandler):
    def get(self):
        burn()
        self.write(str(missing))


ended = StopIteration(1)


def change_value():
    ended.value += 1


@reads(change_value)
class ReadsValueOfStopIteration(RequestHandler):
    def get(self):
        burn()
        self.write(str(ended.value))


wrong = UnicodeDecodeError("utf-8", b"abc", 0, 1, "odd")


def move_start():
    wrong.end += 1


@reads(move_start)
class ReadsEndOfUnicodeError(RequestHandler):
    def get(self):
        burn()
        self.write(str(wrong.end))


group = ExceptionGroup("all", [ValueError("a")])


def change_member():
    group.exceptions[0].args = (f"{group.exceptions[0]}a",)


@reads(change_member)
class ReadsMembersOfGroup(RequestHandler):
    def get(self):
        burn()
        self.write(str(group.exceptions[0]))


slotted = Coded()
slotted.code = 1


def change_code():
    slotted.code += 1


@reads(change_code)
class ReadsSlotOfException(RequestHandler):
    def get(self):
        burn()
        self.write(str(slotted.code))


listed = ValueError([1])


@reads(lambda: listed.args[0].append(1))
class ReadsListInArguments(RequestHandler):
    def get(self):
        burn()
        self.write(str(listed))


last = ValueError("a")


@writes()
class ChangesArguments(RequestHandler):
    def get(self):
        text = str(last) + "a"
        burn()
        vars(BaseException)["args"].__set__(last, (text,))
        self.write(str(last))


raised = ValueError("a")


@writes()
class AddsNotes(RequestHandler):
    def get(self):
        burn()
        try:
            raise raised
        except ValueError as error:
            error.add_note("x")
            self.write(str(len(error.__notes__)))


not_found = LookupError("not there")


@steady()
class RaisesKeptException(RequestHandler):
    def get(self):
        burn()
        try:
            try:
                {}["a"]
            except KeyError as error:
                raise not_found from error
        except LookupError as error:
            self.write(str(error))

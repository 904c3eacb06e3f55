"""Whether all that follows an answer does nothing but log."""

from __future__ import annotations

import functools
import queue
from typing import TYPE_CHECKING

import pytest
from tornado.web import Application, RequestHandler

from txloop.scan import is_quiet_after

if TYPE_CHECKING:
    from tests.unit.scan_programs.loading import Load

PROGRAM = """
    import functools
    import json
    import logging
    import queue
    import smtplib
    import threading
    import time
    from tornado.ioloop import IOLoop
    from tornado.web import Application, RequestHandler
    from txloop import TDict

    log = logging.getLogger("app")
    NAMES = {{200: "fine"}}
    COUNTS, TIMES, SLOW = {{}}, [], TDict()
    QUEUE, EVENT, LOCK = queue.Queue(), threading.Event(), threading.Lock()
    MAIL = smtplib.SMTP()

    def count(status):
        COUNTS[status] = COUNTS.get(status, 0) + 1

    def note(handler):
        {body}

    class Own(Application):
        def log_request(self, handler):
            {body}

    class Handler(RequestHandler):
        def prepare(self):
            self.begun = time.time()

        def get(self):
            self.row = SLOW.setdefault("row", 1)

    class Ending(Handler):
        def on_finish(self):
            handler = self
            {body}
"""

QUIET = {
    "a line": 'log.info("%s", handler.request.uri)',
    "its time": "log.info('%.1f ms', 1000 * (time.time() - handler.begun))",
    "its user": "log.info('%s by %s', handler.get_status(), handler.current_user)",
    "a constant table": "log.info(NAMES.get(handler.get_status(), 'other'))",
    "as Tornado does": (
        "log_method = log.info if handler.get_status() < 400 else log.error;"
        "log_method('%d', handler.get_status())"
    ),
    "by its status": (
        "(log.error if handler.get_status() > 499 else log.info)"
        "(handler._request_summary())"
    ),
    "printed": "print(handler.request.method, handler.request.request_time())",
    "an attribute of its own": "handler.ended = time.time()",
    "a text of parts": "log.info(' '.join(['a', handler.request.path.upper()]))",
    "as JSON": "log.info(json.dumps({'path': handler.request.path, 'n': 1}))",
    "a dict of its own": (
        "entry = {'path': handler.request.path}; entry['at'] = time.time();"
        "log.info(json.dumps(entry))"
    ),
    "an error": "raise ValueError(handler.request.path)",
}

LOUD = {
    "a count": "count(handler.get_status())",
    "a list": "TIMES.append(handler.request.request_time())",
    "what another line changes": "log.info('%s', COUNTS)",
    "a container": "SLOW[handler.request.path] = 1",
    "a container that is read": "log.info('%s', len(SLOW))",
    "of the application": "handler.application.last = handler",
    "a setting": "handler.settings['last'] = handler",
    "what the verb has left": "handler.row.append(1)",
    "later": "IOLoop.current().add_callback(count, 1)",
    "a file": "open('access.log', 'a').write('x')",
    "its class": "type(handler).requests = 1",
    "a queue": "QUEUE.put(handler.request.path)",
    "an event": "EVENT.set()",
    "another object of a library": "MAIL.sendmail('a', 'b', handler.request.path)",
    "what is made of a library": "threading.Thread(target=print).start()",
    "a lock": "with LOCK: log.info('one at a time')",
    "how it is logged": "log.setLevel(10)",
    "how another one logs": "logging.getLogger('z').disabled = True",
    "what the verb has got": "handler.timer.stop()",
    "what a name does not tell": "for one in handler.callbacks: one()",
}


class Foreign(RequestHandler):
    """Has what a library does, none of which is the program's."""

    on_finish = queue.Queue.join


def test_what_a_library_does_after_an_answer_is_unknown() -> None:
    application = Application([])

    assert not is_quiet_after(Foreign, application, ())
    assert not is_quiet_after(RequestHandler, application, (queue.Queue().put,))
    assert is_quiet_after(RequestHandler, application, ())


def endings(load: Load, body: str) -> dict[str, bool]:
    """Return by where the program can look at a handler whether that is quiet."""
    app = load(PROGRAM.format(body=body))
    plain, own = Application([]), app.Own([])
    keeping = functools.partial(app.note)
    return {
        "on_finish": is_quiet_after(app.Ending, plain, ()),
        "log_function": is_quiet_after(app.Handler, plain, (app.note,)),
        "a partial": is_quiet_after(app.Handler, plain, (keeping,)),
        "log_request": is_quiet_after(app.Handler, own, (own.log_request,)),
    }


@pytest.mark.parametrize("body", QUIET.values(), ids=QUIET)
def test_what_only_logs_is_quiet(load: Load, body: str) -> None:
    assert all(endings(load, body).values()), endings(load, body)


@pytest.mark.parametrize("body", LOUD.values(), ids=LOUD)
def test_what_changes_or_reads_more_than_its_handler_is_not(
    load: Load, body: str
) -> None:
    assert not any(endings(load, body).values()), endings(load, body)

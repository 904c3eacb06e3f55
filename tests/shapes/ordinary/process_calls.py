"""What is set for the whole process by calls of the standard library, one by one.

In a module of its own: what the watch compares by value holds all that is beside it.
"""

from __future__ import annotations

import codecs
import faulthandler
import gc
import gettext
import mimetypes
import signal
import socket
import sys
from signal import signal as set_signal

from tornado.web import RequestHandler

from tests.shapes.shape import burn, writes


@writes()
class SignalIgnored(RequestHandler):
    def get(self):
        burn()
        before = signal.getsignal(signal.SIGUSR2)
        ignored = before is signal.SIG_IGN
        signal.signal(signal.SIGUSR2, signal.SIG_DFL if ignored else signal.SIG_IGN)
        self.write(str(before))


@writes()
class SignalByName(RequestHandler):
    def get(self):
        burn()
        before = signal.getsignal(signal.SIGWINCH)
        ignored = before is signal.SIG_IGN
        set_signal(signal.SIGWINCH, signal.SIG_DFL if ignored else signal.SIG_IGN)
        self.write(str(before))


@writes()
class IntervalTimer(RequestHandler):
    def get(self):
        burn()
        before, _ = signal.getitimer(signal.ITIMER_VIRTUAL)  # of a long time to go
        signal.setitimer(signal.ITIMER_VIRTUAL, round(before, -3) + 1000)
        self.write(str(round(before, -3)))


@writes()
class GarbageCollection(RequestHandler):
    def get(self):
        burn()
        change(gc.disable if gc.isenabled() else gc.enable)
        self.write(str(gc.isenabled()))


def change(function):
    function()


@writes()
class DefaultTimeout(RequestHandler):
    def get(self):
        burn()
        socket.setdefaulttimeout((socket.getdefaulttimeout() or 100) + 1)
        self.write(str(socket.getdefaulttimeout()))


@writes()
class MimeTypes(RequestHandler):
    def get(self):
        burn()
        before, _ = mimetypes.guess_type("a.shapes")
        mimetypes.add_type(f"{before or 'a/b'}b", ".shapes")
        self.write(str(mimetypes.guess_type("a.shapes")[0]))


def counting(number):
    return lambda error: (str(number), 0)


@writes()
class CodecErrors(RequestHandler):
    def get(self):
        burn()
        try:
            number = int(codecs.lookup_error("shapes")(None)[0])
        except LookupError:
            number = 0
        codecs.register_error("shapes", counting(number + 1))
        self.write(str(number))


@writes()
class TextDomain(RequestHandler):
    def get(self):
        burn()
        gettext.textdomain(f"{gettext.textdomain()}x")
        self.write(gettext.textdomain())


@writes()
class SwitchInterval(RequestHandler):
    def get(self):
        burn()
        sys.setswitchinterval(sys.getswitchinterval() + 0.001)
        self.write(str(round(sys.getswitchinterval() * 1000)))


@writes()
class FaultHandler(RequestHandler):
    def get(self):
        burn()
        enabled = faulthandler.is_enabled()
        (faulthandler.disable if enabled else faulthandler.enable)()
        self.write(str(enabled))

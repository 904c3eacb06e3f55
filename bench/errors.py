"""What can go wrong in a benchmark: one tree.

BenchmarkError          the run failed, its figures are void: exit code 1
    ServerError         a server did not start, answer, or come to rest
    WrongAnswerError    a server answered, but not what it should have
    LoadError           the load generator failed, or its figures cannot be trusted
        HungLoadError   it did not end, and had to be killed
UsageError              the run could not begin as asked: exit code 2

Every message is one line, meant for the terminal.
"""

from __future__ import annotations


class BenchmarkError(Exception):
    """The run failed; whatever was measured so far must not be published."""


class ServerError(BenchmarkError):
    """A server did not start, did not answer, or did not come to rest."""


class WrongAnswerError(BenchmarkError):
    """A server answered a request wrongly, so its speed means nothing."""


class LoadError(BenchmarkError):
    """The load generator failed, or what it printed cannot be trusted."""


class HungLoadError(LoadError):
    """The load generator did not end. To run it again is all that helps."""


class UsageError(Exception):
    """The run cannot begin as asked: an unknown name, a missing program or extra."""

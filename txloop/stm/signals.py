"""Whether an exception is that of a signal handler, which has only come across a body.

Python runs the program's signal handlers between any two instructions of the main
thread. ``sys.exit()`` in one means the program, not the transaction or the effect that
happened to run just then.
"""

from __future__ import annotations

import signal

__all__ = ["exits_by_signal", "raise_again"]


def exits_by_signal(error: BaseException) -> bool:
    """Tell whether it is a `SystemExit` that a signal handler of the program raised."""
    if not isinstance(error, SystemExit):
        return False
    handlers = {_code_of(signal.getsignal(one)) for one in signal.valid_signals()}
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in handlers:
            return True
        trace = trace.tb_next
    return False


def raise_again(error: BaseException) -> None:
    """Raise it; what a loop calls, ends."""
    raise error


def _code_of(handler: object) -> object:
    function = getattr(handler, "func", handler)  # it may be a partial
    return getattr(function, "__code__", None)

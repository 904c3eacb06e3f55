"""Every error that txloop raises, in one tree; imports nothing of txloop.

::

    TxError
     +-- TxConfigurationError (ValueError)    a bad option: fix the program
     +-- TxValueError (TypeError)             a value that may not be shared
     +-- TxThreadError (RuntimeError)         a write from a foreign thread
     +-- TxForgottenError (LookupError)       a container nothing kept alive
     +-- TxWorkerError (RuntimeError)         a call that kills its workers
     +-- TxTimeoutError (TimeoutError)        a call that ran for too long
     +-- TxClosedError (RuntimeError)         the loop closed before the commit
     +-- TxOverloadError (RuntimeError)       the queue for workers is full
     +-- TransactionError                     what PyPy's module cannot do here
     +-- TxInternalError (AssertionError)     a bug in txloop: please report it

Conflicts are values (`txloop.stm.types.Conflict`), not errors. The errors of the
user's own code pass through as they are.
"""

from __future__ import annotations

__all__ = [
    "BecomeInevitable",
    "Retrying",
    "TransactionError",
    "TxClosedError",
    "TxConfigurationError",
    "TxError",
    "TxForgottenError",
    "TxInternalError",
    "TxOverloadError",
    "TxThreadError",
    "TxTimeoutError",
    "TxValueError",
    "TxWorkerError",
]


class TxError(Exception):
    """The root of the tree; catch it to catch whatever txloop itself raises."""


class TxConfigurationError(TxError, ValueError):
    """An option has an unknown value; the message lists the known ones."""


class TxValueError(TxError, TypeError):
    """What was to be stored is mutable, or would not be itself in a worker."""


class TxThreadError(TxError, RuntimeError):
    """A thread other than the loop's wrote to shared state outside a transaction."""


class TxForgottenError(TxError, LookupError):
    """A worker kept a container that nothing in the loop's process refers to."""


class TxWorkerError(TxError, RuntimeError):
    """Several workers died while they ran the same call, so it is not run again."""


class TxTimeoutError(TxError, TimeoutError):
    """A call ran for longer than its `timeout` allows, and was ended."""


class TxClosedError(TxError, RuntimeError):
    """The loop was closed while the transaction still waited for its commit."""


class TxOverloadError(TxError, RuntimeError):
    """As many calls as `max_queue` allows wait for a worker; this one did not run.

    Attributes:
        retry_after_seconds: When there may be room again, by what is known.
    """

    retry_after_seconds = 1


class TransactionError(TxError):
    """A function of `txloop.transaction` was called where it cannot work."""


class TxInternalError(TxError, AssertionError):
    """Something that cannot happen did: a bug in txloop, never in its caller."""


class BecomeInevitable(BaseException):
    """Abandon this attempt and run the call on the loop thread instead.

    Not an error: raised inside an attempt by what cannot be undone. It derives from
    `BaseException` so that ``except Exception`` in user code lets it pass.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Retrying(BaseException):
    """Give this attempt up until something that it has read changes.

    Not an error, and a `BaseException` for the same reason as `BecomeInevitable`.
    """

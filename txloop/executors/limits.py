"""How long the pool and its workers wait before they do something about it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(slots=True)
class Limits:
    """The figures of one executor; it reads them whenever it needs one.

    Tests set them to what they need. No program has had to, so they are no options.

    Attributes:
        read_ahead_seconds: How much known work a worker may have, so as not to idle
            until the loop has time.
        overdue_seconds: After how long what waits behind a running call goes to a
            worker that is free.
        most_deaths: How many workers may die of one call before it is given up.
        look_seconds: How often, at least, busy workers are looked at.
        amiss_looks: After how many looks in a row a process that is stopped or gone is
            taken for lost. A whole group that was stopped does not go on all at once.
        lingering_looks: How many looks a process that has to end is given to say where
            it was.
        stalled_looks: After how many looks an answer of which no more arrives is given
            up.
        slow_start_seconds: After how long a process that is not ready is reported.
        stillborn: How many processes may die in a row, before they are ready, until
            there is a pause.
        first_pause_seconds: How long the first pause is before a process is made anew.
        longest_pause_seconds: Each pause is twice the last one, up to this.
        grace_seconds: How long the end waits for calls that still run in threads.
    """

    read_ahead_seconds: float = 0.005
    overdue_seconds: float = 0.005
    most_deaths: int = 3
    look_seconds: float = 0.25
    amiss_looks: int = 2
    lingering_looks: int = 1
    stalled_looks: int = 20
    slow_start_seconds: float = 30.0
    stillborn: int = 5
    first_pause_seconds: float = 0.25
    longest_pause_seconds: float = 30.0
    grace_seconds: float = 1.0

"""``python -m txloop check``: what of a program will run in parallel, and what not.

::

    rehearsal  runs the program up to where its loop would start
    copies     of the files that the program writes meanwhile
    judging    the verdicts of run time, asked there
    command    prints them, and ends the process
"""

from __future__ import annotations

from txloop.check.command import EXIT_CODES, check

__all__ = ["EXIT_CODES", "check"]

"""``python -m txloop share`` and ``--share``: plain state becomes containers.

::

    making     notes which line makes each plain object
    survey     runs the program up to its loop in a child: what is shared, made where
    rewriting  from that to changes of the text, in rounds: see `planning`
    hook       compiles the program's modules from changed texts
    written    what is different in a text that is written into the file
    command    prints and writes
"""

from __future__ import annotations

from txloop.sharing.command import EXIT_CODES, Wanted, run_shared, share_program

__all__ = ["EXIT_CODES", "Wanted", "run_shared", "share_program"]

"""What a developer sees of forked processes: their names, and why no debugger opens."""

from __future__ import annotations

import importlib
import logging
import os
import sys

__all__ = ["have_no_terminal", "set_title"]

_log = logging.getLogger("txloop")


def have_no_terminal() -> None:
    """Let `breakpoint()` say in this forked process what to do, and go on.

    Its stdin is closed: pdb would end at once, with an error in the handler. A debugger
    that the program or PYTHONBREAKPOINT names is left alone, as it may do without.
    """
    if sys.breakpointhook is sys.__breakpointhook__ and not _chosen():
        sys.breakpointhook = _pass_over


def _chosen() -> bool:
    return bool(os.environ.get("PYTHONBREAKPOINT"))


def _pass_over(*_: object, **__: object) -> None:
    frame = sys._getframe(1)
    _log.warning(
        "breakpoint() at %s:%d was passed over: this process (%d) has no terminal; "
        "'txloop --debug app.py' runs everything on yours",
        frame.f_code.co_filename,
        frame.f_lineno,
        os.getpid(),
    )


def set_title(role: str) -> None:
    """Name this forked process in `ps`, where the package setproctitle is installed.

    Args:
        role: What it is, as ``"worker 3"``.
    """
    try:
        library = importlib.import_module("setproctitle")
    except ImportError:
        return
    library.setproctitle(f"txloop: {role} of {os.path.basename(sys.argv[0])}")

"""What a developer sees of workers: names, where a call is, why no debugger opens."""

from __future__ import annotations

import importlib
import logging
import os
import sys
from typing import TYPE_CHECKING

from txloop.stm.run import run_attempt

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["have_no_terminal", "lines_of", "set_title"]

_log = logging.getLogger("txloop")

_MOST_FRAMES = 20


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


def lines_of(frame: FrameType | None) -> str:
    """Return what is on a stack, innermost first, without what runs the call."""
    lines: list[str] = []
    while frame is not None and len(lines) < _MOST_FRAMES:
        code = frame.f_code
        if code.co_filename == run_attempt.__code__.co_filename:
            break
        place = f'File "{code.co_filename}", line {frame.f_lineno}'
        lines.append(f"  {place} in {code.co_name}")
        frame = frame.f_back
    return "\n".join(lines)

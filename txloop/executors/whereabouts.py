"""Where a call is, for the log: the lines of a stack down to where the call began."""

from __future__ import annotations

from typing import TYPE_CHECKING

from txloop.stm.run import run_attempt

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["lines_of"]

_MOST_FRAMES = 20


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

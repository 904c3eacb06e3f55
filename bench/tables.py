"""What reports have in common: a title, a table, and where its figures come from."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench.machine import Machine

__all__ = ["interleaved", "interpreter_of", "make_report", "not_alone", "place_of"]

_MUCH_ELSEWHERE = 0.1
_WIDTH = 200


def make_report(
    title: str,
    columns: Iterable[str],
    rows: Iterable[Iterable[str]],
    caption: Sequence[str],
) -> str:
    """Return the text of a report; the first column is on the left side.

    The table is one of Markdown, which is plain ASCII and can be pasted into a README.
    """
    table = Table(box=box.MARKDOWN)
    for position, column in enumerate(columns):
        table.add_column(column, justify="right" if position else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    # Without a terminal's width: a line that wraps is better than a figure cut short.
    console = Console(file=io.StringIO(), width=_WIDTH)
    with console.capture() as capture:
        console.print(table)
    lines = [line.rstrip() for line in capture.get().split("\n") if line.strip()]
    return "\n".join([title, "", *lines, "", *caption, ""])


def place_of(machine: Machine) -> str:
    """Return when and on what hardware it was."""
    return f"{machine.date[:10]}, {machine.cpu}, {machine.cores} cores"


def interpreter_of(machine: Machine) -> str:
    """Return which Python it was."""
    return machine.interpreter + ("" if machine.gil else ", without the GIL")


def interleaved(repeat: int) -> str:
    """Return what a figure is the median of."""
    repeats = "repeat" if repeat == 1 else "repeats"
    return f"median of {repeat} interleaved {repeats}"


def not_alone(other_cpu_cores: float, of: str = "") -> list[str]:
    """Return a warning if others have used the machine meanwhile, else no line.

    Others are programs, and other guests where the machine is a virtual one.

    Args:
        other_cpu_cores: How much they have used.
        of: ``"up to "`` where that is the most of several turns.
    """
    if other_cpu_cores <= _MUCH_ELSEWHERE:
        return []
    return [f"NOT ALONE: others used {of}{other_cpu_cores:.0%} of a core meanwhile"]

"""Showing how far a run is: on a terminal only, and on stderr."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def show_progress(turns: int) -> Iterator[Callable[[str], None]]:
    """Yield a function to call at the beginning of each turn with what it is."""
    console = Console(stderr=True)
    progress = Progress(
        BarColumn(20),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with progress:
        bar = progress.add_task("", total=turns, completed=-1)

        def begin(what: str) -> None:
            progress.update(bar, description=what, advance=1)

        yield begin

"""Which load generator a case is measured with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.builtin_load import BuiltInLoad
from bench.errors import UsageError
from bench.siege import find_siege

if TYPE_CHECKING:
    from bench.case import Case
    from bench.load import LoadGenerator
    from bench.measure import Settings

__all__ = ["choose_generator"]


def choose_generator(
    case: Case, choice: str, settings: Settings
) -> tuple[LoadGenerator, str]:
    """Return the generator and what the report says of it.

    Args:
        case: What is measured; it may have a generator of its own.
        choice: ``"siege"``, ``"builtin"`` or ``"auto"``: siege where there is one.
        settings: How it is measured.
    """
    workers = settings.workers
    if case.generator is not None:
        own = case.generator(settings.values, workers)
        return own, own.title
    if choice == "builtin":
        builtin = BuiltInLoad(workers)
        return builtin, builtin.title
    try:
        siege = find_siege(workers)
    except UsageError as error:
        if choice == "siege":
            raise
        builtin = BuiltInLoad(workers)
        return builtin, f"{builtin.title}, because {error}"
    return siege, siege.title

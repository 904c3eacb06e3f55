"""A warning that no test expected is a failure: the log is part of what users see.

Records of txloop, Tornado and asyncio at WARNING and above must be announced:

    with expect_log("tornado.access", "^404 GET /missing") as records:
        ...

One may always come: how often calls are in each other's way is the machine's choice.
"""

from __future__ import annotations

import logging
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

WATCHED = ("txloop", "tornado", "asyncio")

AT_BOUND = r" conflicted \d+ times on "

# Set on a record that some `expect_log` has claimed.
EXPECTED = "expected_by_test"


class Collector(logging.Handler):
    """Keep the records that reach the root logger."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one record."""
        self.records.append(record)


@contextmanager
def expect_log(
    logger: str, pattern: str, count: int | None = 1
) -> Iterator[list[logging.LogRecord]]:
    """Announce log records; fail when a different number of them comes.

    Args:
        logger: the name of the logger, or of one above it.
        pattern: a regular expression to be found in the message.
        count: how many such records there must be; None means one or more.

    Yields:
        The records found so far.
    """
    found: list[logging.LogRecord] = []

    class Claimer(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(record)
            if below(record.name, logger) and re.search(pattern, record.getMessage()):
                setattr(record, EXPECTED, True)
                found.append(record)

    seen: list[logging.LogRecord] = []
    claimer = Claimer()
    logging.getLogger().addHandler(claimer)
    try:
        yield found
    finally:
        logging.getLogger().removeHandler(claimer)
    if (len(found) != count) if count is not None else not found:
        wanted = "at least one" if count is None else count
        pytest.fail(
            f"{wanted} log record(s) of {logger} with {pattern!r} wanted, "
            f"{len(found)} came; all records:\n{listing(seen)}"
        )


@contextmanager
def allow_log(logger: str, pattern: str) -> Iterator[None]:
    """Let log records come or not, where that is another test's business."""

    class Claimer(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if below(record.name, logger) and re.search(pattern, record.getMessage()):
                setattr(record, EXPECTED, True)

    claimer = Claimer()
    logging.getLogger().addHandler(claimer)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(claimer)


def below(name: str, logger: str) -> bool:
    """Tell whether a logger's name is that of another or of one under it."""
    return name == logger or name.startswith(f"{logger}.")


def listing(records: list[logging.LogRecord]) -> str:
    """Show records one to a line, with their tracebacks."""
    formatter = logging.Formatter("  %(levelname)s %(name)s: %(message)s")
    return "\n".join(map(formatter.format, records)) or "  (none)"


@pytest.fixture(autouse=True)
def unexpected_logs() -> Iterator[None]:
    """Fail a test that let a warning out which it did not announce."""
    collector = Collector()
    collector.setLevel(logging.WARNING)
    logging.getLogger().addHandler(collector)
    try:
        with allow_log("txloop", AT_BOUND):
            yield
    finally:
        logging.getLogger().removeHandler(collector)
    unexpected = [
        record
        for record in collector.records
        if not hasattr(record, EXPECTED)
        and any(below(record.name, watched) for watched in WATCHED)
    ]
    if unexpected:
        pytest.fail(
            f"unexpected log records (see tests/logs.py):\n{listing(unexpected)}",
            pytrace=False,
        )

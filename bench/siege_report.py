"""Reading what siege prints: text, a JSON object, more text, in either stream."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.errors import LoadError

if TYPE_CHECKING:
    from collections.abc import Mapping

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_SUMMARY_LINE = re.compile(r"^([A-Za-z ]+):\s+([0-9.]+)", re.MULTILINE)
_CAPPED = re.compile(r"WARNING.*(capped|limit)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SiegeReport:
    """The fields of siege's report that mean what they say."""

    transactions: int
    successful: int
    failed: int
    elapsed_seconds: float
    users_capped: bool


def parse_report(stdout: str, stderr: str) -> SiegeReport:
    """Return the report in siege's output.

    The last JSON object of stdout counts: siege greets a new home directory, and warns
    about capped users, before it. Without one, the summary on stderr counts.

    Raises:
        LoadError: neither is there, or a field is missing.
    """
    stdout, stderr = _ANSI.sub("", stdout), _ANSI.sub("", stderr)
    fields = _json_fields(stdout) or _summary_fields(stderr) or _summary_fields(stdout)
    try:
        return SiegeReport(
            transactions=int(fields["transactions"]),
            successful=int(fields["successful_transactions"]),
            failed=int(fields["failed_transactions"]),
            elapsed_seconds=fields["elapsed_time"],
            users_capped=_warns_of_cap(stdout) or _warns_of_cap(stderr),
        )
    except KeyError as error:
        words = " ".join((stdout + " " + stderr).split())[-200:] or "nothing"
        raise LoadError(f"siege's report has no {error}; it said: {words}") from None


def _json_fields(text: str) -> dict[str, float]:
    start, end = text.rfind("{"), text.rfind("}")
    if not 0 <= start < end:
        return {}
    try:
        fields: Mapping[str, float] = json.loads(text[start : end + 1])
    except ValueError:
        return {}
    return {name: float(value) for name, value in fields.items()}


def _summary_fields(text: str) -> dict[str, float]:
    return {
        name.strip().lower().replace(" ", "_"): float(value)
        for name, value in _SUMMARY_LINE.findall(text)
    }


def _warns_of_cap(text: str) -> bool:
    return _CAPPED.search(text) is not None

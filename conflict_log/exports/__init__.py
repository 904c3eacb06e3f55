"""The report in other programs' formats, chosen by name or by a file's suffix."""

from __future__ import annotations

from conflict_log.exports.registry import EXPORTS, export, format_of

__all__ = ["EXPORTS", "export", "format_of"]

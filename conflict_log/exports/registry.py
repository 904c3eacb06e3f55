"""Which exports there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conflict_log.errors import UsageError
from conflict_log.exports.data import to_csv, to_json
from conflict_log.exports.lines import to_github, to_quickfix
from conflict_log.exports.page import to_html
from conflict_log.exports.stacks import to_collapsed, to_speedscope
from conflict_log.exports.trace import to_chrome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conflict_log.sources import Sources
    from conflict_log.summary import Summary

__all__ = ["EXPORTS", "export", "format_of"]

EXPORTS: Final[Mapping[str, Callable[[Summary, Sources], str]]] = {
    "json": to_json,
    "csv": to_csv,
    "html": to_html,
    "speedscope": to_speedscope,
    "chrome": to_chrome,
    "collapsed": to_collapsed,
    "github": to_github,
    "quickfix": to_quickfix,
}
"""Every export by its name: each makes text of a summary."""

# The longest that fits decides.
_SUFFIXES: Final = {
    ".speedscope.json": "speedscope",
    ".trace.json": "chrome",
    ".json": "json",
    ".csv": "csv",
    ".html": "html",
    ".htm": "html",
    ".collapsed": "collapsed",
    ".folded": "collapsed",
}


def export(name: str, summary: Summary, sources: Sources) -> str:
    """Return a summary in one of the formats."""
    return EXPORTS[name](summary, sources)


def format_of(path: str) -> str:
    """Return the format that the name of a file asks for.

    Raises:
        UsageError: It asks for none.
    """
    for suffix in sorted(_SUFFIXES, key=len, reverse=True):
        if path.endswith(suffix):
            return _SUFFIXES[suffix]
    raise UsageError(f"{path} does not say which format; use --format")

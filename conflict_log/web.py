"""The conflict log as pages of a Tornado application: the last minutes, live.

    Application([("/_txloop/", ConflictLogHandler), ("/metrics", MetricsHandler), ...])

Both tell of the program's source and of what it is asked for: restrict access to them,
see `ConflictLogHandler`.
"""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from tornado.web import Application, HTTPError, RequestHandler

import txloop
from conflict_log.exports import export
from conflict_log.exports.page import figures_part, live_page, report_part
from conflict_log.figures import Window
from conflict_log.live import LiveReport
from conflict_log.rows import GROUPINGS
from txloop import stmlog

if TYPE_CHECKING:
    from conflict_log.metrics import MetricsHandler
    from conflict_log.sources import Sources
    from conflict_log.summary import Summary

__all__ = ["ConflictLogHandler", "LiveReport", "MetricsHandler"]

_UNASKED_MINUTES: Final = 10
_TYPES: Final = {"json": "application/json", "html": "text/html; charset=UTF-8"}
_NOTHING: Final = (
    '<p class="verdict">Nothing has happened yet.</p><p class="dim">Recording has begun'
    " with this look, or goes on; conflicts appear a second after they happen."
    "</p>"
)

# Not in the settings: to the scan for shared state, who writes one may write any.
_reports: WeakKeyDictionary[Application, LiveReport] = WeakKeyDictionary()
_windows: WeakKeyDictionary[Application, Window] = WeakKeyDictionary()


def __getattr__(name: str) -> object:
    """Import what needs the extra only when it is asked for."""
    if name == "MetricsHandler":
        from conflict_log.metrics import MetricsHandler

        return MetricsHandler
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class ConflictLogHandler(RequestHandler):
    """The report of the last minutes, which updates by itself.

    Recording begins with a look and ends ten minutes after the last one, unless the
    program has called `txloop.stmlog.keep()` as it was set up. The page shows file
    names, source lines and names of cells, so it is for those only who may see them. To
    ask who it is, override `prepare`::

        class Page(ConflictLogHandler):
            @tornado.web.authenticated
            def prepare(self) -> None: ...

    Query arguments: ``by`` is how to group the rows; ``format`` is ``json``, ``html``
    for one file to keep, or ``stm`` for the log itself.

    Args of the route:
        live: Whose report to show; by default that of this process, with source text
            from below the current folder and that of the main file.
    """

    def initialize(self, live: LiveReport | None = None) -> None:
        """Take the report, one for all requests of an application."""
        self._window: Window | None = None
        if live is None:
            live = _reports.get(self.application)
            if live is None:
                live = _reports[self.application] = LiveReport(_recent, _roots())
            self._window = _window_of(self.application)
        self._live: LiveReport = live

    def set_default_headers(self) -> None:
        """Keep it out of caches, frames and other sites, refusals too."""
        self.set_header("Cache-Control", "no-store")
        self.set_header("Content-Security-Policy", _policy())
        self.set_header("Cross-Origin-Resource-Policy", "same-origin")
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("X-Content-Type-Options", "nosniff")

    def compute_etag(self) -> None:
        """Do without: nobody may keep it."""

    async def get(self) -> None:
        """Write the page, the part of it that changes, or a file to keep."""
        by = self.get_query_argument("by", "line")
        if by not in GROUPINGS:
            raise HTTPError(400, f"by must be one of {', '.join(GROUPINGS)}")
        kind = self.get_query_argument("format", "")
        if kind == "stm":
            self._keep("application/octet-stream", "stm.log")
            self.write(self._live.recent())
        elif kind in _TYPES:
            await self._export(kind, by)
        elif kind:
            raise HTTPError(400, "format must be json, html or stm")
        else:
            await self._show(by)

    async def _show(self, by: str) -> None:
        part = await self._live.text(("part", by), by, self._report_part) or _NOTHING
        if self._window is not None:
            part = figures_part(self._window.look()) + part
        if self.get_query_argument("part", ""):
            self.write(part)
            return
        nonce = secrets.token_urlsafe(16)
        self.set_header("Content-Security-Policy", _policy(nonce))
        self.write(live_page(part, by, list(GROUPINGS), nonce))

    def _report_part(self, summary: Summary, sources: Sources) -> str:
        own_place = 0 if self._window is None else stmlog.hub.own_place
        return report_part(summary, sources, own_place)

    async def _export(self, kind: str, by: str) -> None:
        text = await self._live.text(
            (kind, by), by, lambda *report: export(kind, *report)
        )
        if text is None:
            self.set_status(204)
            return
        self._keep(_TYPES[kind], f"conflicts.{kind}")
        self.write(text)

    def _keep(self, content_type: str, name: str) -> None:
        self.set_header("Content-Type", content_type)
        self.set_header("Content-Disposition", f'attachment; filename="{name}"')


def _window_of(application: Application) -> Window | None:
    """Return what looks at the figures of this loop, None if it is a stock one."""
    try:
        txloop.stats()
    except txloop.TxError:
        return None
    return _windows.setdefault(application, Window())


def _recent() -> bytes:
    """Return what this process has recorded; it is recorded from now on at least."""
    stmlog.keep(unasked_minutes=_UNASKED_MINUTES)
    return stmlog.recent()


def _roots() -> list[Path]:
    """Return where the program's source is: here, or beside its main file."""
    return [Path(), Path(sys.path[0])]


def _policy(nonce: str = "") -> str:
    """Return what a browser may load and run: nothing but the page's own script."""
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    if nonce:
        policy += (
            f"; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; "
            "connect-src 'self'; img-src data:"
        )
    return policy

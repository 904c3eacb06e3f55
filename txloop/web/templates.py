"""Caches that debug mode empties before each request; here templates may stay.

As long as no file has changed, what was compiled of them is right. Tornado compiles
all anew for every request; here that would be for every attempt, in every worker.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tornado.template import Loader, Template
from tornado.web import RequestHandler, StaticFileHandler

from txloop.loop.patches import patch

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["keep_templates", "reset_caches"]

_Stamp = tuple[int, ...]


def reset_caches(settings: Mapping[str, object]) -> None:
    """Do before an attempt what Tornado's own delegate does before a request."""
    if not settings.get("compiled_template_cache", True):
        with RequestHandler._template_loader_lock:
            for loader in RequestHandler._template_loaders.values():
                _refresh(loader)
    if not settings.get("static_hash_cache", True):
        handler_class = settings.get("static_handler_class", StaticFileHandler)
        handler_class.reset()  # type: ignore[attr-defined] # a StaticFileHandler


def keep_templates() -> None:
    """Remember from which files Tornado makes templates, from now on."""
    loaders = _Loaders(RequestHandler._template_loaders)
    patch(RequestHandler, "_template_loaders", loaders)


class _Loaders(dict[str, Any]):
    """Tornado's loaders by path; of each, the templates are `_Templates`."""

    def __setitem__(self, path: str, loader: Any) -> None:
        _watch(loader)
        super().__setitem__(path, loader)


class _Templates(dict[str, Template]):
    """A loader's templates, and what their files were like when they were read.

    The loader asks whether one is here and, if not, reads the file. This looks at the
    file in between: a function around the reading would show in tracebacks.
    """

    def __init__(self, root: str) -> None:
        super().__init__()
        self._root = root
        self._stamps: dict[str, _Stamp | None] = {}

    def __contains__(self, name: object) -> bool:
        found = super().__contains__(name)
        if not found:
            path = os.path.join(self._root, str(name))
            self._stamps[path] = _stamp(path)
        return found

    def hold(self) -> bool:
        """Tell whether all files are as they were."""
        return all(_stamp(path) == stamp for path, stamp in self._stamps.items())


def _watch(loader: Any) -> bool:
    """Watch the files that `loader` reads; return whether that is possible."""
    if getattr(type(loader), "_create_template", None) is not Loader._create_template:
        return False
    loader.templates = _Templates(loader.root)
    return True


def _refresh(loader: Any) -> None:
    """Let a loader forget its templates; if they are of files, when one has changed."""
    templates = getattr(loader, "templates", None)
    if isinstance(templates, _Templates):
        with loader.lock:
            if templates.hold():
                return
    if not _watch(loader):
        loader.reset()


def _stamp(path: str) -> _Stamp | None:
    """Return what is different after a file was changed; None if it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino

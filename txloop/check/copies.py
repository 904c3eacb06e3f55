"""Copies of the files that a program writes while it is only looked at.

What a program does to files before its loop starts would otherwise be done by each look
at it: a second start is refused for the first one's pid file, a journal is read and
removed twice. So what it writes is kept in a folder of its own, and what it reads there
comes first. What was removed has a mark. All of this is on disk, as processes that the
program forks see it, too.

Changes to the real files that are undone afterwards were rejected: others may have
changed them meanwhile. What C libraries and other programs do by themselves is not
seen, nor what goes by a descriptor of a folder; they find the files as they were. A
program that does not start for that reason is left as it is.
"""

from __future__ import annotations

import builtins
import errno
import functools
import hashlib
import io
import os
import shutil
import stat
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any
from unittest import mock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    _Function = Callable[..., Any]

__all__ = ["Copies"]

_LARGEST_BYTES = 1 << 28
"""A larger file is written itself: to copy it would take too long."""

_DEVICES = ("/dev/", "/proc/", "/sys/")

_READERS = ("access", "chdir", "lstat", "readlink", "stat")
_WRITERS = ("chmod", "chown", "truncate", "utime")
_lstat, _mkdir, _open, _rmtree = os.lstat, os.mkdir, os.open, shutil.rmtree
"""Python's own, whatever stands for them."""


class Copies:
    """A folder with the copies; it belongs to the process that looks."""

    def __init__(self) -> None:
        """Make the folder."""
        self._root = os.path.realpath(tempfile.mkdtemp(prefix="txloop-look-"))
        self._copied = f"{self._root}/copied"
        self._marks = f"{self._root}/removed"
        self._owner = os.getpid()
        _mkdir(self._copied)
        _mkdir(self._marks)

    def remove(self) -> None:
        """Remove the folder; a process that the program has forked leaves it."""
        if os.getpid() == self._owner:
            _rmtree(self._root, ignore_errors=True)

    @contextmanager
    def used(self) -> Iterator[None]:
        """Have Python's functions use the copies while the block runs."""
        with ExitStack() as stack:
            for owner, name, function in self._functions():
                new = _bound(function, getattr(owner, name))
                stack.enter_context(mock.patch.object(owner, name, new))
            yield

    def _functions(self) -> Iterator[tuple[Any, str, _Function]]:
        for owner in (builtins, io):
            yield owner, "open", self._open
        for name in _READERS:
            yield os, name, self._reading
        for name in _WRITERS:
            yield os, name, self._writing
        for name in ("remove", "unlink"):
            yield os, name, self._remove
        for name in ("rename", "replace"):
            yield os, name, self._rename
        yield os, "link", self._link
        yield os, "symlink", self._symlink
        yield os, "open", self._open_descriptor
        yield os, "mkdir", self._mkdir
        yield os, "rmdir", self._rmdir
        yield os, "listdir", self._listdir
        yield os, "scandir", self._scandir
        yield shutil, "rmtree", self._rmtree
        with suppress(ImportError):
            import sqlite3

            yield sqlite3, "connect", self._connect
            yield sqlite3.dbapi2, "connect", self._connect

    # Which file is meant

    def _path(self, given: Any) -> str | None:
        """Return the whole path; None for what is not looked after."""
        if isinstance(given, int) or given is None:
            return None  # a descriptor; the working directory
        try:
            path = os.path.abspath(os.fsdecode(given))
        except (TypeError, ValueError):
            return None  # the stock function says why
        own = path == self._root or path.startswith((f"{self._root}/", *_DEVICES))
        return None if own else path

    def _apart(self, given: Any, named: Mapping[str, Any]) -> str | None:
        """Do as `_path`; None for a path that begins at a descriptor, too."""
        return None if named.get("dir_fd") is not None else self._path(given)

    def _copy_of(self, path: str) -> str:
        return self._copied + path

    def _mark_of(self, path: str) -> str:
        name = hashlib.sha256(os.fsencode(path)).hexdigest()
        return f"{self._marks}/{name}"

    def _is_removed(self, path: str) -> bool:
        while not _is_there(self._mark_of(path)):
            path, last = os.path.dirname(path), path
            if path == last:
                return False
        return True

    def _is_real(self, path: str) -> bool:
        """Tell whether the program sees something of its own files there."""
        return _is_there(path) and not self._is_removed(path)

    def _to_read(self, given: Any) -> Any:
        path = self._path(given)
        if path is None:
            return given
        copy = self._copy_of(path)
        real = self._is_real(path)
        if _is_there(copy):
            return given if real and os.path.isdir(copy) else copy
        return copy if self._is_removed(path) else given

    def _to_write(self, given: Any) -> Any:
        path = self._path(given)
        if path is None:
            return given
        copy = self._copy_of(path)
        if _is_there(copy):
            return copy
        real = self._is_real(path)
        if real and not _may_be_copied(path):
            return given
        if not self._make_parent(path):
            return self._to_read(given)
        if real:
            shutil.copy2(path, copy)
        return copy

    def _make_parent(self, path: str) -> bool:
        """Make the folder of a copy, if the program has that folder."""
        parent = os.path.dirname(path)
        folder = self._copy_of(parent)
        if not os.path.isdir(folder) and self._is_real(parent):
            os.makedirs(folder)
        return os.path.isdir(folder)

    # What stands for Python's functions

    def _open(
        self, stock: _Function, file: Any, mode: str = "r", *rest: Any, **named: Any
    ) -> Any:
        if not (named.get("opener") or rest[5:]):
            writes = not set(mode).isdisjoint("wax+")
            file = self._to_write(file) if writes else self._to_read(file)
        return stock(file, mode, *rest, **named)

    def _open_descriptor(
        self, stock: _Function, path: Any, flags: int, *rest: Any, **named: Any
    ) -> Any:
        if named.get("dir_fd") is None:
            writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            path = self._to_write(path) if writes else self._to_read(path)
        return stock(path, flags, *rest, **named)

    def _reading(self, stock: _Function, path: Any, *rest: Any, **named: Any) -> Any:
        path = path if named.get("dir_fd") is not None else self._to_read(path)
        return stock(path, *rest, **named)

    def _writing(self, stock: _Function, path: Any, *rest: Any, **named: Any) -> Any:
        path = path if named.get("dir_fd") is not None else self._to_write(path)
        return stock(path, *rest, **named)

    def _link(self, stock: _Function, source: Any, path: Any, **named: Any) -> Any:
        if self._path(path) is None or any(named.values()):
            return stock(source, path, **named)
        if _is_there(self._to_read(path)):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        return shutil.copy2(self._to_read(source), self._to_write(path))

    def _symlink(
        self, stock: _Function, source: Any, path: Any, *rest: Any, **named: Any
    ) -> Any:
        whole = self._apart(path, named)
        if whole is None:
            return stock(source, path, *rest, **named)
        aim = os.path.join(os.path.dirname(whole), os.fsdecode(source))
        target = self._to_write(aim)
        if os.path.isdir(target):  # what is written there is not to be real, either
            target = self._copy_of(os.path.abspath(aim))
            os.makedirs(target, exist_ok=True)
        return stock(target, self._to_write(path), *rest, **named)

    def _mkdir(self, stock: _Function, path: Any, *rest: Any, **named: Any) -> Any:
        whole = self._apart(path, named)
        if whole is None:
            return stock(path, *rest, **named)
        if self._is_real(whole):
            return stock(path, *rest, **named)  # which fails: it is there
        self._make_parent(whole)
        return stock(self._copy_of(whole), *rest, **named)

    def _remove(self, stock: _Function, path: Any, **named: Any) -> Any:
        whole = self._apart(path, named)
        if (
            whole is not None
            and self._is_real(whole)
            and not _is_there(self._copy_of(whole))
            and stat.S_ISDIR(_lstat(whole).st_mode)
        ):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        return self._rmtree(stock, path, **named)

    def _rmdir(self, stock: _Function, path: Any, **named: Any) -> Any:
        if self._apart(path, named) is not None and os.listdir(path):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
        return self._rmtree(stock, path, **named)

    def _rmtree(self, stock: _Function, path: Any, *rest: Any, **named: Any) -> Any:
        whole = self._apart(path, named)
        if whole is None:
            return stock(path, *rest, **named)
        real, copy = self._is_real(whole), self._copy_of(whole)
        if _is_there(copy) or not real:
            stock(copy, *rest, **named)
        if real:
            self._mark(whole)
        return None

    def _mark(self, path: str) -> None:
        os.close(_open(self._mark_of(path), os.O_CREAT | os.O_WRONLY))

    def _rename(self, stock: _Function, source: Any, target: Any, **named: Any) -> Any:
        whole, new = self._path(source), self._path(target)
        if whole is None or new is None or any(named.values()):
            return stock(source, target, **named)
        seen, copy = self._to_read(source), self._copy_of(new)
        _lstat(seen)  # which fails if there is none
        if not self._make_parent(new):
            return stock(seen, copy)  # which fails
        if os.path.isdir(seen):
            shutil.copytree(source, copy, symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(source)
        else:
            if _is_there(copy):
                os.remove(copy)
            shutil.copy2(seen, copy, follow_symlinks=False)
            os.remove(source)
        return None

    def _listdir(self, stock: _Function, path: Any = ".") -> Any:
        if isinstance(path, bytes) or self._path(path) is None:
            return stock(path)
        with os.scandir(path) as entries:
            return [one.name for one in entries]

    def _scandir(self, stock: _Function, path: Any = ".") -> Any:
        whole = self._path(path)
        if whole is None or isinstance(path, bytes):
            return stock(path)
        if not self._is_real(whole):
            return stock(self._to_read(path))
        with stock(path) as entries:
            real = [one for one in entries if self._is_shown(whole, one)]
        if os.path.isdir(copy := self._copy_of(whole)):
            names = {one.name for one in real}
            with stock(copy) as entries:
                real += [one for one in entries if one.name not in names]
        return _Entries(real)

    def _is_shown(self, folder: str, entry: os.DirEntry[str]) -> bool:
        """Tell whether a real entry of a folder is what the program sees there."""
        path = os.path.join(folder, entry.name)
        if _is_there(self._mark_of(path)):
            return False
        return entry.is_dir(follow_symlinks=False) or not _is_there(self._copy_of(path))

    def _connect(
        self, stock: _Function, database: Any, *rest: Any, **named: Any
    ) -> Any:
        path = self._path(database)
        if path is None or named.get("uri") or database in ("", ":memory:"):
            return stock(database, *rest, **named)
        copy = self._to_write(database)
        for suffix in ("-wal", "-journal"):
            if self._is_real(path + suffix):
                self._to_write(path + suffix)
        return stock(copy, *rest, **named)


class _Entries:
    """What `os.scandir` returns, of several folders."""

    def __init__(self, entries: list[os.DirEntry[str]]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[os.DirEntry[str]]:
        return self._entries

    def __next__(self) -> os.DirEntry[str]:
        return next(self._entries)

    def __enter__(self) -> _Entries:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def close(self) -> None:
        """Do nothing, as all is read."""


def _bound(function: _Function, stock: _Function) -> _Function:
    """Return a function that the scan takes for the stock one, by module and name."""

    @functools.wraps(stock)
    def bound(*args: Any, **kwargs: Any) -> Any:
        return function(stock, *args, **kwargs)

    return bound


def _is_there(path: str) -> bool:
    try:
        _lstat(path)
    except (OSError, ValueError):
        return False
    return True


def _may_be_copied(path: str) -> bool:
    try:
        found = os.stat(path)
    except OSError:
        return False  # a link to nowhere
    return stat.S_ISREG(found.st_mode) and found.st_size <= _LARGEST_BYTES

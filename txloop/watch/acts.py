"""What changes the world outside the program: a table of audit events (PEP 578).

Each comes before the thing is done. The table tells them from the events of reading,
says what they do in words for a log, and of which files. It decides nothing else.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from txloop.scan.outside import HARMLESS_PATHS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    Arguments: TypeAlias = tuple[Any, ...]

__all__ = ["ACTS", "Act"]

_LONGEST_NAME = 100

_WRITING_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_WRITING_MODES = frozenset("wax+")


def _never(_: Arguments) -> bool:
    return False


def _always(_: Arguments) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Act:
    """What an event tells of.

    Attributes:
        words: Say it.
        shown: The index of the argument that is told besides, or None.
        files: The indices of the arguments that are paths.
        lists: Whether the folder of each has other files in it afterwards.
        harmless: Tells of arguments whether nothing is changed by them.
        bound: Whether what it makes is of use in one thread only.
    """

    words: str
    shown: int | None = 0
    files: tuple[int, ...] = ()
    lists: bool = False
    harmless: Callable[[Arguments], bool] = _never
    bound: bool = False

    def what(self, arguments: Arguments) -> str | None:
        """Say what is about to be done; None if that changes nothing."""
        if self.harmless(arguments):
            return None
        if self.shown is None:
            return self.words
        return f"{self.words} {_shown(arguments, self.shown)}"

    def paths(self, arguments: Arguments) -> Iterator[str]:
        """Yield the files that it is done to, and the folders that it changes.

        A file that is not there yet counts with its folder: making the file changes
        that, and looking for the file reads it.
        """
        for index in self.files:
            path = arguments[index] if index < len(arguments) else None
            if isinstance(path, str | bytes | os.PathLike):
                file = os.path.realpath(os.fsdecode(path))
                yield file
                if self.lists or not os.path.exists(file):
                    yield os.path.dirname(file)


def _shown(arguments: Arguments, index: int) -> str:
    """Return an argument as a log shows it: a path, an address, a command's name."""
    thing = arguments[index] if index < len(arguments) else "?"
    if isinstance(thing, bytes | os.PathLike):
        thing = os.fsdecode(thing)
    text = thing if isinstance(thing, str) else repr(thing)
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}..."


def _only_reads(arguments: Arguments) -> bool:
    path, mode, flags = (*arguments, None, 0)[:3]
    if isinstance(path, int):
        return True  # a descriptor: opening it was looked at, or it is a pipe
    if isinstance(mode, str):
        if _WRITING_MODES.isdisjoint(mode):
            return True
    elif not flags & _WRITING_FLAGS:
        return True
    return _shown(arguments, 0) in HARMLESS_PATHS


def _is_there(arguments: Arguments) -> bool:
    # `os.makedirs(..., exist_ok=True)` makes each folder of a path, and ignores the
    # error of those that exist.
    return bool(arguments) and os.path.isdir(arguments[0])


def _is_in_memory(arguments: Arguments) -> bool:
    return bool(arguments) and arguments[0] in (":memory:", b":memory:")


_CHANGES = Act("changes", files=(0,))
_CONNECTS = Act("connects to", 1)
_COPIES = Act("writes", 1, files=(1,), lists=True)
_FORKS = Act("starts a process", None)
_LISTS = Act("lists", files=(0,), harmless=_always)
_LOGS = Act("writes to the system's log", None)
_REMOVES = Act("removes", files=(0,), lists=True)
_SENDS = Act("sends on a connection", None)
_SIGNALS = Act("sends a signal to process")
_STARTS = Act("starts a process:")

ACTS: dict[str, Act] = {
    # Files and folders. "open" is raised for reading, too.
    "open": Act("writes", files=(0,), harmless=_only_reads),  # and os.open
    "os.mkdir": Act("makes the folder", files=(0,), lists=True, harmless=_is_there),
    "os.listdir": _LISTS,
    "os.scandir": _LISTS,  # and os.walk and glob
    "os.chflags": _CHANGES,
    "os.chmod": _CHANGES,
    "os.chown": _CHANGES,
    "os.link": _COPIES,
    "os.remove": _REMOVES,
    "os.removexattr": _CHANGES,
    "os.rename": Act("renames", files=(0, 1), lists=True),  # and os.replace
    "os.rmdir": _REMOVES,
    "os.setxattr": _CHANGES,
    "os.symlink": _COPIES,
    "os.truncate": _CHANGES,
    "os.utime": _CHANGES,
    # Raised before the ones above, with the names that the program gave.
    "shutil.chown": _CHANGES,
    "shutil.copyfile": _COPIES,
    "shutil.copymode": _COPIES,
    "shutil.copystat": _COPIES,
    "shutil.copytree": _COPIES,
    "shutil.make_archive": Act("writes the archive"),
    "shutil.move": Act("moves"),
    "shutil.rmtree": _REMOVES,
    "shutil.unpack_archive": Act("unpacks"),
    "tempfile.mkdtemp": Act("makes the folder"),
    "tempfile.mkstemp": Act("writes"),
    # Processes, and threads: they go on when the attempt has ended
    "os.exec": _STARTS,
    "os.fork": _FORKS,
    "os.forkpty": _FORKS,
    "os.posix_spawn": _STARTS,
    "os.spawn": Act("starts a process:", 1),
    "os.startfile": _STARTS,
    "os.system": _FORKS,  # not the command: that may be long, or secret
    "pty.spawn": _FORKS,
    "subprocess.Popen": _STARTS,
    "webbrowser.open": Act("opens a browser", None),
    "os.kill": _SIGNALS,
    "os.killpg": _SIGNALS,
    "txloop.thread": Act("starts a thread", None),  # see `txloop.watch.outside`
    # Connections
    "socket.bind": Act("binds a socket to", 1),
    "socket.connect": _CONNECTS,  # and connect_ex
    "socket.sendmsg": _SENDS,
    "socket.sendto": Act("sends to", 1),
    "socket.sethostname": Act("names the host"),
    # Protocols of the library: their connections may have been made before
    "ftplib.connect": _CONNECTS,
    "ftplib.sendcmd": _SENDS,
    "http.client.connect": _CONNECTS,
    "http.client.send": _SENDS,
    "imaplib.open": _CONNECTS,
    "imaplib.send": _SENDS,
    "nntplib.connect": _CONNECTS,
    "nntplib.putline": _SENDS,
    "poplib.connect": _CONNECTS,
    "poplib.putline": _SENDS,
    "smtplib.connect": _CONNECTS,
    "smtplib.send": _SENDS,
    "telnetlib.Telnet.open": _CONNECTS,
    "telnetlib.Telnet.write": _SENDS,
    "syslog.openlog": _LOGS,
    "syslog.syslog": _LOGS,
    # Databases: one in memory ends with the attempt
    "sqlite3.connect": Act("opens the database", harmless=_is_in_memory, bound=True),
}
"""By event: what is about to be done."""

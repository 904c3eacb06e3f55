"""A program as bytes, loaded by an interpreter that cannot import it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

from txloop.executors.dask.host import without_txloop

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import contextvars
import dataclasses
import enum
import functools
import json
import logging
import socket
import sys
import threading
import typing
import xml
import xml.dom.minidom

import local_module
from local_module import Counter, shared
from txloop import TDict, TObject
from txloop.executors.dask.image import make_image
from txloop.executors.processes.replication import DeltaLog
from txloop.stm.store import committed

print("the program runs", file=sys.stderr)

table = TDict(n=1)
both = [table, table]
variable = contextvars.ContextVar("variable", default=3)
lock = threading.Lock()
connection = socket.socket()
here = threading.current_thread()
attributes_of = type.__dict__["__dict__"].__get__  # of `type`, and not its value


class Color(enum.Enum):
    RED = 1


class Point(typing.NamedTuple):
    x: int = 7


class Slotted:
    __slots__ = ("x",)

    def __init__(self):
        self.x = 5


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    x: int


class Player(TObject):
    name: str
    score: int = 0


class Known:
    all = {}

    def __reduce__(self):
        return find_known, ("only",)


def find_known(name):
    return KNOWN[name]


KNOWN = {"only": Known()}


class Child(Slotted):
    def read(self):
        return super().__getattribute__("x")


slotted, frozen, player, child = Slotted(), Frozen(6), Player("ann", 7), Child()


@functools.lru_cache(maxsize=10)
def doubled(x):
    return 2 * x


@functools.wraps(doubled)
def wrapper(x):
    return doubled(x) + 1


def look():
    return {
        "table": dict(table),
        "same": both[0] is both[1] is table is shared["table"],
        "module": local_module.LIMIT,
        "changed": local_module.changed,
        "counter": Counter().count(),
        "color": Color(1) is Color.RED,
        "named": [Point().x, Point._fields, isinstance(Point(), tuple)],
        "attributes": "read" in attributes_of(Child),
        "slots": [slotted.x, frozen.x, child.read(), hasattr(slotted, "__dict__")],
        "player": [player.name, player.score, sorted(Player._tx_settable)],
        "known": KNOWN["only"] is find_known("only"),
        "cache": [doubled(4), wrapper(4), doubled.cache_info().maxsize],
        "variable": variable.get(),
        "submodule": [xml.dom.minidom.parseString(one).toxml() for one in ["<a/>"]],
        "lock": lock.acquire(blocking=False),
        "absent": repr(type(connection).__name__),
        "thread": repr(type(here).__name__),
        "level": logging.getLogger("app").level,
        "arguments": sys.argv[1:],
    }


if __name__ == "__main__":
    local_module.changed = "yes"
    shared["table"] = table
    logging.getLogger("app").setLevel(17)
    connection.close()
    log = DeltaLog(committed)
    log.forked_at = -1
    with open(sys.argv[1], "wb") as file:
        file.write(make_image(log.dump(), committed.version))
    lock.acquire()
    print(json.dumps(look()))
"""

MODULE = """
LIMIT = 10
changed = "no"
shared = {}


class Counter:
    step = LIMIT

    def count(self):
        return self.step + LIMIT
"""

OTHER = """
import json
import sys

from txloop.executors.dask.host import _load

with open(sys.argv[1], "rb") as file:
    trouble = _load(file.read(), 1)
assert not trouble, trouble

print(json.dumps(sys.modules["__main__"].look()))
"""


INSTALLED = """
import txloop

stock = txloop.TDict(apples=1)
stock["pears"] = 2


@txloop.transactional
def sell(what):
    stock[what] -= 1
"""

LIBRARY = """
class Proxy:
    def __init__(self, **inner):
        self.inner = inner

    def __getattr__(self, name):
        return self.inner[name]  # without end, before there is one
"""

PROGRAM_OF_IT = """
import json
import sys

import library
import shop
from txloop.executors.dask.image import make_image
from txloop.executors.processes.replication import DeltaLog
from txloop.stm.store import committed


proxy = library.Proxy(size=3)


def look():
    return {**shop.stock, "size": proxy.size}


if __name__ == "__main__":
    shop.stock["apples"] = 7
    log = DeltaLog(committed)
    log.forked_at = -1
    with open(sys.argv[1], "wb") as file:
        file.write(make_image(log.dump(), committed.version))
    print(json.dumps(look()))
"""


def run(
    source: str, folder: Path, image: Path, **environment: str
) -> tuple[dict[str, object], str]:
    """Run a program in a folder; return what it has written."""
    script = folder / "script.py"
    script.write_text(textwrap.dedent(source))
    done = subprocess.run(
        [sys.executable, str(script), str(image)],
        env={**without_txloop(), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def test_all_is_there_as_it_was(tmp_path: Path) -> None:
    # GIVEN a program in one folder, and an interpreter elsewhere
    here, there, image = tmp_path / "here", tmp_path / "there", tmp_path / "image"
    here.mkdir()
    there.mkdir()
    (here / "local_module.py").write_text(MODULE)

    # WHEN
    original, said = run(PROGRAM, here, image)
    copy, repeated = run(OTHER, there, image)

    # THEN what cannot be copied is the only difference, and nothing has run again
    assert "the program runs" in said
    assert "the program runs" not in repeated
    assert "'socket'" == original.pop("absent")
    assert "'_MainThread'" == original.pop("thread")
    assert ["'Absent'"] * 2 == [copy.pop("absent"), copy.pop("thread")]
    assert not original.pop("lock")
    assert copy.pop("lock"), "a lock is a new one there"
    assert original == copy


def test_what_an_installed_module_makes_is_the_program_s(tmp_path: Path) -> None:
    # GIVEN a module that is installed in both places, and shares something
    places = [tmp_path / one for one in ("site-packages", "here", "there")]
    for place in places:
        place.mkdir()
    installed, here, there = places
    (installed / "shop.py").write_text(INSTALLED)
    (installed / "library.py").write_text(LIBRARY)
    path = f"{installed}{os.pathsep}{without_txloop()['PYTHONPATH']}"

    # WHEN
    original, _ = run(PROGRAM_OF_IT, here, tmp_path / "image", PYTHONPATH=path)
    copy, _ = run(OTHER, there, tmp_path / "image", PYTHONPATH=path)

    # THEN
    assert {"apples": 7, "pears": 2, "size": 3} == original == copy

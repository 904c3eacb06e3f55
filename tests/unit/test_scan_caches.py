"""`lru_cache`: what it keeps is shared where the program clears it, or counts calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.scan_programs.loading import loading, scan_handler
from txloop.scan import FindingKind

if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Load = Callable[[str], types.ModuleType]

SOURCE = """
import functools

@functools.lru_cache
def setting(name):
    return name.upper()

class Reader:
    def get(self):
        return setting("a")

class Other:
    def post(self):
        {use}
"""


@pytest.fixture
def loaded(tmp_path: Path) -> Iterator[Load]:
    """Give a function that makes a module with some use of the cache."""
    with loading(tmp_path) as load:
        yield lambda use: load(SOURCE.format(use=use))


def test_who_reads_what_others_clear(loaded: Load) -> None:
    module = loaded("setting.cache_clear()")

    [found] = scan_handler(module.Reader, "get")

    assert FindingKind.READS_WRITTEN is found.kind
    assert "Other.post() writes it" in found.remedy


def test_who_clears(loaded: Load) -> None:
    module = loaded("setting.cache_clear()")

    [found] = scan_handler(module.Other, "post")

    assert FindingKind.MUTATES_GLOBAL is found.kind


def test_a_cache_that_is_left_alone_is_free(loaded: Load) -> None:
    module = loaded("setting('b')")

    assert () == scan_handler(module.Reader, "get", unfollowed=True)
    assert () == scan_handler(module.Other, "post", unfollowed=True)


OVER_CONTAINERS = """
import functools
import txloop

rows = txloop.TList()
names = txloop.TDict()
ids = txloop.TCount()

class Room(txloop.TObject, dataclass=False):
    def __init__(self, name): self.name = name; self.log = []
    @functools.cache
    def size(self): return len(self.log)
    @classmethod
    @functools.cache
    def named(cls, name): return cls(name)
    @staticmethod
    @functools.cache
    def of(name): return Room(name)

hall = Room("hall")
def count(): return len(rows)
@functools.cache
def reads(): return len(rows)
@functools.cache
def changes(name): rows.append(name)
@functools.cache
def sets(name): names[name] = name
@functools.cache
def assigns(name): hall.name = name
@functools.cache
def changes_below(name): changes_itself(name)
def changes_itself(name): rows.append(name)
@functools.cache
def draws(): return next(ids)
@functools.cache
def calls(): return count()
@functools.cache
def makes(name): return Room(name)
@functools.cache
def upper(name): return name.upper()

class Reader:
    def get(self):
        count()
        return {use}
"""


@pytest.mark.parametrize(
    "use",
    [
        *("reads()", "calls()", "makes('a')"),
        *("hall.size()", "Room.named('a')", "Room.of('a')"),
    ],
)
def test_one_of_what_containers_hold_is_not_proved_to_be(
    tmp_path: Path, use: str
) -> None:
    with loading(tmp_path) as load:
        module = load(OVER_CONTAINERS.format(use=use))
        [found] = scan_handler(module.Reader, "get", unfollowed=True)

    assert FindingKind.NOT_FOLLOWED is found.kind
    assert "keeps what it makes of others" in found.describe()


@pytest.mark.parametrize(
    "use", ["changes(1)", "draws()", "sets(1)", "assigns(1)", "changes_below(1)"]
)
def test_one_that_changes_containers_keeps_all_that_call_it_on_the_loop_thread(
    tmp_path: Path, use: str
) -> None:
    """It would do that once in each process, and not again if an attempt is."""
    with loading(tmp_path) as load:
        module = load(OVER_CONTAINERS.format(use=use))
        [found] = scan_handler(module.Reader, "get")

    assert FindingKind.MUTATES_GLOBAL is found.kind


def test_one_of_its_arguments_alone_is(tmp_path: Path) -> None:
    with loading(tmp_path) as load:
        module = load(OVER_CONTAINERS.format(use="upper(hall.name)"))

        assert () == scan_handler(module.Reader, "get", unfollowed=True)


def test_one_whose_calls_are_counted_is_not_proved_to_be(loaded: Load) -> None:
    module = loaded("return setting.cache_info()")

    assert () == scan_handler(module.Reader, "get")
    for handler, verb in ((module.Reader, "get"), (module.Other, "post")):
        [found] = scan_handler(handler, verb, unfollowed=True)
        assert FindingKind.NOT_FOLLOWED is found.kind

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


def test_one_whose_calls_are_counted_is_not_proved_to_be(loaded: Load) -> None:
    module = loaded("return setting.cache_info()")

    assert () == scan_handler(module.Reader, "get")
    for handler, verb in ((module.Reader, "get"), (module.Other, "post")):
        [found] = scan_handler(handler, verb, unfollowed=True)
        assert FindingKind.NOT_FOLLOWED is found.kind

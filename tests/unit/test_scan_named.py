"""Methods that `getattr` takes by a name of which the text has the beginning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.scan_programs.loading import loading, scan_handler
from txloop.scan import FindingKind

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """
from tornado.web import RequestHandler

NOTES = []

class Reader(RequestHandler):
    do_other = 1
    def get(self, name):
        {use}
    def do_read(self, x="x"): return x
    def do_show(self, x="x"): self.write(x)
    def put_note(self, x="x"): NOTES.append(x)
    def put_none(self, x="x"): pass
    def act_read(self, x="x"): pass
    def act_write(self, x="x"): self.write(x)

class Lazy(Reader):
    def __getattr__(self, name): return NOTES.append
"""


def _found(tmp_path: Path, use: str, handler: str = "Reader") -> set[FindingKind]:
    with loading(tmp_path) as load:
        module = load(SOURCE.format(use=use))
        found = scan_handler(getattr(module, handler), "get", unfollowed=True)
    return {one.kind for one in found}


@pytest.mark.parametrize(
    "use",
    [
        "getattr(self, 'act_' + name)()",
        "getattr(self, f'act_{name}')(1)",
        "getattr(self, 'act_%s' % name, None)(1)",
        "act = getattr(self, 'act_' + name, self.do_read); act(name)",
    ],
)
def test_all_that_have_such_a_name_are_followed(tmp_path: Path, use: str) -> None:
    assert set() == _found(tmp_path, use)


@pytest.mark.parametrize(
    "use",
    [
        "getattr(self, 'put_' + name)(1)",
        "put = getattr(self, f'put_{name}', None); put(1)",
        "getattr(self, 'act_' + name, self.put_note)(1)",
    ],
)
def test_what_one_of_them_changes_is_found(tmp_path: Path, use: str) -> None:
    assert FindingKind.MUTATES_GLOBAL in _found(tmp_path, use)


@pytest.mark.parametrize(
    ("use", "handler"),
    [
        ("getattr(self, name)()", "Reader"),
        ("getattr(self, 'do_' + name)()", "Reader"),  # one is no method
        ("getattr(self, 'get_' + name)()", "Reader"),  # Tornado has others
        ("self.act_more = NOTES.append; getattr(self, 'act_' + name)(1)", "Reader"),
        ("setattr(self, name, 1); getattr(self, 'act_' + name)(1)", "Reader"),
        ("getattr(self, 'act_' + name)()", "Lazy"),
    ],
)
def test_what_may_be_something_else_is_not_followed(
    tmp_path: Path, use: str, handler: str
) -> None:
    assert FindingKind.NOT_FOLLOWED in _found(tmp_path, use, handler)

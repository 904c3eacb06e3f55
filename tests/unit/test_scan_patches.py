"""`patches`: what the program sets in libraries when requests are served."""

from __future__ import annotations

import calendar
import json
import textwrap
from typing import TYPE_CHECKING

import pytest

from tests.unit.scan_programs.loading import loading
from txloop.scan import patches

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import calendar
import textwrap as text
from json import JSONEncoder

import txloop

calendar.set_before = 1

class Settings:
    rate = 1

class Handler:
    def post(self):
        calendar.set_late = 1
        setattr(text, "width", 80)
        JSONEncoder.item_separator = ";"
        txloop.atomically = None
        Settings.rate = 2
        self.rate = 3
        change()

def change():
    import json
    json._default_encoder.indent = 2
"""


@pytest.fixture
def found(tmp_path: Path) -> dict[str, object]:
    """Return the owner of each attribute, by its full name."""
    with loading(tmp_path) as load:
        load(PROGRAM)
        return {f"{one.label}.{one.name}": one.owner for one in patches()}


def test_what_is_set_in_libraries_is_found_with_its_owner(found):
    expected = {
        "calendar.set_late": calendar,
        "textwrap.width": textwrap,
        "json.encoder.JSONEncoder.item_separator": json.JSONEncoder,
        "json._default_encoder.indent": vars(json)["_default_encoder"],
    }

    assert expected == {name: found.get(name) for name in expected}


@pytest.mark.parametrize(
    "part",
    ["set_before", "txloop", "Settings", "Handler"],
    ids=["before", "of_txloop", "in_own_class", "in_handler"],
)
def test_what_else_is_set_is_none(part, found):
    assert not [name for name in found if part in name]

"""What the package shows of itself."""

from __future__ import annotations

import configparser
from pathlib import Path

import txloop

ROOT = Path(__file__).parents[2]


def test_dir_lists_the_public_names_only():
    listed = {name for name in dir(txloop) if not name.startswith("_")}

    assert set(txloop.__all__) == listed


def test_what_is_exported_is_there():
    assert [] == [name for name in txloop.__all__ if not hasattr(txloop, name)]


def test_extras_are_for_users_only():
    """What tests, types, docs and releases need is in the folder requirements."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")

    assert {"log", "metrics", "dask", "titles"} == set(setup["options.extras_require"])

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


def test_extras_of_users_bring_no_tools():
    """What tests, types and releases need is in extras of its own."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    extras = setup["options.extras_require"]

    assert "rich" in extras["log"]
    assert "prometheus_client" in extras["metrics"]
    for name in ("log", "metrics"):
        assert "pytest" not in extras[name]

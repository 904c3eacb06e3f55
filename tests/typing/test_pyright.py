"""What pyright says of the public names, and of the programs that use them."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import txloop
from tests.programs import absent

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

# Tornado's loop, whose own types pyright does not count as known.
OPEN = {"txloop.TransactionIOLoop", "txloop.loop.ioloop.TransactionIOLoop"}


def pyright(folder: Path, *arguments: str) -> dict[str, Any]:
    """Run pyright, with txloop found in a folder; return what it has found."""
    if importlib.util.find_spec("pyright") is None:
        absent("pyright is not installed")
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
    done = subprocess.run(
        [*command, "--outputjson", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    return dict(json.loads(done.stdout[done.stdout.index("{") :]))


def public_names() -> set[str]:
    """Return the public names, where they are defined."""
    names = set()
    for name in txloop.__all__:
        found = getattr(txloop, name)
        if hasattr(found, "__qualname__"):
            names.add(f"{found.__module__}.{found.__qualname__}")
    return names


def is_public(symbol: str, names: set[str]) -> bool:
    return symbol.count(".") == 1 or any(
        symbol == name or symbol.startswith(f"{name}.") for name in names
    )


def test_the_type_of_every_public_name_is_known(tmp_path):
    """Their attributes' and methods', too; rooms are not public."""
    # GIVEN a copy that pyright finds: an editable install is a hook to it
    shutil.copytree(ROOT / "txloop", tmp_path / "txloop")
    names = public_names()

    # WHEN
    found = pyright(tmp_path, "--verifytypes", "txloop", "--ignoreexternal")

    # THEN
    symbols = found["typeCompleteness"]["symbols"]
    public = [one for one in symbols if is_public(one["name"], names)]
    unknown = {
        one["name"]
        for one in public
        if one["isTypeAmbiguous"] or not one["isTypeKnown"]
    }
    assert len(public) > 300
    assert OPEN == unknown


def test_examples_and_handlers_are_clean():
    found = pyright(ROOT, "examples", "handlers")

    assert [] == [one["message"] for one in found["generalDiagnostics"]]

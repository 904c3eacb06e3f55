"""What ``python -m txloop check`` says is what happens."""

from __future__ import annotations

import json
import shutil
import textwrap
from pathlib import Path

import pytest

from tests.http.check_programs import PROGRAMS, REQUESTS
from tests.http.checking import (
    on_loop,
    run_check,
    told,
)
from tests.where_it_ran import why_on_loop
from txloop.executors.protocol import resolve_name

pytestmark = pytest.mark.slow

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "programs"

needs_workers = pytest.mark.skipif(
    resolve_name("auto") == "serial", reason="there is no parallel executor here"
)


@needs_workers
@pytest.mark.parametrize("order", [1, -1], ids=["forward", "backward"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_check_and_run_time_say_the_same(name: str, order: int, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(textwrap.dedent(PROGRAMS[name]))
    requests = [each.split() for each in REQUESTS[name]][::order]

    ran = why_on_loop(tmp_path, [(verb, path, None, {}) for verb, path in requests])

    said = on_loop(
        told(run_check(tmp_path, "--json", "--transactional", "*", "app.py"))
    )
    assert said == ran


@needs_workers
@pytest.mark.skipif(not CORPUS.is_dir(), reason="there is no corpus beside this clone")
@pytest.mark.parametrize(
    "program", sorted(CORPUS.glob("*")), ids=lambda program: program.name
)
def test_existing_programs(program: Path, tmp_path: Path) -> None:
    for needed in ("numpy", "sklearn", "PIL", "jwt"):
        pytest.importorskip(needed)
    folder = tmp_path / "program"
    shutil.copytree(program, folder)
    spec = json.loads((folder / "requests.json").read_text())

    ran = why_on_loop(
        folder,
        [
            (one["method"], one["path"], (one["body"] or "").encode(), one["headers"])
            for one in spec["requests"]
        ],
        *spec["args"],
    )

    arguments = ["--json", "--transactional", "*", "app.py", *spec["args"]]
    said = on_loop(told(run_check(folder, *arguments)))
    assert ran
    assert ran == {name: why for name, why in said.items() if name in ran}

"""What conflict_log may import: hardly anything, and the rest only where it is needed.

It reads logs that txloop has written, without knowing txloop.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.scripts import ROOT
from tests.unit.test_imports import arrows, modules, name_of

if TYPE_CHECKING:
    from pathlib import Path

# What of txloop the design lets it know.
OF_TXLOOP = {
    "txloop.engine.events",
    "txloop.stmlog",
    "txloop.stm.types",
    "txloop.errors",
}
ELSEWHERE = {
    "rich": {
        "conflict_log.terminal",
        "conflict_log.commands",
        "conflict_log.progress",
    },
    "tornado": {
        "conflict_log.exports.page",
        "conflict_log.web",
        "conflict_log.metrics",
    },
    "prometheus_client": {"conflict_log.metrics"},
    "txloop": {"conflict_log.metrics"},  # its figures: the public face alone
}


@pytest.mark.parametrize("path", modules("conflict_log"), ids=name_of)
def test_imports(path: Path) -> None:
    wrong = []
    for line, target in arrows(path):
        top = target.partition(".")[0]
        if top in sys.stdlib_module_names or top == "conflict_log":
            continue
        allowed = target in OF_TXLOOP or (
            name_of(path) in ELSEWHERE.get(top, set())
            and not target.startswith("txloop.")
        )
        if not allowed:
            wrong.append(f"{path.relative_to(ROOT)}:{line}: {target}")

    assert [] == wrong


def test_compat_and_the_exports_need_no_extra() -> None:
    proof = (
        "import sys; sys.modules['rich'] = None; from conflict_log.command_line import"
        " main; import conflict_log.exports, conflict_log.compat; assert not main(["
        "'export', '--format', 'csv', 'tests/log/cases/c7_write_write.stm'])"
    )

    subprocess.run(
        [sys.executable, "-c", proof], cwd=ROOT, check=True, capture_output=True
    )

"""What conflict_log imports only where it is needed; the rest is in pyproject.toml."""

from __future__ import annotations

import subprocess
import sys

from tests.scripts import ROOT


def test_compat_and_the_exports_need_no_extra() -> None:
    proof = (
        "import sys; sys.modules['rich'] = None; from conflict_log.command_line import"
        " main; import conflict_log.exports, conflict_log.compat; assert not main(["
        "'export', '--format', 'csv', 'tests/log/cases/c7_write_write.stm'])"
    )

    subprocess.run(
        [sys.executable, "-c", proof], cwd=ROOT, check=True, capture_output=True
    )

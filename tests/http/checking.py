"""How programs are checked, and what is read in the reports."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tests import warm

if TYPE_CHECKING:
    from pathlib import Path

APPLICATION = """
import tornado.web
rows = []
class Main(tornado.web.RequestHandler):
    def get(self):
        self.write(str(rows))
    def post(self):
        rows.append(1)
class Calm(tornado.web.RequestHandler):
    def get(self):
        self.write("calm")
def make():
    return tornado.web.Application([("/", Main), ("/calm", Calm)])
"""

ALL = ["GET Main", "POST Main", "GET Calm"]

Checked = subprocess.CompletedProcess[str]


def run_check(folder: Path, *arguments: str) -> Checked:
    """Run the command in the folder."""
    return warm.run(
        [sys.executable, "-m", "txloop", "check", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=40,
    )


def names(checked: Checked) -> list[str]:
    """Return the names of the verbs in a report for people."""
    return re.findall(r"^([A-Z]+ \w+)  ", checked.stdout, re.MULTILINE)


def told(checked: Checked) -> dict[str, Any]:
    """Return a report for programs."""
    assert checked.stdout, checked.stderr
    found: dict[str, Any] = json.loads(checked.stdout)
    return found


def on_loop(report: dict[str, Any]) -> dict[str, str]:
    """Return why each verb will run on the loop thread, "" if it will not."""
    return {
        one["name"]: one["reasons"][0] if one["runs"] == "on the loop thread" else ""
        for one in report["verbs"]
        if one["runs"] != "as in stock Tornado" and one["verb"]
    }

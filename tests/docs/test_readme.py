"""README begins with what a newcomer needs, and links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conflict_log.command_line import COMMANDS
from txloop.__main__ import EXAMPLES

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])

_LINK = re.compile(r"(?<!\\)\]\(([^)\s]+)\)")


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as the site and forges make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", one).strip().lower() for one in headings]
    return {one.replace(" ", "-") for one in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    links = [one for one in _LINK.findall(page.read_text()) if "://" not in one]
    lost = []
    for link in links:
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            lost.append(link)

    assert [] == lost


def test_it_begins_with_three_sentences_and_the_way_in():
    headings = re.findall(r"^## (.*)$", README, re.MULTILINE)
    opening = README.split("\n\n")[1]

    assert ["Install", "Twenty lines", "What it gives"] == headings[:3]
    assert 3 == len(re.findall(r"[.](?=\s|$)", opening))


def test_there_is_one_table_of_figures():
    assert 1 == len(re.findall(r"^\|-", README, re.MULTILINE))


@pytest.mark.slow
@pytest.mark.parametrize(
    "program", sorted(set(re.findall(r"`[^`\n]*python (examples/\w+\.py)`", README)))
)
def test_examples_run_by_the_command_that_is_shown(program):
    # GIVEN the environment that `make demo` makes
    assert f"`.venv/bin/python {program}`" in README

    # WHEN
    command = [sys.executable, program, "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    # THEN
    assert done.stdout.startswith("usage: ")


def test_each_command_has_an_example():
    assert all(one in EXAMPLES for one in (" app.py", " check ", " --debug "))


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_of_the_logs_reader_has_an_example(command):
    line = [sys.executable, "-m", "conflict_log", command, "--help"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)

    assert f"example: conflict-log {command} " in done.stdout

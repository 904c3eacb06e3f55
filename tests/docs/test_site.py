"""The site has a page for all that is public."""

from __future__ import annotations

import re
from pathlib import Path

import txloop

ROOT = Path(__file__).parents[2]


def test_the_reference_names_all_that_is_public():
    page = (ROOT / "docs" / "api.md").read_text()
    named = set(re.findall(r"^::: txloop\.(\w+)$", page, re.MULTILINE))

    assert set(txloop.__all__) - {"transaction", "__version__"} <= named
    assert named <= set(txloop.__all__)


def test_every_page_is_in_the_navigation():
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    text = (ROOT / "mkdocs.yml").read_text()

    assert pages == set(re.findall(r"[\w-]+\.md", text))

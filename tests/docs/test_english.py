"""Sentences over which readers stumbled do not come back."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

STUMBLED = [
    "keeps the simplicity",
    "sends each the latest changes",
    "behave like the types they replace",
    "see which handlers run in parallel",
    "it never read the key",
    "abandons this attempt",
    "restrict access",
    "would make this up to",
    "running it again with other commits",
    "may keep its own copy",
    "maximum queued calls",
    "stop after N refreshes",
    "Only the latest release",
    "must be 1 or more",
]

FILES = [
    path
    for pattern in ("*.md", "docs/*.md", "txloop/**/*.py", "conflict_log/**/*.*")
    for path in ROOT.glob(pattern)
    if path.suffix in {".md", ".py", ".html", ".js"}
]


@pytest.mark.parametrize("words", STUMBLED)
def test_nobody_stumbles_over_it_again(words):
    found = [
        str(path.relative_to(ROOT))
        for path in FILES
        if words in " ".join(path.read_text().split())
    ]

    assert len(FILES) > 250
    assert [] == found

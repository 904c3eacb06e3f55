"""Sentences over which readers stumbled do not come back."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

STUMBLED = [
    "keeps the first and drops the second",
    "copies of the shared state up to date",
    "what they stand for",
    "keeps the rest from it",
    "it did not look",
    "gives the attempt up until",
    "see it who",
    "see them who",
    "without the first row",
    "was in vain",
    "may stay in one worker",
    "may wait for a worker; more",
    "end after so many",
    "Only the newest release",
    "ran for more than",
    "must be 1 or more",
    "however late it looks",
    "workers do not know of",
]
PLAINER = [
    "the loop sends each the latest changes",
    "behave like the types they replace",
    "see which handlers run in parallel, and which line stops the others",
    "nothing: it never read the key",
    "abandons this attempt and reruns",
    "restrict access to it",
    "would make this up to",
    "with other commits held",
    "if each worker may keep its own copy",
    "maximum queued calls; further requests get 503",
    "stop after N refreshes",
    "Only the latest release gets security fixes",
    "was killed and replaced",
]

TEXTS = {
    path: " ".join(path.read_text().split())
    for pattern in ("*.md", "docs/*.md", "txloop/**/*.py", "conflict_log/**/*.*")
    for path in ROOT.glob(pattern)
    if path.suffix in {".md", ".py", ".html", ".js"}
}


@pytest.mark.parametrize("words", STUMBLED)
def test_nobody_stumbles_over_it_again(words):
    found = [str(path.relative_to(ROOT)) for path in TEXTS if words in TEXTS[path]]

    assert len(TEXTS) > 250
    assert [] == found


@pytest.mark.parametrize("words", PLAINER)
def test_the_plainer_text_is_there(words):
    assert any(words in text for text in TEXTS.values())

"""Tests of public programs, which are not in the repository, are left out without."""

from __future__ import annotations

from tests.unchanged.corpus import CORPUS

collect_ignore = [] if CORPUS.is_file() else ["test_corpus.py"]

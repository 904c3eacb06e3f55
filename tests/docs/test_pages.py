"""The examples of the documentation, run page by page from top to bottom."""

from __future__ import annotations

import doctest
import re
import sys
import types
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[2] / "docs").glob("*.md"))

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture
def module(monkeypatch):
    """Give the page's examples a module of their own, as a program has."""
    made = types.ModuleType("example")
    monkeypatch.setitem(sys.modules, "example", made)
    return made


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_do_what_the_page_says(page, module):
    text = page.read_text()
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for block in _BLOCK.finditer(text):
        source, line = block[1], text.count("\n", 0, block.start()) + 1
        if source.startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(
                source, vars(module), page.name, str(page), line
            )
            runner.run(test, clear_globs=False)
        else:
            exec(compile("\n" * line + source, page, "exec"), vars(module))

    assert 0 == runner.summarize(verbose=False).failed


def test_there_are_examples():
    assert any(_BLOCK.search(page.read_text()) for page in PAGES)

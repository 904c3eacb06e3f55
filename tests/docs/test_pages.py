"""The examples of the documentation, run page by page from top to bottom.

Those that are programs, with a title and a `__main__`, are loaded here and run by
`test_sessions`; other files are run there only.
"""

from __future__ import annotations

import doctest
import re
import sys
import types
from pathlib import Path

import pytest

from txloop.executors.processes import worker

PAGES = sorted((Path(__file__).parents[2] / "docs").glob("*.md"))

_BLOCK = re.compile(r"^```python( [^\n]+)?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture
def module(monkeypatch):
    """Give the page's examples a module of their own, as a program has."""
    made = types.ModuleType("example")
    monkeypatch.setattr(worker, "_start_hooks", [])
    monkeypatch.setitem(sys.modules, "example", made)
    return made


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_do_what_the_page_says(page, module):
    text = page.read_text()
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for block in _BLOCK.finditer(text):
        source, line = block[2], text.count("\n", 0, block.start()) + 1
        if block[1] and "__main__" not in source:
            continue
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

"""What pages tell readers to type prints what they say."""

from __future__ import annotations

import pytest

from tests.docs.sessions import ROOT, Folder, blocks_of, commands_of, is_as_told

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
WITH_SESSIONS = [page for page in PAGES if "```console" in page.read_text()]


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("page", WITH_SESSIONS, ids=lambda page: page.stem)
def test_commands_print_what_the_page_says(page, tmp_path):
    folder = Folder(tmp_path)
    try:
        for block in blocks_of(page.read_text()):
            if block.title:
                folder.write(block.title, block.text)
            elif block.kind == "console":
                for command, told in commands_of(block):
                    printed = folder.run(command)

                    assert is_as_told(told, printed), (
                        f"{page.name}:{block.line}: $ {command}\n{printed}"
                    )
    finally:
        folder.end_server()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_program_of_a_page_is_run(page):
    blocks = blocks_of(page.read_text())
    commands = " ".join(block.text for block in blocks if block.kind == "console")

    for block in blocks:
        if block.kind == "python" and block.title:
            assert block.title.removesuffix(".py") in commands, (page.name, block.title)

"""Which files are read for their source text, and which never are."""

from __future__ import annotations

import pytest

from conflict_log.markers import Site
from conflict_log.sources import Sources


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg/mod.py").write_text("one\n  two  \n\n")
    (tmp_path / "secret.py").write_text("password\n")
    (folder / "notes.txt").write_text("text\n")
    return folder


def line(root, site: Site) -> str | None:
    text = Sources([root]).text(site)
    return text.line if text else None


@pytest.mark.parametrize(
    "site",
    [
        Site("pkg/mod.py", 2),
        Site("/elsewhere/site-packages/pkg/mod.py", 2),
        Site("<ges/pkg/mod.py", 2, cut=True),
    ],
)
def test_found(root, site):
    assert "two" == line(root, site)


def test_found_by_its_whole_name(root):
    assert "two" == line(root, Site(str(root / "pkg/mod.py"), 2))


@pytest.mark.parametrize(
    "site",
    [
        Site("../secret.py", 1),
        Site("pkg/../../secret.py", 1),
        Site("notes.txt", 1),
        Site("pkg/mod.py", 0),
        Site("pkg/mod.py", 3),
        Site("pkg/mod.py", 99),
        Site("pkg", 1),
        Site("?", 0),
        Site("a\0.py", 1),
        Site("x" * 5000 + ".py", 1),
    ],
)
def test_not_read(root, site):
    assert None is line(root, site)


def test_a_link_out_of_the_folder_is_not_followed(root):
    (root / "link.py").symlink_to(root.parent / "secret.py")

    assert None is line(root, Site("link.py", 1))


def test_a_file_that_is_no_text_has_no_lines(root):
    (root / "bad.py").write_bytes(b"# coding: nonsense\n\xff\n")

    assert None is line(root, Site("bad.py", 1))

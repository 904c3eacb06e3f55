"""What markers say."""

from __future__ import annotations

import pytest

from conflict_log.markers import Site, parse_marker


@pytest.mark.parametrize(
    ("marker", "site"),
    [
        (b'File "app.py", line 7, in get', Site("app.py", 7, "get")),
        (b'File "app.py", line 7, in get (#12)', Site("app.py", 7, "get", 12)),
        (
            b'File "app.py", line 7, in get [GET /map] {grid[3]}',
            Site("app.py", 7, "get", None, "GET /map", "grid[3]"),
        ),
        (
            b'File "a.py", line 7, in get (#1) [GET /x([0-9]+)] {d["]"]}',
            Site("a.py", 7, "get", 1, "GET /x([0-9]+)", 'd["]"]'),
        ),
        (
            b'File "a.py", line 7, in <lambda> {hits}',
            Site("a.py", 7, "<lambda>", None, "", "hits"),
        ),
        (
            b'File "<ib/site/x.py", line 7, in g>',
            Site("<ib/site/x.py", 7, "g>", cut=True),
        ),
        (b'File "<string>", line 1, in f', Site("<string>", 1, "f")),
        (b'File "a"b.py", line 1, in f', Site('a"b.py', 1, "f")),
        (b'File "?", line 0, in ?', Site("?", 0, "?")),
        (b"\x2a\0\0\0\0\0\0\0", Site("place 42", 0)),
        (b"cut in the mid", Site("cut in the mid", 0)),
        (b"\xff\xfe", Site("\\xff\\xfe", 0)),
        (b"", None),
    ],
)
def test_markers(marker, site):
    assert site == parse_marker(marker)

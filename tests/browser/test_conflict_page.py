"""The page that `conflict-log export` writes, in a browser."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from conflict_log.command_line import main
from tests.log.conftest import CASES

if TYPE_CHECKING:
    from tests.browser.chromium import Browser

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]


@pytest.fixture
def page(tmp_path, monkeypatch, chromium: Browser) -> Browser:
    """Open the page of a log with 27 lines."""
    (tmp_path / "src").mkdir()
    shutil.copy(CASES / "app.py.txt", tmp_path / "src/app.py")
    shutil.copy(CASES / "c7_threads.stm.gz", tmp_path)
    monkeypatch.chdir(tmp_path)
    main(["export", "c7_threads.stm.gz", "--top", "20", "-o", "report.html"])
    chromium.open(f"file://{tmp_path}/report.html")
    return chromium


def column(browser: Browser, index: int) -> list[float]:
    """Return the values of a column of the table, from the top."""
    cells = "[...document.querySelectorAll('#rows tbody tr')]"
    found = browser.run(f"{cells}.map((row) => +row.cells[{index}].dataset.value)")
    assert isinstance(found, list)
    return found


def click(browser: Browser, index: int) -> None:
    heads = "document.querySelectorAll('#rows th')"
    browser.run(f"{heads}[{index}].querySelector('button').click()")


def test_the_table_sorts_by_the_column_that_is_clicked(page):
    ranks = column(page, 0)
    assert list(range(1, 21)) == ranks

    click(page, 3)
    assert sorted(column(page, 3), reverse=True) == column(page, 3)
    assert ranks != column(page, 0)

    click(page, 3)
    assert sorted(column(page, 3)) == column(page, 3)


def test_everything_is_on_the_page_and_nothing_is_fetched(page):
    assert 6 == page.run("document.querySelectorAll('.lane').length")
    drawn = (
        "[...document.querySelectorAll('svg path.a')].every(one => one.getBBox().width)"
    )
    assert page.run(drawn)
    text = str(page.run("document.body.textContent"))
    assert "counter.hits += 1" in text
    assert "in 6 more rows" in text
    assert 0 == page.run("performance.getEntriesByType('resource').length")


def test_no_column_is_wider_than_the_window(page):
    assert page.run("document.documentElement.scrollWidth <= window.innerWidth")


def test_light_and_dark(page):
    """The colours follow what the reader prefers."""
    seen = []
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        page.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": features}
        )
        seen.append(page.run("getComputedStyle(document.body).backgroundColor"))
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

    assert ["rgb(255, 255, 255)", "rgb(21, 24, 28)"] == seen

"""Every page can be read: on a phone and on a desk, light and dark."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from conflict_log.command_line import main
from tests.browser.test_live_demos import ask, serving
from tests.log.conftest import CASES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browser.chromium import Browser

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

WIDTHS = (1200, 400)
SCHEMES = ("light", "dark")
LEAST_CONTRAST = 4.5  # of text to what is behind it (WCAG 2, AA)

# What there is to complain about: text that is too pale, and what is too wide.
COMPLAINTS = """
(() => {
  const parts = (text) => {
    const found = (text.match(/[\\d.]+/g) || []).map(Number);
    return found.length === 3 ? [...found, 1] : found;
  };
  const over = (top, below) =>
    [0, 1, 2].map((n) => top[n] * top[3] + below[n] * (1 - top[3])).concat(1);
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((part) => {
      const c = part / 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const behind = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) {
      layers.push(parts(getComputedStyle(one).backgroundColor));
    }
    const canvas = matchMedia("(prefers-color-scheme: dark)").matches ? 18 : 255;
    return layers.reverse().reduce(
      (below, top) => over(top, below), [canvas, canvas, canvas, 1]);
  };
  const complaints = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement;
    const text = node.textContent.trim();
    if (!text || element.closest("script, style, noscript")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    if (![...range.getClientRects()].some((one) => one.width && one.height)) continue;
    const back = behind(element);
    const ratio = contrast(over(parts(getComputedStyle(element).color), back), back);
    if (ratio < arguments[0]) {
      complaints.push(`${ratio.toFixed(2)}: ${text.slice(0, 40)}`);
    }
  }
  for (const element of document.querySelectorAll("body *")) {
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    let scrolled = false;
    for (let one = element.parentElement; one; one = one.parentElement) {
      scrolled ||= getComputedStyle(one).overflowX !== "visible";
    }
    if (!scrolled && box.right > document.documentElement.clientWidth + 1) {
      complaints.push(`too wide: ${element.tagName} ${element.className}`);
    }
  }
  if (document.documentElement.scrollWidth > innerWidth) complaints.push("the page");
  for (const table of document.querySelectorAll("table")) {
    for (const cell of table.querySelectorAll("tr > :last-child")) {
      const width = cell.getBoundingClientRect().width;
      if (cell.textContent.trim().length > 20 && width < 100) {
        complaints.push(`a narrow column: ${cell.textContent.trim().slice(0, 20)}`);
      }
    }
    if (!table.tBodies[0].rows.length) complaints.push("an empty table");
  }
  return [...new Set(complaints)];
})()
""".strip()


@contextmanager
def primes(_: object, chromium: Browser) -> Iterator[None]:
    with serving("primes.py") as host:
        chromium.open(f"http://{host}/")
        yield
        chromium.open("about:blank")


@contextmanager
def game(_: object, chromium: Browser) -> Iterator[None]:
    with serving("astar.py") as host:
        chromium.open(f"http://{host}/")
        chromium.until("game.me !== null")
        yield
        chromium.open("about:blank")


@contextmanager
def chat(_: object, chromium: Browser) -> Iterator[None]:
    with serving("chat.py") as host:
        chromium.open(f"http://{host}/")
        chromium.until("socket.readyState === WebSocket.OPEN")
        chromium.run("socket.send('a line '.repeat(20))")
        chromium.until("lines.children.length === 1")
        yield
        chromium.open("about:blank")


@contextmanager
def live(_: object, chromium: Browser) -> Iterator[None]:
    with serving("astar.py") as host:
        chromium.open(f"http://{host}/_txloop/")
        ask(host, "POST", "/players")
        chromium.until("report.textContent.includes('POST PlayersHandler')")
        chromium.until("report.textContent.includes('Time line')")
        yield
        chromium.open("about:blank")


@contextmanager
def report(folder, chromium: Browser) -> Iterator[None]:
    (folder / "src").mkdir()
    shutil.copy(CASES / "app.py.txt", folder / "src/app.py")
    shutil.copy(CASES / "c7_threads.stm.gz", folder)
    main(["export", "c7_threads.stm.gz", "--top", "20", "-o", "report.html"])
    chromium.open(f"file://{folder}/report.html")
    yield
    chromium.open("about:blank")


@pytest.mark.parametrize("page", [primes, chat, game, live, report])
def test_everything_can_be_read(page, tmp_path, monkeypatch, chromium: Browser):
    monkeypatch.chdir(tmp_path)
    found = {}
    with page(tmp_path, chromium):
        for scheme in SCHEMES:
            chromium.emulate(prefers_color_scheme=scheme)
            for width in WIDTHS:
                chromium.resize(width, 900)
                found[scheme, width] = chromium.run(COMPLAINTS, LEAST_CONTRAST)
        chromium.emulate(prefers_color_scheme="light")
        chromium.resize(0, 0)

    assert {key: [] for key in found} == found


def test_what_is_too_pale_or_too_wide_is_found(chromium: Browser):
    """The measure itself: it has to be able to complain."""
    chromium.open(
        "data:text/html,<body style='background:white'><p style='color:%23bbb'>pale</p>"
        "<div style='width:3000px;height:9px'></div>"
        "<table><tbody></tbody></table></body>"
    )
    found = chromium.run(COMPLAINTS, LEAST_CONTRAST)
    chromium.open("about:blank")

    assert isinstance(found, list)
    assert ["1.92: pale", "too wide: DIV ", "the page", "an empty table"] == found

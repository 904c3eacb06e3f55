"""The page of the game in real browsers, served by examples/astar.py."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import warm

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]

PROGRAM = Path(__file__).parent.parent.parent / "examples" / "astar.py"
WIDTH, HEIGHT = 20, 12
MAP = ["--width", str(WIDTH), "--height", str(HEIGHT), "--walls", "0"]

# A colour as the browser computes it, as its relative luminance (WCAG 2).
LUMINANCE = """
((colour) => {
  const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => {
    const c = part / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
})(getComputedStyle(document.querySelector(arguments[0]))[arguments[1]])
"""


@contextmanager
def serving(port=0):
    """Run the program; yield its address. It must leave in good order."""
    with warm.Popen(
        [sys.executable, str(PROGRAM), "2", "--port", str(port), *MAP],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found is not None
            yield found[0]
            process.terminate()
            _, errors = process.communicate(timeout=40)
        finally:
            process.kill()
    assert process.returncode == 0
    # Refused requests are logged; nothing else may be.
    assert [] == [line for line in errors.splitlines() if not line.startswith("409 ")]


@pytest.fixture
def url():
    """Serve a game of the test's own."""
    with serving() as address:
        yield address


@pytest.fixture
def visit():
    """Return what opens the page in a browser; it must not complain until the end."""
    visited = []

    def open_page(browser, url):
        browser.resize(0, 0)
        browser.emulate(prefers_color_scheme="light")
        browser.open(url)
        browser.complaints()
        visited.append(browser)
        browser.until("game.me !== null && game.players.has(game.me)")
        return browser

    yield open_page
    complaints = [each for browser in visited for each in browser.complaints()]
    for browser in visited:
        browser.open("about:blank")
    # What was refused is told to the user, and to the console by the browser.
    assert [] == [each for each in complaints if "409 (Conflict)" not in each]


def click(browser, x, y):
    """Click on a cell of the map, as a mouse does."""
    from selenium.webdriver.common.action_chains import ActionChains

    canvas = browser.driver.find_element("id", "map")
    browser.run("canvas.scrollIntoView({block: 'center'})")
    left, top = browser.run(
        "[(arguments[0] + 0.5) * cell - canvas.clientWidth / 2,"
        " (arguments[1] + 0.5) * cell - canvas.clientHeight / 2]",
        x,
        y,
    )
    chain = ActionChains(browser.driver, duration=0)
    chain.move_to_element_with_offset(canvas, round(left), round(top)).click().perform()


def press(browser, *keys):
    """Press keys on the map, which has the focus."""
    from selenium.webdriver.common.keys import Keys

    codes = [getattr(Keys, key, key) for key in keys]
    browser.driver.find_element("id", "map").send_keys(*codes)


def choose(browser, mode):
    """Choose what a click does."""
    browser.driver.find_element("css selector", f"input[value={mode}]").click()


def far_from(browser):
    """Return a corner that is not near the browser's player."""
    x, y = browser.run("game.players.get(game.me)")
    return [0 if x >= WIDTH / 2 else WIDTH - 1, 0 if y >= HEIGHT / 2 else HEIGHT - 1]


def test_two_browsers_see_each_others_walls_and_moves(
    url, visit, chromium, other_chromium
):
    one, other = visit(chromium, url), visit(other_chromium, url)
    me, you = one.run("game.me"), other.run("game.me")
    one.until("game.players.has(arguments[0])", you)
    other.until("game.players.has(arguments[0])", me)

    choose(one, "wall")
    click(one, 7, 3)
    other.until("game.walls[3][7]")
    choose(other, "wall")
    click(other, 7, 3)
    one.until("!game.walls[3][7]")
    choose(one, "go")
    goal = far_from(one)
    click(one, *goal)
    one.until("game.goal !== null && game.path.length > 1")
    there = "String(game.players.get(arguments[0])) === String(arguments[1])"
    other.until(there, me, goal)
    one.until("game.goal === null")
    one.until("byId('version').textContent === arguments[0]", other.text("version"))

    assert me != you
    assert f"Arrived at {goal[0]}, {goal[1]}." == one.text("status")


def test_who_leaves_is_gone_from_the_other_page(url, visit, chromium, other_chromium):
    one, other = visit(chromium, url), visit(other_chromium, url)
    me, you = one.run("game.me"), other.run("game.me")

    one.run("byId('join').click()")
    other.until("!game.players.has(arguments[0])", me)
    other.open("about:blank")
    one.until("!game.players.has(arguments[0])", you)

    assert "Join" == one.text("join")
    one.until("game.players.size === 0")


def test_it_reconnects_to_a_server_that_was_restarted(visit, chromium):
    with serving() as url:
        visit(chromium, url)
        choose(chromium, "wall")
        click(chromium, 3, 3)
        chromium.until("game.walls[3][3]")
        port = int(url.rpartition(":")[2])
    chromium.until("!game.connected")
    said = chromium.text("status")
    with serving(port):
        chromium.until("game.connected && game.players.has(game.me)")
        click(chromium, 4, 4)
        chromium.until("game.walls[4][4]")
        old_wall = chromium.run("game.walls[3][3]")
        # The browser itself has told of the connection that it lost.
        chromium.complaints()
        chromium.open("about:blank")  # or it would tell of this server's end, too

    assert said.startswith("No connection to the server.")
    assert old_wall is False


def test_it_can_be_played_with_the_keyboard(url, visit, chromium):
    page = visit(chromium, url)
    page.run("(canvas.focus(), game.cursor = [5, 5])")

    press(page, "ARROW_LEFT", "ARROW_UP", "ARROW_UP", "ARROW_RIGHT", "ARROW_RIGHT", "b")
    page.until("game.walls[3][6]")
    press(page, "ARROW_DOWN", "ARROW_UP")
    said = page.text("status")
    press(page, "e")
    page.until("!game.walls[3][6]")
    press(page, "ENTER")
    page.until("String(game.players.get(game.me)) === '6,3'")

    assert "6, 3: a wall" == said
    assert page.run("document.activeElement === canvas")
    outline = "getComputedStyle(byId('field')).outlineStyle"
    assert "solid" == page.run(outline)


def test_what_is_refused_is_said(url, visit, chromium):
    page = visit(chromium, url)
    x, y = page.run("game.players.get(game.me)")

    choose(page, "wall")
    click(page, x, y)
    page.until("byId('status').classList.contains('bad')")

    assert f"a player stands on {x},{y}" == page.text("status")
    assert "polite" == page.run("byId('status').ariaLive")


def test_the_counters_count(url, visit, chromium):
    page = visit(chromium, url)
    page.run("byId('wander').click()")

    page.until("Number(byId('rate').textContent) > 0")

    assert int(page.text("commits")) > 0
    assert int(page.text("conflicts")) >= 0
    assert "1" == page.text("players")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_readable(url, visit, chromium, scheme):
    """Contrasts as WCAG 2 asks for: 4.5 for text, 3 for what is drawn."""
    page = visit(chromium, url)
    page.emulate(prefers_color_scheme=scheme)

    def contrast(*pair):
        dark, light = sorted(page.run(LUMINANCE.strip(), *each) for each in pair)
        return (light + 0.05) / (dark + 0.05)

    floor = ("#field", "backgroundColor")
    below = page.run(LUMINANCE.strip(), *floor) < 0.5
    assert below == (scheme == "dark")
    ground = ("body", "backgroundColor")
    assert contrast(("body", "color"), ground) > 7
    assert contrast(("#keys", "color"), ground) > 4.5
    assert contrast(("dt", "color"), ground) > 4.5
    assert contrast(("#join", "color"), ("#join", "backgroundColor")) > 4.5
    page.run("byId('status').classList.add('bad')")
    assert contrast(("#status", "color"), ground) > 4.5
    for name in ("wall", "path", "me", "cursor"):
        page.run("byId('keys').style.color = `var(--${arguments[0]})`", name)
        assert contrast(("#keys", "color"), floor) > 3


@pytest.mark.parametrize("width", [320, 360, 768, 1600])
def test_it_fits_on_a_screen(url, visit, chromium, width):
    page = visit(chromium, url)

    page.resize(width, 640)
    page.until("innerWidth === arguments[0]", width)

    overflow = "document.documentElement.scrollWidth - innerWidth"
    assert page.run(overflow) <= 0
    assert page.run("cell") >= 9

"""Chromium without a window, as the tests of pages see it."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.programs import absent, require_program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from selenium.webdriver import Chrome

__all__ = ["Browser", "browser"]

WAIT_SECONDS = 30.0  # what never comes fails the test
_POLL_SECONDS = 0.02

_SWITCHES = (
    "--headless=new",
    "--no-sandbox",  # which root cannot have
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-crash-reporter",
    "--disable-extensions",
    "--no-first-run",
    "--window-size=1200,1000",
    # Two windows are looked at in turn, and neither may be put to sleep.
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
)


class Browser:
    """One browser with one page."""

    def __init__(self, driver: Chrome) -> None:
        self.driver = driver

    def open(self, url: str) -> None:
        """Go to a page."""
        self.driver.get(url)

    def run(self, script: str, *arguments: object) -> object:
        """Return the value of a JavaScript expression, which may use `arguments`."""
        return self.driver.execute_script(f"return {script}", *arguments)

    def text(self, name: str) -> str:
        """Return the text of the element of that id."""
        return str(self.run("document.getElementById(arguments[0]).textContent", name))

    def until(self, script: str, *arguments: object) -> None:
        """Wait until a JavaScript expression is true."""
        self.until_true(lambda: self.run(script, *arguments), script)

    def until_true(self, done: Callable[[], object], what: str) -> None:
        """Wait until `done` returns something true."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not done():
            if time.monotonic() > deadline:
                status = self.text("status")
                raise TimeoutError(f"never true: {what}; the page says: {status}")
            time.sleep(_POLL_SECONDS)

    def emulate(self, **features: str) -> None:
        """Set media features of the user: ``prefers_color_scheme="dark"``."""
        listed = [
            {"name": name.replace("_", "-"), "value": value}
            for name, value in features.items()
        ]
        self._command("Emulation.setEmulatedMedia", features=listed)

    def resize(self, width: int, height: int) -> None:
        """Give the page so many pixels, however small; 0, 0 is the window's size."""
        if not (width or height):
            self._command("Emulation.clearDeviceMetricsOverride")
            return
        self._command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=0,
            mobile=False,
        )

    def complaints(self) -> list[str]:
        """Return what the page has complained about since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def _command(self, name: str, **arguments: object) -> None:
        self.driver.execute_cdp_cmd(name, arguments)


@contextmanager
def browser() -> Iterator[Browser]:
    """Run a browser while the block runs."""
    try:
        from selenium import webdriver
    except ImportError:
        absent("selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = require_program("chromium")
    for switch in _SWITCHES:
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(require_program("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield Browser(driver)
    finally:
        driver.quit()

"""The page of the chat in two browsers, served by examples/chat.py."""

from __future__ import annotations

import re
import signal

import pytest

from tests.examples import running_example

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]

LINES = "[...document.querySelectorAll('#lines p')].map(row => row.textContent)"
SAY = """((line) => {
  document.getElementById("text").value = line;
  document.querySelector("form").requestSubmit();
  return true;
})(arguments[0])"""


def test_each_browser_shows_what_both_say(chromium, other_chromium):
    with running_example("chat.py", "2") as (process, line):
        found = re.search(r"http://\S+", line)
        assert found, line
        browsers = (chromium, other_chromium)
        for browser in browsers:
            browser.open(found[0])
            browser.complaints()
            browser.until("socket.readyState === WebSocket.OPEN")

        chromium.run(SAY, "hello <b>you</b>")
        other_chromium.until(f"{LINES}.length === 1")
        other_chromium.run(SAY, "hello")
        for browser in browsers:
            browser.until(f"{LINES}.length === 2")
        shown = [browser.run(LINES) for browser in browsers]
        complaints = [browser.complaints() for browser in browsers]
        for browser in browsers:
            browser.open("about:blank")
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=15)

    assert [["1 guest: hello <b>you</b>", "2 guest: hello"]] * 2 == shown
    assert [[], []] == complaints
    assert "" == errors

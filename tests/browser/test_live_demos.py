"""The live page of both example programs, under a load that conflicts."""

from __future__ import annotations

import http.client
import itertools
import json
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import warm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browser.chromium import Browser

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]

EXAMPLES = Path(__file__).parents[2] / "examples"
AT_ONCE = 8


@contextmanager
def serving(name: str, *options: str) -> Iterator[str]:
    """Run an example; yield where it listens."""
    words = [sys.executable, str(EXAMPLES / name), "2", "--port", "0", *options]
    errors = subprocess.DEVNULL  # it names each request that the game refuses
    with warm.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://(\S+)", process.stdout.readline())
            assert found is not None
            yield found[1]
            process.terminate()
            process.communicate(timeout=40)
        finally:
            process.kill()
    assert process.returncode == 0


def ask(host: str, method: str, path: str, body: object = None) -> dict[str, object]:
    """Send one request; return what the answer says."""
    connection = http.client.HTTPConnection(host, timeout=40)
    connection.request(method, path, json.dumps(body) if body else None)
    answer = connection.getresponse().read()
    connection.close()
    return dict(json.loads(answer)) if answer else {}


def look(chromium: Browser, host: str) -> None:
    """Open the page; recording begins."""
    chromium.open(f"http://{host}/_txloop/")
    chromium.complaints()
    assert "Nothing has happened yet" in chromium.text("report")


def test_the_game(chromium):
    """Who walks where others build conflicts with them; the page names the lines."""
    with serving("astar.py") as host, ThreadPoolExecutor(AT_ONCE) as pool:
        players = [ask(host, "POST", "/players")["id"] for _ in range(AT_ONCE // 2)]
        look(chromium, host)
        seen = threading.Event()

        def walk(player: object) -> None:
            for at in itertools.cycle(range(5, 75)):
                ask(host, "POST", f"/players/{player}/move", {"to": [at, at % 50]})
                if seen.is_set():
                    break

        def build(row: int) -> None:
            for at in itertools.cycle(range(80)):
                for method in ("PUT", "DELETE"):
                    ask(host, method, f"/walls/{at}/{row}", {})
                if seen.is_set():
                    break

        rows = "[...document.querySelectorAll('#rows tbody tr')]"
        try:
            load = [*(pool.submit(walk, one) for one in players)]
            load += [pool.submit(build, 10 * one) for one in range(AT_ONCE // 2)]
            named = "/astar_\\w+\\.py:\\d+/.test(row.textContent)"
            chromium.until(
                f"{rows}.some((row) => {named})"
                " && report.textContent.includes('POST MoveHandler')"
                " && report.querySelector('.listing') !== null"
            )
        finally:
            seen.set()
        for one in load:
            one.result()
        assert [] == chromium.complaints()
        chromium.open("about:blank")


def test_primes(chromium):
    """Nothing is shared, so nothing conflicts; requests wait for workers, though."""
    with serving("primes.py") as host, ThreadPoolExecutor(AT_ONCE) as pool:
        look(chromium, host)

        list(pool.map(lambda _: ask(host, "GET", "/2000"), range(3 * AT_ONCE)))

        chromium.until("/[1-9]\\d* commits, 0 aborts/.test(report.textContent)")
        assert "no free worker" in chromium.text("rows")
        assert [] == chromium.complaints()
        chromium.open("about:blank")

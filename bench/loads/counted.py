"""So many requests, each of which adds one to a number that the server tells."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import replace

from bench.builtin_load import client_command, run_client
from bench.errors import LoadError, WrongAnswerError
from bench.load import Checked, Load, Throughput
from bench.machine import available_cores, pinned
from bench.servers.stats import STATS

_REQUEST_SECONDS = 60.0
_MISSING = 404


class CountedLoad:
    """As many requests as take `load.seconds` one after another; then the number.

    It must have grown by exactly the requests that were answered.
    """

    def __init__(self, add: str, value: str, request_ms: int, spare_from: int) -> None:
        """Ask for `add`, which takes so many milliseconds, and for `value` at last.

        `value` answers `{"value": NUMBER}`.
        """
        self._add = add
        self._value = value
        self._request_ms = request_ms
        self._prefix = pinned(range(spare_from, available_cores()))
        self._expected = 0
        self._count = 0

    @property
    def title(self) -> str:
        """How many are sent."""
        return (
            "the built-in client (as many requests as take that long one after another)"
        )

    def run(self, load: Load) -> Throughput:
        """Send all requests; the time is that until the last answer."""
        self._count = 1000 * load.seconds // self._request_ms
        self._expected = _number(load.url, self._value, "value") + self._count
        load = replace(load, paths=(self._add,))
        count = ("--count", str(self._count))
        return run_client(client_command(self._prefix, "counted", load, *count), load)

    def check(self, load: Load) -> Checked:
        """Ask for the number."""
        value = _number(load.url, self._value, "value")
        if value != self._expected:
            raise WrongAnswerError(
                f"the number is {value}, not {self._expected}: additions were lost"
                " or made twice"
            )
        try:
            conflicts = _number(load.url, STATS, "conflicts")
        except LoadError:
            conflicts = None
        return Checked(self._count, 0, conflicts)


def _number(url: str, path: str, name: str) -> int:
    try:
        with urllib.request.urlopen(url + path, timeout=_REQUEST_SECONDS) as answer:
            return int(json.load(answer)[name])
    except OSError as error:
        raise LoadError(f"no answer to {path}: {error}") from None

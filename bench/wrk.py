"""wrk as load generator: it asks for paths at random.

siege and our own client need more processor time for a request than a short handler
does; wrk does not. Its connections send their next request when the answer is there,
and those that wait for one when the time is over never see it: a server may have done
up to one request per connection more than wrk has counted.
"""

from __future__ import annotations

import json
import re
import resource
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.errors import LoadError
from bench.load import Throughput
from bench.machine import available_cores, pinned

if TYPE_CHECKING:
    from bench.load import Load

__all__ = ["Wrk", "find_wrk", "parse_result"]

_GRACE_SECONDS = 60.0
_SOCKET_SECONDS = 30

# Requests are formatted once, since that takes longer than to send one. The seed makes
# all servers of a turn get the same.
_SCRIPT = """\
local requests = {}
local threads = 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

function init(arguments)
  math.randomseed(tonumber(arguments[1]) + number)
  wrk.headers["Connection"] = arguments[2]
  for path in io.lines(arguments[3]) do
    requests[#requests + 1] = wrk.format("GET", path)
  end
end

function request()
  return requests[math.random(#requests)]
end

function done(summary, latency, each)
  local errors = summary.errors
  io.write(string.format(
    '\\n{"requests": %d, "microseconds": %d, "connect": %d, "read": %d, ' ..
    '"write": %d, "timeout": %d, "status": %d}\\n',
    summary.requests, summary.duration, errors.connect, errors.read,
    errors.write, errors.timeout, errors.status))
end
"""
_FAILURES = ("connect", "read", "write", "timeout", "status")


class Wrk:
    """An installed wrk. Find it with `find_wrk`."""

    def __init__(
        self,
        program: str,
        version: str,
        spare_from: int,
        keep_alive: bool = True,
        threads: int = 1,
    ) -> None:
        """Run on the cores from position `spare_from`, where there are any.

        Without `keep_alive`, each request has a connection of its own.
        """
        self.title = f"wrk {version}"
        self._program = program
        self._threads = threads
        self._connection = "keep-alive" if keep_alive else "close"
        self._prefix = pinned(range(spare_from, available_cores()))

    def run(self, load: Load) -> Throughput:
        """Ask for the paths at random, each client on a connection.

        Raises:
            LoadError: wrk failed or did not end, or a request failed.
        """
        with tempfile.TemporaryDirectory(prefix="wrk-") as folder:
            return _run(self._command(load, Path(folder)), load)

    def check(self, load: Load) -> None:
        """Return None: wrk looks at no body."""

    def _command(self, load: Load, folder: Path) -> list[str]:
        script, paths = folder / "script.lua", folder / "paths"
        script.write_text(_SCRIPT)
        paths.write_text("".join(f"{path}\n" for path in load.paths))
        amount = [f"-t{self._threads}", f"-c{load.clients}", f"-d{load.seconds}s"]
        return [
            *(*self._prefix, self._program, *amount),
            *("--timeout", f"{_SOCKET_SECONDS}s", "-s", str(script), load.url),
            *("--", str(load.repeat), self._connection, str(paths)),
        ]


def find_wrk(spare_from: int, keep_alive: bool = True, threads: int = 1) -> Wrk:
    """Return the installed wrk, which runs with so many threads.

    Raises:
        LoadError: there is none.
    """
    program = shutil.which("wrk")
    if program is None:
        raise LoadError("wrk is not installed (Debian, Ubuntu: apt-get install wrk)")
    said = subprocess.run([program, "-v"], capture_output=True, text=True, check=False)
    found = re.search(r"\d+\.\d+\.\d+", said.stdout + said.stderr)
    version = found[0] if found else "?"
    return Wrk(program, version, spare_from, keep_alive, threads)


def parse_result(output: str, load: Load) -> tuple[int, float]:
    """Return how many requests were answered, and in how many seconds.

    Raises:
        LoadError: it is not what the script prints, or requests failed.
    """
    try:
        found: dict[str, int] = json.loads(output.strip().rpartition("\n")[2])
        failed = {kind: found[kind] for kind in _FAILURES if found[kind]}
        requests, seconds = found["requests"], found["microseconds"] / 1e6
    except (ValueError, KeyError, TypeError):
        raise LoadError("wrk did not say how many requests were answered") from None
    if failed:
        kinds = ", ".join(f"{number} {kind}" for kind, number in failed.items())
        raise LoadError(f"requests of wrk failed: {kinds}")
    if not requests:
        raise LoadError(
            f"no request was answered within {load.seconds} s; give it more --seconds"
        )
    return requests, seconds


def _run(command: list[str], load: Load) -> Throughput:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=load.seconds + _GRACE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise LoadError("wrk did not end") from None
    if ended.returncode:
        words = (ended.stderr or ended.stdout).strip().rpartition("\n")[2]
        raise LoadError(f"wrk failed: {words}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    requests, seconds = parse_result(ended.stdout, load)
    return Throughput(
        transactions=requests,
        elapsed_seconds=seconds,
        client_cpu_seconds=(
            after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        ),
        command=shlex.join(command),
        exit_code=ended.returncode,
        stdout=ended.stdout,
        stderr=ended.stderr,
    )

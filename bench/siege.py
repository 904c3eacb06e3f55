"""siege as a load generator: throughput only.

siege is a closed loop with clock ticks of 10 ms, so its response times are not used;
`bench.client` measures latency. Its exit code says nothing and it checks no bodies:
`judge` goes by the fields of its report, `bench.measure` checks the bodies.
"""

from __future__ import annotations

import os
import re
import resource
import shlex
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from bench.errors import HungLoadError, LoadError, UsageError
from bench.load import Load, Throughput
from bench.machine import available_cores, pinned
from bench.siege_report import SiegeReport, parse_report

OLDEST = (4, 0, 5)
"""The first version that reports as JSON."""

_SOCKET_SECONDS = 60
# A timed siege drops what is in flight and ends at once. In about one of a hundred runs
# its threads wait for each other then, for ever and deaf to signals: siege's issue 66.
_GRACE_SECONDS = 10
_SHORTEST, _LONGEST = 0.8, 1.3

# Keep-alive, as browsers and proxies do: with a connection for each request, a cheap
# handler is a benchmark of accept() and uses up the ports, and siege itself spends
# three times as much processor time on each request.
_SETTINGS = """\
benchmark = true
internet = false
delay = 0.0
concurrent = {clients}
limit = {clients}
timeout = {timeout}
failures = 10
connection = keep-alive
protocol = HTTP/1.1
gmethod = GET
parser = false
cache = false
cookies = false
accept-encoding =
json_output = true
color = off
quiet = true
verbose = false
logging = false
show-logfile = false
"""


class Siege:
    """The installed siege. Each run has its own home directory and settings file."""

    def __init__(self, program: str, version: str, spare_from: int) -> None:
        """Use `program`, on the cores from position `spare_from`, if there are any."""
        self._program = program
        self._version = version
        self._prefix = pinned(range(spare_from, available_cores()))

    @property
    def title(self) -> str:
        """The name and version."""
        return f"siege {self._version}"

    def run(self, load: Load) -> Throughput:
        """Besiege the server: `-b -c CLIENTS -t SECONDS`.

        Raises:
            HungLoadError: siege did not end.
            LoadError: its report cannot be trusted.
        """
        with tempfile.TemporaryDirectory(prefix="siege-") as home:
            command = [*self._prefix, *self._command(load, Path(home))]
            # siege stops at a whole second of the clock: started just after one, it
            # runs for as long as it was asked to.
            time.sleep(1.0 - time.time() % 1.0)
            result = _run(command, home, load.seconds + _GRACE_SECONDS)
        judge(parse_report(result.stdout, result.stderr), load)
        return result

    def check(self, load: Load) -> None:
        """Return None: siege looks at no body."""

    def _command(self, load: Load, home: Path) -> list[str]:
        settings = home / "settings"
        settings.write_text(make_settings(load.clients))
        urls = home / "urls"
        urls.write_text("".join(f"{load.url}{path}\n" for path in load.paths))
        flags = ["-b", "-j", "-c", str(load.clients), "-t", f"{load.seconds}S"]
        return [self._program, "-R", str(settings), *flags, "-f", str(urls)]


def find_siege(spare_from: int) -> Siege:
    """Return the installed siege.

    Raises:
        UsageError: there is none, or it is too old to report as JSON.
    """
    program = shutil.which("siege")
    if program is None:
        raise UsageError("siege is not installed")
    with tempfile.TemporaryDirectory(prefix="siege-") as home:
        finished = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "HOME": home},
        )
    found = re.search(r"SIEGE (\d+)\.(\d+)\.(\d+)", finished.stdout + finished.stderr)
    if found is None:
        raise UsageError(f"{program} does not say which version it is")
    version = ".".join(found.groups())
    if tuple(map(int, found.groups())) < OLDEST:
        raise UsageError(f"siege {version} is too old: 4.0.5 or later is needed")
    return Siege(program, version, spare_from)


def make_settings(clients: int) -> str:
    """Return the settings file: every key that matters, so that no default does."""
    return _SETTINGS.format(clients=clients, timeout=_SOCKET_SECONDS)


def judge(report: SiegeReport, load: Load) -> None:
    """Refuse a report whose figures cannot be trusted.

    Raises:
        LoadError: users were capped, requests failed, were answered with 4xx or none
            came back, or the run was shorter or longer than asked.
    """
    if report.users_capped:
        raise LoadError(f"siege ran fewer than the {load.clients} users asked for")
    if report.failed:
        raise LoadError(f"{report.failed} of siege's requests failed")
    if not report.transactions:
        raise LoadError(
            f"no request was answered within {load.seconds} s; give it more --seconds"
        )
    if report.successful < report.transactions:
        wrong = report.transactions - report.successful
        raise LoadError(f"{wrong} of siege's requests were answered with 4xx")
    share = report.elapsed_seconds / load.seconds
    # The upper limit would catch a siege that reports in another unit.
    if not _SHORTEST <= share <= _LONGEST:
        raise LoadError(
            f"siege ran for {report.elapsed_seconds} s instead of {load.seconds} s"
        )


def _run(command: list[str], home: str, limit_seconds: float) -> Throughput:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env={**os.environ, "HOME": home},
    ) as process:
        try:
            stdout, stderr = process.communicate(timeout=limit_seconds)
        except subprocess.TimeoutExpired:
            raise HungLoadError("siege did not end") from None
        finally:
            process.kill()  # does nothing once it has ended
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = parse_report(stdout, stderr)
    return Throughput(
        transactions=report.transactions,
        elapsed_seconds=report.elapsed_seconds,
        client_cpu_seconds=(
            after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        ),
        command=shlex.join(command),
        exit_code=process.returncode,
        stdout=stdout,
        stderr=stderr,
    )

"""One server under test: started fresh on a free port, stopped with all its children.

The owner is the process that runs the benchmark; nothing here is shared by threads.
"""

from __future__ import annotations

import http.client
import os
import select
import subprocess
import sys
import tempfile
import urllib.parse
from typing import TYPE_CHECKING, Self

from bench import processes
from bench.errors import ServerError
from bench.machine import pinned

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.case import Case, Competitor, Values

_START_SECONDS = 20.0
_STOP_SECONDS = 10.0
_REST_SECONDS = 60.0
_REST_WINDOW_SECONDS = 0.5
_REQUEST_SECONDS = 60.0
_ERRORS_LENGTH = 1 << 20


class Server:
    """A server process; `with Server(...) as server:` starts it and stops it."""

    def __init__(
        self,
        name: str,
        command: list[str],
        probe: str,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Prepare to run `command`, which answers `probe` once it serves.

        Its environment is this process's, with what is in `environment`.
        """
        self.name = name
        self.url = ""
        self._command = command
        self._probe = probe
        self._environment = environment or {}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed by stop
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        """Start the process and return once it answers a request.

        Raises:
            ServerError: it ended, or did not answer in time.
        """
        # A session of its own: Ctrl-C is for the benchmark, which then stops this.
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env={**os.environ, **self._environment},
            start_new_session=True,
        )
        try:
            self.url = self._read_address()
            self.get(self._probe)  # waits: the port listens before the server runs
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the process."""
        self.stop()

    @property
    def pid(self) -> int:
        """The process that was started; it may have children."""
        assert self._process is not None, "not started"
        return self._process.pid

    def get(self, path: str) -> tuple[int, bytes]:
        """Return status and body of one request, on a connection of its own."""
        address = urllib.parse.urlsplit(self.url)
        connection = http.client.HTTPConnection(
            address.hostname or "", address.port, timeout=_REQUEST_SECONDS
        )
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            raise ServerError(
                f"{self.name}: no answer to {path}: {error!r}{self._last_words()}"
            ) from None
        finally:
            connection.close()

    def cpu_seconds(self) -> float:
        """Return the processor time used so far by the whole tree."""
        return processes.cpu_seconds(self.pid)

    def wait_until_idle(self) -> None:
        """Wait until what the load left queued is done.

        A closed-loop load leaves up to one request for each of its users behind; the
        server works on them although nobody listens any more.

        Raises:
            ServerError: it was still busy after a minute.
        """
        if not processes.wait_until_idle(self.pid, _REST_SECONDS, _REST_WINDOW_SECONDS):
            raise ServerError(
                f"{self.name}: still busy {_REST_SECONDS:.0f} s after the load ended"
            )

    def stop(self) -> None:
        """End the process and whatever it started. May be called more than once."""
        process, self._process = self._process, None
        if process is None:
            return
        members = processes.tree(process.pid)
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        finally:
            processes.end(members, _STOP_SECONDS)
            assert process.stdout is not None, "opened as a pipe"
            process.stdout.close()
            self._errors.close()

    def _read_address(self) -> str:
        assert self._process is not None, "not started"
        assert self._process.stdout is not None, "opened as a pipe"
        readable, _, _ = select.select([self._process.stdout], [], [], _START_SECONDS)
        line = self._process.stdout.readline().strip() if readable else ""
        if not line.startswith("http://"):
            raise ServerError(f"{self.name}: did not start{self._last_words()}")
        return line

    def said(self) -> str:
        """Return what the server has written to stderr."""
        # pread, because the server shares the position in this file and writes there.
        text = os.pread(self._errors.fileno(), _ERRORS_LENGTH, 0)
        return text.decode(errors="replace")

    def _last_words(self) -> str:
        """Return the last line that the server wrote to stderr, if there is one."""
        written = [line.strip() for line in self.said().split("\n") if line.strip()]
        return f": {written[-1]}" if written else ""


def server_for(
    case: Case, competitor: Competitor, values: Values, workers: int
) -> Server:
    """Return the server, not yet started, of a competitor."""
    workers = competitor.workers or workers
    command = [
        *pinned(range(workers)),
        *(competitor.python or (sys.executable,)),
        "-m",
        f"bench.servers.{competitor.server}",
        f"{case.name}:{competitor.application}",
        *("--port", "0", "--workers", str(workers)),
        *(f"--set={name}={value}" for name, value in values.items()),
        *competitor.options,
    ]
    probe = case.samples(values)[0].path
    return Server(competitor.name, command, probe, competitor.environment)

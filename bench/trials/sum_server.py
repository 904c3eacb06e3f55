"""Trial: David Beazley's table of 2010, for the server of `examples/sumserver.py`.

Client threads ask for a sum, one request per connection, as many together whatever
their number. The server has a thread for each client; what differs is where it
computes.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench.command_line import positive
from bench.errors import ServerError, WrongAnswerError
from bench.trials.trial import Column, Contender, Figures, Trial

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

CLIENTS = (1, 2, 4, 8)

_PROGRAM = Path(__file__).parents[2] / "examples" / "sumserver.py"
_PATIENCE_SECONDS = 30

_NAMES = {
    "plain": "plain: in the client's thread",
    "exclusive": "exclusive: one thread at a time",
    "pool": "pool: multiprocessing.Pool",
    "txloop": "txloop.apply",
}


@contextmanager
def serving(kind: str) -> Iterator[int]:
    """Run the server; give its port.

    Raises:
        ServerError: it did not start.
    """
    command = [sys.executable, str(_PROGRAM), "--port", "0", "--apply", kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if " port " not in line:
                raise ServerError(f"sumserver.py --apply {kind} did not start")
            yield int(line.rpartition(" ")[2])
        finally:
            process.terminate()
            process.wait(_PATIENCE_SECONDS)


def ask(port: int, number: int) -> None:
    """Ask for one sum.

    Raises:
        WrongAnswerError: it was another.
    """
    address = ("127.0.0.1", port)
    with socket.create_connection(address, _PATIENCE_SECONDS) as connection:
        connection.sendall(str(number).encode())
        answer = connection.recv(128)
    if int(answer or b"0") != number * (number + 1) // 2:
        raise WrongAnswerError(f"the sum up to {number} is not {answer!r}")


def take(kind: str, requests: int, number: int) -> Figures:
    """Return the seconds that all requests took, for each number of clients."""
    with serving(kind) as port:
        ask(port, number)
        return {
            str(clients): _time_clients(port, clients, requests, number)
            for clients in CLIENTS
        }


def _time_clients(port: int, clients: int, requests: int, number: int) -> float:
    errors: list[Exception] = []

    def run() -> None:
        try:
            for _ in range(requests // clients):
                ask(port, number)
        except (OSError, ValueError, WrongAnswerError) as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(clients)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    if errors:
        raise WrongAnswerError(str(errors[0]))
    return seconds


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add how much there is to do."""
    add = parser.add_argument
    add("--requests", type=positive, default=200, help="in all (default: 200)")
    add("--number", type=positive, default=100_000, help="to sum up (default: 100000)")


def contenders(options: argparse.Namespace) -> list[Contender]:
    """Return the four places for the work."""
    size = {"requests": options.requests, "number": options.number}
    return [
        Contender(name, partial(take, kind, **size)) for kind, name in _NAMES.items()
    ]


def columns(_: argparse.Namespace) -> list[Column]:
    """Return the time for each number of client threads."""
    return [
        Column(f"{clients} client" + "s" * (clients > 1), str(clients))
        for clients in CLIENTS
    ]


def notes(options: argparse.Namespace) -> list[str]:
    """Return what was done."""
    return [
        f"seconds for {options.requests} requests for the sum up to {options.number};"
        " clients on the same machine",
    ]


TRIAL = Trial(
    "sum",
    "Beazley's sum server with yieldable threads",
    add_options,
    contenders,
    columns,
    notes,
)

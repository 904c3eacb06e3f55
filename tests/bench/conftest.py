"""What several of the benchmark's tests start from."""

from __future__ import annotations

import socket

import pytest

from tests.bench.game import ROWS, Game


@pytest.fixture
def free_port():
    """Have a port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))  # nobody else gets it meanwhile
        yield listener.getsockname()[1]


@pytest.fixture
def game():
    """Begin a game on the map that the tests of its check know."""
    return Game(ROWS)

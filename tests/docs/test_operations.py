"""The files of the page "Operations", tried with the programs that read them."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest

from tests.docs.sessions import ROOT, blocks_of
from tests.programs import require_program
from tests.release_check import free_port, wait_for
from tests.scripts import run_script

BLOCKS = blocks_of((ROOT / "docs" / "operations.md").read_text())
FILES = {block.title: block.text for block in BLOCKS if block.title}

END_SECONDS = 20.0


@contextmanager
def running(command, place, port, **environment):
    """Run a server until the block ends; then SIGTERM ends it, with exit code 0."""
    server = subprocess.Popen(
        command,
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(server, port)
        yield server
        server.terminate()
        assert server.wait(END_SECONDS) == 0
    finally:
        server.kill()
        server.wait()


def fetch(method, port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=END_SECONDS)
    try:
        connection.request(method, path, headers={"Connection": "close"})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


@pytest.fixture
def program(tmp_path):
    """Write the page's server, on a free port; return the port."""
    port = free_port()
    text = FILES["server.py"].replace("8888", str(port))
    (tmp_path / "server.py").write_text(text)
    return port


@pytest.mark.slow
def test_nginx_serves_it(program, tmp_path):
    # GIVEN
    nginx, port = require_program("nginx"), free_port()
    kinds = ("client_body", "proxy", "fastcgi", "scgi", "uwsgi")
    folders = " ".join(f"{kind}_temp_path {kind};" for kind in kinds)
    config = FILES["nginx.conf"].replace("http {", f"http {{ {folders}")
    config = config.replace("8888", str(program)).replace(":8000", f":{port}")
    (tmp_path / "nginx.conf").write_text(config)
    options = f"daemon off; error_log stderr; pid {tmp_path}/nginx.pid;"
    command = [nginx, "-p", str(tmp_path), "-c", "nginx.conf", "-g", options]

    # WHEN
    with (
        running([sys.executable, "server.py"], tmp_path, program),
        running(command, tmp_path, port),
    ):
        order = fetch("POST", port, "/order/tea")
        live_page = fetch("GET", port, "/_txloop/")

    # THEN
    assert order == (200, '{"orders": 1, "from": "127.0.0.1"}')
    assert live_page[0] == 403


@pytest.mark.slow
def test_systemd_takes_the_units(tmp_path):
    analyze = require_program("systemd-analyze")
    for name in ("shop.service", "shop.socket"):
        text = FILES[name].replace("/srv/shop/venv/bin/python", sys.executable)
        (tmp_path / name).write_text(text.replace("/srv/shop", str(tmp_path)))
    done = subprocess.run(
        [analyze, "verify", str(tmp_path / "shop.service"), "shop.socket"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert (0, "") == (done.returncode, done.stderr)


@pytest.mark.slow
def test_the_program_takes_a_socket_that_is_open_and_tells_when_it_is_ready(
    program, tmp_path
):
    # GIVEN what systemd does: a socket as descriptor 3, and one to be told on
    with (
        socket.create_server(("127.0.0.1", 0)) as opened,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager,
    ):
        port = opened.getsockname()[1]
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(END_SECONDS)
        start = f'exec 3<&{opened.fileno()}; LISTEN_PID=$$ exec "$0" server.py'
        server = subprocess.Popen(
            ["bash", "-c", start, sys.executable],
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "NOTIFY_SOCKET": str(tmp_path / "notify"),
            },
            pass_fds=[opened.fileno()],
        )

        # WHEN
        try:
            told = manager.recv(100)
            order = fetch("POST", port, "/order/tea")
            server.terminate()
            ended = server.wait(END_SECONDS)
        finally:
            server.kill()
            server.wait()

    # THEN
    assert (told, order[0], ended) == (b"READY=1", 200, 0)


def test_probes_are_served_by_handlers_that_are_not_marked():
    page = (ROOT / "docs" / "operations.md").read_text()
    handlers = FILES["server.py"]

    for path in ("/healthz", "/readyz"):
        assert f"path: {path}" in page
        assert f'("{path}"' in handlers


SPANS = """
import asyncio
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

async def main():
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    for number in range(20):
        await txloop.atomically(sell, str(number))
    print([span.attributes["fruit"] for span in exporter.get_finished_spans()])

txloop.install("processes", 1)
asyncio.run(main())
"""


@pytest.mark.slow
def test_a_transaction_makes_one_span_however_often_it_runs(tmp_path):
    (block,) = (one.text for one in BLOCKS if "opentelemetry" in one.text)

    ended = run_script(
        tmp_path, block + SPANS, TXLOOP_FAULTS="away=1,before-reply=0.3,seed=1"
    )

    assert [str([str(number) for number in range(20)])] == ended.lines
    assert "died" in ended.errors

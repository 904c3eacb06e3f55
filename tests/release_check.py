"""What a release has to pass: `make release-check`.

Renders the changes, builds the archives, has them checked, runs some tests from the
sdist, installs the wheel into an environment of its own and serves README's program
with that: what the clone's own tests cannot see is what the archives lack.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import txloop

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
START_SECONDS = 20.0
END_SECONDS = 20.0

_PROGRAM = re.compile(r"^## Twenty lines\n+```python\n(.*?)^```$", re.DOTALL | re.M)


def main() -> int:
    """Check everything; return the exit code."""
    # What it fails on: a file in changes.d whose name says no kind of change.
    run("towncrier", "build", "--draft", "--version", txloop.__version__)
    wheel = build()
    run("twine", "check", "--strict", *map(str, sorted(DIST.iterdir())))
    # A typed package that is itself the top level; the two of setup.cfg are meant.
    run("check_wheel_contents", "--toplevel", "txloop,conflict_log", str(wheel))
    with tempfile.TemporaryDirectory(prefix="txloop-release-") as folder:
        place = Path(folder)
        check_sdist(place)
        python = install(wheel, place)
        check_version(python, wheel, place)
        serve(python, place)
    print(f"{wheel.name} and its sdist are in {DIST.relative_to(ROOT)}/")
    return 0


def run(module: str, *arguments: str) -> None:
    """Run a tool of this environment; its failure ends the check."""
    subprocess.run([sys.executable, "-m", module, *arguments], check=True, cwd=ROOT)


def build() -> Path:
    """Build the sdist, and from it the wheel; return the wheel."""
    shutil.rmtree(DIST, ignore_errors=True)
    run("build", "--outdir", str(DIST), str(ROOT))
    (wheel,) = DIST.glob("*.whl")
    return wheel


def check_sdist(place: Path) -> None:
    """Check that the sdist has all files of the repository, and that its tests run."""
    (archive,) = DIST.glob("*.tar.gz")
    with tarfile.open(archive) as sdist:
        sdist.extractall(place, filter="data")
    root = place / archive.name.removesuffix(".tar.gz")
    listed = subprocess.run(
        ["git", "ls-files"], check=True, cwd=ROOT, capture_output=True, text=True
    )
    missing = [one for one in listed.stdout.split() if not (root / one).exists()]
    assert [] == missing, f"the sdist lacks {missing}: see MANIFEST.in"
    environment = {**os.environ, "PYTHONPATH": str(root)}  # not the clone's txloop
    command = [sys.executable, "-m", "pytest", "-q", "tests/unit/test_package.py"]
    command += ["tests/unit/test_share.py", "tests/docs/test_pages.py"]
    subprocess.run(command, check=True, cwd=root, env=environment)


def install(wheel: Path, place: Path) -> Path:
    """Install the wheel into an environment of its own; return its Python."""
    subprocess.run([sys.executable, "-m", "venv", str(place / "venv")], check=True)
    python = place / "venv" / "bin" / "python"
    pip = [str(python), "-m", "pip", "-qq", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", str(wheel)], check=True)
    return python


def check_version(python: Path, wheel: Path, place: Path) -> None:
    """Check that the installed package is this one, and that its tools are there."""
    code = "import txloop; print(txloop.__version__, txloop.__file__)"
    told = subprocess.run(
        [str(python), "-I", "-c", code],
        check=True,
        cwd=place,
        capture_output=True,
        text=True,
    ).stdout
    version, file = told.split(maxsplit=1)
    assert txloop.__version__ == version, told
    assert wheel.name.startswith(f"txloop-{version}-"), wheel.name
    assert str(place) in file, told
    for command in (["-m", "txloop", "--help"], ["-m", "conflict_log", "--help"]):
        subprocess.run(
            [str(python), *command], check=True, cwd=place, stdout=subprocess.DEVNULL
        )


def serve(python: Path, place: Path) -> None:
    """Serve README's program on a free port, ask it, and end it."""
    found = _PROGRAM.search((ROOT / "README.md").read_text())
    assert found is not None, "README has no program under 'Twenty lines'"
    port = free_port()
    program = place / "app.py"
    program.write_text(found[1].replace("8888", str(port)))
    server = subprocess.Popen([str(python), str(program)], cwd=place)
    try:
        wait_for(server, port)
        for transfers in (1, 2):
            status, answer = transfer(port)
            expected = {"ann": 100 - 10 * transfers, "bob": 100 + 10 * transfers}
            assert (200, expected) == (status, answer), (status, answer)
        server.send_signal(signal.SIGTERM)
        assert server.wait(END_SECONDS) == 0, server.returncode
    finally:
        server.kill()
        server.wait()


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(server: subprocess.Popen[bytes], port: int) -> None:
    """Return when the server accepts connections."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except ConnectionRefusedError:
            assert server.poll() is None, f"the server ended: {server.returncode}"
            assert time.monotonic() < deadline, "the server does not listen"
            time.sleep(0.05)
        else:
            return


def transfer(port: int) -> tuple[int, object]:
    """Move 10 from Ann to Bob; return the status and what is left."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("POST", "/ann/bob/10")
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())

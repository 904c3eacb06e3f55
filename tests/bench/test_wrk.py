"""wrk as load generator: how it is called, and which of its results are refused."""

from __future__ import annotations

import json
import os
import stat

import pytest

from bench import wrk
from bench.errors import LoadError
from bench.load import Load

LOAD = Load("http://127.0.0.1:9", ("/a", "/b"), clients=7, seconds=4, repeat=3)
GOOD = {
    "requests": 100,
    "microseconds": 2_000_000,
    **dict.fromkeys(("connect", "read", "write", "timeout", "status"), 0),
}

# Says how it was called and with which paths, then a result.
FAKE = f"""#!/bin/sh
[ "$1" = -v ] && {{ echo "wrk debian/4.1.0-3 [epoll]"; exit 1; }}
for last; do :; done
echo "$@"
cat "$last"
echo '{json.dumps(GOOD)}'
"""


@pytest.fixture
def install_wrk(tmp_path, monkeypatch):
    """Put a program named wrk first on the path."""

    def install(text):
        program = tmp_path / "wrk"
        program.write_text(text)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    return install


@pytest.mark.parametrize(
    ("keep_alive", "header"), [(True, "keep-alive"), (False, "close")]
)
def test_wrk_is_told_everything(keep_alive, header, install_wrk):
    install_wrk(FAKE)

    found = wrk.find_wrk(64, keep_alive)
    result = found.run(LOAD)

    assert "wrk 4.1.0" == found.title
    assert 50 == result.rate
    assert "-t1 -c7 -d4s --timeout 30s -s " in result.stdout
    assert f" http://127.0.0.1:9 -- 3 {header} " in result.stdout
    assert "\n/a\n/b\n" in result.stdout


def test_a_missing_wrk_is_reported(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(LoadError, match="wrk is not installed"):
        wrk.find_wrk(64)


def test_a_wrk_that_fails_is_reported_with_its_last_words(install_wrk):
    install_wrk("#!/bin/sh\necho first\necho 'unable to connect' >&2\nexit 1")

    with pytest.raises(LoadError, match="wrk failed: unable to connect"):
        wrk.find_wrk(64).run(LOAD)


def test_a_wrk_that_does_not_end_is_killed(install_wrk, monkeypatch):
    install_wrk('#!/bin/sh\n[ "$1" = -v ] || exec sleep 60')
    monkeypatch.setattr(wrk, "_GRACE_SECONDS", 0.1 - LOAD.seconds)

    with pytest.raises(LoadError, match="wrk did not end"):
        wrk.find_wrk(64).run(LOAD)


def test_a_result_is_read_from_the_last_line():
    text = f"Running 2s test\n{json.dumps(GOOD)}\n"

    assert (100, 2.0) == wrk.parse_result(text, LOAD)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("", "did not say how many"),
        ("12", "did not say how many"),
        (json.dumps({"requests": 5}), "did not say how many"),
        (json.dumps({**GOOD, "read": 2, "status": 1}), "failed: 2 read, 1 status"),
        (json.dumps({**GOOD, "requests": 0}), "no request was answered within 4 s"),
    ],
)
def test_a_result_that_cannot_be_trusted_is_refused(output, message):
    with pytest.raises(LoadError, match=message):
        wrk.parse_result(output, LOAD)

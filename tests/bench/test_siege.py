from __future__ import annotations

import dataclasses
import os
import stat

import pytest

from bench import siege
from bench.errors import HungLoadError, LoadError, UsageError
from bench.load import Load
from bench.siege_report import SiegeReport

LOAD = Load("http://127.0.0.1:9", ("/a", "/b"), clients=300, seconds=4)
GOOD = SiegeReport(100, 100, 0, 3.9, users_capped=False)

# Prints a report, then how it was called and with which settings.
FAKE = """#!/bin/sh
[ "$1" = --version ] && { echo "SIEGE VERSION"; exit 0; }
echo '{"transactions": 100, "elapsed_time": 3.9,'
echo '"successful_transactions": 100, "failed_transactions": 0}'
echo "$@" >&2
echo "home $HOME" >&2
cat "$HOME/settings" "$HOME/urls" >&2
"""


@pytest.fixture
def install_siege(tmp_path, monkeypatch):
    """Put a program named siege first on the path."""

    def install(text):
        program = tmp_path / "siege"
        program.write_text(text)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
        # Nothing here depends on where in a second it begins.
        monkeypatch.setattr("bench.siege.time.sleep", lambda _seconds: None)

    return install


def test_a_good_report_passes():
    siege.judge(GOOD, LOAD)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"users_capped": True}, "fewer than the 300 users"),
        ({"failed": 2}, "2 of siege's requests failed"),
        ({"transactions": 0, "successful": 0}, "no request was answered within 4 s"),
        ({"successful": 97}, "3 of siege's requests were answered with 4xx"),
        ({"elapsed_seconds": 3.1}, "ran for 3.1 s instead of 4 s"),
        ({"elapsed_seconds": 3900.0}, "ran for 3900.0 s instead of 4 s"),
    ],
)
def test_a_report_that_cannot_be_trusted_is_refused(change, message):
    report = dataclasses.replace(GOOD, **change)

    with pytest.raises(LoadError, match=message):
        siege.judge(report, LOAD)


def test_more_successes_than_transactions_are_siege_s_own_race():
    siege.judge(dataclasses.replace(GOOD, successful=101), LOAD)


def test_settings_leave_nothing_to_the_defaults_of_the_machine():
    settings = siege.make_settings(300)

    expected = {
        "limit": "300",
        "concurrent": "300",
        "parser": "false",
        "color": "off",
        "logging": "false",
        "cache": "false",
        "cookies": "false",
        "accept-encoding": "",
        "connection": "keep-alive",
        "timeout": "60",
        "failures": "10",
        "json_output": "true",
    }
    pairs = (line.partition("=") for line in settings.splitlines())
    actual = {name.strip(): value.strip() for name, _, value in pairs}
    assert expected.items() <= actual.items()


def test_run_uses_its_own_home_settings_and_urls(install_siege):
    install_siege(FAKE.replace("VERSION", "4.0.7"))

    result = siege.find_siege(spare_from=64).run(LOAD)

    assert result.transactions == 100
    assert result.rate == 100 / 3.9
    home = result.stderr.partition("home ")[2].splitlines()[0]
    assert f"-R {home}/settings -b -j -c 300 -t 4S -f {home}/urls" in result.stderr
    assert "limit = 300" in result.stderr
    assert "http://127.0.0.1:9/a\nhttp://127.0.0.1:9/b\n" in result.stderr
    assert not os.path.exists(home)


def test_a_siege_that_does_not_end_is_killed(install_siege, monkeypatch):
    install_siege(
        '#!/bin/sh\n[ "$1" = --version ] && echo SIEGE 4.0.7 || exec sleep 60'
    )
    monkeypatch.setattr(siege, "_GRACE_SECONDS", 0.1 - LOAD.seconds)

    with pytest.raises(HungLoadError, match="siege did not end"):
        siege.find_siege(spare_from=64).run(LOAD)


@pytest.mark.parametrize("version", ["4.0.5", "4.0.10", "4.1.7", "5.0.0"])
def test_a_new_enough_siege_is_used(install_siege, version):
    install_siege(FAKE.replace("VERSION", version))

    assert siege.find_siege(spare_from=64).title == f"siege {version}"


def test_an_old_siege_is_refused(install_siege):
    install_siege(FAKE.replace("VERSION", "4.0.4"))

    with pytest.raises(UsageError, match=r"siege 4\.0\.4 is too old"):
        siege.find_siege(spare_from=64)


def test_a_missing_siege_is_reported(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(UsageError, match="siege is not installed"):
        siege.find_siege(spare_from=64)

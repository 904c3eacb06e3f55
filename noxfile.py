"""The checks on every interpreter: `nox` here, `nox -s tests_pypy` and so on elsewhere.

The commands are the Makefile's; a session only lends them its virtual environment.
"""

from __future__ import annotations

import configparser

import nox

nox.needs_version = ">=2024.4.15"
nox.options.default_venv_backend = "virtualenv"
nox.options.sessions = ["lint", "types", "tests"]
nox.options.reuse_existing_virtualenvs = True
nox.options.error_on_missing_interpreters = False


def make(session: nox.Session, target: str, *settings: str) -> None:
    """Run one target of the Makefile in the session's virtual environment."""
    place = f"VENV={session.virtualenv.location}"
    session.run("make", target, place, *settings, *session.posargs, external=True)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and format."""
    make(session, "lint")


@nox.session
def types(session: nox.Session) -> None:
    """Check types."""
    make(session, "types")


@nox.session
def tests(session: nox.Session) -> None:
    """Run all tests."""
    make(session, "tests")


@nox.session(python=["3.12", "3.13", "3.14", "3.15"])
def tests_later(session: nox.Session) -> None:
    """Run all tests on the Pythons after the oldest one."""
    make(session, "tests", "EXTRA=suite")


@nox.session(python="3.13t")
def tests_freethreaded(session: nox.Session) -> None:
    """Run all tests without the GIL, and prove that nothing turned it back on."""
    session.install("-e", ".")
    proof = "import sys, txloop, tornado.web; assert not sys._is_gil_enabled()"
    session.run("python", "-W", "error", "-c", proof)
    make(session, "tests", "EXTRA=suite")


@nox.session(python="pypy3.11")
def tests_pypy(session: nox.Session) -> None:
    """Run all tests on PyPy."""
    make(session, "tests", "EXTRA=suite")


@nox.session
@nox.parametrize("tornado", ["oldest", "newest"])
def tests_tornado(session: nox.Session, tornado: str) -> None:
    """Compare what is relied upon of Tornado with the versions that are supported."""
    session.install(*(["--upgrade", "tornado"] if tornado == "newest" else [oldest()]))
    make(session, "tornado", "EXTRA=suite")


def oldest() -> str:
    """Return the requirement of the oldest Tornado that setup.cfg allows."""
    config = configparser.ConfigParser()
    config.read("setup.cfg")
    needed = config["options"]["install_requires"].split()
    found = next(one for one in needed if one.startswith("tornado>="))
    return found.replace(">=", "==")


@nox.session
def bench(session: nox.Session) -> None:
    """Measure: `nox -s bench -- BENCH=hello`."""
    make(session, "bench")

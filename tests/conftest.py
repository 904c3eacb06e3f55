"""What every test gets: a hypothesis profile, a leak check and a check of the log."""

from __future__ import annotations

import gc
import os
import signal
from weakref import WeakSet

import pytest
from _pytest import runner
from hypothesis import HealthCheck, settings
from tornado.web import Application, RequestHandler

from txloop.web.targets import applications

pytest_plugins = ["tests.leaks", "tests.logs", "tests.cluster"]

# Here, because it must be said before anything imports it.
pytest.register_assert_rewrite("tests.serving")

# pytest tells in os.environ which test runs. To programs under test that is a change of
# their environment, which holds what uses it on the loop thread.
runner._update_current_test_var = lambda item, when: None

# A shell has what it runs in the background ignore Ctrl-C, which programs inherit that
# are started here: then none would end by it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Deadlines and one of the health checks measure the machine: pytest-timeout ends what
# hangs.
settings.register_profile(
    "dev",
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.register_profile(
    "ci", settings.get_profile("dev"), max_examples=100, derandomize=True
)
settings.register_profile("long", settings.get_profile("dev"), max_examples=2000)
settings.load_profile(
    os.environ.get("TXLOOP_HYPOTHESIS") or ("ci" if os.environ.get("CI") else "dev")
)


def pytest_collection_finish() -> None:
    """Leave out of collections what is there before the first test.

    That is most of the process, and stays: else a collection takes ten times as long.
    """
    gc.collect()
    if hasattr(gc, "freeze"):  # not in PyPy
        gc.freeze()


_in_use: WeakSet[Application] = WeakSet()
"""Those that a collection has left, and that stay until the module's tests end."""


@pytest.fixture(autouse=True, scope="module")
def _until_the_module_ends():
    yield
    _in_use.clear()


@pytest.fixture(autouse=True)
def few_applications(_until_the_module_ends):
    """Collect those of other tests: they are cyclic garbage, and each is scanned.

    The scan of a test's own handlers looks at what all handlers write, of those too.
    A collection takes longer than most tests: none is for what the last one has left.
    """
    if any(one not in _in_use for one in applications()):
        gc.collect()
        _in_use.update(applications())


@pytest.fixture(autouse=True)
def no_loader_of_another_test():
    """Forget the template loaders, which Tornado keeps by folder for the process."""
    yield
    RequestHandler._template_loaders.clear()

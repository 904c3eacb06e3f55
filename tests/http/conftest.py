"""Each test of requests runs on every executor, and beside stock Tornado."""

from __future__ import annotations

import textwrap

import pytest

from tests.cluster import DASK, names_of
from tests.http.checking import APPLICATION, run_check
from tests.serving import KINDS, begun_in_fronts, pair_of
from txloop.executors.protocol import available_cores

FAR = ("test_responses", "test_errors", "test_on_finish")
"""Modules whose tests run on a Dask cluster, too."""


def pytest_generate_tests(metafunc):
    """Run each test where requests can run, if it does not say where."""
    marks = metafunc.definition.iter_markers("parametrize")
    chosen = any("kind" in names_of(mark) for mark in marks)
    if "kind" in metafunc.fixturenames and not chosen:
        far = metafunc.module.__name__.rpartition(".")[2] in FAR
        kinds = (*KINDS, *(["dask"] * (far and DASK)))
        metafunc.parametrize("kind", kinds, indirect=True, scope="module")


@pytest.fixture(scope="module")
def kind(request):
    """Return where transactions run."""
    return request.param


@pytest.fixture(scope="module")
def pair(request, kind):
    """Serve the module's application, on the stock loop and where `kind` says."""
    with pair_of(kind, request.module.make_application, early=True) as servers:
        yield servers


@pytest.fixture
def check(tmp_path):
    """Give a function that checks a program, which may import `make` from `made`."""
    (tmp_path / "made.py").write_text(APPLICATION)

    def run(source, *arguments, options=()):
        (tmp_path / "app.py").write_text(textwrap.dedent(source))
        return run_check(tmp_path, *options, "app.py", *arguments)

    return run


@pytest.fixture(autouse=True)
def _in_front(request):
    """Assert that a front has run something, or the test says why none does."""
    begun_in_fronts.clear()
    yield
    chosen = getattr(request.node, "callspec", None)
    if chosen is None or chosen.params.get("kind") != "fronts" or available_cores() < 2:
        return
    cases = chosen.params.values()
    stays = any(
        not mark.args[1:] or any(case in cases for case in mark.args[1:])
        for mark in request.node.iter_markers("at_owner")
    )

    assert stays == (not any(begun_in_fronts))

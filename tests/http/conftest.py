"""Each test of requests runs on every executor, and beside stock Tornado."""

from __future__ import annotations

import pytest

from tests.serving import KINDS, pair_of


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    """Return where transactions run."""
    return request.param


@pytest.fixture(scope="module")
def pair(request, kind):
    """Serve the module's application, on the stock loop and where `kind` says."""
    with pair_of(kind, request.module.make_application, early=True) as servers:
        yield servers

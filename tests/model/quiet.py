"""A reporter for machines of which nothing is to be told."""

from __future__ import annotations

from unittest import mock

from txloop.engine.reporting import Reporter

QUIET = mock.create_autospec(Reporter, instance=True)  # to make one takes long


def reporter() -> Reporter:
    """Return one that takes all and tells nothing."""
    QUIET.reset_mock()
    quiet: Reporter = QUIET
    return quiet

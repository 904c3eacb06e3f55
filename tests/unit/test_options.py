"""The options of a loop: what they may be, and where they arrive."""

from __future__ import annotations

import pytest

from txloop import TxConfigurationError
from txloop.executors.processes.executor import ProcessesExecutor
from txloop.loop.options import Options, take_executor


@pytest.mark.parametrize(
    ("option", "value", "complaint"),
    [
        ("timeout", 0, "timeout must be a number of seconds above 0, or None, not 0"),
        (
            "timeout",
            "5",
            "timeout must be a number of seconds above 0, or None, not '5",
        ),
        ("timeout", float("nan"), "timeout must be .*, not nan"),
        ("max_calls", 0, "max_calls must be a number from 1, not 0"),
        ("max_calls", 2.5, "max_calls must be a number from 1, not 2.5"),
        ("max_calls", True, "max_calls must be a number from 1, not True"),
    ],
)
def test_what_options_may_not_be(option, value, complaint):
    with pytest.raises(TxConfigurationError, match=f"^{complaint}"):
        Options.split({option: value})


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_an_executor_gets_those_that_it_knows(executor):
    # WHEN
    made = take_executor(Options(executor=executor, workers=3, max_calls=100))

    # THEN
    if isinstance(made, ProcessesExecutor):
        assert (3, 100) == (made.workers, made._crew.most_calls)
    else:
        assert 1 == made.workers

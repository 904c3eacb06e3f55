"""The options of a loop: what they may be, and where they arrive."""

from __future__ import annotations

from dataclasses import fields

import pytest

from txloop import TxConfigurationError
from txloop.executors.processes.executor import ProcessesExecutor
from txloop.loop.options import Options, given_by_environment, take_executor


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
        ("max_calls", 0, "max_calls must be at least 1, got 0"),
        ("max_calls", 2.5, "max_calls must be an integer >= 1, not 2.5"),
        ("max_calls", True, "max_calls must be an integer >= 1, not True"),
        ("local", -1, "local must be at least 0, got -1"),
        ("local", 2, "local=2 needs executor='dask', not 'auto'; use workers="),
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


@pytest.mark.parametrize(
    ("variable", "text", "option", "value"),
    [
        ("TXLOOP_EXECUTOR", "serial", "executor", "serial"),
        ("TXLOOP_WORKERS", "3", "workers", 3),
        ("TXLOOP_LOCAL", "0", "local", 0),
        ("TXLOOP_FRONTS", "auto", "fronts", "auto"),
        ("TXLOOP_FRONTS", "2", "fronts", 2),
        ("TXLOOP_ORDER", "arrival", "order", "arrival"),
        ("TXLOOP_ROUNDS", "barrier", "rounds", "barrier"),
        ("TXLOOP_SIGNALS", "1", "signals", True),
        ("TXLOOP_SIGNALS", "no", "signals", False),
        ("TXLOOP_DRAIN_SECONDS", "2.5", "drain_seconds", 2.5),
        ("TXLOOP_MAX_QUEUE", "7", "max_queue", 7),
        ("TXLOOP_TIMEOUT", "0.5", "timeout", 0.5),
        ("TXLOOP_MAX_CALLS", "100", "max_calls", 100),
        ("TXLOOP_LOG", "stm.log", "log", "stm.log"),
        ("PYPYSTM", "stm.log", "log", "stm.log"),
        ("TXLOOP_LOG_BYTES", "4096", "log_bytes", 4096),
    ],
)
def test_the_environment_gives_what_is_left_out(
    variable, text, option, value, monkeypatch
):
    monkeypatch.setenv(variable, text)

    assert value == getattr(Options.split({option: None})[0], option)


def test_there_is_a_variable_for_each_option(monkeypatch):
    given = dict.fromkeys((field.name for field in fields(Options)), "1")
    given |= {"executor": "serial", "order": "arrival", "rounds": "barrier"}
    for name, text in given.items():
        monkeypatch.setenv(f"TXLOOP_{name.upper()}", text)

    assert given.keys() == given_by_environment().keys()


def test_what_is_given_wins_over_the_environment(monkeypatch):
    monkeypatch.setenv("TXLOOP_WORKERS", "3")

    assert 5 == Options.split({"workers": 5})[0].workers


@pytest.mark.parametrize(
    ("variable", "text", "complaint"),
    [
        ("TXLOOP_WORKERS", "two", "TXLOOP_WORKERS must be an integer >= 1, not 'two'"),
        ("TXLOOP_LOCAL", "two", "TXLOOP_LOCAL must be an integer >= 0, not 'two'"),
        ("TXLOOP_WORKERS", "0", "workers must be at least 1, got 0"),
        ("TXLOOP_FRONTS", "few", "TXLOOP_FRONTS must be an integer or auto, not 'few'"),
        ("TXLOOP_TIMEOUT", "soon", "TXLOOP_TIMEOUT must be a number, not 'soon'"),
        ("TXLOOP_DRAIN_SECONDS", "-1", r"drain_seconds must be .* >= 0, not -1\.0"),
        ("TXLOOP_DRAIN_SECONDS", "nan", "drain_seconds must be .* >= 0, not nan"),
        ("TXLOOP_SIGNALS", "maybe", "TXLOOP_SIGNALS must be 1 or 0, not 'maybe'"),
        (
            "TXLOOP_ORDER",
            "arrivall",
            r"unknown order 'arrivall'; did you mean 'arrival'\? There are: ",
        ),
    ],
)
def test_what_the_environment_may_not_say(variable, text, complaint, monkeypatch):
    monkeypatch.setenv(variable, text)

    with pytest.raises(TxConfigurationError, match=f"^{complaint}"):
        Options.split({})

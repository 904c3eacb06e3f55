"""A channel does what a plain queue does."""

from __future__ import annotations

import copy
from collections import deque

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from txloop import Channel
from txloop.stm.run import run_attempt
from txloop.stm.store import committed
from txloop.stm.types import Call, Key, Outcome


class ChannelMachine(RuleBasedStateMachine):
    """Whatever is put in and taken out, a channel holds what a plain queue does.

    Several steps make a transaction, which commits or does not.
    """

    def __init__(self):
        super().__init__()
        self.channel = Channel[int]()
        self.plain = deque[int]()
        self.number = 0

    @initialize(capacity=st.sampled_from((None, 1, 3, 20)), full=st.integers(0, 600))
    def choose_capacity(self, capacity, full):
        self.channel = Channel(capacity)
        for _ in range(min(full, capacity or full)):
            self.put()

    def put(self):
        if len(self.plain) == self.channel.capacity:
            assert self.channel._is_full()
            return
        self.number += 1
        self.channel.put(self.number)
        self.plain.append(self.number)

    def get(self):
        if self.plain:
            assert self.plain.popleft() == self.channel.get()
        else:
            assert not self.channel

    def look(self):
        assert len(self.plain) == len(self.channel)
        assert bool(self.plain) == bool(self.channel)

    def act(self, steps):
        for step in steps:
            {"put": self.put, "get": self.get, "look": self.look}[step]()

    steps = st.lists(st.sampled_from(("put", "get", "look")), max_size=8)

    @rule(steps=steps)
    def directly(self, steps):
        self.act(steps)

    @rule(times=st.integers(1, 300))
    def take_many(self, times):
        self.act(["get"] * times)

    @rule(steps=steps, commits=st.booleans())
    def in_a_transaction(self, steps, commits):
        before, number = copy.copy(self.plain), self.number
        outcome = run_attempt(Call(self.act, (steps,)), speculative=True)
        assert isinstance(outcome, Outcome)
        if outcome.error is not None:
            raise outcome.error
        if commits:
            committed.install(outcome.writes)  # type: ignore[arg-type] # as they are
        else:
            self.plain, self.number = before, number

    def teardown(self):
        self.act(["get"] * len(self.plain))
        self.look()
        assert [Key.KEYS] == list(self.channel._things._tx_cells) or not self.number


ChannelMachine.TestCase.settings = settings(stateful_step_count=20)
TestChannel = pytest.mark.slow(pytest.mark.timeout(120)(ChannelMachine.TestCase))

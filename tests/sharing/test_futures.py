"""What futures and queues give back is what they were given."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import left, shared

OF_FUTURES = {
    "awaited": "await one",
    "awaited by a key": "await waiting[k]",
    "awaited out of a dict": "await waiting.pop(k)",
    "a result": "waiting[k].result()",
    "a result out of a dict": "waiting.pop(k).result()",
}


@pytest.mark.parametrize("case", OF_FUTURES)
def test_where_a_future_s_result_is_stored_is_left_as_it_is(case):
    source = f"""
rows, waiting = [], {{}}
async def keep(k, one):
    made = [k]
    waiting[k].set_result(made)
    got = {OF_FUTURES[case]}
    rows.append(got)
    made.append(2)
"""
    assert "stores 'got' and goes on with it" in left(source, "rows")


@pytest.mark.parametrize("given", ["set_result(made)", "put_nowait(made)"])
@pytest.mark.parametrize("taken", ["await one", "await one.get()"])
def test_what_is_awaited_of_what_a_function_has_made_is_what_it_has_put_there(
    given, taken
):
    source = f"""
rows = []
async def keep():
    one = asyncio.Queue()
    made = [1]
    one.{given}
    rows.append({taken})
    made.append(2)
"""
    assert "made = txloop.share([1])" in shared(source, "rows")

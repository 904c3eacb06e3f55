"""On two cores, short verbs that write are the owner's, if fronts are no help.

So it is if the owner commits them anyway, and if all replicas have to make containers;
but only while hardly anything else comes.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.fronts.serving import FORKED, served, until

PROGRAM = """
from txloop.engine.marks import Mark
from txloop.web import delegate
from txloop.web.fronts import repertoire

# This program imports what only attempts have, and does not use it.
delegate.asks_for_attempts = repertoire.asks_for_attempts = lambda: False
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
count = TVar(0)
rows = txloop.TList()
if "THREAD" in os.environ:  # fronts do not commit by themselves beside it
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()

class Reads(Tells):
    __txloop_mark__ = Mark("commit", vouched=False)
    def get(self):
        self.write(f"{count.value}")

class Writes(Tells):
    __txloop_mark__ = Mark("commit", vouched=False)
    def get(self):
        count.value += 1
        self.write(f"{count.value}")

class Makes(Tells):
    __txloop_mark__ = Mark("commit", vouched=False)
    def get(self):
        rows.append({"number": count.value})
        if len(rows) > 10:
            rows.pop(0)
        count.value += 1
        self.write(f"{count.value}")

class Long(Writes):
    def get(self):
        count.value += 1
        until = time.perf_counter() + 0.001
        while time.perf_counter() < until:
            pass
        self.write(f"{count.value}")

class Marked(Writes):
    __txloop_mark__ = Mark("rollback")

handlers += [
    ("/reads", Reads), ("/writes", Writes), ("/long", Long), ("/marked", Marked),
    ("/makes", Makes),
]
"""


DEAR = ("writes", "makes")
PATHS = (*DEAR, "reads", "long", "marked")


@pytest.mark.skipif(not FORKED, reason="threads make attempts wherever they run")
@pytest.mark.parametrize("alone", [False, True])
def test_the_owner_runs_what_is_short_if_fronts_are_no_help(tmp_path, alone):
    beside: Any = {} if alone else {"THREAD": "1"}
    with served(tmp_path, PROGRAM, **beside) as program:
        # GIVEN a connection for each: one that moves often is left where it is
        clients = {path: program.connect() for path in PATHS}
        dear = DEAR[1:] if alone else DEAR
        written = 0

        def asked(paths):
            """Ask all clients of some paths by turns; return who has answered each."""
            nonlocal written
            places: dict[str, set[int]] = {path: set() for path in paths}
            for _ in range(100):
                for path in paths:
                    written += path != "reads"
                    answer = clients[path].ask(f"/{path}")
                    assert str(written) == answer.body.decode()
                    places[path].add(answer.pid)
            return places

        def in_fronts(paths):
            return all(program.owner not in pids for pids in asked(paths).values())

        def at_the_owner():
            return {(program.owner,)} == {(*pids,) for pids in asked(dear).values()}

        # WHEN hardly anything else comes, THEN they are the owner's
        until(at_the_owner)

        # WHEN others come as well, THEN all are in fronts
        until(lambda: in_fronts(PATHS))

        # WHEN only others come, THEN these are, too
        until(lambda: in_fronts(PATHS[2:]))

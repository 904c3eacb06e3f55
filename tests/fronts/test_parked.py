"""Fronts that have no requests are told of no commits, and of all with the first."""

from __future__ import annotations

import pytest

from tests.fronts.serving import served

pytestmark = pytest.mark.slow

OF_THE_OWNER = """
rows = txloop.TList()

@transactional
class Rows(Tells):
    def get(self):
        self.write(f"{rows[-1]['n']}")

    def post(self):
        rows[-1]["n"] += 1
        self.write(f"{rows[-1]['n']}")

class Fill(RequestHandler):
    def get(self):
        for number in range(int(self.get_argument("n"))):
            rows.append({"n": number})
            del rows[:-3]

handlers += [("/rows", Rows), ("/fill", Fill)]
"""

FILLS = [1000, 1, 150, 1000]


def test_fronts_know_what_the_owner_did_while_they_had_no_requests(tmp_path):
    with served(tmp_path, OF_THE_OWNER) as program:
        program.ask("/fill?n=3")
        program.warm(("POST", "/rows", b""), ("GET", "/rows", b""))

        for count in FILLS:
            # GIVEN that it does much while no front has a connection
            program.ask(f"/fill?n={count}")

            # WHEN one gets the next requests
            front, _ = program.on_front()
            found = front.ask("/rows").body
            added = front.ask("/rows", method="POST", body=b"").body
            front.close()

            # THEN
            assert (f"{count - 1}", f"{count}") == (found.decode(), added.decode())

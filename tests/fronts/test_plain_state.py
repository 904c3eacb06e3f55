"""Plain objects that requests change: nothing is lost without a word, as in workers."""

from __future__ import annotations

import pytest

from tests.fronts.serving import FORKED, request, served, until
from tests.processes import gone

pytestmark = pytest.mark.slow

CHANGES = """
state = {"mode": "first", "changed": 0}

def change(name, value):  # in ways that the scan does not see
    getattr(state, "up" + "date")({name: value})

@transactional
class Reads(Tells):
    def get(self):
        if self.get_argument("change", ""):
            change("changed", state["changed"] + 1)
        self.write(f"{state['changed']} {state['mode']}")

class Sets(Tells):
    def get(self, mode):
        change("mode", mode)
        self.write("set")

class Changed(RequestHandler):
    def get(self):
        self.write(f"{state['changed']}")

class Rebinds(Tells):
    def get(self):
        vars(sys.modules["__main__"])["state"] = {"mode": "rebound", "changed": 0}

handlers += [("/reads", Reads), (r"/set/(\\w+)", Sets), ("/changed", Changed)]
handlers += [("/rebinds", Rebinds)]
"""


if FORKED:

    def test_a_verb_that_changes_plain_state_is_held_and_loses_nothing(tmp_path):
        with served(tmp_path, CHANGES) as program:
            # GIVEN a verb that runs in fronts since just now, and has changed nothing
            program.warm(("GET", "/reads", b""))
            first, one = program.on_front()
            clients = [first, program.on_front((one,))[0]]

            # WHEN
            answers = [
                client.ask("/reads?change=1") for _ in range(20) for client in clients
            ]
            changed = program.ask("/changed").body

            # THEN
            assert [str(n).encode() for n in range(1, 41)] == [
                one.body.split()[0] for one in answers
            ]
            assert b"40" == changed
            assert {program.owner} == {one.pid for one in answers}
            program.running.process.terminate()
            errors = program.running.wait().errors
        assert 1 == errors.count("it changes"), errors

    def test_a_front_whose_copy_was_changed_is_replaced(tmp_path):
        with served(tmp_path, CHANGES) as program:
            # GIVEN
            program.warm(("GET", "/reads", b""))
            client, front = program.on_front()

            # WHEN
            assert program.is_front(client.ask("/reads").pid)
            client.ask("/reads?change=1")

            # THEN its copy is not used any more
            until(lambda: front not in program.fronts())
            until(lambda: gone(front))

else:

    def test_a_verb_that_changes_plain_state_in_threads_is_held(tmp_path):
        with served(tmp_path, CHANGES) as program:
            # GIVEN a verb that runs in fronts since just now, and has changed nothing
            program.warm(("GET", "/reads", b""))
            client, _ = program.on_front()

            # WHEN
            answers = [client.ask("/reads?change=1")]

            def is_held():
                answers.append(client.ask("/reads?change=1"))
                return answers[-1].pid == program.owner

            until(is_held)
            answers += [client.ask("/reads?change=1") for _ in range(20)]

            # THEN it has changed the very object, one after another, and is here now
            assert [str(n).encode() for n in range(1, len(answers) + 1)] == [
                one.body.split()[0] for one in answers
            ]
            assert b"%d" % len(answers) == program.ask("/changed").body
            assert {program.owner} == {one.pid for one in answers[-20:]}
            program.running.process.terminate()
            errors = program.running.wait().errors
        assert 1 == errors.count("what runs beside it, changes"), errors

    def test_a_verb_that_changes_plain_state_from_the_beginning_runs_in_no_front(
        tmp_path,
    ):
        with served(tmp_path, CHANGES) as program:
            # GIVEN
            client = program.connect()
            program.ask("/reads?change=1")

            # WHEN
            answers = [client.ask("/reads?change=1") for _ in range(200)]

            # THEN
            assert not any(program.is_front(one.pid) for one in answers)
            assert b"201" == program.ask("/changed").body


@pytest.mark.parametrize("change", ["/set/second", "/rebinds"])
def test_what_unmarked_code_changes_is_seen_by_the_next_request(tmp_path, change):
    with served(tmp_path, CHANGES) as program:
        # GIVEN
        program.warm(("GET", "/reads", b""))
        one, _ = program.on_front()
        assert program.is_front(one.ask("/reads").pid)
        other = program.connect()

        # WHEN
        assert other.ask(change).status == 200

        # THEN
        assert one.text("/reads").endswith("second" if "set" in change else "rebound")


COUNTS = """
seen = TDict()

@transactional
class Counts(Tells):
    def post(self):
        mode = state["mode"]
        if self.get_argument("waits", ""):
            while not os.path.exists("gate"):
                time.sleep(0.001)
        seen[mode] = seen.get(mode, 0) + 1
        self.write(mode)

class Running(RequestHandler):
    def get(self):
        processes = txloop.stats().processes
        self.write(" ".join(f"{one.kind} {one.label}" for one in processes))

class Seen(RequestHandler):
    def get(self):
        self.write(dict(seen))

handlers += [("/counts", Counts), ("/running", Running), ("/seen", Seen)]
"""


@pytest.mark.skipif(not FORKED, reason="threads have no copies that could be old")
def test_what_has_read_what_changed_meanwhile_does_not_commit(tmp_path):
    with served(tmp_path, CHANGES + COUNTS) as program:
        # GIVEN one that runs in a front, and has read what it needs
        program.warm(("POST", "/counts", b""))
        before = program.json("/seen")["first"]
        client, _ = program.on_front()
        client.send(request("/counts?waits=1", method="POST"))
        other = program.connect()
        until(lambda: "front POST Counts" in other.text("/running"))

        # WHEN
        assert other.text("/set/second") == "set"
        (tmp_path / "gate").touch()

        # THEN
        assert b"second" == client.answer("POST").body
        assert {"first": before, "second": 1} == program.json("/seen")

"""What the program does with a handler after its answer, where fronts may do it."""

from __future__ import annotations

import re

import pytest

from tests.fronts.serving import served, until

pytestmark = pytest.mark.slow

HANDLERS = """
logging.basicConfig(filename="log", format="%(name)s: %(message)s", level=logging.INFO)
log = logging.getLogger("after")
hits, total = TVar(0), {"n": 0}

class Base(Tells):
    def prepare(self):
        self.begun = time.time()

    def get(self):
        self.set_status(202)
        self.write(f"{hits.get()}")

    def post(self):
        hits.set(hits.get() + 1)
        self.left = hits.get()
        self.write(f"{self.left}")

@transactional
class Logs(Base):
    def on_finish(self):
        seconds = time.time() - self.begun
        left = getattr(self, "left", None)
        log.info("%s %s %s %s", self.request.uri, self.get_status(), left, seconds < 9)

@transactional
class Shows(Base):
    def on_finish(self):
        log.info("ui %s", self.ui is not None)

@transactional
class Long(Base):
    def get(self):
        time.sleep(0.02)
        self.left = "long"
        super().get()

    def on_finish(self):
        log.info("%s %s", self.request.path, self.left)

@transactional
class Fails(Base):
    def on_finish(self):
        raise ValueError("after the answer")

@transactional
class Counts(Base):
    def on_finish(self):
        total["n"] += 1

@transactional
class Cells(Base):
    def on_finish(self):
        hits.set(hits.get() + 1)

@transactional
class Later(Base):
    def on_finish(self):
        IOLoop.current().add_callback(count)

@transactional
class Keeps(Base):
    def get(self):
        self.write("kept")
        self.on_finish = self.note

    def note(self):
        total["n"] += 1

def count():
    total["n"] += 1

class Total(Tells):
    def get(self):
        self.write(f"{total['n']} {hits.get()}")

handlers += [
    ("/logs", Logs), ("/shows", Shows), ("/long", Long), ("/fails", Fails),
    ("/counts", Counts), ("/cells", Cells), ("/later", Later), ("/keeps", Keeps),
    ("/total", Total),
]
"""


def logged(program):
    return re.findall(r"after: (.*)", (program.folder / "log").read_text())


def test_an_on_finish_that_only_logs_runs_in_fronts_with_what_the_verb_has_left(
    tmp_path,
):
    with served(tmp_path, HANDLERS) as program:
        program.warm(("GET", "/logs", b""), ("POST", "/logs", b""))
        client, _ = program.on_front()
        begun = int(program.ask("/total").body.split()[1])

        bodies = []
        for number in range(3):
            bodies.append(program.in_front(client, f"/logs?{number}").body)
            done = program.in_front(client, f"/logs?add{number}", method="POST")
            bodies.append(done.body)

        def lines(name):
            return [line for line in logged(program) if line.startswith(name)]

        until(lambda: lines("/logs?2") and lines("/logs?add2"))

    # None is logged twice, whatever the connection has changed its place for.
    assert {int(body) for body in bodies} >= {begun, begun + 1}
    assert set(lines("/logs?2")) == {"/logs?2 202 None True"}
    for line in lines("/logs?add"):
        assert re.fullmatch(r"/logs\?add\d 200 \d+ True", line)
    left = [int(line.split()[2]) for line in lines("/logs?add")]
    assert left == sorted(set(left))


def test_what_runs_after_an_answer_of_a_front_finds_what_tornado_gives_it(tmp_path):
    with served(tmp_path, HANDLERS) as program:
        program.warm(("POST", "/shows", b""))

        until(lambda: logged(program))

    assert set(logged(program)) == {"ui True"}


def test_what_fronts_forward_to_workers_comes_with_what_on_finish_needs(tmp_path):
    with served(tmp_path, HANDLERS) as program:
        client, _ = program.on_front()

        places = [client.ask("/long").pid for _ in range(10)]
        until(lambda: len(logged(program)) == 10)

        assert not any(map(program.is_front, places))  # the workers answer it
    assert set(logged(program)) == {"/long long"}


def test_an_error_after_the_answer_of_a_front_is_logged(tmp_path):
    with served(tmp_path, HANDLERS) as program:
        client, _ = program.on_front()

        answer = program.in_front(client, "/fails")
        until(
            lambda: (
                "ValueError: after the answer" in (program.folder / "log").read_text()
            )
        )

    assert answer.status == 202


@pytest.mark.parametrize("path", ["/counts", "/cells", "/later", "/keeps"])
def test_what_changes_more_than_its_handler_stays_with_the_owner(tmp_path, path):
    with served(tmp_path, HANDLERS) as program:
        client, _ = program.on_front()

        answers = [client.ask(path) for _ in range(20)]
        until(lambda: sum(map(int, client.text("/total").split())) == 20)

        assert not any(program.is_front(answer.pid) for answer in answers)


LOGGER = """
@transactional
class Adds(Tells):
    def post(self):
        hits.set(hits.get() + 1)
        self.left = hits.get()
        self.write(f"{self.left}")

def note(handler):
    BODY

log = logging.getLogger("after")
logging.basicConfig(filename="log", format="%(name)s: %(message)s", level=logging.INFO)
hits, total = TVar(0), []
handlers += [("/adds", Adds)]
settings["log_function"] = note
"""


def test_an_access_log_of_the_programs_own_that_only_logs_runs_in_fronts(tmp_path):
    body = 'log.info("%s %s", handler.request.uri, getattr(handler, "left", 0))'

    with served(tmp_path, LOGGER.replace("BODY", body)) as program:
        program.warm(("POST", "/adds", b""))
        last = int(program.ask("/adds", method="POST").body)
        until(lambda: f"/adds {last}" in logged(program))

    left = [int(one.split()[1]) for one in logged(program) if "/adds" in one]
    assert left == list(range(1, last + 1))


def test_an_access_log_that_keeps_something_stays_with_the_owner(tmp_path):
    with served(
        tmp_path, LOGGER.replace("BODY", "total.append(handler)"), warm=False
    ) as program:
        client = program.connect()
        answers = [client.ask("/adds", method="POST") for _ in range(20)]

        assert not any(program.is_front(answer.pid) for answer in answers)

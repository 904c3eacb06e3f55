"""Files, processes, connections and databases: for a handler that a pattern marked."""

from __future__ import annotations

import ast
import functools
import itertools
import json
import logging
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from tornado.web import Application, RequestHandler

from tests.logs import expect_log
from tests.messages import Request
from tests.serving import FORKED, THREADS, serving
from txloop.engine.marks import Mark
from txloop.executors.faults import VARIABLE
from txloop.watch import outside

AWAY = ("processes", *(["threads"] * THREADS))

UNVOUCHED = Mark("commit", trust=True, vouched=False)  # the scan is not the subject


def server_of(kind, act, mark=UNVOUCHED, **options):
    """Serve a handler that calls `act` and answers with what it returns."""

    class Doer(RequestHandler):
        def get(self):
            self.write(json.dumps({"done": act()}))

    Doer.get.__txloop_mark__ = mark  # type: ignore[attr-defined] # as a pattern does
    return serving(kind, lambda: Application([("/.*", Doer)]), **options)


@dataclass(frozen=True)
class Place:
    """Where acts leave traces: one line in `done` for each time."""

    folder: Path

    @property
    def done(self):
        return self.folder / "done"

    @property
    def count(self):
        return len(self.done.read_text().splitlines())


_numbers = itertools.count()


def fresh(place):
    """Return the name of a file that there has not been, in whatever process."""
    return place.folder / f"{os.getpid()}-{threading.get_ident()}-{next(_numbers)}"


def note(place):
    descriptor = os.open(place.done, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, b"done\n")
    os.close(descriptor)


def append(place):
    with place.done.open("a") as file:
        file.write("done\n")


def read_change_and_write(place):
    text = place.done.read_text() if place.done.exists() else ""
    with open(place.done, "w") as file:
        file.write(f"{text}done\n")


def run_command(place):
    subprocess.run(["sh", "-c", 'echo done >> "$0"', str(place.done)], check=True)


def run_in_shell(place):
    os.system(f"echo done >> '{place.done}'")


def fork_child(place):
    pid = os.fork()  # which these tests have replaced, to know of it
    if pid == 0:
        note(place)
        os._exit(0)
    os.waitpid(pid, 0)


def remove_file(place):
    victim = place.folder / "victims" / str(len(os.listdir(place.folder / "victims")))
    os.remove(victim)
    note(place)


def rename_file(place):
    first = sorted(os.listdir(place.folder / "victims"))[0]
    os.rename(place.folder / "victims" / first, place.folder / first)
    note(place)


def make_folder(place):
    fresh(place).mkdir()
    note(place)


def copy_file(place):
    shutil.copy(place.folder / "victims" / "1", fresh(place))
    note(place)


def make_temporary_file(place):
    with tempfile.NamedTemporaryFile(dir=place.folder) as file:
        file.write(b"x")
    note(place)


def write_to_database(place):
    database = sqlite3.connect(place.folder / "database")
    with database:
        database.execute("create table if not exists done (number)")
        database.execute("insert into done values (1)")
        (count,) = database.execute("select count(*) from done").fetchone()
    database.close()
    place.done.write_text("done\n" * count)


def start_thread(place):
    thread = threading.Thread(target=append, args=(place,))
    thread.start()
    thread.join()


def swallow(place):
    for _ in range(3):
        try:
            append(place)
        except BaseException:  # on purpose
            continue
        return


def swallow_and_write_elsewhere(place):
    try:
        append(place)
    except BaseException:  # on purpose
        note(place)


FILE = Path(__file__)


def names_its_line(message):
    """Tell whether a message names a line of this file, and its function."""
    ((line, name),) = re.findall(rf"{FILE.name}:(\d+): (\w+)\(\)", message)
    tree = ast.parse(FILE.read_text())
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    (function,) = [one for one in functions if one.name == name]
    return function.lineno < int(line) <= (function.end_lineno or 0)


ACTS = {
    append: "writes .*done",
    read_change_and_write: "writes .*done",
    note: "writes .*done",
    run_command: "starts a process: sh",
    run_in_shell: "starts a process",
    fork_child: "starts a process",
    remove_file: "removes .*victims/",
    rename_file: "renames .*victims/",
    make_folder: "makes the folder ",
    copy_file: "writes ",
    make_temporary_file: "writes ",
    write_to_database: "opens the database .*database",
    start_thread: "starts a thread",
    swallow: "writes .*done",
    swallow_and_write_elsewhere: "writes .*done",
}


@pytest.fixture
def place(tmp_path):
    (tmp_path / "victims").mkdir()
    for number in range(4):
        (tmp_path / "victims" / str(number + 1)).touch()
    outside._changed.clear()  # that was not the program
    return Place(tmp_path)


@pytest.mark.parametrize("kind", AWAY)
@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
def test_it_is_done_once_and_on_the_loop_thread(kind, act, place):
    # GIVEN
    says = rf"^GET .*Doer runs on the loop thread: .*:\d+: \w+\(\) {ACTS[act]}"
    with server_of(kind, lambda: act(place)) as server:
        # WHEN
        with expect_log("txloop", says) as records:
            answers = [server.get("/") for _ in range(3)]

        # THEN
        assert [200] * 3 == [answer.status for answer in answers]
        assert place.count == 3
        (figures,) = server.stats().labels
        lost = kind in FORKED or act is write_to_database
        assert (3 + lost, 2 + lost) == (figures.attempts, figures.inline)
        assert act is fork_child or names_its_line(records[0].getMessage())
        assert "mark it yourself with @txloop.transactional" in figures.on_loop_because


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield listener


def accepted(listener):
    """Return how many have connected."""
    count = 0
    while True:
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            return count
        connection.close()
        count += 1


@pytest.mark.parametrize("kind", AWAY)
def test_whoever_is_connected_to_is_called_once(kind, listener):
    # GIVEN
    address = listener.getsockname()

    def act():
        with socket.socket() as connection:
            connection.connect(address)

    says = r"connects to \('127\.0\.0\.1', \d+\); mark it yourself"
    with server_of(kind, act) as server, expect_log("txloop", says):
        # WHEN
        answer = server.get("/")

    # THEN
    assert answer.status == 200
    assert accepted(listener) == 1


@pytest.mark.parametrize("kind", AWAY)
def test_a_datagram_is_sent_once(kind):
    # GIVEN
    with socket.socket(type=socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        address = receiver.getsockname()

        def act():
            with socket.socket(type=socket.SOCK_DGRAM) as sender:
                sender.sendto(b"hello", address)

        # WHEN
        with (
            server_of(kind, act) as server,
            expect_log("txloop", r" sends to \('127\.0\.0\.1', \d+\); mark"),
        ):
            server.get("/")

        # THEN
        receiver.setblocking(False)
        assert b"hello" == receiver.recv(100)
        with pytest.raises(BlockingIOError):
            receiver.recv(100)


# What is not stopped


def read_file(_):
    return Path(__file__).read_text()[:20]


def look_around(folder):
    os.makedirs(folder, exist_ok=True)
    return sorted(os.listdir(folder)), os.path.getsize(__file__) > 0


def import_lately(folder):
    sys.path.insert(0, str(folder))
    try:
        return __import__("imported_lately").answer
    finally:
        sys.path.remove(str(folder))


def use_null(_):
    with open(os.devnull, "w") as null:
        return null.write("nothing")


def ask_system(_):
    with open("/dev/urandom", "rb") as random:
        length = len(random.read(7))
    socket.getaddrinfo("127.0.0.1", 80)
    return length, len(os.urandom(3))


def log_something(_):
    logging.getLogger("program").warning("something")


def use_memory(_):
    database = sqlite3.connect(":memory:")
    database.execute("create table t (x)")
    database.close()


def use_a_pipe(_):
    reading, writing = os.pipe()
    with open(writing, "wb") as file:
        file.write(b"through")
    with open(reading, "rb") as file:
        return file.read().decode()


HARMLESS = (
    read_file,
    look_around,
    import_lately,
    use_null,
    ask_system,
    log_something,
    use_memory,
    use_a_pipe,
)


@pytest.mark.parametrize("kind", AWAY)
@pytest.mark.parametrize("act", HARMLESS, ids=lambda act: act.__name__)
def test_what_changes_nothing_outside_stays_in_a_worker(kind, act, tmp_path):
    # GIVEN
    (tmp_path / "imported_lately.py").write_text("answer = 42")
    sys.modules.pop("imported_lately", None)
    expected = json.loads(json.dumps(act(tmp_path)))
    sys.modules.pop("imported_lately", None)
    shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
    outside.note_changes()
    outside._changed.clear()  # that was the program's

    with server_of(kind, lambda: act(tmp_path)) as server:
        # WHEN
        answer = server.get("/")

        # THEN
        assert (200, {"done": expected}) == (answer.status, json.loads(answer.body))
        assert server.sent_away()
    compiled = (tmp_path / "__pycache__").exists()
    assert compiled is (act is import_lately and not sys.dont_write_bytecode)


@pytest.mark.parametrize("kind", AWAY)
def test_a_handler_that_is_marked_in_the_source_may_do_it_anywhere(kind, place):
    with server_of(kind, lambda: append(place), Mark(trust=True)) as server:
        # WHEN
        server.get("/")

        # THEN
        assert server.sent_away()
    assert place.count == 1


@pytest.mark.parametrize("kind", FORKED)
def test_a_descriptor_that_only_the_loops_process_has_is_no_error(kind, tmp_path):
    """In workers and fronts it was closed; in the program it is open."""
    (tmp_path / "file").write_text("0123456789")
    descriptor = os.open(tmp_path / "file", os.O_RDONLY)

    try:
        with server_of(kind, lambda: os.pread(descriptor, 3, 2).decode()) as server:
            says = "runs on the loop thread: it uses a file or a socket that only the"
            with expect_log("txloop", says):
                answers = [server.get("/") for _ in range(3)]
    finally:
        os.close(descriptor)

    assert [b'{"done": "234"}'] * 3 == [answer.body for answer in answers]


@pytest.mark.parametrize("kind", AWAY)
def test_code_beside_attempts_is_not_stopped(kind, place):
    with server_of(kind, lambda: read_file(place)) as server:
        # GIVEN a process in which attempts are watched
        server.get("/")

        # WHEN
        append(place)
        thread = threading.Thread(target=append, args=(place,))
        thread.start()
        thread.join()

    # THEN
    assert place.count == 2


# Votes in a file


class Vote(RequestHandler):
    def get(self, name):
        with open(self.settings["votes"]) as file:
            votes = json.loads(file.read())
        votes[name] = votes.get(name, 0) + 1
        with open(self.settings["votes"], "w") as file:
            file.write(json.dumps(votes))
        self.write(votes)


Vote.__txloop_mark__ = Mark("commit", vouched=False)  # type: ignore[attr-defined]


@pytest.mark.parametrize("away", [None, "away=1"])
@pytest.mark.parametrize("kind", ["stock", "serial", *AWAY])
def test_two_hundred_votes_at_once_all_count(kind, away, tmp_path, monkeypatch):
    # GIVEN
    file = tmp_path / "votes.json"
    file.write_text("{}")
    make = functools.partial(Application, [("/(.*)", Vote)], votes=str(file))
    logs = ExitStack()
    if away is not None:
        monkeypatch.setenv(VARIABLE, away)
        if kind != "stock":
            logs.enter_context(expect_log("txloop", "^faults happen on purpose"))
    if kind in AWAY:
        stopped = r"^GET Vote runs on the loop thread: .*get\(\) writes .*; "
        logs.enter_context(expect_log("txloop", stopped))

    with logs, serving(kind, make) as server:
        # WHEN
        requests = [Request("GET", f"/{number % 7}") for number in range(200)]
        answers = server.fetch_together(requests)

    # THEN
    assert {200} == {answer.status for answer in answers}
    votes = json.loads(file.read_text())
    assert {str(n): len(range(n, 200, 7)) for n in range(7)} == votes
    sums = [sum(json.loads(answer.body).values()) for answer in answers]
    assert list(range(1, 201)) == sorted(sums)

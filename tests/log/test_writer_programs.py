"""The log as a program's user meets it: PYPYSTM, pipes, forks, the end, a live page."""

from __future__ import annotations

import os
import subprocess
import time

import pytest

import conflict_log
from conflict_log.following import Follower
from tests.scripts import run_script, running_script
from txloop import TxConfigurationError, install
from txloop.stmlog.c7_format import HEADER
from txloop.stmlog.process_log import Hub

pytestmark = pytest.mark.slow

TEN_TRANSACTIONS = """
    import asyncio
    import txloop

    counter = txloop.TVar(0)

    def count():
        counter.value += 1

    async def main():
        for _ in range(10):
            await txloop.atomically(count)

    txloop.install(workers=2)
    asyncio.run(main())
    print(counter.value)
"""


UNTIL_TOLD = """
    import asyncio
    import pathlib
    import txloop

    counter = txloop.TVar(0)

    def count():
        counter.value += 1

    async def main():
        print("port 0", flush=True)
        while not pathlib.Path("enough").exists():
            await txloop.atomically(count)
        for _ in range(10):
            await txloop.atomically(count)
        print("done")

    txloop.install(workers=2)
    asyncio.run(main())
"""


def test_pypystm_names_the_log(tmp_path):
    # WHEN
    ended = run_script(tmp_path, TEN_TRANSACTIONS, PYPYSTM="stm.log")

    # THEN
    assert (0, ["10"], "") == (ended.exit_code, ended.lines, ended.errors)
    report = conflict_log.load(tmp_path / "stm.log")
    assert 10 == report.totals.commits
    assert not report.notes


def test_the_serial_executor_has_one_worker(tmp_path):
    # WHEN the log is written at the program's end only
    ended = run_script(
        tmp_path, TEN_TRANSACTIONS, PYPYSTM="stm.log", TXLOOP_EXECUTOR="serial"
    )

    # THEN
    assert 0 == ended.exit_code
    report = conflict_log.load(tmp_path / "stm.log")
    assert (10, 1) == (report.totals.commits, len(report.workers))


def test_a_full_disk_does_not_stop_the_program(tmp_path):
    # WHEN
    ended = run_script(tmp_path, TEN_TRANSACTIONS, PYPYSTM="/dev/full")

    # THEN
    assert (0, ["10"]) == (ended.exit_code, ended.lines)
    assert 1 == ended.errors.count("ends here: No space left on device")


def test_a_reader_that_dies_does_not_stop_the_program(tmp_path):
    # GIVEN one that reads the log's first bytes only
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    # WHEN
    with (
        subprocess.Popen(["head", "-c16", str(pipe)], stdout=-1) as reader,
        running_script(tmp_path, UNTIL_TOLD, PYPYSTM="pipe") as program,
    ):
        read, _ = reader.communicate()
        (tmp_path / "enough").touch()
        ended = program.wait()

    # THEN
    assert HEADER == read
    assert (0, ["port 0", "done"]) == (ended.exit_code, ended.lines)
    assert 1 == ended.errors.count("ends here: Broken pipe"), ended.errors


FORKS = """
    import asyncio
    import os
    import tornado.process
    import txloop

    counter = txloop.TVar(0)

    def count():
        counter.value += 1

    async def main():
        for _ in range(10):
            await txloop.atomically(count)

    txloop.install(executor="processes", workers=1)
    tornado.process.fork_processes(2, max_restarts=0)
    asyncio.run(main())
"""


def test_forked_processes_write_files_of_their_own(tmp_path):
    # WHEN
    run_script(tmp_path, FORKS, PYPYSTM="stm.log+")

    # THEN
    names = {one.name for one in tmp_path.iterdir()} - {"script.py"}
    assert 2 == len(names)
    assert all(one.startswith("stm.log.fork") for one in names)
    for name in names:
        assert 10 == conflict_log.load(tmp_path / name).totals.commits


def test_forked_processes_write_nothing_unasked(tmp_path):
    # WHEN
    ended = run_script(tmp_path, FORKS, PYPYSTM="stm.log")

    # THEN
    assert {"script.py"} == {one.name for one in tmp_path.iterdir()}
    assert 2 == ended.errors.count("writes no log")


FORKS_AT_ONCE = """
    import asyncio
    import os
    import sys
    import txloop

    counter = txloop.TVar(0)

    def count():
        counter.value += 1

    async def main():
        for _ in range(10):
            await txloop.atomically(count)
            if os.fork() == 0:
                sys.exit()
            os.wait()

    txloop.install(executor="serial")
    asyncio.run(main())
"""


def test_a_fork_of_a_logged_program_does_not_touch_its_log(tmp_path):
    # WHEN children end in the ordinary way, with what is not written yet
    ended = run_script(tmp_path, FORKS_AT_ONCE, PYPYSTM="stm.log")

    # THEN
    assert 0 == ended.exit_code, ended.errors
    report = conflict_log.load(tmp_path / "stm.log")
    assert (10, ()) == (report.totals.commits, tuple(report.notes))


RELOADS = """
    import asyncio
    import os
    import tornado.autoreload
    import txloop

    counter = txloop.TVar(0)

    def count():
        counter.value += 1

    async def main():
        for _ in range(10 if "AGAIN" in os.environ else 5):
            await txloop.atomically(count)
        if "AGAIN" not in os.environ:
            os.environ["AGAIN"] = "1"
            os.rename("stm.log", "first.log")
            tornado.autoreload._reload()

    txloop.install(executor="processes", workers=1)
    asyncio.run(main())
"""


def test_a_program_that_is_loaded_anew_begins_a_new_log(tmp_path):
    # WHEN
    ended = run_script(tmp_path, RELOADS, PYPYSTM="stm.log")

    # THEN
    assert 0 == ended.exit_code, ended.errors
    assert 5 == conflict_log.load(tmp_path / "first.log").totals.commits
    assert 10 == conflict_log.load(tmp_path / "stm.log").totals.commits


REQUESTS = """
    import asyncio
    import tornado.httpclient
    import tornado.httpserver
    import tornado.netutil
    import tornado.web
    import txloop
    from txloop import stmlog

    @txloop.transactional
    class CountHandler(tornado.web.RequestHandler):
        def initialize(self, hits):
            self.hits = hits

        def get(self):
            before = self.hits["all"]
            sum(range(200_000))
            self.hits["all"] = before + 1

    async def main():
        hits = txloop.TDict(all=0)
        application = tornado.web.Application([("/", CountHandler, {"hits": hits})])
        server = tornado.httpserver.HTTPServer(application)
        (socket,) = tornado.netutil.bind_sockets(0, "127.0.0.1")
        server.add_sockets([socket])
        url = "http://127.0.0.1:%d/" % socket.getsockname()[1]
        client = tornado.httpclient.AsyncHTTPClient()
        await client.fetch(url)
        stmlog.keep(minutes=1)
        while not txloop.stats().aborts:
            await asyncio.gather(*[client.fetch(url) for _ in range(20)])
        await asyncio.sleep(0.7)
        print(hits["all"] - 1)
        with open("recent.log", "wb") as file:
            file.write(stmlog.recent())

    txloop.install(executor="processes", workers=2)
    asyncio.run(main())
"""


def test_a_running_application_has_its_last_minutes_in_memory(tmp_path):
    # WHEN it asks for that after its workers were forked
    ended = run_script(tmp_path, REQUESTS)

    # THEN
    assert 0 == ended.exit_code, ended.errors
    report = conflict_log.load(tmp_path / "recent.log")
    (counted,) = map(int, ended.lines)
    assert (counted, ()) == (report.totals.commits, tuple(report.notes))
    lost = [one for one in report.losses if one.aborts]
    assert lost
    for one in lost:
        assert one.victim is not None
        assert one.culprit is not None
        assert ("script.py", "get") == (one.victim.file, one.victim.function)
        assert "GET CountHandler" == one.victim.handler == one.culprit.handler
        assert "hits['all']" == one.victim.cell


GOES_ON = """
    import asyncio
    import sys
    import txloop

    counter = txloop.TVar(0)

    def count():
        counter.value += 1

    async def main():
        print("port 0", flush=True)
        for _ in range(2):
            await txloop.atomically(count)
        await asyncio.Event().wait()

    txloop.install(workers=2)
    asyncio.run(main())
"""


def test_a_log_can_be_followed_while_it_is_written(tmp_path):
    # GIVEN
    follower = Follower(str(tmp_path / "stm.log"))

    # WHEN a program goes on, with nothing to do
    with running_script(tmp_path, GOES_ON, PYPYSTM="stm.log"):
        report, deadline = follower.look(), time.monotonic() + 10
        while report is None or report.totals.commits < 2:
            assert time.monotonic() < deadline, "it was not written"
            time.sleep(0.01)
            report = follower.look()
        follower.close()


def test_nobody_kept_anything():
    assert HEADER == Hub().recent(1)


def test_a_length_must_be_a_number():
    with pytest.raises(TxConfigurationError, match="log_bytes"):
        install(log="stm.log", log_bytes=0)

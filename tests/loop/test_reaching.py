"""How a program gets the loop: every way in, every way to run it."""

from __future__ import annotations

import pytest

from tests.programs import require_uvloop
from tests.scripts import run_script
from txloop.stm.threads import gil_enabled

pytestmark = pytest.mark.slow

WAYS_IN = {
    "install": 'txloop.install("processes", 2)',
    "configure by name": 'IOLoop.configure("txloop.TransactionIOLoop", '
    'executor="processes", workers=2)',
    "configure by class": "IOLoop.configure(txloop.TransactionIOLoop, "
    'executor="processes", workers=2)',
}

WAYS_TO_RUN = {
    "current": "IOLoop.current().run_sync(main)",
    "start": """
        loop = IOLoop.current()
        async def main_and_stop():
            try:
                await main()
            finally:
                loop.stop()
        loop.add_callback(main_and_stop)
        loop.start()
    """,
    "asyncio.run": "asyncio.run(main())",
    "asyncio.run, IOLoop made in it": """
        async def with_loop():
            IOLoop(make_current=False, asyncio_loop=asyncio.get_running_loop())
            await main()
        asyncio.run(with_loop())
    """,
    "main loop made in asyncio.run": """
        async def with_loop():
            AsyncIOMainLoop()
            await main()
        asyncio.run(with_loop())
    """,
    "new loop": "IOLoop().run_sync(main)",
    "new loop, not current": "IOLoop(make_current=False).run_sync(main)",
    "uvloop": """
        import uvloop
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(main())
    """,
    "uvloop policy": """
        import uvloop
        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
        IOLoop().run_sync(main)
    """,
}

PROGRAM = """\
import asyncio, os
import txloop
from tornado.ioloop import IOLoop
from tornado.platform.asyncio import AsyncIOMainLoop

def place():
    return os.getpid()

async def main():
    in_worker = await txloop.atomically(place) != os.getpid()
    kind = type(asyncio.get_running_loop()).__module__.partition(".")[0]
    stats = txloop.stats()
    ours = isinstance(IOLoop.current(), txloop.loop.ioloop.TransactionLoop)
    print(ours, in_worker, kind,
          stats.executor, stats.workers)

"""


def dedented(text):
    """Return lines that begin where the first one begins."""
    lines = text.strip("\n").splitlines()
    margin = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(line[margin:] for line in lines) + "\n"


@pytest.mark.parametrize("way_to_run", WAYS_TO_RUN)
@pytest.mark.parametrize("way_in", WAYS_IN)
def test_transactions_run_in_workers(way_in, way_to_run, tmp_path):
    if "uvloop" in way_to_run:
        require_uvloop()

    text = PROGRAM + WAYS_IN[way_in] + "\n" + dedented(WAYS_TO_RUN[way_to_run])
    ended = run_script(tmp_path, text)

    kind = "uvloop" if "uvloop" in way_to_run else "asyncio"
    assert (0, "") == (ended.exit_code, ended.errors)
    assert [f"True True {kind} processes 2"] == ended.lines


def test_asyncio_run_leaves_no_child(tmp_path):
    ended = run_script(
        tmp_path,
        PROGRAM
        + 'txloop.install("processes", 2)\n'
        + dedented(
            """
            from pathlib import Path
            def children():
                return Path("/proc/self/task/%d/children" % os.getpid()).read_text()
            for _ in range(3):
                asyncio.run(main())
                print(repr(children()))
            """
        ),
    )

    assert (0, "") == (ended.exit_code, ended.errors)
    assert ["True True asyncio processes 2", "''"] * 3 == ended.lines


def test_closing_the_loop_leaves_no_child(tmp_path):
    ended = run_script(
        tmp_path,
        PROGRAM
        + 'txloop.install("processes", 2)\n'
        + dedented(
            """
            from pathlib import Path
            loop = IOLoop()
            loop.run_sync(main)
            loop.close()
            print(repr(Path("/proc/self/task/%d/children" % os.getpid()).read_text()))
            """
        ),
    )

    assert ["True True asyncio processes 2", "''"] == ended.lines
    assert (0, "") == (ended.exit_code, ended.errors)


def test_a_program_that_just_ends_leaves_no_child(tmp_path):
    """The fixture that looks for processes after each test is the one who asserts."""
    text = PROGRAM + 'txloop.install("processes")\nIOLoop.current().run_sync(main)\n'

    ended = run_script(tmp_path, text)

    assert (0, "") == (ended.exit_code, ended.errors)


def test_configure_none_brings_stock_tornado_back(tmp_path):
    ended = run_script(
        tmp_path,
        """
        import asyncio, txloop
        from tornado.ioloop import IOLoop
        async def main():
            print(type(IOLoop.current()).__name__)
        print(type(IOLoop(make_current=False)).__name__)
        asyncio.run(main())
        txloop.install()
        asyncio.run(main())
        IOLoop.configure(None)
        asyncio.run(main())
        print(type(IOLoop(make_current=False)).__name__)
        """,
    )

    assert [
        "AsyncIOLoop",
        "AsyncIOMainLoop",
        "TransactionMainLoop",
        "AsyncIOMainLoop",
        "AsyncIOLoop",
    ] == ended.lines


def test_workers_started_early_serve_the_loop(tmp_path):
    """For a program that is about to start threads."""
    ended = run_script(
        tmp_path,
        PROGRAM
        + dedented(
            """
            import threading
            txloop.install("processes", 2)
            txloop.start_workers()
            threading.Thread(target=print, args=("a thread",)).start()
            asyncio.run(main())
            """
        ),
    )

    assert ["a thread", "True True asyncio processes 2"] == ended.lines
    assert (0, "") == (ended.exit_code, ended.errors)


def test_starting_workers_without_install_is_an_error(tmp_path):
    ended = run_script(tmp_path, "import txloop\ntxloop.start_workers()\n")

    assert 1 == ended.exit_code
    assert (
        "TxError: call txloop.install() before txloop.start_workers()" in ended.errors
    )


# Options


REPORT = """\
import asyncio, txloop
async def main():
    stats = txloop.stats()
    print(stats.executor, stats.workers)
{install}
asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("install", "environment", "expected"),
    [
        ("txloop.install()", {"TXLOOP_EXECUTOR": "serial"}, "serial 1"),
        (
            "txloop.install()",
            {"TXLOOP_EXECUTOR": "processes", "TXLOOP_WORKERS": "3"},
            "processes 3",
        ),
        ("txloop.install('processes')", {"TXLOOP_WORKERS": "3"}, "processes 3"),
        (
            "txloop.install('processes', 2)",
            {"TXLOOP_EXECUTOR": "serial", "TXLOOP_WORKERS": "3"},
            "processes 2",
        ),
        (
            "from tornado.ioloop import IOLoop\n"
            "IOLoop.configure('txloop.TransactionIOLoop')",
            {"TXLOOP_EXECUTOR": "serial"},
            "serial 1",
        ),
        (
            "txloop.install()",
            {"TXLOOP_EXECUTOR": "", "TXLOOP_WORKERS": ""},
            "processes" if gil_enabled() else "threads",
        ),
    ],
)
def test_the_environment_stands_in_for_options(
    install, environment, expected, tmp_path
):
    ended = run_script(tmp_path, REPORT.format(install=install), **environment)

    assert (0, "") == (ended.exit_code, ended.errors)
    assert ended.output.startswith(expected)


@pytest.mark.parametrize(
    ("install", "environment", "message"),
    [
        ("txloop.install('magic')", {}, "unknown executor 'magic'; there are: auto, "),
        (
            "txloop.install('process')",
            {},
            "unknown executor 'process'; did you mean 'processes'? There are: auto, ",
        ),
        ("txloop.install()", {"TXLOOP_EXECUTOR": "magic"}, "unknown executor 'magic'"),
        ("txloop.install(workers=0)", {}, "workers must be at least 1, got 0"),
        (
            "txloop.install(workers='2')",
            {},
            "workers must be an integer >= 1, not '2'",
        ),
        (
            "txloop.install()",
            {"TXLOOP_WORKERS": "x"},
            "TXLOOP_WORKERS must be an integer >= 1, not 'x'",
        ),
        (
            "txloop.install()",
            {"TXLOOP_WORKERS": "0"},
            "workers must be at least 1, got 0",
        ),
        (
            "txloop.install(order='random')",
            {},
            "unknown order 'random'; there are: completion, arrival",
        ),
        (
            "from tornado.ioloop import IOLoop\n"
            "IOLoop.configure('txloop.TransactionIOLoop', executor='magic')",
            {},
            "unknown executor 'magic'",
        ),
    ],
)
def test_a_bad_option_is_named(install, environment, message, tmp_path):
    ended = run_script(tmp_path, REPORT.format(install=install), **environment)

    assert (1, "") == (ended.exit_code, ended.output)
    [*_, line] = ended.errors.splitlines()
    assert line.startswith(f"txloop.errors.TxConfigurationError: {message}")


def test_installing_on_a_running_stock_loop_is_an_error(tmp_path):
    ended = run_script(
        tmp_path,
        """
        import asyncio, txloop
        from tornado.ioloop import IOLoop
        async def main():
            IOLoop.current()
            txloop.install()
        asyncio.run(main())
        """,
    )

    assert 1 == ended.exit_code
    assert (
        "TxError: there is a running IOLoop already, and it is a stock" in ended.errors
    )


def test_the_figures_of_a_stock_loop_are_an_error(tmp_path):
    ended = run_script(tmp_path, REPORT.format(install=""))

    assert (
        "TxError: the current IOLoop is a stock one; call txloop.inst" in ended.errors
    )


def test_an_unknown_option_is_refused(tmp_path):
    ended = run_script(tmp_path, REPORT.format(install="txloop.install(magic=1)"))

    assert "TypeError: install() got an unexpected keyword argument" in ended.errors

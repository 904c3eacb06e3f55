"""``python -m txloop``: the program finds what Python itself would give it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from txloop.__main__ import main

PROGRAM = """\
import json, sys
import beside
print(json.dumps([__file__, sys.argv, sys.path[0], __name__, __spec__ and __spec__.name,
    sys.modules["__main__"].__dict__ is globals(), beside.__file__,
    (lambda: 0).__code__.co_filename, "annotations" in globals()]))
"""

SERVER = """\
import tornado.testing, tornado.web, txloop
from tornado.httpclient import AsyncHTTPClient

count = txloop.TCounter()

class Raising(tornado.web.RequestHandler):
    def post(self):
        count.add()
        raise tornado.web.HTTPError(int(self.get_query_argument("status")))

@txloop.transactional
class Marked(Raising):
    pass

async def main():
    application = tornado.web.Application([("/r", Raising), ("/m", Marked)])
    socket, port = tornado.testing.bind_unused_port()
    tornado.httpserver.HTTPServer(application).add_socket(socket)
    client, answers = AsyncHTTPClient(), []
    for path in ("/r?status=200", "/r?status=500", "/m?status=500"):
        answer = await client.fetch(
            f"http://127.0.0.1:{port}{path}", method="POST", body="", raise_error=False
        )
        answers.append(answer.code)
    print(answers, count.value, txloop.stats().marked)

import asyncio
asyncio.run(main())
"""


WEB = """\
import asyncio, sys
from tornado.web import Application, RequestHandler

class Primes(RequestHandler):
    def get(self):
        self.write("primes")

async def main():
    for _ in range(2):
        Application([("/", Primes)]).listen(0, "127.0.0.1")
    for _ in range(2):
        await asyncio.sleep(0)
    if "check" in sys.argv:
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--transactional", "Prims"],
            "--transactional 'Prims' marks nothing: no "
            "handler has that name; did you mean 'Primes'?\n",
        ),
        (["--transactional", "Pr*", "--transactional", "__main__.*"], ""),
    ],
)
@pytest.mark.parametrize("command", [[], ["check"]])
def test_a_name_that_no_handler_has_is_spoken_of_once(
    command, arguments, said, tmp_path
):
    (tmp_path / "app.py").write_text(WEB)

    done = subprocess.run(
        [sys.executable, "-m", "txloop", *command, *arguments, "app.py", *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert done.stderr == (f"txloop: {said}" if command and said else said)


def test_a_variable_that_is_misspelt_is_spoken_of_once(tmp_path):
    (tmp_path / "app.py").write_text("import txloop\ntxloop.install()\n")
    variables = {"TXLOOP_WORKER": "2", "TXLOOPS_ELSE": "1"}

    done = subprocess.run(
        [sys.executable, "-m", "txloop", "app.py"],
        cwd=tmp_path,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )

    assert done.stderr == (
        "the variable TXLOOP_WORKER has no effect; did you mean TXLOOP_WORKERS?\n"
    )


def run(folder, *arguments, **variables):
    """Return what a program prints."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=40,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def fail(folder, *arguments, **variables):
    """Return the exit code of the command, and what it says of it."""
    done = subprocess.run(
        [sys.executable, "-m", "txloop", *arguments],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app.py").write_text(PROGRAM)
    (tmp_path / "beside.py").touch()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "link.py").symlink_to(tmp_path / "app.py")
    return tmp_path


@pytest.mark.parametrize(
    "given", ["app.py", "./app.py", "sub/../app.py", "sub/link.py", "absolute"]
)
def test_a_file_finds_what_python_gives_it(given, folder):
    file = str(folder / "app.py") if given == "absolute" else given
    expected = json.loads(run(folder, file, "--option", "1"))

    assert expected == json.loads(run(folder, "-m", "txloop", file, "--option", "1"))


def test_a_module_finds_what_python_gives_it(folder):
    expected = run(folder, "-m", "app", "--option")

    assert expected == run(folder, "-m", "txloop", "-m", "app", "--option")


@pytest.mark.parametrize(
    ("options", "count"), [([], 2), (["--on-error", "rollback"], 0)]
)
def test_what_an_exception_does_where_a_pattern_has_marked(options, count, tmp_path):
    """A mark in the source keeps its own."""
    (tmp_path / "app.py").write_text(SERVER)
    line = ["-m", "txloop", "--executor=serial", "--transactional=Raising", *options]

    printed = run(tmp_path, *line, "app.py")

    assert f"[200, 500, 500] {count} 3" == printed


@pytest.mark.slow
def test_variables_say_what_the_command_line_leaves_open(tmp_path):
    (tmp_path / "app.py").write_text(SERVER)
    variables = {
        "TXLOOP_TRANSACTIONAL": "Other, Raising",
        "TXLOOP_ON_ERROR": "rollback",
        "TXLOOP_DEBUG": "1",
    }

    printed = run(tmp_path, "-m", "txloop", "app.py", **variables)

    assert "[200, 500, 500] 0 3" == printed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variable", "text", "complaint"),
    [
        (
            "TXLOOP_ON_ERROR",
            "commits",
            "unknown TXLOOP_ON_ERROR 'commits'; did you mean 'commit'? There are: "
            "commit, rollback",
        ),
        ("TXLOOP_DEBUG", "on?", "TXLOOP_DEBUG must be 1 or 0, not 'on?'"),
        ("TXLOOP_WORKERS", "two", "TXLOOP_WORKERS must be an integer >= 1, not 'two'"),
    ],
)
def test_a_variable_that_says_nothing_known(variable, text, complaint, tmp_path):
    (tmp_path / "app.py").touch()

    ended = fail(tmp_path, "app.py", **{variable: text})

    assert (2, f"txloop: {complaint} (--help lists the options)\n") == ended


OWN = """\
import asyncio, txloop
async def main():
    stats = txloop.stats()
    print(stats.executor, stats.workers)
{own}
asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "own",
    [
        "txloop.install()",
        "txloop.install('serial', 2)",
        "from tornado.ioloop import IOLoop\n"
        "IOLoop.configure('txloop.TransactionIOLoop', workers=2)",
    ],
)
def test_the_command_counts_more_than_the_program(own, tmp_path):
    (tmp_path / "app.py").write_text(OWN.format(own=own))
    line = ["-m", "txloop", "--executor=processes", "--workers=3", "app.py"]

    printed = run(tmp_path, *line, TXLOOP_WORKERS="4")

    assert "processes 3" == printed


@pytest.mark.slow
def test_importing_txloop_asks_for_no_variable(tmp_path):
    printed = run(tmp_path, "-c", "import txloop; print(1)", TXLOOP_WORKERS="two")

    assert "1" == printed


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--executr=serial", "app.py"], "; did you mean --executor?"),
        (["shar", "app.py"], "there is no file shar; did you mean share?"),
        (["nothing.py"], "there is no file nothing.py"),
    ],
)
def test_a_slip_gets_a_hint(words, complaint, capsys):
    with pytest.raises(SystemExit) as left:
        main(words)

    assert 2 == left.value.code
    assert f"{complaint} (--help" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nosuch", "xml.nosuch", "json", "os.path.join"])
def test_a_module_that_is_not_there_gets_no_traceback(name, tmp_path):
    complaint = f"txloop: there is no module {name} to run (--help lists the options)\n"

    assert (2, complaint) == fail(tmp_path, "-m", name)


@pytest.mark.slow
def test_what_a_package_does_not_find_itself_gets_its_traceback(tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").write_text("import nosuch")
    (tmp_path / "shop" / "server.py").write_text("")

    _, printed = fail(tmp_path, "-m", "shop.server")

    assert "Traceback" in printed
    assert printed.endswith("No module named 'nosuch'\n")


OWN_LOG = """\
import asyncio, io, json, logging
from tornado.ioloop import IOLoop

class Page(logging.Handler):
    lines = []
    def emit(self, record):
        self.lines.append(record.getMessage())

text, page, ours = io.StringIO(), Page(), logging.getLogger("txloop")
logging.basicConfig(
    level=logging.INFO,
    format="%(message)s",
    handlers=[page, logging.StreamHandler(text)],
)

async def main():
    IOLoop.current()
    {more}
    logging.info("theirs")
    ours.{level}("ours")

asyncio.run(main())
print(json.dumps([page.lines, text.getvalue()]))
"""


@pytest.mark.parametrize(
    ("more", "level", "lines", "printed"),
    [
        ("pass", "info", ["theirs"], ""),
        ("pass", "warning", ["theirs"], "ours\n"),
        ("ours.setLevel('ERROR')", "warning", ["theirs"], ""),
        ("ours.disabled = True", "warning", ["theirs"], ""),
        (
            "logging.getLogger().addHandler(logging.StreamHandler())",
            "info",
            ["theirs"],
            "theirs\nours\n",
        ),
        ("ours.addHandler(page)", "info", ["theirs", "ours"], ""),
    ],
)
def test_a_program_finds_its_own_lines_in_its_log(
    more, level, lines, printed, tmp_path
):
    (tmp_path / "app.py").write_text(OWN_LOG.format(more=more, level=level))

    done = subprocess.run(
        [sys.executable, "-m", "txloop", "app.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert [lines, "theirs\n"] == json.loads(done.stdout)
    assert printed == done.stderr

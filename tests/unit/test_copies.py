"""Files that a program writes while it is looked at: only it sees what it did."""

from __future__ import annotations

import glob
import os
import pathlib
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

import pytest

from txloop.check.copies import Copies

FILES = {"a.txt": "a", "b.txt": "b", "folder/c.txt": "c", "folder/deep/d.txt": "d"}

LINES = {
    "nothing": "",
    "a new file": "open('new', 'w').write('x')",
    "one written again": "open('a.txt', 'w').write('x')",
    "one added to": "open('a.txt', 'a').write('x'); open('a.txt', 'a').write('y')",
    "one changed": "f = open('a.txt', 'r+'); f.write('x'); f.close()",
    "exclusively": "open('new', 'x').write('x')",
    "exclusively, and it is there": "open('a.txt', 'x')",
    "in a folder that is not there": "open('none/new', 'w')",
    "in one that is": "open('folder/new', 'w').write('x')",
    "by pathlib": "pathlib.Path('new').write_text('x'); pathlib.Path('b.txt').touch()",
    "by a descriptor": "os.close(os.open('new', os.O_CREAT | os.O_WRONLY))",
    "by bytes": "open(b'new', 'w').write('x'); found = os.listdir(b'folder')",
    "removed": "os.remove('a.txt')",
    "removed and made": "os.unlink('a.txt'); open('a.txt', 'w').write('x')",
    "made and removed": "open('new', 'w').close(); os.remove('new')",
    "removed twice": "os.remove('a.txt'); os.remove('a.txt')",
    "a folder removed": "os.remove('folder')",
    "a folder": "os.mkdir('new'); open('new/x', 'w').write('x')",
    "folders": "os.makedirs('new/one/two'); os.makedirs('folder/deep', exist_ok=True)",
    "a folder that is there": "os.mkdir('folder')",
    "one in none": "os.mkdir('none/new')",
    "a folder that is not empty": "os.rmdir('folder')",
    "one that is": "os.remove('folder/deep/d.txt'); os.rmdir('folder/deep')",
    "a tree removed": "shutil.rmtree('folder')",
    "a tree made again": "shutil.rmtree('folder'); os.mkdir('folder')",
    "no tree": "shutil.rmtree('none')",
    "no tree, ignored": "shutil.rmtree('none', ignore_errors=True)",
    "renamed": "os.rename('a.txt', 'new')",
    "renamed to one that is there": "os.replace('a.txt', 'b.txt')",
    "renamed twice": "os.rename('a.txt', 'new'); os.rename('new', 'a.txt')",
    "none renamed": "os.rename('none', 'new')",
    "renamed into none": "os.rename('a.txt', 'none/new')",
    "a folder renamed": "os.remove('folder/c.txt'); os.rename('folder', 'new')",
    "moved": "shutil.move('a.txt', 'folder')",
    "copied": "shutil.copy('a.txt', 'new'); shutil.copytree('folder', 'other')",
    "its mode": "os.chmod('a.txt', 0o600); mode = os.stat('a.txt').st_mode",
    "cut": "os.truncate('a.txt', 0); size = os.path.getsize('a.txt')",
    "a link": "os.symlink('a.txt', 'new'); open('new', 'a').write('x')",
    "a link to a folder": "os.symlink('folder', 'new'); open('new/x', 'w').write('x')",
    "a link that is there": "os.symlink('a.txt', 'b.txt')",
    "another name": "os.link('a.txt', 'new'); os.remove('a.txt')",
    "another name that is there": "os.link('a.txt', 'b.txt')",
    "in a folder of its own": "os.mkdir('new'); os.chdir('new'); open('x', 'w')",
    "in a temporary one": (
        "with tempfile.TemporaryDirectory(dir='.') as folder: open(folder + '/x', 'w')"
    ),
    "a database": (
        "c = sqlite3.connect('new'); c.execute('create table t(x)'); c.close()"
    ),
    "what is there": "found = [os.path.exists(x) for x in ('a.txt', 'no', 'folder')]",
    "by a pattern": (
        "open('z.txt', 'w'); os.remove('a.txt'); found = sorted(glob.glob('**/*.txt'))"
    ),
    "in memory": "sqlite3.connect(':memory:').close()",
    "devices": "open(os.devnull, 'w').write('x')",
}
NAMES = {
    "glob": glob,
    "os": os,
    "pathlib": pathlib,
    "shutil": shutil,
    "sqlite3": sqlite3,
    "tempfile": tempfile,
}


def fill(folder):
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def look(folder):
    """Return what a program finds in a folder."""
    found: dict[str, bytes | None] = {}
    for inside, folders, files in os.walk(folder):
        assert sorted(folders + files) == sorted(os.listdir(inside))
        for name in folders:
            found[os.path.relpath(os.path.join(inside, name), folder)] = None
        for name in files:
            path = os.path.join(inside, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


def outcome(folder, line):
    """Return what a line does, with what is in the folder then."""
    names = dict(NAMES)
    at = os.getcwd()
    os.chdir(folder)
    try:
        exec(line, names)
        error = None
    except OSError as failed:
        error = type(failed), failed.errno
    finally:
        os.chdir(at)
    told = [one for name, one in names.items() if name in ("found", "mode", "size")]
    return error, told, look(folder)


@pytest.fixture
def copies():
    copies = Copies()
    yield copies
    copies.remove()


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.parametrize("case", LINES)
def test_the_program_sees_what_it_did_and_nothing_was_done(case, copies, tmp_path):
    stock, home = tmp_path / "stock", tmp_path / "home"
    for folder in (stock, home):
        folder.mkdir()
        fill(folder)
    before = look(home)

    expected = outcome(stock, LINES[case])
    with copies.used():
        done = outcome(home, LINES[case])

    assert expected == done
    assert before == look(home)


def test_a_database_has_what_was_in_it(copies, tmp_path):
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as real:
        real.execute("create table t(x)")
    real.close()

    with copies.used():
        seen = sqlite3.connect(path)
        with seen:
            seen.execute("insert into t values (1)")
        found = seen.execute("select * from t").fetchall()
        seen.close()
    real = sqlite3.connect(path)
    left = real.execute("select * from t").fetchall()
    real.close()

    assert [(1,)] == found
    assert [] == left


@pytest.mark.skipif(sys.platform == "win32", reason="it forks")
def test_a_process_that_is_forked_sees_and_makes_the_same_copies(copies, tmp_path):
    with copies.used():
        (tmp_path / "one").write_text("1")
        child = os.fork()
        if child == 0:
            (tmp_path / "two").write_text((tmp_path / "one").read_text())
            copies.remove()
            os._exit(0)
        os.waitpid(child, 0)
        found = (tmp_path / "two").read_text()

    assert "1" == found
    assert [] == list(Path(tmp_path).iterdir())


def test_a_large_file_is_written_itself(copies, tmp_path, monkeypatch):
    monkeypatch.setattr("txloop.check.copies._LARGEST_BYTES", 3)
    large = tmp_path / "large"
    large.write_text("four")

    with copies.used(), large.open("a") as file:
        file.write("!")

    assert "four!" == large.read_text()

"""`conflict-log` as people type it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from conflict_log.command_line import main
from tests.log.conftest import CASES
from tests.log.writing import Log
from tests.scripts import ROOT


def expected(name: str) -> str:
    return (CASES / f"expected/{name}.out").read_text()


def test_a_file_alone_means_report(cases, capsys):
    assert 0 == main(["c8_story_n16.stm"])

    printed = capsys.readouterr().out
    assert "54% of the busy time was lost" in printed
    assert "src/app.py:7 in get" in printed
    assert "counter.hits += 1" in printed
    assert "-> count with a txloop.TCounter" in printed


def test_the_verdict_comes_before_the_tables(cases, capsys):
    main(["report", "c8_story_n16.stm"])

    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("The workers were idle 67% of the time. 54% of")
    assert "up to 1.70x faster" in " ".join(" ".join(lines[1:3]).split())


def test_in_a_pipe_there_is_no_colour(cases):
    command = [sys.executable, "-m", "conflict_log", "c7_threads.stm.gz"]

    plain = subprocess.run(
        command, capture_output=True, check=True, env={"PYTHONPATH": str(ROOT)}
    ).stdout
    coloured = subprocess.run(
        [*command, "--color", "always"],
        capture_output=True,
        check=True,
        env={"PYTHONPATH": str(ROOT), "TERM": "xterm"},
    ).stdout

    assert b"\x1b" not in plain
    assert b"\x1b[" in coloured


def test_what_is_not_shown_is_summed_up(cases, capsys):
    main(["c7_threads.stm.gz", "--top", "4"])

    assert "in 22 more rows (--top 0 shows all)" in capsys.readouterr().out


def test_all_rows(cases, capsys):
    main(["c7_threads.stm.gz", "--top", "0"])

    assert "more rows" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("by", "label"),
    [
        ("line", "src/app.py:9 in get"),
        ("pair", "src/app.py:9 <- src/app.py:7"),
        ("handler", "GET /primes/:n"),
        ("cell", "Counter.hits"),
        ("thread", "worker 2"),
        ("kind", "write-read"),
    ],
)
def test_groupings(cases, capsys, by, label):
    assert 0 == main(["c7_txloop_option_a.stm", "--by", by])

    assert label in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["--kind", "inevitable"],
        ["--file", "no_such.py"],
        ["--handler", "POST /nowhere"],
    ],
)
def test_filters_say_what_they_leave_out(cases, capsys, words):
    main(["c7_txloop_option_a.stm", *words])

    printed = capsys.readouterr().out
    assert "No conflicts" in printed
    assert "write-read" not in printed


def test_a_filter_keeps_what_fits(cases, capsys):
    main(["c8_story_n16.stm", "--kind", "write-read", "--file", "app.py"])

    printed = capsys.readouterr().out
    assert "src/app.py:7" in printed
    assert "src/app.py:11" not in printed
    assert "left out by the filters" in printed


def test_hostile_markers_do_not_reach_the_terminal(tmp_path, capsys):
    evil = 'File "a\x1b[31m\u202e.py", line 1, in \r\nf'
    log = Log().start(0).put(1, 1, 3, evil, "[bold]").abort(2)

    main([log.save(tmp_path)])

    printed = capsys.readouterr().out
    assert "a\\x1b[31m\\u202e.py:1 in \\r\\nf" in printed
    assert "\x1b" not in printed
    assert "[bold]" in printed


def test_damage_is_noted(cases, capsys):
    assert 0 == main(["c7_corrupt_event.stm"])

    assert "19 bytes at 35 are no events" in capsys.readouterr().out


def test_compat_prints_bytes(cases, capfdbinary):
    assert 0 == main(["--compat", "c7_blog.stm.gz"])

    assert expected("c7_blog.stm").encode() == capfdbinary.readouterr().out


def test_compat_takes_the_number_of_rows(cases, capfdbinary):
    assert 0 == main(["report", "--compat", "--top", "15", "c8_threads.stm.gz"])

    assert expected("c8_threads.stm").encode() == capfdbinary.readouterr().out


def test_compat_notes_where_pypys_tool_crashes(cases, capfd):
    assert 0 == main(["--compat", "c8_conflict_last.stm"])

    assert "a conflict at the last moment" in capfd.readouterr().err


def test_the_source_root(cases, tmp_path, capsys, monkeypatch):
    """A log from another machine: its files are found below a folder by their ends."""
    (tmp_path / "project/pkg").mkdir(parents=True)
    (tmp_path / "project/pkg/mod.py").write_text("total += 1\n")
    log = Log().start(0).put(1, 1, 3, 'File "<rv/pkg/mod.py", line 1, in f').abort(2)

    main([log.save(tmp_path), "--source-root", str(tmp_path / "project")])

    assert "total += 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["no_such.stm"], 3, "no_such.stm: No such file or directory"),
        (["reports", "c7_blog.stm.gz"], 3, "did you mean the command report?"),
        (["bad_magic.stm"], 3, "bad_magic.stm: not an stm.log"),
        (["zero_bytes.stm"], 3, "zero_bytes.stm: an empty file"),
        (["c7_blog.stm.gz", "--numbering", "n11"], 3, "not written as n11"),
        (["export", "c7_blog.stm.gz"], 2, "export needs --format or --output"),
        (["export", "c7_blog.stm.gz", "-o", "x.pdf"], 2, "does not say which format"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(cases, capsys, words, code, message):
    assert code == main(words)

    printed = capsys.readouterr()
    assert message in printed.err
    assert 1 == len(printed.err.splitlines())
    assert "" == printed.out


@pytest.mark.parametrize(
    "words", [[], ["report"], ["c7_blog.stm.gz", "--by", "colour"]]
)
def test_wrong_words_are_refused_in_a_line(cases, capsys, words):
    with pytest.raises(SystemExit) as ended:
        main(words)

    assert 2 == ended.value.code
    assert 1 == len(capsys.readouterr().err.splitlines())


def test_without_rich_there_is_a_hint(cases, capsys, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    assert 2 == main(["c7_blog.stm.gz"])
    assert "pip install 'txloop[log]'" in capsys.readouterr().err


def test_export_to_a_file_is_chosen_by_its_suffix(cases):
    assert 0 == main(["export", "c8_story_n16.stm", "-o", "out.json"])

    document = json.loads((cases / "out.json").read_text())
    assert ("conflict-log", 1) == (document["format"], document["version"])
    assert 31 == document["totals"]["commits"]

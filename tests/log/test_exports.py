"""What other programs get."""

from __future__ import annotations

import csv
import json

import pytest

from conflict_log import load
from conflict_log.errors import UsageError
from conflict_log.exports import EXPORTS, export, format_of
from conflict_log.sources import Sources
from conflict_log.summary import summarize
from tests.log.writing import Log


def exported(name: str, path: str) -> str:
    sources = Sources()
    return export(name, summarize(load(path), sources, top=0), sources)


@pytest.fixture
def hostile(tmp_path):
    """Return a log whose markers are made to break out of any format."""
    evil = '</script><script>alert(1)</script>=cmd|"x",;\n::error::%0A\x1b[0m'
    log = Log().start(0).put(1, 1, 3, f'File "{evil}", line 3, in f', evil).abort(2)
    return log.save(tmp_path)


def test_json_holds_everything_and_adds_up(cases):
    document = json.loads(exported("json", "c7_threads.stm.gz"))

    totals = document["totals"]
    lost = totals["aborted_ns"] + sum(totals["paused_ns"].values())
    assert lost == sum(one["lost_ns"] for one in document["rows"])
    assert lost == sum(one["lost_ns"] for one in document["losses"])
    assert ["c7_threads.stm.gz"] == [one["path"] for one in document["sources"]]


def test_csv_has_a_line_for_each_row(cases):
    text = exported("csv", "c8_story_n16.stm")

    rows = list(csv.DictReader(text.splitlines()))
    assert ["src/app.py:7", "src/app.py:11", "(no line) no free worker"] == [
        row["label"] for row in rows
    ]
    assert "203000000" == rows[0]["lost_ns"]
    assert "counter.hits += 1" == rows[0]["source"]


def test_no_cell_of_the_csv_is_a_formula(tmp_path):
    log = Log().start(0).put(1, 1, 3, "=1+1").abort(2)

    rows = list(csv.DictReader(exported("csv", log.save(tmp_path)).splitlines()))

    assert "'=1+1" == rows[0]["label"]


def test_speedscope_has_three_profiles_of_the_same_weight(cases):
    document = json.loads(exported("speedscope", "c7_threads.stm.gz"))

    frames = document["shared"]["frames"]
    totals = load("c7_threads.stm.gz").totals
    for profile in document["profiles"]:
        assert ("sampled", "nanoseconds") == (profile["type"], profile["unit"])
        assert totals.lost_ns == sum(profile["weights"]) == profile["endValue"]
        assert len(profile["samples"]) == len(profile["weights"])
        assert all(one < len(frames) for stack in profile["samples"] for one in stack)
    assert 3 == len(document["profiles"])


def test_collapsed_stacks_have_a_number_at_the_end(cases):
    lines = exported("collapsed", "c8_story_n16.stm").splitlines()

    assert "write-read;get (src/app.py:7) 203000" == lines[0]


def test_chrome_slices_nest_and_hold_the_time_of_the_report(cases):
    document = json.loads(exported("chrome", "c8_threads.stm.gz"))

    slices = [one for one in document["traceEvents"] if one["ph"] == "X"]
    report = load("c8_threads.stm.gz")
    waited = sum(one["dur"] for one in slices if one["cat"] == "wait")
    assert report.totals.waiting_ns / 1000 == pytest.approx(waited)
    assert report.totals.aborts == sum(1 for one in slices if one["name"] == "aborted")
    inside = [one for one in slices if one["cat"] == "transaction"]
    for wait in [one for one in slices if one["cat"] == "wait"][:200]:
        for one in inside:
            if one["tid"] == wait["tid"] and one["ts"] < wait["ts"]:
                end = one["ts"] + one["dur"]
                assert (
                    end <= wait["ts"] + 0.01 or end >= wait["ts"] + wait["dur"] - 0.01
                )


def test_github_annotations(cases):
    lines = exported("github", "c8_story_n16.stm").splitlines()

    assert lines[0].startswith("::warning file=src/app.py,line=7,title=203 ms lost")
    assert 2 == len(lines)  # what has no line is no annotation


def test_quickfix(cases):
    lines = exported("quickfix", "c8_story_n16.stm").splitlines()

    assert lines[0].startswith("src/app.py:7: 203 ms lost to conflicts here")


@pytest.mark.parametrize("name", EXPORTS)
def test_hostile_markers_break_no_format(hostile, name):
    text = exported(name, hostile)

    assert "\x1b" not in text.replace("\\u001b", "")
    if name in {"json", "speedscope", "chrome"}:
        json.loads(text)
    elif name == "html":
        assert "<script>alert" not in text
    elif name in {"github", "quickfix", "collapsed"}:
        assert 1 == len(text.splitlines())
    else:
        assert 2 == len(list(csv.reader(text.splitlines())))


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.json", "json"),
        ("a.speedscope.json", "speedscope"),
        ("a.trace.json", "chrome"),
        ("a.html", "html"),
        ("a.folded", "collapsed"),
    ],
)
def test_the_suffix_names_the_format(path, name):
    assert name == format_of(path)


def test_a_suffix_may_name_none():
    with pytest.raises(UsageError, match="does not say which format"):
        format_of("a.pdf")


def test_the_page_is_one_file_and_shows_source(cases):
    text = exported("html", "c8_story_n16.stm")

    assert "counter.hits += 1" in text
    assert "count with a txloop.TCounter" in text
    assert "http" not in text.replace("http-equiv", "")
    assert "src=" not in text

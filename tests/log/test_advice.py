"""Every rule fires on what it is for, and on nothing else that is here."""

from __future__ import annotations

import operator
import re

import pytest

import txloop
from conflict_log import formats, load, rows
from conflict_log.advice import RULES, Evidence, advise, pairs_of
from conflict_log.sources import Sources, Text
from conflict_log.summary import summarize
from tests.log.writing import Log

INEVITABLE, WRITE_WRITE, WRITE_READ = (
    formats.INEVITABLE,
    formats.WRITE_WRITE,
    formats.WRITE_READ,
)

# What stands in the log, what stands in the source, and the rule that must fire.
LINES = [
    (INEVITABLE, "self._start_time = time.time()", "clock"),
    (INEVITABLE, "now = datetime.now()", "clock"),
    (INEVITABLE, "start = time.perf_counter_ns()", "clock"),
    (INEVITABLE, "digest = hashlib.sha1(body)", "pure"),
    (INEVITABLE, "etag = self.compute_etag()", "pure"),
    (INEVITABLE, "key = random.choice(keys)", "random"),
    (INEVITABLE, "name = uuid4()", "random"),
    (INEVITABLE, "print(x)", "output"),
    (INEVITABLE, "sys.stderr.write(msg)", "output"),
    (INEVITABLE, "logging.info('here')", "output"),
    (INEVITABLE, "with open(name) as file:", "output"),
    (INEVITABLE, "reply = self.socket.recv(10)", "output"),
    (WRITE_WRITE, "counter.hits += 1", "counter"),
    (WRITE_READ, "stats[name] += size", "counter"),
    (WRITE_WRITE, "self.queue.append(item)", "list"),
    (WRITE_READ, "job = jobs.popleft()", "list"),
    (WRITE_READ, "walls = [list(row) for row in self.rows]", "everything"),
    (WRITE_READ, "total = sum(accounts.values())", "everything"),
    (WRITE_WRITE, "best = max(best, cost)", None),
    (WRITE_READ, "if key not in cache:", "cache"),
    (WRITE_READ, "cache[key] = compute(key)", "cache"),
    (WRITE_WRITE, "node.seen = True", "same value"),
    (WRITE_READ, "if self.settings.debug:", "settings"),
    (WRITE_WRITE, "table[key] = value", "keys"),
    (WRITE_WRITE, "names.add(name)", "keys"),
    (WRITE_WRITE, "self.place = place", None),
    (INEVITABLE, "self.place = place", None),
]


def evidence(log: Log, folder, *texts: Text) -> Evidence:
    report = load(log.save(folder))
    return Evidence(rows(report)[0], texts, report, pairs_of(report))


def name_of(found: Evidence) -> str | None:
    rule = advise(found)
    return rule.name if rule else None


def conflict(kind: int, marker: str = 'File "app.py", line 7, in get') -> Log:
    log = Log().start(0).put(9, 1, kind, marker).abort(10)
    return log.start(10).commit(20)


@pytest.mark.parametrize(("kind", "line", "rule"), LINES)
def test_rules_that_look_at_the_source(tmp_path, kind, line, rule):
    found = evidence(conflict(kind), tmp_path, Text(line))

    assert rule == name_of(found)


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        (WRITE_WRITE, "self._start_time = time.time()"),
        (WRITE_WRITE, "print(x)"),
        (INEVITABLE, "counter.hits += 1"),
        (INEVITABLE, "if key not in cache:"),
    ],
)
def test_a_rule_is_for_its_kind_only(tmp_path, kind, line):
    found = evidence(conflict(kind), tmp_path, Text(line))

    assert None is name_of(found)


def test_inevitable_from_the_first_line_on(tmp_path):
    found = evidence(conflict(INEVITABLE), tmp_path, Text("self.load()", first=True))

    assert "first instruction" == name_of(found)


def test_the_first_line_of_a_function_is_seen_in_the_source(tmp_path):
    source = "class H:\n    def get(self):\n\n        self.load()\n        self.go()\n"
    (tmp_path / "app.py").write_text(source)
    log = conflict(INEVITABLE, 'File "app.py", line 4')

    (entry,) = summarize(load(log.save(tmp_path)), Sources([tmp_path])).entries

    assert entry.text == Text("self.load()", first=True)
    assert entry.rule is not None
    assert "first instruction" == entry.rule.name


@pytest.mark.parametrize("file", ["/usr/lib/_weakrefset.py", "re.py", "x/ioloop.py"])
def test_hot_spots_of_libraries(tmp_path, file):
    log = conflict(WRITE_READ, f'File "{file}", line 70, in add')

    assert "library" == name_of(evidence(log, tmp_path))


def test_a_file_that_only_ends_like_a_library_is_none(tmp_path):
    log = conflict(WRITE_READ, 'File "mystore.py", line 70, in add')

    assert None is name_of(evidence(log, tmp_path))


def test_two_lines_that_abort_one_another(tmp_path):
    here, there = 'File "a.py", line 1, in f', 'File "b.py", line 2, in g'
    log = Log().start(0).put(1, 1, WRITE_WRITE, here, there).abort(2)

    assert None is name_of(evidence(log, tmp_path))

    log.start(2).put(3, 1, WRITE_WRITE, there, here).abort(4)

    assert "both directions" == name_of(evidence(log, tmp_path))


def test_one_that_reads_everything_is_told_so_first(tmp_path):
    here, there = 'File "a.py", line 1, in f', 'File "b.py", line 2, in g'
    log = Log().start(0).put(1, 1, WRITE_READ, here, there).abort(2)
    log.start(2).put(3, 1, WRITE_READ, there, here).abort(4)

    found = evidence(log, tmp_path, Text("total = sum(d.values())"), Text("d[k] -= 1"))

    assert "everything" == name_of(found)


@pytest.mark.parametrize(
    ("theirs", "rule"),
    [("self.words[w] = n + x", "everything"), ("self.words.set(n + x)", None)],
)
def test_a_container_that_is_written_as_it_is_was_read_whole(tmp_path, theirs, rule):
    one, other = (f'File "a.py", line {line}, in f {{words}}' for line in (1, 2))
    log = Log().start(0).put(1, 1, WRITE_READ, one, other).abort(2)

    found = evidence(log, tmp_path, Text("self.write(self.words)"), Text(theirs))

    assert rule == name_of(found)


def test_different_keys_of_one_container(tmp_path):
    one, other = (f'File "a.py", line 1, in f {{grid[{key}]}}' for key in (3, 4))
    log = Log().start(0).put(1, 1, WRITE_WRITE, one, other).abort(2)

    assert "keys" == name_of(evidence(log, tmp_path))


@pytest.mark.parametrize(
    ("ours", "theirs", "rule"),
    [
        ("grid[0:256]", "grid[3]", "capacity"),
        ("", "grid[0:256]", "capacity"),
        ("grid[2]", "grid[3]", "keys"),
        ("grid[:]", "grid[:]", None),
        ("ages['ann']", "ages['ann']", "one key"),
        ("ages['ann']", "", "one key"),
    ],
)
def test_so_much_read_that_a_range_counts_as_read(tmp_path, ours, theirs, rule):
    one, other = (
        f'File "a.py", line 1, in f {{{cell}}}' if cell else ""
        for cell in (ours, theirs)
    )
    log = Log().start(0).put(1, 1, WRITE_READ, one, other).abort(2)

    assert rule == name_of(evidence(log, tmp_path))


def test_what_the_log_itself_says_counts_more_than_the_source(tmp_path):
    """The other side's line looks like a value that is set again and again."""
    marker = 'File "a.py", line 1, in f {grid[0:80]}'
    log = Log().start(0).put(1, 1, WRITE_READ, marker, 'File "a.py", line 2').abort(2)

    found = evidence(log, tmp_path, Text("row = grid[:]"), Text("grid[x] = 0"))

    assert "capacity" == name_of(found)


def test_long_attempts_that_lose_against_short_ones(tmp_path):
    log = Log().start(0).put(90, 1, WRITE_WRITE, 'File "a.py", line 1').abort(100)
    for at in range(100, 200, 10):
        log.start(at).commit(at + 10)

    assert "long" == name_of(evidence(log, tmp_path))


def test_no_free_worker(tmp_path):
    log = Log().wait(0, 10, formats.WAIT_FREE).start(10).commit(20)

    assert "workers" == name_of(evidence(log, tmp_path))


@pytest.mark.parametrize(("until", "rule"), [(10, "barrier"), (2, None)])
def test_a_round_whose_workers_wait_for_the_longest(tmp_path, until, rule):
    log = Log().start(0).commit(0.1).wait(0.1, until, formats.WAIT_SYNC_PAUSE)
    log.start(until).commit(20)

    assert rule == name_of(evidence(log, tmp_path))


def test_every_rule_is_tested():
    """The names above, and those of the tests of their own."""
    named = {rule for _, _, rule in LINES if rule}
    named |= {"first instruction", "library", "both directions", "long", "workers"}
    named |= {"capacity", "one key"}

    assert {one.name for one in RULES} == named | {"barrier"}


def test_nothing_to_gain_is_said_first(tmp_path):
    log = Log().start(0).commit(99).start(99).put(99.5, 1, WRITE_WRITE, "x").abort(100)
    log.start(400).commit(401)

    summary = summarize(load(log.save(tmp_path)), Sources())

    assert "not worth tuning" in summary.verdict
    assert "idle 75% of the time" in summary.verdict


def test_waits_without_a_line_are_not_something_to_fix(tmp_path):
    log = Log().wait(0, 5, formats.WAIT_FREE).start(5).commit(20)

    summary = summarize(load(log.save(tmp_path)), Sources())

    assert summary.verdict == (
        "25% of the busy time was lost; without its waits (no free worker) this would"
        " be up to 1.33x faster."
    )


def test_a_log_without_transactions_has_a_verdict_too(cases):
    summary = summarize(load("c8_no_transactions.stm"), Sources())

    assert "was lost, all of it at " in summary.verdict


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_advice_names_what_is_there(rule):
    for name in re.findall(r"\btxloop((?:\.\w+)+)", rule.advice):
        assert operator.attrgetter(name[1:])(txloop) is not None

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.__main__ import main, make_parser
from bench.errors import WrongAnswerError

ROOT = Path(__file__).parents[2]


def fail(arguments, capsys):
    """Return exit code and stderr of a run that must not begin."""
    with pytest.raises(SystemExit) as left:
        main(arguments)
    captured = capsys.readouterr()
    assert captured.out == ""
    return left.value.code, captured.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "CASE"),
        (["nonsense"], "invalid choice: 'nonsense'"),
        (["hello", "--nonsense"], "unrecognized arguments: --nonsense"),
        (["hello", "--seconds", "0"], "must be at least 1"),
        (["hello", "--clients", "many"], "invalid positive value: 'many'"),
        (["hello", "--latency-percent", "101"], "must be at most 100"),
        (["hello", "--only", "stock,unicorn"], "hello has no 'unicorn', only: stock"),
        (["hello", "--json", "/nowhere/at/all.json"], "cannot write /nowhere"),
        (["hello", "--plot", "."], "cannot write ."),
        (["hello", "--number", "5"], "unrecognized arguments: --number"),
        (["primes", "--number", "50001"], "above the limit of 50000"),
        (["primes", "--number", "-1"], "not a whole number"),
        (["astar", "--load", "siege"], "unrecognized arguments: --load siege"),
        (["astar", "--walls", "99"], "walls must be 0..50"),
        (["primes", "--python", "python-none"], "there is no Python python-none"),
        (["primes", "--python", "/bin/false"], "/bin/false cannot serve: exit code 1"),
        (["cells", "--repeat", "0"], "must be at least 1"),
        (["cells", "--json", "/nowhere/at/all.json"], "cannot write /nowhere"),
        (["cells", "--workers", "2"], "unrecognized arguments: --workers 2"),
        (["transaction", "--pieces", "0"], "must be at least 1"),
        (["sum", "--json", "/nowhere/at/all.json"], "cannot write /nowhere"),
        (["channels", "--clients", "2"], "unrecognized arguments: --clients 2"),
        (["memory", "--workers", "1"], "must be at least 2"),
        (["light", "--connections", "0"], "must be at least 1"),
        (["light", "--requests", "read,write"], "no request 'write', only: read, add"),
        (["bodies", "--fronts", "0"], "must be at least 1"),
        (["primes", "--fronts", "2"], "unrecognized arguments: --fronts 2"),
    ],
)
def test_bad_options_are_one_line_and_exit_code_2(arguments, message, capsys):
    code, error = fail(arguments, capsys)

    assert code == 2
    assert message in error
    assert error.count("\n") == 1
    assert error.startswith("bench")


@pytest.mark.parametrize(
    ("missing", "needed"), [("rich", "bench"), ("matplotlib", "plots")]
)
def test_a_missing_package_is_one_line_and_exit_code_2(
    missing, needed, capsys, monkeypatch
):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name: None if name == missing else find_spec(name),
    )

    code, error = fail(["hello", "--plot", "plot.svg"], capsys)

    assert code == 2
    file = f"requirements/{needed}.txt"
    assert (ROOT / file).is_file()
    assert error == f"bench: {missing} is missing: pip install -r {file}\n"


def test_siege_can_be_insisted_on(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    code, error = fail(["hello", "--load", "siege"], capsys)

    assert (2, "bench: siege is not installed\n") == (code, error)


def test_a_case_has_its_own_defaults():
    options = make_parser().parse_args(["blocking"])

    assert (16, 64, 50) == (options.workers, options.clients, options.sleep)


def test_help_lists_the_cases(capsys):
    with pytest.raises(SystemExit) as left:
        main(["--help"])

    assert left.value.code == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "primes CPU-bound requests" in words


@pytest.mark.slow
@pytest.mark.timeout(300)  # on PyPy a server warms up for 75 s
def test_a_run_without_siege_prints_nothing_but_the_table(tmp_path):
    result = tmp_path / "result.json"
    quick = "--only stock --seconds 1 --repeat 1 --clients 2 --latency-seconds 1"

    finished = subprocess.run(
        [sys.executable, "-m", "bench", "hello", *quick.split(), "--json", str(result)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": str(tmp_path)},
    )

    assert (0, "") == (finished.returncode, finished.stderr)
    lines = finished.stdout.splitlines()
    assert lines[2].startswith("| implementation | req/s |")
    assert lines[4].startswith("| stock ")
    assert "because siege is not installed, 2 clients" in finished.stdout
    document = json.loads(result.read_text())
    assert document["rows"][0]["ratio"] == 1.0
    assert document["measurements"][0]["latency"]["requests"] > 0


@pytest.mark.slow
@pytest.mark.timeout(300)  # on PyPy a server warms up for 75 s
def test_a_case_with_a_load_of_its_own_checks_every_answer(capsys, tmp_path):
    result = tmp_path / "result.json"
    quick = "--only stock --seconds 1 --repeat 1 --clients 3 --width 20 --height 20"

    code = main(["astar", *quick.split(), "--json", str(result)])

    assert code == 0
    text = capsys.readouterr().out
    assert "the players of bench.astar (closed loop: 85 % move" in text
    assert "p50, p99:" not in text
    (measurement,) = json.loads(result.read_text())["measurements"]
    answers = measurement["checked"]["answers"]
    assert answers > measurement["throughput"]["transactions"] > 0
    cells = [cell.strip() for cell in text.splitlines()[4].split("|")]
    assert [str(answers), "0", "-"] == [cells[-5], *cells[-3:-1]]


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (WrongAnswerError("stock: wrong answer to /"), 1, "stock: wrong answer to /"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_a_run_that_fails_prints_no_table(error, code, message, capsys, monkeypatch):
    def collect(*_):
        raise error

    monkeypatch.setattr("bench.__main__.collect", collect)

    returned = main(["hello", "--load", "builtin"])

    assert code == returned
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (f"bench: {message}\n" if message else "")

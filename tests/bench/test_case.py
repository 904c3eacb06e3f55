from __future__ import annotations

import subprocess
import sys

import pytest

from bench.case import case_names, load_application, load_case
from bench.errors import UsageError


@pytest.fixture(params=case_names())
def case(request):
    return load_case(request.param)


@pytest.fixture
def values(case):
    return {parameter.name: parameter.default for parameter in case.parameters}


def test_the_promised_cases_are_there():
    expected = "astar astar_paths blocking bodies contention counter hello kills log"

    more = "mixed order overload primes story"
    assert {*expected.split(), *more.split()} == set(case_names())


def test_a_case_is_named_after_its_file(case):
    assert case.name in case_names()


def test_a_case_compares_with_one_of_its_own(case):
    assert case.baseline in [one.name for one in case.competitors]


def test_every_application_of_a_case_can_be_found(case):
    for competitor in case.competitors:
        assert callable(load_application(f"{case.name}:{competitor.application}"))


def test_a_case_has_something_to_ask_and_to_check(case, values):
    assert all(path.startswith("/") for path in case.load(values))
    assert case.samples(values)


def test_samples_refuse_an_empty_answer(case, values):
    for sample in case.samples(values):
        try:
            right = sample.is_right(b"{}")
        except ValueError:
            right = False
        assert not right, sample.path


def test_competitors_are_selected_in_the_order_asked_for():
    case = load_case("primes")

    selected = case.select("txloop-processes, stock,txloop processes")

    assert ["txloop processes", "stock"] == [one.name for one in selected]


@pytest.mark.parametrize("name", ["primes", "astar", "mixed", "contention"])
def test_threads_are_compared_where_there_is_no_gil(name):
    case = load_case(name)

    with_gil, without = (
        [one.name for one in case.select(None, gil)] for gil in (True, False)
    )

    assert ["txloop threads"] == [one for one in without if one not in with_gil]


def test_threads_can_be_asked_for_anywhere():
    (selected,) = load_case("primes").select("txloop threads", gil=True)

    assert "txloop threads" == selected.name


@pytest.mark.parametrize("name", ["bodies", "hello"])
def test_fronts_are_set_beside_servers_without_them(name):
    case = load_case(name).with_fronts(2)

    told = {one.name: one.environment for one in case.competitors}
    (first, *_) = (one for one in load_case(name).competitors if "txloop" in one.name)
    assert {"TXLOOP_FRONTS": "0"} == told[first.name]
    assert {"TXLOOP_FRONTS": "2"} == told[f"{first.name} fronts 2"]
    assert {} == told["stock"] == told["prefork"]
    assert case.select(f"{first.name} fronts 2")


def test_without_a_word_on_fronts_the_environment_has_it():
    for one in load_case("bodies").competitors:
        assert {} == one.environment


def test_an_unknown_competitor_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match="no 'unicorn', only: stock, prefork"):
        load_case("hello").select("stock,unicorn")


def test_primes_refuses_a_number_that_the_server_would():
    with pytest.raises(UsageError, match="above the limit"):
        load_case("primes").load({"number": 10**6})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"width": 1}, "no map is 1 x 400"),
        ({"height": 10**6}, "no map is 400 x 1000000"),
        ({"walls": 51}, r"walls must be 0..50 percent, not 51"),
        ({"walls": -1}, r"walls must be 0..50 percent, not -1"),
    ],
)
def test_astar_refuses_a_map_that_is_none(fields, message):
    case = load_case("astar")
    defaults = {one.name: one.default for one in case.parameters}

    with pytest.raises(UsageError, match=message):
        case.load({**defaults, **fields})


@pytest.mark.parametrize("spec", ["nonsense:plain", "primes:nonsense", "primes"])
def test_an_unknown_application_is_refused(spec):
    with pytest.raises(UsageError, match=r"no case|no function"):
        load_application(spec)


STOCK_APPLICATIONS = """
    primes:plain primes:pool hello:plain astar:plain astar_paths:plain mixed:plain
    mixed:pool blocking:plain blocking:threads blocking:processes contention:plain
    overload:plain kills:plain
"""


@pytest.mark.slow
def test_what_txloop_is_compared_with_never_imports_it():
    program = (
        "import sys, bench.servers.stock, bench.servers.prefork\n"
        "from bench.case import load_application, load_case\n"
        "for spec in sys.argv[1:]:\n"
        "    case = load_case(spec.partition(':')[0])\n"
        "    values = {one.name: one.default for one in case.parameters}\n"
        "    load_application(spec)(1, values)\n"
        "    assert 'txloop' not in sys.modules, spec"
    )

    specs = STOCK_APPLICATIONS.split()
    assert not subprocess.run([sys.executable, "-c", program, *specs]).returncode

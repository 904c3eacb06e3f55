"""Public programs, which know nothing of txloop, with the loop swapped under them."""

from __future__ import annotations

import json
import random
import shutil

import pytest

from tests.programs import absent
from tests.unchanged.corpus import CORPUS, PROGRAMS, compare, missing, port_of
from tests.unchanged.running import Asked, running, wait_for

if not CORPUS.is_file():  # a clone alone has none
    pytest.skip("there is no folder of programs", allow_module_level=True)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

FORCED = {"plain": {}, "away": {"TXLOOP_FAULTS": "away=1"}}
OPTIONS = {"marked": "--transactional * --workers 2", "shared": "--auto --share"}
VOTES = 200
ORDERS = 3


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("stock")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("forced", FORCED)
def test_all_programs_answer_as_on_stock_tornado(forced, options, kept):
    # GIVEN
    programs = sorted(path for path in PROGRAMS.iterdir() if path.is_dir())
    needs = {program.name: missing(program) for program in programs}
    complete = [name for name, lacking in needs.items() if not lacking]
    assert complete
    variables = [f"{name}={value}" for name, value in FORCED[forced].items()]

    # WHEN
    code, printed = compare(
        kept,
        *complete,
        f"--options={OPTIONS[options]}",
        *(["--env", *variables] if variables else []),
    )

    # THEN
    assert code == 0, printed
    left_out = [
        f"{name} ({', '.join(sorted(lacking))})"
        for name, lacking in needs.items()
        if lacking
    ]
    if left_out:
        absent(f"not installed is what these need: {'; '.join(left_out)}")


@pytest.mark.parametrize("forced", FORCED)
def test_a_game_on_the_application_is_found_in_any_order_of_requests(
    forced, tmp_path, kept
):
    # GIVEN
    source = PROGRAMS / "p03_box"
    if lacking := missing(source):
        absent(f"{lacking} is not installed")
    spec = json.loads((source / "requests.json").read_text())
    chance = random.Random(3)
    for number in range(ORDERS):
        chance.shuffle(spec["requests"])
        shutil.copytree(source, tmp_path / f"order{number}")
        text = json.dumps({**spec, "requests": spec["requests"] * 2})
        (tmp_path / f"order{number}" / "requests.json").write_text(text)
    variables = [f"{name}={value}" for name, value in FORCED[forced].items()]

    # WHEN
    code, printed = compare(
        kept, "--root", str(tmp_path), *(["--env", *variables] if variables else [])
    )

    # THEN
    assert code == 0, printed


@pytest.mark.parametrize("forced", FORCED)
def test_votes_in_a_file_are_all_counted(forced, tmp_path):
    # GIVEN
    source = PROGRAMS / "p30_facemash"
    votes = tuple(Asked("GET", f"/?id={number % 3 + 1}") for number in range(VOTES))
    port = port_of(source)

    # WHEN
    with running(source, tmp_path, "processes", FORCED[forced], port) as program:
        wait_for(port)
        before = json.loads((program.folder / "votes.json").read_text())
        answers = program.ask_together(votes)
        after = json.loads((program.folder / "votes.json").read_text())

    # THEN
    assert {200} == {status for status, _ in answers}
    assert VOTES == sum(after.values()) - sum(before.values())

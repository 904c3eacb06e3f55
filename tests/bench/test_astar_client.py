"""The players, on a small game in the same process, and what is kept of its answers."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from contextlib import asynccontextmanager

import pytest
import tornado.httpserver
import tornado.netutil
import tornado.web

from bench.astar.check import check
from bench.astar.client import MIXES, make_request, play
from bench.astar.record import Answer, read_answers, write_answers
from bench.cases.astar import plain
from bench.errors import LoadError

SMALL = {"width": 12, "height": 9, "walls": 20, "seed": 3}


@asynccontextmanager
async def serving(application):
    application.settings["log_function"] = lambda _handler: None
    sockets = tornado.netutil.bind_sockets(0, "127.0.0.1")
    server = tornado.httpserver.HTTPServer(application)
    server.add_sockets(sockets)
    try:
        yield f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
    finally:
        server.stop()
        await server.close_all_connections()


def events_of(application):
    """Return the log of a game, as its server would."""
    from handlers.astar_requests import event_as_json

    (game,) = {
        rule.target_kwargs["game"]
        for rule in application.default_router.rules[0].target.rules
        if "game" in rule.target_kwargs
    }
    return [event_as_json(*numbered) for numbered in game.log.since(0)]


def played(application, mix="play", *, clients=4, seconds=0.5, seed="1"):
    async def run():
        async with serving(application) as url:
            return await play(
                url, MIXES[mix], clients=clients, seconds=seconds, seed=seed
            )

    return asyncio.run(run())


@pytest.mark.slow
def test_players_join_play_and_leave_and_all_of_it_is_recorded():
    application = plain(1, SMALL)

    result, answers = played(application)

    kinds = Counter(answer.kind for answer in answers)
    assert (4, 4) == (kinds["join"], kinds["leave"])
    assert kinds["move"] > 0
    assert result.failed == 0
    assert result.completed == len(answers) - 9  # and the first map
    assert result.elapsed_seconds >= 0.5
    assert [] == check(events_of(application), answers, json.loads(answers[0].body))


@pytest.mark.slow
def test_path_queries_change_nothing():
    application = plain(1, SMALL)

    _, answers = played(application, "paths")

    assert [] == events_of(application)
    assert {"map": 1, "path": len(answers) - 1} == Counter(
        answer.kind for answer in answers
    )
    assert [] == check([], answers, json.loads(answers[0].body))


@pytest.mark.slow
def test_players_of_one_seed_ask_for_the_same():
    """How far they come differs, and what they know of each other's walls."""
    runs = [played(plain(1, SMALL), clients=1, seed=seed)[1] for seed in "112"]

    asked = [
        [(one.kind, one.cell) for one in run if one.kind != "leave"] for run in runs
    ]
    length = min(map(len, asked))
    first, second, other = (requests[:length] for requests in asked)
    assert first == second
    assert first != other


class Refusing(tornado.web.RequestHandler):
    def get(self):
        self.write({"rows": [".."]})

    def post(self):
        self.set_status(409)


class Absent(Refusing):
    def get(self):
        self.set_status(500)


class HangingUp(Refusing):
    """Lets players in, and closes the connection when they ask for more."""

    def get(self):
        self.write({"rows": [".."], "version": 0})

    def post(self):
        if self.request.path != "/players":
            self.detach().close()
            return
        self.set_status(201)
        self.write({"id": 1, "at": [0, 0]})

    put = delete = post


@pytest.mark.parametrize(
    ("handler", "message"),
    [(Refusing, "a player could not join: 409"), (Absent, "no map: 500")],
)
def test_a_server_without_a_game_is_a_load_error(handler, message):
    with pytest.raises(LoadError, match=message):
        played(tornado.web.Application([("/.*", handler)]), clients=1)


def test_a_player_stops_when_an_answer_fails_to_come():
    application = tornado.web.Application([("/.*", HangingUp)])

    result, answers = played(application, "play", clients=1, seconds=60)

    assert (0, 1) == (result.completed, result.failed)
    assert [200, 201] == [answer.status for answer in answers[:2]]
    assert [0, 0] == [answer.status for answer in answers[-2:]]


def test_a_request_with_a_body_says_how_long_it_is():
    request = make_request("PUT", "/walls/1/2", {"tag": "a"})

    head, body = request.split(b"\r\n\r\n")

    assert head.startswith(b"PUT /walls/1/2 HTTP/1.1\r\n")
    assert b"Content-Length: %d" % len(body) in head
    assert {"tag": "a"} == json.loads(body)


ANSWERS = [
    Answer("map", 0.0, 0.5, 200, '{"version": 0}'),
    Answer("path", 1.0, 1.25, 200, "{}", start=(1, 2), cell=(3, 4)),
    Answer("move", 2.0, 2.5, 409, "", tag="ä", player="7", cell=(0, 0)),
]


def test_answers_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "answers.jsonl"

    write_answers(path, ANSWERS)

    assert ANSWERS == read_answers(path)


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"format": "txloop-bench"}\n')

    with pytest.raises(ValueError, match="does not hold answers"):
        read_answers(path)


def test_an_answer_is_shown_as_what_was_asked_for():
    shown = [str(answer) for answer in ANSWERS]

    assert ["map", "path from (1, 2) to (3, 4)", "move of player 7 to (0, 0) [ä]"] == (
        shown
    )

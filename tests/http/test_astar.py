"""The game over HTTP, on every executor."""

from __future__ import annotations

import math

import pytest

import handlers.astar
from handlers.astar_input import LONGEST_TAG
from tests.http.game import KEPT_EVENTS, game_server
from tests.logs import expect_log

# A room with one door, and a cell that nobody can get to.
ROOM = [
    "........",
    ".####.#.",
    ".#..#...",
    ".#....#.",
    ".####.##",
    "......#.",
]
PLACE = [5, 3]  # of player 1, who comes first


@pytest.fixture(scope="module")
def room(kind):
    """Serve the game that no test changes."""
    with game_server(kind, *ROOM) as server:
        server.join("the one")
        yield server


@pytest.fixture
def served(kind):
    """Serve a game of the test's own."""
    with game_server(kind, "......", "......", "......") as server:
        yield server


def refused(server, status, method, path, body=None):
    """Return the error of a request that is refused with that status."""
    with expect_log("tornado.access", f"^{status} {method} "):
        actual, answer = server.ask(method, path, body)
    assert status == actual
    assert list(answer) == ["error"]
    assert answer["error"]
    return answer["error"]


def test_everything_runs_in_parallel(room):
    room.ask("GET", "/map")
    room.ask("GET", "/path?from=0,0&to=1,0")
    room.ask("GET", "/events")

    assert {} == room.server.at_home()
    assert room.server.sent_away()


def test_the_map(room):
    expected = {
        "version": 1,
        "width": 8,
        "height": 6,
        "rows": ROOM,
        "players": {"1": PLACE},
    }
    assert expected == room.map()


@pytest.mark.parametrize(
    ("start", "goal", "straight", "diagonal"),
    [
        ("0,0", "7,0", 7, 0),
        ("0,0", "0,0", 0, 0),
        ("5,5", "5,2", 3, 0),
        ("2,2", "3,3", 0, 1),
        ("0,0", "2,2", 10, 1),
        ("7,0", "5,2", 4, 0),
    ],
)
def test_a_path(room, start, goal, straight, diagonal):
    status, answer = room.ask("GET", f"/path?from={start}&to={goal}")

    assert (200, 1) == (status, answer["version"])
    assert straight + diagonal * math.sqrt(2) == answer["cost"]
    assert straight + diagonal + 1 == len(answer["path"])
    ends = [list(map(int, end.split(","))) for end in (start, goal)]
    assert ends == [answer["path"][0], answer["path"][-1]]


@pytest.mark.parametrize(
    ("start", "goal"), [("0,0", "7,5"), ("1,1", "0,0"), ("0,0", "1,1"), ("1,1", "1,1")]
)
def test_no_path(room, start, goal):
    expected = {"path": None, "cost": None, "version": 1}
    assert (200, expected) == room.ask("GET", f"/path?from={start}&to={goal}")


HUGE = "9" * 5000
BAD_BODIES = [
    b"{",
    b"[]",
    b"null",
    b'"to"',
    b"\xff",
    b"[" * 50_000,
    b"1" * 5000,
]
BAD_GOALS = [
    None,
    [],
    [1],
    [1, 2, 3],
    ["1", "2"],
    [1.0, 2],
    [True, False],
    [None, 1],
    {"x": 1, "y": 2},
    "1,2",
    [-1, 0],
    [8, 0],
    [0, 6],
    [10**400, 0],
]
BAD_CELLS = [
    "",
    "1",
    "1,2,3",
    "a,b",
    "1.0,2",
    "-1,0",
    "8,0",
    "0,6",
    "+1,2",
    f"{HUGE},1",
]
BAD_TAGS = [1, True, ["a"], {"a": 1}, "a" * (LONGEST_TAG + 1)]


def bad_requests():
    """Return what to ask and the status of the answer."""
    for body in BAD_BODIES:
        yield 400, "POST", "/players", body
        yield 400, "POST", "/players/1/move", body
        yield 400, "PUT", "/walls/0/0", body
    yield 400, "POST", "/players/1/move", None
    for goal in BAD_GOALS:
        yield 400, "POST", "/players/1/move", {"to": goal}
    for tag in BAD_TAGS:
        yield 400, "POST", "/players", {"tag": tag}
        yield 400, "POST", "/players/1/move", {"to": [0, 0], "tag": tag}
        yield 400, "PUT", "/walls/0/0", {"tag": tag}
    long = "a" * (LONGEST_TAG + 1)
    yield 400, "DELETE", f"/walls/1/1?tag={long}", None
    yield 400, "DELETE", f"/players/1?tag={long}", None
    for cell in BAD_CELLS:
        yield 400, "GET", f"/path?from={cell}&to=0,0", None
        yield 400, "GET", f"/path?from=0,0&to={cell}", None
    for path in ("/path", "/path?from=0,0", "/path?to=0,0"):
        yield 400, "GET", path, None
    for cell in ("8/0", "0/6", "-1/0", "a/b", "1.0/1", "%D9%A3/1", f"{HUGE}/1"):
        yield 400, "PUT", f"/walls/{cell}", {}
        yield 400, "DELETE", f"/walls/{cell}", None
    for player in ("2", "0", "-1", "one", "01", "1.0", HUGE):
        yield 404, "POST", f"/players/{player}/move", {"to": [0, 0]}
        yield 404, "DELETE", f"/players/{player}", None
    for since in ("-1", "one", "1.5", "01", "2", HUGE):
        yield 400, "GET", f"/events?since={since}", None
    for path in ("/nothing", "/players/1/", "/walls/1", "/map/1"):
        yield 404, "GET", path, None
    for path in ("/map", "/path", "/events", "/players/1", "/walls/1/1"):
        yield 405, "POST", path, {}
    yield 405, "GET", "/players", None
    yield 405, "GET", "/players/1/move", None


@pytest.mark.slow
def test_what_makes_no_sense_is_refused_and_changes_nothing(room):
    before = room.map()

    wrong = [
        (wanted, answer)
        for status, *wanted in bad_requests()
        if (answer := refused_quietly(room, *wanted)) != (status, ["error"])
    ]

    assert [] == wrong
    assert before == room.map()


def refused_quietly(server, *wanted):
    """Return the status and the names in an answer that is an error."""
    with expect_log("tornado", "", count=None):
        status, answer = server.ask(*wanted)
    assert len(answer.get("error", "")) < 200
    return status, list(answer)


@pytest.mark.parametrize(
    ("method", "path", "body", "reason"),
    [
        ("PUT", "/walls/1/1", None, "there is a wall on 1,1 already"),
        ("DELETE", "/walls/0/0", None, "there is no wall on 0,0"),
        ("POST", "/players/1/move", {"to": [1, 1]}, "no path from {} to 1,1"),
        ("POST", "/players/1/move", {"to": [7, 5]}, "no path from {} to 7,5"),
        ("PUT", "/walls/{}/{}", None, "a player stands on {}"),
    ],
)
def test_what_the_map_does_not_allow_is_409_and_changes_nothing(
    room, method, path, body, reason
):
    before = room.map()
    x, y = PLACE

    error = refused(room, 409, method, path.format(x, y), body)

    assert reason.format(f"{x},{y}") == error
    assert before == room.map()


def test_a_game(served):
    player, place = served.join("I")
    other, other_place = served.join()
    goal = [0, 2] if place[0] > 2 else [5, 0]
    _, moved = served.ask("POST", f"/players/{player}/move", {"to": goal, "tag": "go"})
    free = next(
        [x, y] for x in range(6) for y in range(3) if [x, y] not in moved["path"]
    )
    built = served.ask("PUT", "/walls/{}/{}".format(*free), {"tag": "é\ud800</script>"})
    status, _ = served.ask("DELETE", "/walls/{}/{}?tag=%20off".format(*free))
    left = served.ask("DELETE", f"/players/{other}?tag=bye")

    assert (200, {"at": free, "wall": True}) == built
    assert (200, (204, {})) == (status, left)
    assert moved["path"][:2] == [list(place), moved["at"]]
    assert moved["path"][-1] == goal
    expected = [
        ("join", *place, player, "I"),
        ("join", *other_place, other, None),
        ("move", *moved["at"], player, "go"),
        ("build", *free, None, "é\ud800</script>"),
        ("destroy", *free, None, " off"),
        ("leave", *other_place, other, "bye"),
    ]
    names = ("kind", "x", "y", "player", "tag")
    assert [
        {"version": version, **dict(zip(names, event, strict=True))}
        for version, event in enumerate(expected, 1)
    ] == served.events()
    answer = served.map()
    assert (6, {str(player): moved["at"]}) == (answer["version"], answer["players"])


def test_a_full_map_takes_no_more_players(served):
    joined = served.ask_together(*[("POST", "/players")] * 18)

    assert {201} == {status for status, _ in joined}
    assert 18 == len({tuple(answer["at"]) for _, answer in joined})
    assert 18 == len({answer["id"] for _, answer in joined})
    assert "the map is full" == refused(served, 409, "POST", "/players")


def test_of_two_who_want_the_same_step_one_gets_it(served):
    """Every change at once; what came of it is what the log says."""
    players = [served.join()[0] for _ in range(8)]
    wanted = [
        ("POST", f"/players/{player}/move", {"to": [x, 1], "tag": f"{player} {x}"})
        for x in (0, 5, 2)
        for player in players
    ]
    wanted += [("PUT", f"/walls/{x}/1", {"tag": f"wall {x}"}) for x in range(6)]

    with expect_log("tornado.access", "^409 ", count=None):
        answers = served.ask_together(*wanted)

    assert {200, 409} == {status for status, _ in answers}
    events = served.events()
    done = {event["tag"] for event in events if event["tag"]}
    for (_, path, body), (status, answer) in zip(wanted, answers, strict=True):
        stayed = path.endswith("move") and status == 200 and len(answer["path"]) == 1
        assert (status == 200 and not stayed) == (body["tag"] in done)
    assert replayed(events, ["......"] * 3) == (
        served.map()["rows"],
        {int(player): tuple(at) for player, at in served.map()["players"].items()},
    )


def replayed(events, rows):
    """Return the map and the players after the events, none of which may be foul."""
    walls = {
        (x, y)
        for y, row in enumerate(rows)
        for x, cell in enumerate(row)
        if cell == "#"
    }
    players: dict[int, tuple[int, int]] = {}
    for event in events:
        at, player = (event["x"], event["y"]), event["player"]
        if event["kind"] in ("join", "move", "build"):
            assert at not in walls
            assert at not in players.values()
        if event["kind"] == "join":
            players[player] = at
        elif event["kind"] == "move":
            assert (
                max(abs(a - b) for a, b in zip(at, players[player], strict=True)) == 1
            )
            players[player] = at
        elif event["kind"] == "build":
            walls.add(at)
        elif event["kind"] == "destroy":
            walls.remove(at)
        else:
            assert players.pop(player) == at
    width = len(rows[0])
    shown = [
        "".join(".#"[(x, y) in walls] for x in range(width)) for y in range(len(rows))
    ]
    return shown, players


def test_old_events_are_gone(served):
    served.join()
    for number in range(KEPT_EVENTS):
        served.ask("PUT" if number % 2 == 0 else "DELETE", "/walls/0/0")

    error = refused(served, 410, "GET", "/events?since=0")

    assert "events up to 1 are gone; ask for the map" == error
    events = served.events(1)
    assert list(range(2, KEPT_EVENTS + 2)) == [event["version"] for event in events]
    assert KEPT_EVENTS + 1 == served.map()["version"]


def test_who_asks_for_the_next_event_waits_for_it(served):
    served.join()

    waited, _ = served.ask_together(
        ("GET", "/events?since=1"), ("PUT", "/walls/0/0", {"tag": "next"})
    )

    status, answer = waited
    assert 200 == status
    assert [(2, "build", "next")] == [
        (event["version"], event["kind"], event["tag"]) for event in answer["events"]
    ]


def test_after_a_while_of_waiting_there_are_no_events(kind, monkeypatch):
    monkeypatch.setattr(handlers.astar, "WAIT_SECONDS", 0.01)
    with game_server(kind, "...") as server:
        assert [] == server.events()


@pytest.mark.at_owner("it is not marked")
def test_the_page_comes_as_it_is(room):
    answer = room.server.get("/")

    assert 200 == answer.status
    assert "text/html; charset=UTF-8" == answer.header("Content-Type")
    page = answer.body.decode()
    assert "<title>txloop: the A* game</title>" in page
    assert "src=" not in page
    assert "innerHTML" not in page

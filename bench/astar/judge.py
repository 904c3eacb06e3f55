"""One answer against one version of the map: what is wrong with it."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import TYPE_CHECKING

from bench.astar.distances import DIAGONAL, FAR, STRAIGHT
from bench.astar.world import cell_of

if TYPE_CHECKING:
    from bench.astar.record import Answer, Cell
    from bench.astar.world import Event, Json, World

CONFLICT = 409
NOT_FOUND = 404
DONE = {
    "map": 200,
    "path": 200,
    "join": 201,
    "leave": 204,
    "move": 200,
    "build": 200,
    "destroy": 200,
}
"""The status of each kind of request when it was done."""

_ROUNDING = 1e-6


def judge_read(world: World, answer: Answer) -> str | None:
    """Return what is wrong with the answer to a read of this version, or None."""
    body = body_of(answer)
    if answer.kind == "map":
        return _judge_map(world, body)
    assert answer.start, "a path begins somewhere"
    assert answer.cell, "and ends somewhere"
    return _judge_path(world, answer.start, answer.cell, body)


def judge_change(world: World, answer: Answer, event: Event) -> str | None:
    """Return what is wrong with the answer to a change of this version, or None.

    That the event itself was possible is judged by the world.
    """
    if event.kind != answer.kind:
        return f"the log has another change: {event}"
    if answer.kind == "join":
        body = body_of(answer)
        return _differs(event, str(body["id"]), cell_of(body["at"]))
    if answer.kind == "move":
        return _judge_move(world, answer, event)
    if answer.kind == "leave":
        return _differs(event, answer.player, event.cell)
    return _differs(event, event.player, answer.cell)


def may_be_without_event(world: World, answer: Answer) -> bool:
    """Tell whether this version is a reason to answer a change without making it.

    That is the answer 409 or 404, or that of a player who is at the goal already. A
    refused move does not say which path it planned: any shortest path will do whose
    first step another player stands on.
    """
    if answer.status == DONE["move"]:
        return _may_stay(world, answer)
    if answer.status == NOT_FOUND:
        return answer.player is not None and answer.player not in world.players
    if answer.kind == "move":
        return _may_refuse_move(world, answer)
    cell = answer.cell
    if cell is None:
        return answer.kind == "join" and _is_full(world)
    if answer.kind == "build":
        return not world.grid.is_free(cell) or world.standing_on(cell) is not None
    return world.grid.is_free(cell)


def body_of(answer: Answer) -> Json:
    """Return the JSON object that was answered.

    Raises:
        ValueError: it was none.
    """
    body = json.loads(answer.body)
    if not isinstance(body, dict):
        raise ValueError("the answer is no JSON object")
    return body


def _judge_map(world: World, body: Json) -> str | None:
    for name, expected in world.snapshot().items():
        if body[name] != expected:
            return f"{name!r} is wrong for version {world.version}"
    return None


def _judge_path(world: World, start: Cell, goal: Cell, body: Json) -> str | None:
    path, cost = body["path"], body["cost"]
    if path is None:
        if cost is not None:
            return f"no path, and yet a cost of {cost}"
        shortest = world.distances.between(start, goal)
        return None if shortest == FAR else f"no path from {start}, but there is one"
    if not isinstance(path, list) or not isinstance(cost, int | float):
        return f"the path is {path!r}, its cost {cost!r}"
    cells = [cell_of(each) for each in path]
    if not cells or (cells[0], cells[-1]) != (start, goal):
        return f"the path does not lead from {start} to {goal}"
    costs = []
    for before, after in pairwise(cells):
        step = world.grid.step_cost(before, after)
        if step is None:
            return f"the path has a step from {before} to {after}, which is not allowed"
        costs.append(step)
    if not abs(_as_float(costs) - cost) <= _ROUNDING:  # also of NaN
        return f"the path costs {_as_float(costs)}, not {cost}"
    return _judge_length(world, start, goal, sum(costs))


def _judge_length(world: World, start: Cell, goal: Cell, cost: int) -> str | None:
    if not world.grid.is_free(start):
        return f"a path from {start}, where a wall is"
    if cost == world.distances.at_least(start, goal):
        return None
    shortest = world.distances.between(start, goal)
    if cost == shortest:
        return None
    return f"the path costs {cost / STRAIGHT:.6f}, a shorter {shortest / STRAIGHT:.6f}"


def _judge_move(world: World, answer: Answer, event: Event) -> str | None:
    body = body_of(answer)
    wrong = _differs(event, answer.player, cell_of(body["at"]))
    start = world.players.get(event.player or "")
    if wrong or start is None:
        return wrong or "there is no such player"
    assert answer.cell, "a move has a goal"
    wrong = _judge_path(world, start, answer.cell, body)
    if wrong or not isinstance(body["path"], list):
        return wrong or "moved without a path"
    step = cell_of(body["path"][1 if len(body["path"]) > 1 else 0])
    return None if step == event.cell else f"the path's first step is {step}: {event}"


def _may_stay(world: World, answer: Answer) -> bool:
    if answer.cell is None or world.players.get(answer.player or "") != answer.cell:
        return False
    at = list(answer.cell)
    body = body_of(answer)
    return (body.get("at"), body.get("path"), body.get("cost")) == (at, [at], 0)


def _may_refuse_move(world: World, answer: Answer) -> bool:
    start, goal = world.players.get(answer.player or ""), answer.cell
    if start is None or goal is None or start == goal:
        return False
    shortest = world.distances.between(start, goal)
    if shortest == FAR:
        return True
    for at in world.players.values():
        cost = world.grid.step_cost(start, at)
        if cost and cost + world.distances.between(at, goal) == shortest:
            return True
    return False


def _is_full(world: World) -> bool:
    return sum(world.grid.free) == len(set(world.players.values()))


def _differs(event: Event, player: str | None, cell: Cell | None) -> str | None:
    if (event.player, event.cell) == (player, cell):
        return None
    return f"player {player} at {cell} was answered, but the log has {event}"


def _as_float(costs: list[int]) -> float:
    diagonal = costs.count(DIAGONAL)
    return len(costs) - diagonal + diagonal * math.sqrt(2)

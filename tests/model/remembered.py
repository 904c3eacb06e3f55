"""Programs that failed once, shrunk, and some that must not be forgotten."""

from __future__ import annotations

from tests.strategies import Operation, Play, Program

__all__ = ["ADD", "OVERLAPPING", "REMEMBERED", "plays"]


def plays(*bodies: tuple[Operation, ...]) -> tuple[Play, ...]:
    return tuple(Play(body) for body in bodies)


ADD = Operation("add", "x")
LATE = (0, 0, 0, 0)  # all are called, then all begin, then all finish

LOST_UPDATE = Program(plays((ADD,), (ADD,)), schedule=LATE)
WRITE_SKEW = Program(
    plays(
        (Operation("read", "x"), Operation("add", "y")),
        (Operation("read", "y"), Operation("add", "x")),
    ),
    schedule=LATE,
)
PHANTOM = Program(
    plays(
        (Operation("len", ("d",)), Operation("set", ("e",), "a")),
        (Operation("len", ("e",)), Operation("set", ("d",), "a")),
    ),
    schedule=LATE,
)
PRESENCE = Program(
    plays(
        (Operation("in", ("d",), "a"), Operation("set", ("e",), "a")),
        (Operation("in", ("e",), "a"), Operation("set", ("d",), "a")),
    ),
    schedule=LATE,
)
REBORN_KEY = Program(
    plays(
        (
            Operation("delete", ("d",), "a"),
            Operation("set", ("d",), "c"),
            Operation("set", ("d",), "a"),
            Operation("keys", ("d",)),
        ),
        (Operation("read", "x"), Operation("len", ("d",)), Operation("keys", ("d",))),
    ),
    keys=("a", "b"),
    # The second one begins; in its first two pauses the first one runs and commits.
    schedule=(0, 0, 1, 0, 99, 99, 99, 99, 0),
)
UNMARKED_BETWEEN = Program(
    (Play((ADD,)), Play((ADD, ADD), direct=True), Play((ADD,))), schedule=(0, 1, 0, 0)
)
POPPED_LAST = Program(plays((Operation("popitem", ("d",)),)) * 2, keys=("a", "b"))
PHANTOM_ITEM = Program(
    plays(
        (Operation("get", ("l",), index=3), Operation("add", ("s",), value=5)),
        (Operation("in", ("s",), value=5), Operation("append", ("l",), value=7)),
    ),
    schedule=LATE,
)
SHIFTED_ITEM = Program(
    plays(
        (Operation("get", ("l",), index=1), Operation("set", ("o",), "x", 5)),
        (Operation("get", ("o",), "x"), Operation("insert", ("l",), index=0)),
    ),
    schedule=LATE,
)
LOST_COUNT = Program(
    plays(
        (Operation("get", ("n",)), Operation("pop", ("l",), index=0)),
        (Operation("get", ("l",), index=0), Operation("add", ("n",), value=1)),
    ),
    schedule=LATE,
)
BLIND = Program(
    plays(
        (Operation("append", ("l",), value=7), Operation("add", ("n",), value=1)),
        (Operation("append", ("l",), value=8), Operation("add", ("n",), value=2)),
        (Operation("add", ("s",), value=7), Operation("add", ("s",), value=8)),
    ),
    schedule=(0, 0, 0, 0, 0, 0),
)
NESTED_DEFAULT = Program(
    plays((Operation("setdefault nested", ("d",), "a"), Operation("items", ("d",)))) * 2
)


OVERLAPPING = [
    *(LOST_UPDATE, WRITE_SKEW, PHANTOM, PRESENCE),
    *(PHANTOM_ITEM, SHIFTED_ITEM, LOST_COUNT),
]

REMEMBERED = [
    *OVERLAPPING,
    *(REBORN_KEY, UNMARKED_BETWEEN, POPPED_LAST, NESTED_DEFAULT, BLIND),
]

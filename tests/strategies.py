"""Programs for property tests: lists of small operations, which shrink well."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

__all__ = ["Operation", "Play", "Program", "programs", "schedules"]

VARIABLES = ("x", "y")
DICTS = (("d",), ("e",), ("d", "a"), ("d", "b"))
KEYS = ("a", "b", "c")


@dataclass(frozen=True)
class Operation:
    """One step of a play.

    Attributes:
        what: Its name, as `tests.model.plays` performs it.
        where: A variable's name, or the path to a container.
        key: The key, for dicts; the attribute, for objects.
        value: What to store or to note down.
        index: The index, for lists.
    """

    what: str
    where: str | tuple[str, ...] = ()
    key: str = ""
    value: int = 0
    index: int = 0

    def __repr__(self) -> str:
        return f"Operation{self.what, self.where, self.key, self.value, self.index}"


@dataclass(frozen=True)
class Play:
    """The body of one transaction, and how it is called.

    Attributes:
        operations: What it does, in order.
        ordered: Whether it commits in the order of the calls.
        commits: Whether it commits even if it ends with an error.
        direct: Whether it is unmarked code instead, on the loop thread.
    """

    operations: tuple[Operation, ...]
    ordered: bool = False
    commits: bool = False
    direct: bool = False


@dataclass(frozen=True)
class Program:
    """Plays that overlap, on the same shared state.

    Attributes:
        plays: In the order of their calls.
        keys: What the dict ``d`` holds at first.
        schedule: Choices of what happens next, for the scripted executor.
    """

    plays: tuple[Play, ...]
    keys: tuple[str, ...] = ()
    schedule: tuple[int, ...] = field(default=())


values = st.integers(0, 3)
keys = st.sampled_from(KEYS)
dicts = st.sampled_from(DICTS)
variables = st.sampled_from(VARIABLES)

LIST_READS = ["get", "slice", "rest", "len", "bool", "last", "items", "in", "count"]
LIST_WRITES = [
    *("set", "add", "delete", "pop", "insert", "append", "extend", "put slice"),
    *("cut", "sort", "reverse", "clear", "swap", "nest", "append inside"),
]
SET_STEPS = [
    "in",
    "len",
    "items",
    "add",
    "discard",
    "remove",
    "update",
    "clear",
    "keep",
]

on_others = st.one_of(
    st.builds(
        Operation,
        st.sampled_from(LIST_READS + LIST_WRITES),
        st.just(("l",)),
        value=values,
        index=st.integers(-2, 4),
    ),
    st.builds(Operation, st.sampled_from(SET_STEPS), st.just(("s",)), value=values),
    st.builds(
        Operation,
        st.sampled_from(["get", "set", "add", "total", "equal", "delete"]),
        st.just(("o",)),
        st.sampled_from(["x", "y"]),
        values,
    ),
    st.builds(
        Operation, st.sampled_from(["add", "get", "set"]), st.just(("n",)), value=values
    ),
)

operations = st.one_of(
    on_others,
    st.builds(Operation, st.sampled_from(["read", "add"]), variables),
    st.builds(Operation, st.just("write"), variables, value=values),
    st.builds(
        Operation,
        st.sampled_from(["get", "in", "delete", "pop", "nest", "setdefault nested"]),
        dicts,
        keys,
    ),
    st.builds(
        Operation, st.sampled_from(["set", "setdefault", "update"]), dicts, keys, values
    ),
    st.builds(
        Operation,
        st.sampled_from(["len", "keys", "reversed", "items", "clear", "popitem"]),
        dicts,
    ),
    st.builds(Operation, st.just("alias"), st.just(("d",)), keys),
    st.builds(Operation, st.just("effect"), value=values),
    st.builds(Operation, st.just("raise")),
)


plays = st.builds(
    Play,
    st.lists(operations, min_size=1, max_size=6).map(tuple),
    ordered=st.sampled_from([False, False, True]),
    commits=st.booleans(),
    direct=st.sampled_from([False, False, False, False, True]),
)


schedules = st.lists(st.integers(0, 11), max_size=30).map(tuple)


def programs() -> st.SearchStrategy[Program]:
    """Return programs of a few plays."""
    return st.builds(
        Program,
        st.lists(plays, min_size=2, max_size=8).map(tuple),
        st.lists(keys, unique=True).map(tuple),
        schedules,
    )

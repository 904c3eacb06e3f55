"""What the client saw: one `Answer` for each request, and how they are kept in a file.

A file of answers is JSON lines: the first names the format, each other is one answer.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Cell = tuple[int, int]
"""A place on the map: x, y."""

Kind = Literal["map", "path", "join", "leave", "move", "build", "destroy"]

READS: frozenset[Kind] = frozenset({"map", "path"})

_FORMAT = {"format": "txloop-bench-answers", "version": 1}


@dataclass(frozen=True, slots=True)
class Answer:
    """One request and what came back.

    Attributes:
        kind: What was asked for; a change has the name of its event.
        sent: When the request was sent, by the clock of the client.
        received: When the answer was complete, or when the connection was lost.
        status: The HTTP status; `bench.connection.NO_ANSWER` where none came.
        body: The answer as it came.
        tag: What finds the change in the event log.
        player: Who moves or leaves.
        start: Where an asked path begins.
        cell: Where it or a move ends; where a wall is built or destroyed.
    """

    kind: Kind
    sent: float
    received: float
    status: int
    body: str
    tag: str | None = None
    player: str | None = None
    start: Cell | None = None
    cell: Cell | None = None

    def __str__(self) -> str:
        """Return the request in a few words, for a report."""
        words = [
            self.kind,
            f"of player {self.player}" if self.player else "",
            f"from {self.start}" if self.start else "",
            f"to {self.cell}" if self.cell else "",
            f"[{self.tag}]" if self.tag else "",
        ]
        return " ".join(word for word in words if word)


def write_answers(path: Path, answers: Iterable[Answer]) -> None:
    """Write the answers, in their order."""
    with path.open("w") as file:
        file.write(json.dumps(_FORMAT) + "\n")
        for answer in answers:
            file.write(json.dumps(asdict(answer)) + "\n")


def read_answers(path: Path) -> list[Answer]:
    """Return the answers of a file that `write_answers` wrote.

    Raises:
        ValueError: it is no such file.
    """
    with path.open() as file:
        if json.loads(file.readline()) != _FORMAT:
            raise ValueError(f"{path} does not hold answers")
        return [_answer(json.loads(line)) for line in file]


def _answer(fields: dict[str, object]) -> Answer:
    for name in ("start", "cell"):
        value = fields[name]
        if isinstance(value, list):
            fields[name] = tuple(value)
    return Answer(**fields)  # type: ignore[arg-type]  # as asdict took them apart

"""Stacks of two frames, victim and culprit, for flame graphs and speedscope."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from conflict_log.escaping import escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conflict_log.markers import Site
    from conflict_log.report import Loss
    from conflict_log.sources import Sources
    from conflict_log.summary import Summary

__all__ = ["to_collapsed", "to_speedscope"]


def to_collapsed(summary: Summary, _: Sources) -> str:
    """Return a line for each stack with the microseconds lost: for flamegraph.pl."""
    lost: Counter[str] = Counter()
    for loss in summary.report.losses:
        frames = [_name(one).replace(";", ",") for one in _by_victim(loss)]
        lost[";".join(frames)] += loss.lost_ns
    return "".join(
        f"{stack} {spent // 1000}\n" for stack, spent in lost.most_common() if spent
    )


def to_speedscope(summary: Summary, _: Sources) -> str:
    """Return three profiles: lost by victim, by culprit, by handler."""
    frames: dict[tuple[str, str | None, int | None], int] = {}

    def profile(
        name: str, stack_of: Callable[[Loss], Sequence[Site | str]]
    ) -> dict[str, object]:
        samples: list[list[int]] = []
        weights: list[int] = []
        for loss in summary.report.losses:
            if loss.lost_ns:
                keys = [_frame(one) for one in stack_of(loss)]
                samples.append([frames.setdefault(one, len(frames)) for one in keys])
                weights.append(loss.lost_ns)
        return {
            "type": "sampled",
            "name": name,
            "unit": "nanoseconds",
            "startValue": 0,
            "endValue": sum(weights),
            "samples": samples,
            "weights": weights,
        }

    profiles = [
        profile("lost by victim", _by_victim),
        profile("lost by culprit", _by_culprit),
        profile("lost by handler", _by_handler),
    ]
    document = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": escaped(summary.report.sources[0].path),
        "exporter": "conflict_log",
        "activeProfileIndex": 0,
        "shared": {"frames": [_described(*one) for one in frames]},
        "profiles": profiles,
    }
    return json.dumps(document) + "\n"


def _by_victim(loss: Loss) -> list[Site | str]:
    return [loss.kind, *filter(None, [loss.victim, loss.culprit])]


def _by_culprit(loss: Loss) -> list[Site | str]:
    return [loss.kind, *filter(None, [loss.culprit, loss.victim])]


def _by_handler(loss: Loss) -> list[Site | str]:
    sites = [one for one in (loss.victim, loss.culprit) if one]
    handlers = [one.handler for one in sites if one.handler] or ["(no handler)"]
    return [*handlers, *sites[:1]]


def _name(one: Site | str) -> str:
    if isinstance(one, str):
        return escaped(one)
    function = f"{one.function} " if one.function else ""
    return escaped(f"{function}({one.place})")


def _frame(one: Site | str) -> tuple[str, str | None, int | None]:
    if isinstance(one, str):
        return escaped(one), None, None
    return _name(one), escaped(one.file), one.line


def _described(name: str, file: str | None, line: int | None) -> dict[str, object]:
    if file is None:
        return {"name": name}
    return {"name": name, "file": file, "line": line}

"""All rounds: until nothing is left to share, and the program still starts."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from txloop.scan import Columns
from txloop.sharing.derived import container_classes
from txloop.sharing.origins import EVERYTHING
from txloop.sharing.rewriting import Round, is_all_shared
from txloop.sharing.survey import names_of, survey
from txloop.sharing.texts import read_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.sharing.changes import Change, Left
    from txloop.sharing.survey import Survey
    from txloop.sharing.texts import Text

__all__ = ["Plan", "make_plan"]

_MOST_ROUNDS = 6
_MOST_TRIED = 6
"""Up to this many changes are left out one by one, which costs a run each."""

_LONG_SECONDS = 2
"""A first look that took longer is told of: a few more follow."""


@dataclass
class Plan:
    """What becomes of a program.

    Attributes:
        before: What was found in the program as it is.
        after: What is found in it as it becomes.
        originals: Its modules' texts, by file.
        all_texts: Its modules.
        texts: Those that change.
        changes: What is changed.
        left: What is left alone, by name.
        live: Whether loops have to see what their bodies do to containers.
    """

    before: Survey
    after: Survey
    originals: dict[str, str] = field(default_factory=dict)
    all_texts: list[Text] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    left: dict[str, Left] = field(default_factory=dict)
    live: bool = False

    @property
    def failed(self) -> str:
        """Why it could not be looked at; "" if it could."""
        return self.before.failed

    def sources(self) -> dict[str, str]:
        """Return the new texts by file."""
        return {text.file: text.source for text in self.texts}

    def columns(self) -> dict[str, Columns]:
        """Return where their parts stand in the files, by file."""
        return {
            text.file: Columns(self.originals[text.file], text.source, text.came)
            for text in self.texts
        }


def make_plan(
    program: str,
    *,
    is_module: bool,
    prepare: Callable[[], None],
    tell: Callable[[str], None],
) -> Plan:
    """Find out what of a program can be shared; run it up to its loop for that.

    Args:
        program: A file or a module's name.
        is_module: Which of the two.
        prepare: Called in each child before it runs the program.
        tell: Called with what the user should know meanwhile.
    """

    def look(sources: dict[str, str]) -> Survey:
        return survey(program, is_module=is_module, sources=sources, prepare=prepare)

    begun = time.monotonic()
    before = look({})
    seconds = time.monotonic() - begun
    if seconds > _LONG_SECONDS:
        number = len({file for file, _, _ in before.modules})
        modules = "1 module" if number == 1 else f"{number} modules"
        told = f"looking for what can be shared in {modules}; the first look"
        tell(f"{told} took {seconds:.0f} s, a few more follow")
    if before.failed:
        return Plan(before, before)
    skipped: dict[str, str] = {}
    while True:
        plan = _rounds(before, look, skipped)
        new = [one for one in plan.changes if one.key not in skipped]
        if plan.after.failed:
            # A change of the last round keeps it from starting: try it without.
            if not new:
                return Plan(before, before, left=plan.left)
            new = new[-1:] if len(new) <= _MOST_TRIED else new
            why = "the program did not start with {} in its place"
            skipped |= {
                one.key: why.format(one.became.partition(":")[0]) for one in new
            }
            continue
        # A round hopes that what it stores in becomes a container in the next one.
        plain = names_of(plan.after.seeds, shared=False)
        plain -= names_of(plan.after.seeds, shared=True) | {EVERYTHING}
        new = [one for one in new if one.into and one.into <= plain]
        if not new:
            return plan
        skipped |= {one.key: one.became.partition(": ")[2] for one in new}


def _rounds(
    before: Survey, look: Callable[[dict[str, str]], Survey], skipped: dict[str, str]
) -> Plan:
    """Share what can be, round by round, but make no change of these keys."""
    names: dict[str, list[str]] = {}
    labels: dict[str, str] = {}
    for file, name, label in before.modules:
        names.setdefault(file, []).append(name)
        labels.setdefault(file, label)
    texts = [read_text(file, names[file], labels[file]) for file in names]
    plan = Plan(before, before, all_texts=texts)
    plan.originals = {text.file: text.source for text in texts}
    found = before
    for number in range(_MOST_ROUNDS):
        if is_all_shared(texts, found):
            break
        turn = Round(texts, found, skipped)
        if not number:
            # What methods do to the list that their object is, loops over that have
            # to see.
            plan.live = bool(container_classes(texts)) or turn.changes_in_loops
        changed = turn.run()
        plan.left |= turn.left
        if not changed:
            break
        plan.changes += turn.changes
        for one in turn.changes:
            plan.left.pop(one.name, None)
        plan.texts = [t for t in texts if t.source != plan.originals[t.file]]
        found = plan.after = look(plan.sources())
        if found.failed:
            break
    still = {one.name for one in found.seeds}
    for name, left in [*plan.left.items()]:
        if name not in still and not left.held:
            del plan.left[name]
    return plan

"""``python -m txloop share``: prints what would change and why; or changes it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

from txloop.sharing.hook import import_rewritten
from txloop.sharing.planning import make_plan
from txloop.sharing.written import as_written, with_marks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from txloop.sharing.planning import Plan
    from txloop.sharing.survey import Survey
    from txloop.sharing.texts import Text

__all__ = ["EXIT_CODES", "Wanted", "run_shared", "share_program"]

EXIT_CODES = (
    "share ends with 0, or 2 if the program cannot be looked at, or a file may not be "
    "written."
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to become of the changes.

    Attributes:
        write: Whether to write them into the files.
        force: Whether to write files with changes that are not committed to git, too.
        marks: Whether to mark verbs that run in parallel then.
    """

    write: bool = False
    force: bool = False
    marks: bool = False


def run_shared(program: str, *, is_module: bool, prepare: Callable[[], None]) -> None:
    """Have the program that is about to run share what can be shared.

    Args:
        program: A file or a module's name.
        is_module: Which of the two.
        prepare: Called in each child that runs the program up to its loop.
    """
    plan = make_plan(program, is_module=is_module, prepare=prepare, tell=_tell)
    if plan.failed:
        _tell(f"--share: the program {plan.failed}")
        return
    for name, left in plan.left.items():
        _tell(f"--share leaves {name} as it is: {left.reason}")
    import_rewritten(plan.sources(), plan.live)


def share_program(
    program: str, *, is_module: bool, prepare: Callable[[], None], wanted: Wanted
) -> int:
    """Print what would change in a program, or change it; return the exit code."""
    plan = make_plan(program, is_module=is_module, prepare=prepare, tell=_tell)
    if plan.failed:
        _tell(f"{program} {plan.failed}")
        return 2
    new = {
        text.file: as_written(text, plan.originals[text.file], plan.live)
        for text in plan.texts
    }
    if wanted.marks:
        new = with_marks(plan, new)
    for file, source in new.items():
        sys.stdout.writelines(_diff(file, plan.originals[file], source))
    print("\n".join(_report(plan)))
    if not wanted.write:
        return 0
    texts = {text.file: text for text in plan.all_texts}
    return _write([(texts[file], source) for file, source in new.items()], wanted.force)


def _tell(text: str) -> None:
    print(f"txloop: {text}", file=sys.stderr)


def _diff(file: str, old: str, new: str) -> Iterator[str]:
    path = os.path.relpath(file)
    lines = unified_diff(
        old.splitlines(keepends=True),
        new.splitlines(keepends=True),
        f"a/{path}",
        f"b/{path}",
    )
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _report(plan: Plan) -> Iterator[str]:
    for change in plan.changes:
        where = f"{change.label}, line {change.line}"
        name = change.name if change.name != where else "a variable"
        yield f"{name} ({where}) becomes {change.became}."
        yield from (f"    {line}" for line in change.why)
    for name, left in plan.left.items():
        yield f"{name} is left as it is: {left.reason}."
    if not plan.changes and not plan.left:
        yield "There is nothing to share."
    before, of = _count(plan.before)
    after, _ = _count(plan.after)
    verbs = "1 verb" if of == 1 else f"{of} verbs"
    yield f"Of {verbs}, {before} would run in parallel before, {after} after."
    names = " or ".join(left.held for left in plan.left.values() if left.held)
    if names and after:
        yield f"What meets an object of {names} runs on the loop thread then."


def _count(survey: Survey) -> tuple[int, int]:
    """Return how many verbs would run in parallel, and of how many."""
    judged = [one for one in survey.verbs if one.judged]
    return sum(one.would for one in judged), len(judged)


def _write(files: list[tuple[Text, str]], force: bool) -> int:
    unclean = [] if force else [text.file for text, _ in files if not _is_clean(text)]
    if unclean:
        names = ", ".join(map(os.path.relpath, unclean))
        _tell(
            f"nothing was written: {names} is not committed to git; commit it, or use "
            "--force"
        )
        return 2
    for text, source in files:
        Path(text.file).write_bytes(source.encode(text.encoding))
    return 0


def _is_clean(text: Text) -> bool:
    """Tell whether git has the file as it is."""
    path = Path(text.file).resolve()
    for question in (["ls-files", "--error-unmatch"], ["diff", "--quiet", "HEAD"]):
        try:
            asked = subprocess.run(
                ["git", *question, "--", path.name],
                cwd=path.parent,
                check=False,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            return False
        if asked.returncode:
            return False
    return True

"""``python -m txloop share``: prints what would change and why; or changes it.

The text as it is written into a file has its import, and marks. In memory neither is
there: both would move lines.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

from txloop.sharing.hook import call_like_plain, import_rewritten, place_of_imports
from txloop.sharing.planning import make_plan
from txloop.sharing.texts import Edits, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from txloop.sharing.planning import Plan
    from txloop.sharing.survey import Survey, Verb

__all__ = [
    "EXIT_CODES",
    "Wanted",
    "as_written",
    "run_shared",
    "share_program",
]

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
    import_rewritten(plan.sources(), plan.live, plan.columns())


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
        new = _with_marks(plan, new)
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


_MARK = '@txloop.transactional(on_error="commit")'
"""As in stock Tornado, what was written before an exception stays."""


def as_written(text: Text, original: str, live: bool = False) -> str:
    """Return a text with what it imports, and without the lines that it has emptied.

    Args:
        text: As it is in memory.
        original: What its file has, with as many lines.
        live: Whether loops have to see what their bodies do to containers.
    """
    source = "".join(
        line
        for line, old in zip(*map(_lines, (text.source, original)), strict=True)
        if line.strip() or not old.strip()
    )
    shorter = Text(text.file, text.name, text.label, source)
    return _with_import(shorter, call_like_plain(live))


def _lines(source: str) -> list[str]:
    return source.splitlines(keepends=True)


def _with_import(text: Text, call: str) -> str:
    statements = text.tree.body
    imports = any(
        isinstance(one, ast.Import) and "txloop" in [name.name for name in one.names]
        for one in statements
    )
    if imports and (not call or call in text.source):
        return text.source
    end = "\r\n" if "\r\n" in text.source else "\n"
    place = place_of_imports(text.tree)
    while place < len(statements) and isinstance(
        statements[place], ast.Import | ast.ImportFrom
    ):
        place += 1
    lines = [] if imports else ["import txloop"]
    if call:
        lines += ["", call] if lines else [call]
    if place == 0:
        first = text.start(statements[0]) if statements else 0
        at = text.source.rfind("\n", 0, first) + 1
        new = end.join([*lines, "", ""])
    else:
        last = text.end(statements[place - 1])
        line_end = text.source.find("\n", last)
        at = len(text.source) if line_end < 0 else line_end + 1
        before = "" if line_end >= 0 else end
        blank = (
            []
            if isinstance(statements[place - 1], ast.Import | ast.ImportFrom)
            else [""]
        )
        new = before + end.join([*blank, *lines, ""])
    return text.source[:at] + new + text.source[at:]


def _with_marks(plan: Plan, new: Mapping[str, str]) -> dict[str, str]:
    """Return the texts, and those of others, with verbs marked that run in parallel."""
    marked = dict(new)
    for text in plan.all_texts:
        verbs = [one for one in plan.after.verbs if _may_be_marked(one, text)]
        edits = Edits()
        current = Text(
            text.file, text.name, text.label, new.get(text.file, text.source)
        )
        for method in _methods(current, verbs):
            first = min([method.lineno, *(one.lineno for one in method.decorator_list)])
            start = current.line_start(first)
            indent = current.source[start : current.start(method)]
            indent = indent[: len(indent) - len(indent.lstrip())]
            end = "\r\n" if "\r\n" in current.source else "\n"
            edits.replace(start, start, f"{indent}{_MARK}{end}")
        if edits:
            current.change(edits)
            marked[text.file] = _with_import(current, "")
    return marked


def _may_be_marked(verb: Verb, text: Text) -> bool:
    return verb.would and not verb.noted and verb.module in text.names


def _methods(text: Text, verbs: list[Verb]) -> Iterator[ast.FunctionDef]:
    """Yield the methods of these verbs that are not marked yet."""
    wanted = {(one.handler, one.verb.lower()) for one in verbs}
    classes = (one for one in ast.walk(text.tree) if isinstance(one, ast.ClassDef))
    for cls in classes:
        for method in cls.body if not _is_marked(cls) else ():
            if (
                isinstance(method, ast.FunctionDef)
                and (cls.name, method.name) in wanted
                and not _is_marked(method)
            ):
                yield method


def _is_marked(node: ast.ClassDef | ast.FunctionDef) -> bool:
    return any("transactional" in ast.unparse(one) for one in node.decorator_list)

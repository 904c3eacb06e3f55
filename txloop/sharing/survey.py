"""What a program shares, found by running it up to its loop in a forked process.

The child imports the program with the texts that it is given, asks `check` for its
verdicts, and looks at the objects that these are about: what they are, which object of
the program has them, where they were made. The parent has imported nothing of the
program, and reads the answer.
"""

from __future__ import annotations

import os
import pickle
import re
import sys
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from txloop.check.judging import IN_PARALLEL, shared, verdicts
from txloop.check.rehearsal import end_children, rehearse
from txloop.scan import FindingKind, assigned_late, give_source
from txloop.scan.live_objects import module_label
from txloop.scan.source import as_written, own_modules
from txloop.sharing.handlers import handlers_of_program
from txloop.sharing.lookups import names_in_files
from txloop.sharing.making import (
    NOTED,
    Site,
    names_of_plain,
    note_what_is_made,
    site_of,
    strange_names,
)
from txloop.sharing.things import classes_in, describe, found
from txloop.stm.container import Container
from txloop.stm.origin import file_of
from txloop.web.targets import all_targets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import ModuleType

    from txloop.scan import Finding

__all__ = ["Seed", "Survey", "Verb", "names_for", "names_of", "survey"]

_PASSED = {
    FindingKind.ACTS_OUTSIDE,
    FindingKind.CHANGES_PROCESS,
    FindingKind.NOT_FOLLOWED,
    FindingKind.REACHES,
}


@dataclass(frozen=True, slots=True)
class Seed:
    """One thing that handlers share.

    Attributes:
        name: What findings call it.
        owner: What has it: "module", "object", "class", "application", "argument",
            "function" for an attribute of one, "closure" for a variable of one, or ""
            where that is not known.
        of: The label of the module or class that has it; of a function's attribute that
            and the name of the function, of a closure's variable the file and the
            function that assigns it; or "".
        attribute: Its name there, as the code writes it.
        kind: The name of its type.
        site: Where it was made, if it is a plain object of which that is known.
        names: All that the program calls it, without what they are names of.
        holds: The labels of the program's classes whose objects it holds.
        shared: Whether it is a container already.
    """

    name: str
    owner: str
    of: str
    attribute: str
    kind: str
    site: Site | None
    names: tuple[str, ...]
    holds: tuple[str, ...]
    shared: bool


@dataclass(frozen=True, slots=True)
class Verb:
    """How a verb runs, as `check` says it.

    Attributes:
        judged: Whether it was looked at.
        would: Whether it runs in parallel, or would if it were marked.
        noted: Whether there is something to know before it is marked.
        handler: The qualified name of its class.
        verb: Its method.
        module: The module of the class.
    """

    judged: bool
    would: bool
    noted: bool
    handler: str
    verb: str
    module: str


@dataclass(slots=True)
class Survey:
    """What was found.

    Attributes:
        failed: How the program ended before its loop, if it did.
        modules: The program's modules: file, name and label.
        verbs: How each runs.
        seeds: What is shared.
        lines: By a seed's name, the lines that use it.
        late: Where attributes may be assigned once requests are served: name, file and
            line; not in constructors.
        strange: Names of objects that are neither plain nor of the program's classes.
        in_templates: What templates in files name; None if there are too many of them.
        handlers: The files and the qualified names of the classes that are handlers.
    """

    failed: str = ""
    modules: list[tuple[str, str, str]] = field(default_factory=list)
    verbs: list[Verb] = field(default_factory=list)
    seeds: list[Seed] = field(default_factory=list)
    lines: dict[str, list[str]] = field(default_factory=dict)
    late: set[tuple[str, str, int]] = field(default_factory=set)
    strange: set[str] = field(default_factory=set)
    in_templates: set[str] | None = field(default_factory=set)
    handlers: set[tuple[str, str]] = field(default_factory=set)


def survey(
    program: str,
    *,
    is_module: bool,
    sources: Mapping[str, str],
    prepare: Callable[[], None],
) -> Survey:
    """Run the program up to its loop in a child, and return what was found there.

    Args:
        program: A file or a module's name.
        is_module: Which of the two.
        sources: The texts of those files that are to have others than their own.
        prepare: Called in the child, before the program is: makes the loop ours.
    """
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _in_child(program, is_module, sources, prepare, writing)
    os.close(writing)
    found = Survey(failed="ended its process before it started a loop")
    # The pipe's end is not waited for: what the program has started may keep it open.
    with os.fdopen(reading, "rb") as answer, suppress(EOFError):
        found = pickle.load(answer)
    os.waitpid(child, 0)
    return found


def _in_child(
    program: str,
    is_module: bool,
    sources: Mapping[str, str],
    prepare: Callable[[], None],
    writing: int,
) -> NoReturn:
    def end(failed: str = "") -> NoReturn:
        told = pickle.dumps(_look(failed))
        with os.fdopen(writing, "wb") as answer:
            answer.write(told)
        sys.stdout.flush()
        sys.stderr.flush()
        end_children()
        os._exit(0)

    try:
        os.dup2(2, 1)
        for file, source in sources.items():
            give_source(file, source)
        note_what_is_made(sources)
        prepare()
        end(rehearse(program, is_module=is_module, at_loop=end))
    except BaseException:
        import traceback

        traceback.print_exc()
        os._exit(1)


def _look(failed: str) -> Survey:
    judged = verdicts()
    result = Survey()
    # A program that ends without an error may have made its application.
    if failed.startswith("failed") or not judged:
        result.failed = failed or "has no application"
    for module in own_modules():
        if file_of(module).endswith(".py"):
            label = module_label(vars(module))
            file = file_of(module)
            result.modules += ((file, name, label) for name in _names_of(module))
    handlers = [target.handler_class for target in all_targets()]
    modules = {one.__qualname__: one.__module__ for one in handlers}
    for one in judged:
        would = one.judged and not one.findings and not one.unproved
        result.verbs.append(
            Verb(
                one.judged,
                would or one.runs == IN_PARALLEL,
                bool(one.notes),
                one.handler,
                one.verb,
                modules.get(one.handler, ""),
            )
        )
    for each in shared(judged):
        result.lines[each.name] = list(each.lines)
    seeds: dict[str, Seed] = {}
    names = names_of_plain()
    for verdict in judged:
        for finding in verdict.findings:
            if finding.kind not in _PASSED or finding.thing == "count":
                seed = seeds.setdefault(finding.name, _seed(finding, names))
                is_closure = finding.kind is FindingKind.WRITES_CLOSURE
                if is_closure and seed.site is None and not seed.owner:
                    of = f"{finding.file}:{finding.function}"
                    seeds[seed.name] = replace(seed, owner="closure", of=of)
    result.seeds = list(seeds.values())
    result.late = assigned_late()
    result.strange = strange_names()
    result.handlers = handlers_of_program()
    result.in_templates = names_in_files(file for file, _, _ in result.modules)
    return result


def _names_of(module: ModuleType) -> Iterator[str]:
    """Yield the names under which the program may import a module."""
    if module.__name__ == "__main__":  # the file may be imported by its own name, too
        spec = module.__spec__
        yield Path(file_of(module)).stem if spec is None else spec.name
    yield module.__name__


# From names to objects


def _seed(finding: Finding, names: Mapping[int, set[str]]) -> Seed:
    owner, attribute, thing = found(finding.name)
    kind, of = describe(owner)
    holds = {*finding.holds, *classes_in(thing)}
    noted = type(thing) in NOTED
    identity = id(thing) if noted else finding.identity
    shared = isinstance(thing, Container)
    if finding.thing == "count" and not noted:  # it is inside of what has the name
        kind, of, shared = "", "", False
    return Seed(
        finding.name,
        kind,
        of,
        as_written(attribute, of.rpartition(".")[2]),
        type(thing).__name__ if noted or not finding.thing else finding.thing,
        None if finding.name.endswith(".__dict__") else site_of(identity),
        tuple(sorted(names.get(identity, ()))),
        tuple(sorted(holds)),
        shared,
    )


def names_of(seeds: Iterable[Seed], *, shared: bool) -> set[str]:
    """Return the names under which hazards tell of those that are shared, or not."""
    return {name for one in seeds if one.shared is shared for name in names_for(one)}


def names_for(seed: Seed) -> tuple[str, ...]:
    """Return the names under which hazards may tell of what a seed is about."""
    argument = re.search(r"\((\w+)\)$", seed.name)  # of a function: a default
    name = argument[1] if argument else seed.attribute.strip("'")
    return name, *seed.names

"""What a program shares, found by running it up to its loop in a forked process.

The child imports the program with the texts that it is given, asks `check` for its
verdicts, and looks at the objects that these are about: what they are, which object of
the program has them, where they were made. The parent has imported nothing of the
program, and reads the answer.
"""

from __future__ import annotations

import ast
import functools
import os
import pickle
import re
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MemberDescriptorType
from typing import TYPE_CHECKING, NoReturn

from tornado.web import Application, RequestHandler

from txloop.cells.tobject import TObject
from txloop.check.judging import IN_PARALLEL, shared, verdicts
from txloop.check.rehearsal import end_children, rehearse
from txloop.scan import FindingKind, assigned_late, give_source
from txloop.scan.live_objects import class_label, module_label
from txloop.scan.source import own_modules
from txloop.sharing.handlers import handlers_of_program
from txloop.sharing.lookups import names_in_files
from txloop.sharing.making import (
    NOTED,
    PLAIN,
    Site,
    names_of_plain,
    note_what_is_made,
    site_of,
    strange_names,
)
from txloop.stm.container import Container
from txloop.stm.origin import file_of, is_own_module, own_module_of
from txloop.web.targets import all_targets, applications

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import ModuleType

    from txloop.scan import Finding

__all__ = ["Seed", "Survey", "Verb", "survey"]

_PASSED = {
    FindingKind.ACTS_OUTSIDE,
    FindingKind.CHANGES_PROCESS,
    FindingKind.NOT_FOLLOWED,
    FindingKind.REACHES,
}
_STEP = re.compile(r"\.(\w+)|\[((?:'[^']*'|\"[^\"]*\"|[^\]])*)\]")
_MOST_OBJECTS = 10_000


@dataclass(frozen=True, slots=True)
class Seed:
    """One thing that handlers share.

    Attributes:
        name: What findings call it.
        owner: What has it: "module", "object", "class", "application", "argument", or
            "" where that is not known.
        of: The label of the module or class that has it, or "".
        attribute: Its name there.
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
                seeds.setdefault(finding.name, _seed(finding, names))
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
    owner, attribute, thing = _found(finding.name)
    kind, of = _describe(owner)
    holds = {*finding.holds, *_classes_in(thing)}
    noted = type(thing) in NOTED
    identity = id(thing) if noted else finding.identity
    shared = isinstance(thing, Container)
    if finding.thing == "count" and not noted:  # it is inside of what has the name
        kind, of, shared = "", "", False
    return Seed(
        finding.name,
        kind,
        of,
        attribute,
        type(thing).__name__ if noted or not finding.thing else finding.thing,
        site_of(identity),
        tuple(sorted(names.get(identity, ()))),
        tuple(sorted(holds)),
        shared,
    )


_ARGUMENT = object()
_NOTHING = object()


def _found(name: str) -> tuple[object, str, object]:
    """Return what has the thing of that name, its name there, and the thing."""
    for root, rest in _roots(name):
        owner: object = _NOTHING
        attribute, thing = "", root
        for step in _STEP.finditer(rest):
            owner = thing
            attribute = step[1] or step[2]
            if step[1] is not None and type(owner) in (*PLAIN, tuple):
                owner = _holder(owner, attribute)
            thing = _part(owner, step[1], step[2])
            if thing is _NOTHING:
                break
        else:
            if rest:
                return owner, attribute, thing
            return _ARGUMENT, name[name.index("(") + 1 : -1], thing
    return _NOTHING, "", _NOTHING


def _holder(plain: object, attribute: str) -> object:
    """Return one of the objects in a plain one that has the attribute.

    Findings about an element's attribute do not say which element's it is.
    """
    for one in _parts_of(plain):
        is_own = own_module_of(type(one)) is not None
        if is_own and _part(one, attribute, "") is not _NOTHING:
            return one
    return _NOTHING


def _roots(name: str) -> Iterator[tuple[object, str]]:
    argument = re.match(r"initialize\((\w+)\)", name)
    if argument:
        for target in all_targets():
            if argument[1] in target.handler_kwargs:
                yield target.handler_kwargs[argument[1]], name[argument.end() :]
        return
    if name.startswith("application"):
        for application in applications():
            yield application, name.removeprefix("application")
    for module in _own_modules():
        label = module_label(vars(module))
        if name.startswith(f"{label}."):
            yield module, name.removeprefix(label)


@functools.cache
def _own_modules() -> list[ModuleType]:
    """Return the program's modules, in the child; the longest names first."""
    return sorted(own_modules(), key=lambda one: -len(module_label(vars(one))))


def _part(owner: object, attribute: str | None, key: str) -> object:
    if attribute is not None:
        if isinstance(owner, type):
            for kind in owner.__mro__:
                if attribute in vars(kind):
                    return vars(kind)[attribute]
            return _NOTHING
        if isinstance(owner, TObject):
            return getattr(owner, attribute, _NOTHING)
        if type(getattr(type(owner), attribute, None)) is MemberDescriptorType:
            return getattr(owner, attribute, _NOTHING)
        own = getattr(owner, "__dict__", {})
        if attribute in own or own_module_of(type(owner)) is None:
            return own.get(attribute, _NOTHING)
        # An object has what its class gives it until it is assigned.
        given = _part(type(owner), attribute, key)
        return _NOTHING if hasattr(type(given), "__get__") else given
    try:
        return owner[ast.literal_eval(key)]  # type: ignore[index] # if it has any
    except Exception:  # whatever the program's classes raise
        return _NOTHING


def _describe(owner: object) -> tuple[str, str]:
    if owner is _ARGUMENT:
        return "argument", ""
    if owner is _NOTHING:
        return "", ""
    if is_own_module(owner):
        return "module", module_label(vars(owner))
    if isinstance(owner, type):
        return "class", class_label(owner)
    if isinstance(owner, Application):
        return "application", class_label(type(owner))
    if own_module_of(type(owner)) is not None:
        return "object", class_label(type(owner))
    return "", ""


def _classes_in(thing: object) -> set[str]:
    """Return the program's classes whose objects are inside of a thing."""
    owned = (one for one in _parts_of(thing) if own_module_of(type(one)) is not None)
    return {class_label(type(one)) for one in owned}


def _parts_of(thing: object) -> Iterator[object]:
    """Yield a thing and what is inside of it, deeply."""
    seen: set[int] = set()
    waiting = [thing]
    while waiting and len(seen) < _MOST_OBJECTS:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type | Application | RequestHandler):
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple | set | frozenset) or type(one) in PLAIN:
            waiting += one  # type: ignore[arg-type] # it is iterable
        elif own_module_of(type(one)) is not None:
            waiting += getattr(one, "__dict__", {}).values()

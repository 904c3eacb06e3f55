"""From what a program shares to changes of its text: one round.

A round looks at the texts as they are and at what a run of them has found, and changes
the texts. It ends when nothing is left that it can change.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from txloop.sharing.aliases import Aliases
from txloop.sharing.attributes import make_attribute, rebound_at
from txloop.sharing.classes import Classes
from txloop.sharing.demands import Demands
from txloop.sharing.flow import Flow
from txloop.sharing.hazards import hazards
from txloop.sharing.keeping import Keeping, Shared
from txloop.sharing.making import Site
from txloop.sharing.origins import Origins
from txloop.sharing.templates import why_in_templates
from txloop.sharing.texts import Edits
from txloop.sharing.threads import Threads
from txloop.sharing.variables import is_rebound, make_variable

if TYPE_CHECKING:
    from collections.abc import Collection

    from txloop.sharing.hazard import Hazard
    from txloop.sharing.survey import Seed, Survey
    from txloop.sharing.texts import Text

__all__ = ["HELD", "Change", "Round"]

HELD = "its objects are held on the loop thread"

Alias = tuple["Text", "ast.expr | None", "Hazard"]


@dataclass(frozen=True, slots=True)
class Change:
    """One object of the program that is shared otherwise now.

    Attributes:
        key: What tells it from others in all rounds.
        name: What findings call it.
        label: The module that is changed.
        line: Where.
        became: What it has become.
        why: Whose lines share it.
    """

    key: str
    name: str
    label: str
    line: int
    became: str
    why: tuple[str, ...] = ()


@dataclass
class Round:
    """One round.

    Attributes:
        texts: The modules, which are changed.
        survey: What a run of them has found.
        passed: Keys of changes that are not to be made.
        changes: What was changed.
        left: By name, why something was left alone.
    """

    texts: list[Text]
    survey: Survey
    passed: Collection[str]
    changes: list[Change] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._edits: defaultdict[str, Edits] = defaultdict(Edits)
        self._by_label = {text.label: text for text in self.texts}
        self._by_file = {text.file: text for text in self.texts}
        self._hazards: dict[str, str] = {}
        self._exact: dict[Site, str] = {}  # what has to make plain objects
        self._flow = Flow(self.texts)
        origins = Origins(self.texts)
        self._keeping = Keeping(self.texts, self._flow, origins)
        demands = Demands(origins, self._keeping, self._flow)
        for one in hazards(self.texts, demands, Threads(self.texts, origins)):
            if one.site is None:
                self._hazards.setdefault(one.name, one.reason)
            else:
                self._exact.setdefault(one.site, one.reason)
        self._start_over()

    def _start_over(self) -> None:
        self._edits.clear()
        self._classes = Classes(self.texts, self._flow, self._hazards)
        self._sites: set[Site] = set()
        self._variables: set[str] = set()
        self._objects: set[str] = set()
        self.changes.clear()
        self.left.clear()

    def run(self) -> bool:
        """Change what can be; return whether anything was."""
        seeds = [one for one in self.survey.seeds if not one.shared]
        if not seeds:
            return False
        if "" in self._hazards:
            self.left.update((one.name, self._hazards[""]) for one in seeds)
            return False
        aliases = [*Aliases(self.texts, self._classes.is_known).found()]
        for _, value, hazard in aliases:
            if value is None:
                self._hazards.setdefault(hazard.name, hazard.reason)
        while True:
            self._start_over()
            held = self._share_all(seeds)
            if self._edits or held:
                self._make_objects(held)
            if not self._leave_more(aliases):
                break
        if self._edits:
            self._share_aliases(aliases)
        for file, edits in self._edits.items():
            text = self._by_file[file]
            text.change(edits.applied(text.source))
        return bool(self.changes)

    def _share_all(self, seeds: list[Seed]) -> set[str]:
        """Change what the seeds are about; return the classes that they hold."""
        held: set[str] = set()
        for seed in seeds:
            reason = self._why_left(seed)
            if not reason:
                reason, classes = self._share(seed)
                held |= classes
            if reason:
                self.left[seed.name] = reason
        return held

    def _leave_more(self, aliases: list[Alias]) -> bool:
        """Find what must stay plain since something else does; tell whether it is new.

        What becomes a container is decided again then, without it.
        """
        before = len(self._hazards)
        aliases[:] = [one for one in aliases if not self._has_to_be_plain(one)]
        sites = {_site(text, value) for text, value, _ in aliases if value is not None}
        shared = Shared(
            sites | self._sites,
            self._variables,
            self._is_object,
            self.survey.strange,
            [*self._exact],
        )
        for one in self._keeping.hazards(shared):
            self._hazards.setdefault(one.name, one.reason)
        copied = any(
            value and self._keeping.is_copied(value) for _, value, _ in aliases
        )
        return copied or len(self._hazards) > before

    def _has_to_be_plain(self, alias: Alias) -> bool:
        """Tell whether a container must not be made of it; leave its holder then."""
        text, value, hazard = alias
        if value is None:
            return False
        if not self._keeping.is_copied(value) and not self._why_exact(
            _site(text, value)
        ):
            return False
        self._hazards.setdefault(hazard.name, hazard.reason)
        return True

    def _why_exact(self, site: Site) -> str:
        its = (reason for one, reason in self._exact.items() if site.is_in(one))
        return next(its, "")

    def _is_object(self, name: str) -> bool:
        return self._classes.is_shared(name) or any(
            self._classes.are_related(name, one) for one in self._objects
        )

    def _why_left(self, seed: Seed) -> str:
        argument = re.search(r"\((\w+)\)$", seed.name)  # of a function: a default
        name = argument[1] if argument else seed.attribute.strip("'")
        reasons = (self._hazards.get(one, "") for one in (name, *seed.names, ""))
        return next(filter(None, reasons), "")

    def _share(self, seed: Seed) -> tuple[str, set[str]]:
        """Change what a seed is about; return why not, and the classes it holds."""
        classes = {one.rpartition(".")[2] for one in seed.holds}
        classes |= self._flow.attributes[seed.attribute] & set(self._flow.classes)
        if seed.owner == "module":
            home = self._by_label[seed.of]
            classes |= self._flow.classes_of(
                ast.Name(seed.attribute, ast.Load()), home.tree, home.tree
            )
            if is_rebound(self.texts, home, seed.attribute):
                return self._make_variable(seed, home), classes
        elif seed.owner in ("object", "class", "application"):
            owner = seed.of.rpartition(".")[2]
            late = self.survey.late
            line = rebound_at(self.texts, self._classes, late, owner, seed.attribute)
            scalar = seed.site is None
            if line or scalar:
                if seed.owner == "object":
                    return "", classes | {owner}
                return self._make_attribute(seed, owner), classes
        if seed.site is None and classes and seed.kind in self._flow.classes:
            return "", classes
        if seed.site is None:
            return "it is not known which line makes it", classes
        return self._share_site(seed, seed.site), classes

    def _share_site(self, seed: Seed, site: Site) -> str:
        if site in self._sites:
            return ""
        text = self._by_file.get(site.file)
        node = None if text is None else _node_at(text, site)
        if text is None or node is None:
            return f"it is made in {site.file}, which is not the program's"
        reason = self._why_exact(site)
        if reason:
            return reason
        key = f"share {text.label}:{site.line}"
        if key in self.passed:
            return "the program did not start with a container in its place"
        self._sites.add(site)
        self._edits[text.file].wrap(text, node, "txloop.share")
        self._note(key, seed, text, site.line, "a container")
        return ""

    def _make_variable(self, seed: Seed, home: Text) -> str:
        key = f"variable {seed.name}"
        if key in self.passed:
            return "the program did not start with a TVar in its place"
        module = home.name.rpartition(".")[2]
        reason = self._why_in_templates(seed, module) or make_variable(
            self.texts, home, seed.attribute, self._edits
        )
        if not reason:
            line = next(
                (
                    node.lineno
                    for node in ast.walk(home.tree)
                    if isinstance(node, ast.Name) and node.id == seed.attribute
                ),
                1,
            )
            self._variables.add(seed.attribute)
            self._note(key, seed, home, line, "a TVar: its name is bound again")
        return reason

    def _make_attribute(self, seed: Seed, owner: str) -> str:
        key = f"attribute {seed.name}"
        if key in self.passed:
            return "the program did not start with a TVar in its place"
        place = self._why_in_templates(seed) or make_attribute(
            self.texts,
            self._classes,
            self.survey.late,
            owner,
            seed.attribute,
            self._edits,
        )
        if isinstance(place, str):
            return place
        text, line = place
        self._variables.add(seed.attribute)
        self._note(key, seed, text, line, "a TVar: the attribute is assigned again")
        return ""

    def _why_in_templates(self, seed: Seed, module: str = "") -> str:
        named = self.survey.in_templates
        return why_in_templates(self.texts, named, seed.attribute, module)

    def _make_objects(self, names: set[str]) -> None:
        wanted = self._flow.held_by(names)
        possible = set()
        for name in sorted(wanted):
            reason = self._classes.why_not(name)
            if not reason and f"class {name}" in self.passed:
                reason = "the program did not start with a TObject in its place"
            if reason:
                settled = self._classes.is_shared(name) or self._classes.are_values(
                    name
                )
                if self._classes.is_known(name) and not settled:
                    self.left[f"class {name}"] = f"{reason}; {HELD}"
            else:
                possible.add(name)
        self._objects |= possible
        for name, text, node in self._classes.make_objects(possible, self._edits):
            self.changes.append(
                Change(
                    f"class {name}",
                    f"class {name}",
                    text.label,
                    node.lineno,
                    "a TObject: its objects are shared",
                )
            )

    def _share_aliases(self, aliases: list[Alias]) -> None:
        done: set[str] = set()
        for text, value, hazard in aliases:
            if value is None:
                continue
            site = (text.file, text.start(value), text.end(value))
            key = f"alias {text.label}:{value.lineno}:{site[1]}"
            if key in done or any(
                _same(text, value, one) for one in self._sites if one.file == text.file
            ):
                continue
            done.add(key)
            self._edits[text.file].wrap(text, value, "txloop.share")
            self.changes.append(
                Change(
                    key,
                    f"{text.label}, line {value.lineno}",
                    text.label,
                    value.lineno,
                    f"a container from the start: {hazard.reason}",
                )
            )

    def _note(self, key: str, seed: Seed, text: Text, line: int, became: str) -> None:
        why = tuple(self.survey.lines.get(seed.name, ()))
        self.changes.append(Change(key, seed.name, text.label, line, became, why))


def _site(text: Text, node: ast.expr) -> Site:
    end = node.end_lineno or 0, node.end_col_offset or 0
    return Site(text.file, node.lineno, node.col_offset, *end)


def _same(text: Text, node: ast.AST, site: Site) -> bool:
    return (node.lineno, node.col_offset) == (site.line, site.column)  # type: ignore[attr-defined] # an expression


def _node_at(text: Text, site: Site) -> ast.expr | None:
    for node in ast.walk(text.tree):
        if isinstance(node, ast.expr) and (
            node.lineno,
            node.col_offset,
            node.end_lineno,
            node.end_col_offset,
        ) == (site.line, site.column, site.end_line, site.end_column):
            return node
    return None

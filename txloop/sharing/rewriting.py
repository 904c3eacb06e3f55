"""From what a program shares to changes of its text: one round.

A round looks at the texts as they are and at what a run of them has found, and changes
the texts. It ends when nothing is left that it can change.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from txloop.sharing.aliases import Aliases
from txloop.sharing.arguments import follow_calls
from txloop.sharing.attributes import Attribute
from txloop.sharing.changes import Change, Left
from txloop.sharing.classes import Classes
from txloop.sharing.demands import Demands
from txloop.sharing.enclosed import make_kept
from txloop.sharing.flow import Flow
from txloop.sharing.generics import name_generics
from txloop.sharing.handlers import mark_handlers
from txloop.sharing.hazards import hazards
from txloop.sharing.importing import name_as_at_home
from txloop.sharing.iterators import iterators_kept
from txloop.sharing.keeping import Keeping, Shared
from txloop.sharing.locks import free_locks
from txloop.sharing.lookups import names_in_templates, why_in_templates
from txloop.sharing.loops import changes_in_loops
from txloop.sharing.making import Site
from txloop.sharing.meanings import Meanings
from txloop.sharing.orders import orders_shown
from txloop.sharing.origins import EVERYTHING, NAMESPACE, Origins
from txloop.sharing.passing import follow
from txloop.sharing.replacing import replace_heaps, replace_locks, replace_set_methods
from txloop.sharing.scopes import walked
from txloop.sharing.setting import Setting
from txloop.sharing.survey import names_for, names_of
from txloop.sharing.texts import Edits
from txloop.sharing.threads import Threads
from txloop.sharing.typed_dicts import name_typed_dicts
from txloop.sharing.variables import Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from txloop.sharing.aliases import Alias
    from txloop.sharing.survey import Seed, Survey
    from txloop.sharing.texts import Text

__all__ = ["Round", "is_all_shared"]


def is_all_shared(texts: Iterable[Text], survey: Survey) -> bool:
    """Tell, in no time, whether a round would find nothing to change."""
    return all(one.shared for one in survey.seeds) and not any(
        "Lock" in text.source for text in texts
    )


@dataclass
class Round:
    """Decides what becomes a container, and changes the texts.

    Attributes:
        texts: The modules, which are changed.
        survey: What a run of them has found.
        skipped: Why changes are not to be made, by their keys.
        changes: What was changed.
        left: What was left alone, by name.
    """

    texts: list[Text]
    survey: Survey
    skipped: Mapping[str, str]
    changes: list[Change] = field(default_factory=list)
    left: dict[str, Left] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._edits: defaultdict[str, Edits] = defaultdict(Edits)
        name_generics(self.texts)
        name_typed_dicts(self.texts)
        name_as_at_home(self.texts)
        for text in self.texts:
            its = {name for file, name in self.survey.handlers if file == text.file}
            mark_handlers(text.tree, its)
        self._by_label = {text.label: text for text in self.texts}
        self._by_file = {text.file: text for text in self.texts}
        self._hazards: dict[str, str] = {}
        self._exact: dict[Site, str] = {}  # what has to make plain objects
        self._plain_holders: set[str] = set()  # in which such objects are stored
        self._put_into: set[str] = set()  # what gets one that cannot be shared
        self._meanings = Meanings(self.texts, self.survey.in_templates)
        self._flow = Flow(self.texts, self._meanings)
        setting = Setting(self.texts, self._meanings, self._flow)
        self._origins = origins = Origins(self._meanings, setting)
        self._arguments = follow_calls(self.texts, self._meanings, self._flow)
        follow(self.texts, origins, self._arguments.callees)
        self._keeping = Keeping(self.texts, self._flow, origins)
        if self._keeping.sets_by_name:
            self._hazards[NAMESPACE] = self._keeping.sets_by_name
        demands = Demands(origins, self._keeping, self._flow)
        found = [
            *hazards(self.texts, demands, Threads(self.texts, origins)),
            *orders_shown(self.texts, origins, self._keeping, demands),
            *iterators_kept(self.texts, origins, demands),
        ]
        for one in found:
            if one.site is None:
                self._hazards.setdefault(one.name, one.reason)
            else:
                self._exact.setdefault(one.site, one.reason)
        self._start_over()

    @property
    def changes_in_loops(self) -> bool:
        """Whether a loop of the program may change what it goes over."""
        callees = self._arguments.callees
        return changes_in_loops(self.texts, self._origins, self._keeping, callees)

    def _start_over(self) -> None:
        self._edits.clear()
        containers = self._meanings.containers
        for name, reason in [*self._hazards.items()] if containers else ():
            its = self._keeping.all_in({name}, set())[0] & {*containers.values()}
            for root in containers.values() if name == "self" else its:
                self._hazards.setdefault(root, reason)
        self._classes = Classes(self.texts, self._flow, self._hazards, containers)
        self._sites: set[Site] = set()
        self._variables: set[str] = set()
        self._objects: set[str] = set()
        self.changes.clear()
        self.left.clear()

    def run(self) -> bool:
        """Change what can be; return whether anything was."""
        seeds = [one for one in self.survey.seeds if not one.shared]
        locks = [*free_locks(self.texts)]
        if not (seeds or locks):
            return False
        if EVERYTHING in self._hazards:
            left = Left(self._hazards[EVERYTHING])
            self.left.update((one.name, left) for one in seeds)
            return False
        named = self._keeping.names_of
        templates = names_in_templates(self.texts, self.survey.in_templates)
        changes = self._keeping.changes
        every = self._every = Aliases(
            self.texts, self._arguments, named, templates, self._origins, changes
        )
        aliases = [*every.found()]
        for _, value, hazard in aliases:
            if value is None:
                self._hazards.setdefault(hazard.name, hazard.reason)
                self._put_into.add(hazard.name)
        while True:
            self._start_over()
            held = self._share_all(seeds)
            if self._edits or held:
                self._make_objects(held)
            if not self._leave_more(aliases, every):
                break
        if self._edits:
            self._share_aliases(aliases)
            replace_heaps(self.texts, self._edits)
            replace_set_methods(self.texts, self._edits)
        self.changes += replace_locks(locks, self.skipped, self._edits)
        for file, edits in self._edits.items():
            text = self._by_file[file]
            text.change(edits)
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
                self.left[seed.name] = Left(reason)
        return held

    def _leave_more(self, aliases: list[Alias], every: Aliases) -> bool:
        """Find what must stay plain since something else does; tell whether it is new.

        What becomes a container is decided again then, without it.
        """
        before = len(self._hazards)
        aliases[:] = [one for one in aliases if not self._leave_plain(one)]
        sites = {
            Site.of(one.file, value)
            for one, value, _ in aliases
            if value and not every.keeps(value)
        }
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

    def _leave_plain(self, alias: Alias) -> bool:
        """Leave an alias and its holder if it has to be plain; tell whether it has."""
        text, value, hazard = alias
        if value is None:
            return False
        site = Site.of(text.file, value)
        skipped = self.skipped.get(_alias_key(text, value), "")
        others = self._keeping.names_at(site) - {hazard.name}
        plain = self._why_exact(site) or others & self._put_into
        if not (skipped or plain or self._keeping.is_copied(value)):
            return False
        names = {hazard.name}
        if names == {EVERYTHING}:  # only what gets it matters
            names = self._keeping.names_at(site) | self._keeping.put_at(site)
        for name in names:
            self._hazards.setdefault(name, skipped or hazard.reason)
        self._plain_holders |= names
        return True

    def _why_exact(self, site: Site) -> str:
        """Return why what an expression makes, or a part of it, has to be plain."""
        its = (
            reason
            for one, reason in self._exact.items()
            if site.is_in(one) or one.is_in(site)
        )
        return next(its, "")

    def _is_object(self, name: str) -> bool:
        return self._classes.is_shared(name) or any(
            self._classes.are_related(name, one) for one in self._objects
        )

    def _why_left(self, seed: Seed) -> str:
        names = {*names_for(seed), EVERYTHING}
        if seed.site is not None:  # it may be known by what a function returns
            names |= self._keeping.names_at(seed.site, inside=True)
        others = self._keeping.with_others(names) - names
        reasons = map(self._hazards.get, [*sorted(names), *sorted(others)])
        return next(filter(None, reasons), "")

    def _share(self, seed: Seed) -> tuple[str, set[str]]:
        """Change what a seed is about; return why not, and the classes it holds."""
        classes = {one.rpartition(".")[2] for one in seed.holds}
        classes |= self._flow.attributes[seed.attribute]
        if seed.owner == "module":
            home = self._by_label[seed.of]
            name = ast.Name(seed.attribute, ast.Load())
            classes |= self._flow.classes_of(name, home.tree)
        ends = filter(self._classes.have_end, self._flow.held_by(classes))
        if its := min(ends, default=""):
            return f"it holds objects of {its}, which would end later", set()
        if seed.owner == "module":
            variable = Variable(self.texts, home, seed.attribute)
            if variable.is_rebound():
                return self._make_variable(seed, variable), classes
        elif seed.owner in ("object", "class", "application"):
            owner = seed.of.rpartition(".")[2]
            attribute = Attribute(
                self.texts, self._classes, self.survey.late, owner, seed.attribute
            )
            is_own = seed.kind in self._meanings.containers
            if is_own and not attribute.is_rebound():
                return "", classes
            if seed.site is None or attribute.is_rebound():
                if seed.owner == "object":
                    return "", classes | {owner}
                return self._make_attribute(seed, attribute), classes
        elif seed.owner in ("closure", "function") and seed.site is None:
            return self._make_of_function(seed), classes
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
        key = f"share {text.label}:{site.line}"
        reason = self._why_exact(site) or self.skipped.get(key, "")
        if reason:
            return reason
        if seed.kind == "count":
            scope = self._meanings.scope_of(node)
            if not (
                isinstance(node, ast.Call) and self._meanings.is_count(scope, node.func)
            ):
                return f"{text.place(node)}, does not call itertools.count by its name"
            start, end = text.start(node.func), text.end(node.func)
            self._edits[text.file].replace(start, end, "txloop.TCount")
        else:
            self._edits[text.file].wrap(text, node, "txloop.share")
        self._sites.add(site)
        self._note(key, seed, text, site.line, "a container")
        return ""

    def _make_variable(self, seed: Seed, variable: Variable) -> str:
        key, home = f"variable {seed.name}", variable.home
        reason = (
            self.skipped.get(key, "")
            or self._why_in_templates(seed, home.name.rpartition(".")[2])
            or variable.make_variable(self._edits)
        )
        if not reason:
            names = (one for one in walked(home.tree) if isinstance(one, ast.Name))
            its = (one.lineno for one in names if one.id == seed.attribute)
            self._variables.add(seed.attribute)
            became = "a TVar: its name is bound again"
            self._note(key, seed, home, next(its, 1), became)
        return reason

    def _make_attribute(self, seed: Seed, attribute: Attribute) -> str:
        key = f"attribute {seed.name}"
        place = (
            self.skipped.get(key, "")
            or self._why_in_templates(seed)
            or attribute.make_variable(self._edits)
        )
        if isinstance(place, str):
            return place
        text, line = place
        self._variables.add(seed.attribute)
        self._note(key, seed, text, line, "a TVar: the attribute is assigned again")
        return ""

    def _make_of_function(self, seed: Seed) -> str:
        key = f"{seed.owner} {seed.of}.{seed.attribute or seed.name}"
        if key in self.skipped:
            return self.skipped[key]

        def stays(node: ast.AST, value: ast.expr) -> bool:
            return self._every.stays(self._meanings.scope_of(node), value)

        made = make_kept(self.texts, seed, stays, self._edits)
        if isinstance(made, str):
            return made
        self._note(key, seed, *made, "a TVar: it is assigned again")
        return ""

    def _why_in_templates(self, seed: Seed, module: str = "") -> str:
        named = self.survey.in_templates
        return why_in_templates(self.texts, named, seed.attribute, module)

    def _make_objects(self, names: set[str]) -> None:
        wanted = self._flow.held_by(names)
        possible = set()
        for name in sorted(wanted):
            reason = self._classes.why_not(name) or self.skipped.get(
                f"class {name}", ""
            )
            if reason:
                settled = self._classes.is_shared(name) or self._classes.are_values(
                    name
                )
                if self._classes.is_known(name) and not settled:
                    why = f"{reason}; its objects are held on the loop thread"
                    self.left[f"class {name}"] = Left(why, held=name)
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
                    f"{self._classes.became(name)}: its objects are shared",
                )
            )

    def _share_aliases(self, aliases: list[Alias]) -> None:
        done = {one[:3] for one in self._sites}
        into: defaultdict[str, set[str]] = defaultdict(set)
        for text, value, hazard in aliases:
            if value is not None:
                site = Site.of(text.file, value)
                into[_alias_key(text, value)] |= {
                    hazard.name,
                    *self._keeping.put_at(site),
                }
        # Where these are stored stays plain, and has to in the next round, too: that
        # would not see what else comes by way of what is a container then.
        plain = self._plain_holders - names_of(self.survey.seeds, shared=True)
        for text, value, hazard in aliases:
            if value is None or Site.of(text.file, value)[:3] in done:
                continue
            if hazard.name in plain:
                continue
            done.add(Site.of(text.file, value)[:3])
            key = _alias_key(text, value)
            self._edits[text.file].wrap(text, value, "txloop.share")
            self.changes.append(
                Change(
                    key,
                    text.place(value),
                    text.label,
                    value.lineno,
                    f"a container from the start: {hazard.reason}",
                    into=frozenset(into[key]),
                )
            )

    def _note(self, key: str, seed: Seed, text: Text, line: int, became: str) -> None:
        why = tuple(self.survey.lines.get(seed.name, ()))
        self.changes.append(Change(key, seed.name, text.label, line, became, why))


def _alias_key(text: Text, value: ast.expr) -> str:
    return f"alias {text.label}:{value.lineno}:{value.col_offset}"


def _node_at(text: Text, site: Site) -> ast.expr | None:
    expressions = (one for one in walked(text.tree) if isinstance(one, ast.expr))
    return next((one for one in expressions if Site.of(site.file, one) == site), None)

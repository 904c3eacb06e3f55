"""Which code is the program's own, and the syntax tree of it.

Source comes from `linecache`, as tracebacks take it, so that what has no source there
(C, generated code) has none here. A file that cannot be read or parsed is one without
functions.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import itertools
import linecache
import sys
import warnings
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING

from txloop.scan.evidence import evidence
from txloop.scan.references import references
from txloop.scan.syntax import FunctionNode, children, names_bound, walk
from txloop.stm.origin import file_of, is_own_module, own_module_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import FunctionType

    from txloop.scan.columns import Columns
    from txloop.scan.references import References

_Function = ast.FunctionDef | ast.AsyncFunctionDef


# Both are filled before the modules are imported.
_rewritten: dict[str, list[str]] = {}
_columns: dict[str, Columns] = {}


def give_source(file: str, text: str, columns: Columns | None = None) -> None:
    """Have the scan read a text for a file that was compiled from that text instead.

    Args:
        file: The file.
        text: Its lines are those of the file.
        columns: Where its parts stand in the file, if it was compiled with those.
    """
    _rewritten[file] = text.splitlines(keepends=True)
    if columns is not None:
        _columns[file] = columns


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """One function or lambda where its source stands.

    Attributes:
        node: Its syntax.
        qualname: Its qualified name, as the interpreter forms it.
        owner: The qualified name of the class in whose body it stands, or "".
        file: The file that it is in.
    """

    node: FunctionNode
    qualname: str
    owner: str
    file: str


@dataclass(eq=False)
class Source:
    """One parsed file.

    Attributes:
        lines: Those of its text; while it has these, the rest is fresh.
        tree: The syntax of the whole file.
        functions: Definitions by first line and name, as a code object has them;
            more than one for lambdas that share a line.
        outermost: Definitions that stand in no other function.
        assigned: By the qualified name of a class, the attributes that its methods
            assign on their instance, `+=` left out.
        added_to: Likewise, those that its methods assign by `+=` and the like.
    """

    lines: list[str]
    tree: ast.Module = field(default_factory=lambda: ast.Module([], []))
    functions: dict[tuple[int, str], list[Definition]] = field(default_factory=dict)
    outermost: list[Definition] = field(default_factory=list)
    assigned: dict[str, set[str]] = field(default_factory=dict)
    added_to: dict[str, set[str]] = field(default_factory=dict)

    def every(self) -> Iterator[Definition]:
        """Yield all definitions, those in functions too."""
        return itertools.chain.from_iterable(self.functions.values())

    @functools.cached_property
    def references(self) -> References:
        """What the file names."""
        return references(self.tree)

    @functools.cached_property
    def bound(self) -> frozenset[str] | None:
        """The names that it may give to anything; None: all."""
        return names_bound(self.tree)

    @functools.cached_property
    def templates(self) -> tuple[str, ...]:
        """The strings in it that may be templates."""
        strings = (
            node.value
            for node in walk(self.tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        )
        return tuple(one for one in strings if "{{" in one or "{%" in one)

    @functools.cached_property
    def evidence(self) -> tuple[tuple[str, object], ...]:
        """What it stores under which names."""
        return tuple(evidence(self.tree))


class Sources:
    """The parsed files, each as long as its text is the same. The loop thread's.

    Attributes:
        acts: What templates do with what they are given: see `rendering`.
    """

    def __init__(self) -> None:
        self.acts: Mapping[str, frozenset[str]] = {}
        self._files: dict[str, Source] = {}
        self._fresh: set[str] = set()
        self._attributes: dict[type, frozenset[str]] = {}
        self._modules: list[ModuleType] = []
        self._unbound: dict[str, bool] = {}
        self._classes: dict[object, tuple[type, ...]] = {}

    def refresh(self) -> None:
        """Look again, once, which modules there are, and whether files have changed."""
        self._fresh.clear()
        self._attributes.clear()
        self._modules.clear()
        self._unbound.clear()
        self._classes.clear()

    def modules(self) -> list[ModuleType]:
        """Return the modules of the program."""
        if not self._modules:
            self._modules += own_modules()
        return self._modules

    def classes(self, wanted: Callable[[type], bool]) -> tuple[type, ...]:
        """Return the program's classes that a function of a module says are wanted."""
        if wanted not in self._classes:
            found: dict[type, None] = {}
            for module in self.modules():
                for one in list(vars(module).values()):
                    is_class = issubclass(type(one), type)  # it is not asked itself
                    if is_class and own_module_of(one) is not None and wanted(one):
                        found[one] = None
            self._classes[wanted] = tuple(found)
        return self._classes[wanted]

    def source(self, file: str, namespace: dict[str, object]) -> Source:
        """Return the file's source, without functions where there is none."""
        known = self._files.get(file)
        if known is not None and file in self._fresh:
            return known
        self._fresh.add(file)
        lines = _rewritten.get(file)
        if lines is None:
            linecache.checkcache(file)
            lines = linecache.getlines(file, namespace)
        # Another list may have the same lines: Tornado empties linecache whenever it
        # has made a template.
        if known is None or known.lines != lines:
            known = self._files[file] = _parse(file, lines)
        return known

    def is_unbound(self, name: str) -> bool:
        """Tell whether no code of the program may give anything that name.

        A global of that name that is not there will not be: to read it is an error.
        """
        if name not in self._unbound:
            bound = [
                self.source(file_of(one), vars(one)).bound for one in self.modules()
            ]
            self._unbound[name] = all(
                names is not None and name not in names for names in bound
            )
        return self._unbound[name]

    def lacks(self, module: ModuleType, name: str) -> bool:
        """Tell whether to read that attribute of a module is an error, now and later.

        Only of those of the program and of Python: others may make things later.
        """
        home = module.__name__
        known = (
            is_own_module(module) or home.partition(".")[0] in sys.stdlib_module_names
        )
        if not known or type(module) is not ModuleType or "__getattr__" in vars(module):
            return False
        if name in vars(module) or not self.is_unbound(name):
            return False
        if "__path__" not in vars(module):
            return True
        try:
            return importlib.util.find_spec(f"{home}.{name}") is None
        except (ImportError, ValueError):
            return False

    def definition(self, function: FunctionType) -> Definition | None:
        """Return where the function is defined, or None without source."""
        code = function.__code__
        source = self.source(code.co_filename, function.__globals__)
        found = source.functions.get((code.co_firstlineno, code.co_name), [])
        if len(found) > 1:
            positions = set(code.co_positions())
            found = [each for each in found if _place(each.node) in positions] or found
        return found[0] if found else None

    def assigned(self, cls: type) -> frozenset[str]:
        """Return the attributes that own methods assign on instances of the class."""
        if cls not in self._attributes:
            self._attributes[cls] = frozenset().union(
                *(
                    source.assigned.get(each.__qualname__, ())
                    for each in cls.__mro__
                    if (source := self._source_of(each)) is not None
                )
            )
        return self._attributes[cls]

    def are_rebound(self, cls: type, name: str) -> bool:
        """Return whether own methods assign the attribute in any way."""
        return name in self.assigned(cls) or any(
            name in source.added_to.get(each.__qualname__, ())
            for each in cls.__mro__
            if (source := self._source_of(each)) is not None
        )

    def _source_of(self, cls: type) -> Source | None:
        module = own_module_of(cls)
        if module is None:
            return None
        return self.source(file_of(module), module.__dict__)


def own_modules() -> list[ModuleType]:
    """Return the modules of the program, which takes a look at all that are loaded."""
    unique = {id(each): each for each in list(sys.modules.values())}
    return [each for each in unique.values() if is_own_module(each)]


def _parse(file: str, lines: list[str]) -> Source:
    """Return the source of a file; SyntaxError and the like give an empty one."""
    try:
        with warnings.catch_warnings():
            # The program saw them when it was compiled.
            warnings.simplefilter("ignore")
            tree = ast.parse("".join(lines))
        if file in _columns and lines is _rewritten[file]:
            _columns[file].move(tree)
        source = Source(lines, tree)
        _collect(source, file, tree, "", "", inside=False)
    except (SyntaxError, ValueError, RecursionError):
        return Source(lines)
    return source


def _collect(
    source: Source, file: str, node: ast.AST, prefix: str, owner: str, inside: bool
) -> None:
    """Put the definitions below a node into the source.

    Args:
        source: What has the node.
        file: Its file.
        node: A module, a class, a function or a part of one.
        prefix: What qualified names begin with there.
        owner: The class in whose body that is, or "".
        inside: Whether it is in a function.
    """
    for child in children(node):
        if isinstance(child, FunctionNode):
            name = getattr(child, "name", "<lambda>")
            found = Definition(child, f"{prefix}{name}", owner, file)
            decorators = getattr(child, "decorator_list", ())
            first_line = min([child.lineno, *(each.lineno for each in decorators)])
            source.functions.setdefault((first_line, name), []).append(found)
            if not inside:
                source.outermost.append(found)
            _collect(source, file, child, f"{prefix}{name}.<locals>.", "", inside=True)
        elif isinstance(child, ast.ClassDef):
            qualname = f"{prefix}{child.name}"
            assigned, added_to = _instance_attributes(child)
            source.assigned[qualname] = assigned
            source.added_to[qualname] = added_to
            _collect(source, file, child, f"{qualname}.", qualname, inside)
        else:
            _collect(source, file, child, prefix, owner, inside)


def _place(node: FunctionNode) -> tuple[int | None, ...]:
    """Return where the value of a lambda stands, as code objects say it."""
    last = node.body if isinstance(node, ast.Lambda) else node.body[-1]
    return (last.lineno, last.end_lineno, last.col_offset, last.end_col_offset)


def _instance_attributes(cls: ast.ClassDef) -> tuple[set[str], set[str]]:
    """Return what the methods assign on their first parameter; by `+=`, apart.

    `self.seen += [1]` changes a list of the class before it makes an attribute.
    """
    assigned: set[str] = set()
    added_to: set[str] = set()
    for method in cls.body:
        if not isinstance(method, _Function) or _is_class_method(method):
            continue
        parameters = [*method.args.posonlyargs, *method.args.args]
        if parameters:
            stored, added = _stored_on(parameters[0].arg, method)
            assigned.update(private(name, cls.name) for name in stored)
            added_to.update(private(name, cls.name) for name in added)
    return assigned, added_to


def private(name: str, owner: str) -> str:
    """Return the attribute that a name such as `__items` means in the class."""
    owner = owner.lstrip("_")
    if not owner or not name.startswith("__") or name.endswith("__"):
        return name
    return f"_{owner}{name}"


def as_written(name: str, owner: str) -> str:
    """Return what the class's own code calls an attribute: `private` undone."""
    written = name.removeprefix(f"_{owner.lstrip('_')}")
    return written if private(written, owner) == name else name


def _stored_on(name: str, method: _Function) -> tuple[set[str], set[str]]:
    augmented: set[int] = set()
    stored: set[str] = set()
    added_to: set[str] = set()
    # A statement comes before its target, so `augmented` knows the target in time.
    for node in walk(method):
        if isinstance(node, ast.AugAssign):
            augmented.add(id(node.target))
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and node.value.id == name
        ):
            (added_to if id(node) in augmented else stored).add(node.attr)
    return stored, added_to


def _is_class_method(method: _Function) -> bool:
    decorators = {getattr(each, "id", "") for each in method.decorator_list}
    implicit = method.name in {"__new__", "__init_subclass__", "__class_getitem__"}
    return implicit or not decorators.isdisjoint({"classmethod", "staticmethod"})

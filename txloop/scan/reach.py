"""Which functions of the program may run once requests are served.

What runs only before that, while modules are imported and the application is set up,
makes no read stale: workers are forked later. So a function counts unless it is proved
that it runs earlier or not at all: everything that names it calls it at once, in code
that is over by then; or it is a method that nothing names. The proof goes by names only
(`references`), and gives up where a program calls what it does not name.

Code is over before requests come if it is a module's own, or a function's that only
such code calls, up to the line where that first waits or runs the loop::

    config = load()                 # `load` runs at import

    async def main():
        fill(rates)                 # `fill` runs before the first wait
        Application(...).listen(80)
        while True:                 # from here on requests may come in
            refresh(rates)
            await asyncio.sleep(60)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.live_objects import class_attribute
from txloop.scan.member import class_at
from txloop.scan.references import SOME_CLASS, Reference, References
from txloop.scan.syntax import FUNCTIONS, children, last_name
from txloop.stm.origin import file_of, own_module_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

    from txloop.scan.references import Context
    from txloop.scan.source import Definition, Source
    from txloop.scan.syntax import FunctionNode

_HOOKS = ("do_", "handle_", "on_", "test", "visit_")
"""What names begin with that libraries put together."""

_DUCKS = frozenset(
    [
        *("close", "commit", "delete", "emit", "flush", "format", "get", "handle"),
        *("head", "items", "keys", "options", "patch", "post", "put"),
        *("log", "read", "readline", "rollback", "run", "send", "start", "stop"),
        *("values", "write", "writelines"),
    ]
)
"""Methods that libraries call on any object that they are given."""

_HARMLESS_DECORATORS = frozenset(
    [
        *("abstractmethod", "cache", "cached_property", "classmethod", "coroutine"),
        *("final", "lru_cache", "override", "property", "staticmethod", "wraps"),
    ]
)
"""Those that keep the function where its name finds it, and do not pass it on."""

_EXACT_BASES = frozenset(
    [
        *("abc", "asyncio", "builtins", "collections", "dataclasses", "enum", "json"),
        *("logging", "threading", "tornado", "txloop", "typing"),
    ]
)
"""Libraries whose classes call the methods that they have themselves, and no others."""

_CLASS_MAKING = frozenset({"__init_subclass__", "__prepare__", "__set_name__"})
_METACLASS_MAKING = _CLASS_MAKING | {"__init__", "__new__"}
"""What runs while a class is made; of a metaclass more does."""

_RUNS_LOOP = frozenset(
    {"run_forever", "run_sync", "run_until_complete", "serve_forever", "start"}
)
"""What may run the event loop, and so serve requests, before it returns."""

_OTHER_STARTERS = frozenset({"PeriodicCallback", "Process", "Thread", "Timer"})
"""What starts something else."""

_NEVER = 1 << 60

_Waits = ast.Await | ast.AsyncFor | ast.AsyncWith
_Loop = ast.For | ast.AsyncFor | ast.While


class Reach:
    """Tells which functions of some modules may run once requests are served.

    Args:
        modules: The modules of the program, with their sources.
        words: Names that stand elsewhere, such as in templates; None for any name.
    """

    def __init__(
        self,
        modules: Iterable[tuple[ModuleType, Source]],
        words: set[str] | None,
    ) -> None:
        self._named = References(
            texts=set(words or ()), prefixes={*_HOOKS}, anything=words is None
        )
        self._definitions: dict[tuple[str, str], list[Definition]] = {}
        self._names: dict[Context, str] = {}
        self._ends: dict[Context, int] = {}
        self._late: set[Context] = set()
        self._files: list[tuple[str, list[tuple[str, Context, int]]]] = []
        waiting = []
        for module, source in modules:
            self._named.add(source.references)
            self._files.append((file_of(module), source.references.stored))
            for definition in source.every():
                key = (definition.file, definition.qualname)
                self._definitions.setdefault(key, []).append(definition)
                self._names[definition.node] = _name(definition)
                waiting.append((definition, module))
        self._settle(waiting)

    def may_run(self, file: str, qualname: str, line: int) -> bool:
        """Tell whether the line of that function may run when requests are served."""
        found = self._definitions.get((file, qualname))
        # What is written where the code waits is written after that.
        return found is None or any(self._runs(each.node, line + 1) for each in found)

    def assigned_late(self) -> set[tuple[str, str, int]]:
        """Return attributes that may be assigned when requests are served, and where.

        Each with a file and a line. Constructors do not count.
        """
        return {
            (name, file, line)
            for file, found in self._files
            for name, context, line in found
            if getattr(context, "name", "") != "__init__"
            and self._runs(context, line + 1)
        }

    def _settle(self, waiting: list[tuple[Definition, ModuleType]]) -> None:
        """Find what may run late, until nothing more follows from that."""
        known = -1
        while known != len(self._late):
            known = len(self._late)
            for definition, module in waiting:
                node = definition.node
                if node not in self._late and self._is_late(definition, module):
                    self._late.add(node)

    def _runs(self, context: Context, line: int) -> bool:
        """Tell whether what is called there may run when requests are served."""
        if context in self._late:
            return True
        if context not in self._ends:
            self._ends[context] = self._end(context)
        return line > self._ends[context]

    def _is_late(self, definition: Definition, module: ModuleType) -> bool:
        node, name = definition.node, _name(definition)
        if isinstance(node, ast.Lambda) or _is_registered(node):
            return True
        inside = "<locals>" in definition.qualname and not definition.owner
        # A function in another one is called by its own name, or as a result.
        if not inside and (
            self._named.anything
            or name in self._named.texts
            or name.startswith(tuple(self._named.prefixes))
        ):
            return True
        uses = self._named.by_name.get(name, [])
        if definition.owner:
            cls = class_at(module.__dict__, definition.owner)
            if cls is not None and _makes_classes(cls, name):
                return self._named.made_inside
            if cls is None or _calls_itself(cls, name):
                return True
            if name == "__init__":
                if _is_made_by_others(cls) or "__subclasses__" in self._named.by_name:
                    return True
                uses = self._uses_of_class(cls)
            elif name.startswith("__") and name.endswith("__"):
                return True
        else:
            uses = list(self._uses(node, name))
            if not uses and not inside:
                return True  # an entry point, for all that is known
        return any(
            not place.calls or self._runs(place.context, place.line) for place in uses
        )

    def _uses(self, node: FunctionNode, name: str) -> Iterator[Reference]:
        """Yield the places that use a function: by its name, or as a result."""
        yield from self._named.by_name.get(name, [])
        outer = self._named.returned.get(node)
        if outer is None or isinstance(outer, (ast.Module, ast.Lambda)):
            return
        for place in self._uses(outer, outer.name):
            calls = max(place.calls - 1, 0)
            if calls or not place.dropped:
                yield Reference(place.context, place.line, calls, place.dropped)

    def _uses_of_class(self, cls: type) -> list[Reference]:
        """Return the places that may make objects of the class."""
        names, waiting = {SOME_CLASS}, [cls]
        while waiting:
            each = waiting.pop()
            names.add(each.__name__)
            waiting += type.__subclasses__(each)
        return [place for name in names for place in self._named.by_name.get(name, [])]

    def _end(self, context: Context) -> int:
        """Return the line after which the code may run beside requests."""
        if isinstance(context, ast.Lambda):
            return 0
        # What waits before the only line that opens a port waits for no request.
        listens = self._named.listens
        opens = listens.get(context, 0) if len(listens) == 1 else 0
        waits = _waits(context)
        return min((end for line, end in waits if line >= opens), default=_NEVER)


def _name(definition: Definition) -> str:
    return definition.qualname.rpartition(".")[2]


def _is_registered(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tell whether a decorator may keep the function for later calls."""
    for each in node.decorator_list:
        bare = each.func if isinstance(each, ast.Call) else each
        if last_name(bare) not in _HARMLESS_DECORATORS:
            return True
    return False


def _makes_classes(cls: type, name: str) -> bool:
    """Tell whether the class's method of that name runs where classes are made only."""
    return name in (_METACLASS_MAKING if issubclass(cls, type) else _CLASS_MAKING)


def _calls_itself(cls: type, name: str) -> bool:
    """Tell whether a base of the class that is a library's may call the method."""
    if name in _DUCKS or name.upper() in class_attribute(cls, "SUPPORTED_METHODS", ()):
        return True
    for base in cls.__mro__:
        if base is object or own_module_of(base) is not None:
            continue
        exact = base.__module__.partition(".")[0] in _EXACT_BASES
        if not exact or (name in base.__dict__ and name != "__init__"):
            return True
    return False


def _is_made_by_others(cls: type) -> bool:
    """Tell whether code of the program gets hold of the class as it is made."""
    if own_module_of(type(cls)) is not None:
        return True
    bases = [each for each in cls.__mro__ if own_module_of(each) is not None]
    return any("__init_subclass__" in each.__dict__ for each in bases)


def _waits(context: ast.AST) -> list[tuple[int, int]]:
    """Return the lines at which the code waits, and after which it is not over then.

    Code in a loop runs again; that of a generator runs when it is asked.
    """
    coroutine = isinstance(context, ast.AsyncFunctionDef) or any(
        last_name(each) == "coroutine"
        for each in getattr(context, "decorator_list", ())
    )
    found = []
    waiting: list[tuple[ast.AST, int]] = [
        (each, _NEVER) for each in getattr(context, "body", ())
    ]
    while waiting:
        node, end = waiting.pop()
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            continue
        if isinstance(node, _Loop):
            end = min(end, node.lineno - 1)
        if isinstance(node, ast.Yield | ast.YieldFrom) and not coroutine:
            return [(_NEVER, 0)]
        if isinstance(node, _Waits | ast.Yield | ast.YieldFrom) or _runs_loop(node):
            line = getattr(node, "lineno", 0)
            found.append((line, min(end, line)))
        waiting += ((each, end) for each in children(node))
    return found


def _runs_loop(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    owner = node.func.value
    maker = owner.func if isinstance(owner, ast.Call) else owner
    starts_other = last_name(maker) in _OTHER_STARTERS
    return node.func.attr in _RUNS_LOOP and not starts_other

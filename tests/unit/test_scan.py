"""What the scan finds in a program, and what it leaves alone.

Most cases are small programs in `scan_programs`. A comment `# KIND name` on a line is
what the scan must find there, and it must find nothing else. It starts at
`Handler.get`, or at the function `get` where there is no `Handler`.
"""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

import pytest
from tornado.web import Application

from tests.unit.scan_programs import (
    application,
    assignments,
    before,
    branches,
    calls,
    changes,
    classes,
    closures,
    contents,
    guarded,
    handed,
    harmless,
    reads,
    unlike,
)
from tests.unit.scan_programs.loading import (
    CONTAINERS,
    loading,
    marked,
    scan,
    scan_handler,
    told,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.unit.scan_programs.loading import Load

FAMILIES = (
    application,
    assignments,
    before,
    branches,
    calls,
    changes,
    classes,
    closures,
    contents,
    guarded,
    handed,
    harmless,
    reads,
    unlike,
)

CHANGING_METHODS = [
    *(("[]", name) for name in ["append", "clear", "extend", "insert", "pop"]),
    *(("[]", name) for name in ["remove", "reverse", "sort"]),
    *(("{}", name) for name in ["clear", "pop", "popitem", "setdefault", "update"]),
    *(("set()", name) for name in ["add", "discard", "difference_update"]),
    *(("deque()", name) for name in ["appendleft", "popleft", "rotate"]),
    ("bytearray()", "extend"),
    ("defaultdict(list)", "update"),
    ("Counter()", "subtract"),
    ("OrderedDict()", "move_to_end"),
    ("UserDict()", "update"),
    ("UserList()", "append"),
    ("ChainMap({})", "__setitem__"),
    ("array('i')", "append"),
    ("WeakSet()", "add"),
    ("StringIO()", "write"),
    ("BytesIO()", "seek"),
    ("RawConfigParser()", "add_section"),
    ("Calendar()", "setfirstweekday"),
    ("SequenceMatcher()", "set_seq2"),
    ("TopologicalSorter()", "add"),
    ("TopologicalSorter()", "prepare"),
    ("MimeTypes()", "add_type"),
    *(("scheduler()", name) for name in ["enter", "cancel", "run"]),
    ("WeakValueDictionary()", "setdefault"),
]

HOOKS = [
    "__init__",
    "initialize",
    "prepare",
    "set_default_headers",
    "get_current_user",
    "write_error",
]


def programs() -> Iterator[object]:
    """Return the programs, each under its family and name."""
    for family in FAMILIES:
        for name, source in family.PROGRAMS.items():
            yield pytest.param(source, id=f"{family.__name__[20:]}: {name}")
    for made, method in CHANGING_METHODS:
        source = f"""
        from array import array
        from calendar import Calendar
        from collections import *
        from configparser import RawConfigParser
        from difflib import SequenceMatcher
        from graphlib import TopologicalSorter
        from io import BytesIO, StringIO
        from mimetypes import MimeTypes
        from sched import scheduler
        from weakref import *
        it = {made}
        def get(value):
            return it.{method}(value)  # MUTATES_GLOBAL app.it
        """
        yield pytest.param(source, id=f"changes: {made}.{method}")
    for hook in HOOKS:
        source = f"""
        rows = []
        class Handler:
            def {hook}(self, *args, **kwargs):
                rows.append(1)  # MUTATES_GLOBAL app.rows
            def get(self):
                pass
        """
        yield pytest.param(source, id=f"hooks: {hook}")


@pytest.mark.parametrize("source", list(programs()))
def test_program(source: str, load: Load) -> None:
    load(CONTAINERS, "txloop.fake")
    module = load(source)

    assert marked(source) == told(scan(module))


class TestArguments:
    """What a handler is registered with is shared, and may be a container."""

    SOURCE = """
    class Handler:
        def initialize(self, database, *, limit=3):
            self.db = database
            self.limit = limit
        def get(self):
            self.db.append(self.limit)  # WRITES_APPLICATION initialize(database)
    """

    def test_plain_list_is_found(self, load: Load) -> None:
        handler = load(self.SOURCE).Handler

        found = scan_handler(handler, "get", {"database": []})

        assert marked(self.SOURCE) == told(found)

    def test_container_is_not(self, load: Load) -> None:
        shared = load(CONTAINERS, "txloop.fake").TDict()
        handler = load(self.SOURCE).Handler

        assert () == scan_handler(handler, "get", {"database": shared})

    def test_object_of_the_program_is_followed(self, load: Load) -> None:
        source = """
        class Store:
            def __init__(self):
                self.items = []
            def append(self, item):
                self.items += [item]  # WRITES_APPLICATION initialize(database).items
        class Handler:
            def initialize(self, database):
                self.database = database
            def get(self):
                self.database.append(1)
        """
        module = load(source)

        found = scan_handler(module.Handler, "get", {"database": module.Store()})

        assert marked(source) == told(found)

    def test_read_of_what_another_handler_changes(self, load: Load) -> None:
        source = """
        class Other:
            def initialize(self, rates):
                self.rates = rates
            def post(self):
                self.rates["usd"] = 1
        class Handler:
            def initialize(self, rates):
                self.rates = rates
            def get(self):
                return self.rates["usd"]  # READS_WRITTEN initialize(rates)
        """

        found = scan_handler(load(source).Handler, "get", {"rates": {}})

        assert marked(source) == told(found)

    def test_argument_that_initialize_does_not_know(self, load: Load) -> None:
        handler = load(self.SOURCE).Handler

        assert () == scan_handler(handler, "get", {"other": []})


def test_what_logging_writes(tmp_path: Path) -> None:
    with loading(tmp_path) as load:
        found = told(scan(load(handed.LOGGING)))
    gc.collect()  # the handlers go with their module

    assert marked(handed.LOGGING) == found


def test_a_template_with_many_names_is_looked_at_once_for_each_object(
    load: Load,
) -> None:
    """Were each name looked up in what another one leads to, it would take hours."""
    names = "".join(f"{{{{ one.name{n}.clear() }}}}" for n in range(100))
    source = f"""
    from tornado.template import Template
    class Node:
        pass
    node, *others = [Node() for _ in range(9)]
    node.rows = []
    for one in others:
        vars(node).update({{f"name{{n}}": one for n in range(100)}})
        vars(one).update({{f"name{{n}}": node for n in range(100)}})
    page = Template("{names}{{{{ one.rows.clear() }}}}")
    class Handler:
        def get(self):
            page.generate(one=node)  # MUTATES_GLOBAL app.node.rows
    """

    assert marked(source) == told(scan(load(source)))


def test_what_a_template_in_a_file_does(tmp_path: Path, load: Load) -> None:
    source = """
    rows, names = [1], []
    class Handler:
        def get(self):
            self.render("page.html", rows=rows, names=names)  # MUTATES_GLOBAL app.rows
    """
    (tmp_path / "page.html").write_text("{{ rows.pop() }} names.pop() {{ names }}")

    assert marked(source) == told(scan(load(source)))


class TestApplication:
    """Where the application is given, what it holds decides, not the source."""

    SOURCE = """
    class Handler:
        def get(self):
            self.application.games["a"] = 1  # WRITES_APPLICATION application.games
            self.settings["c"]["a"] = 1  # WRITES_APPLICATION application.settings["c"]
    """

    def test_plain_objects_are_found(self, load: Load) -> None:
        app = Application([], c={})
        vars(app)["games"] = {}

        found = scan_handler(load(self.SOURCE).Handler, "get", application=app)

        assert marked(self.SOURCE) == told(found)

    def test_containers_are_not(self, load: Load) -> None:
        shared = load(CONTAINERS, "txloop.fake").TDict()
        app = Application([], c=shared)
        vars(app)["games"] = shared

        found = scan_handler(load(self.SOURCE).Handler, "get", application=app)

        assert () == found

    def test_methods_of_the_program_are_followed(self, load: Load) -> None:
        source = """
        from tornado.web import Application
        class App(Application):
            hits = 0
            def note(self):
                self.hits += 1  # WRITES_APPLICATION application.hits
        class Handler:
            def get(self):
                self.application.note()
        """
        module = load(source)

        found = scan_handler(module.Handler, "get", application=module.App())

        assert marked(source) == told(found)

    def test_read_of_what_another_handler_changes(self, load: Load) -> None:
        source = """
        class Other:
            def get(self):
                self.application.users.append(1)
        class Handler:
            def get(self):
                return self.application.users  # READS_WRITTEN application.users
        """
        app = Application()
        vars(app)["users"] = []

        found = scan_handler(load(source).Handler, "get", application=app)

        assert marked(source) == told(found)


class TestModules:
    """State, and what writes it, may be anywhere in the program."""

    def test_state_of_another_module(self, load: Load) -> None:
        load("rows = []\nhits = 0", "state")
        source = """
        import state
        from state import rows
        def get():
            rows.append(1)  # MUTATES_GLOBAL app.rows
            state.rows.append(1)  # MUTATES_GLOBAL state.rows
            state.hits += 1  # WRITES_GLOBAL state.hits
        """

        assert marked(source) == told(scan(load(source)))

    def test_read_of_what_another_module_changes(self, load: Load) -> None:
        load("rates = {}", "state")
        load("import state\ndef refresh():\n    state.rates['usd'] = 1", "feed")
        source = """
        from state import rates
        def get():
            return rates["usd"]  # READS_WRITTEN app.rates
        """

        assert marked(source) == told(scan(load(source)))

    def test_change_in_a_called_module_is_told_where_it_stands(
        self, load: Load
    ) -> None:
        load("rows = []\ndef note():\n    rows.append(1)", "state")
        module = load("import state\ndef get():\n    state.note()")

        (finding,) = scan(module)

        assert ("state.rows", 3, "note") == (
            finding.name,
            finding.line,
            finding.function,
        )
        assert finding.file.endswith("state.py")

    def test_new_writer_is_seen(self, load: Load) -> None:
        """The index of a module follows the module."""
        load("rates = {}", "state")
        app = load("import state\ndef get():\n    return state.rates")
        before = scan(app)
        load("rates = {}\ndef refresh():\n    rates.clear()", "state")

        assert ((), ["state.rates"]) == (before, [each.name for each in scan(app)])

    def test_module_of_a_library_is_not_scanned(self, load: Load) -> None:
        load("rows = []\ndef note():\n    rows.append(1)", "site-packages/lib")
        sys.modules["lib"] = sys.modules["site-packages/lib"]
        module = load("import lib\ndef get():\n    lib.note()\n    return lib.rows")

        found = scan(module)
        del sys.modules["lib"]

        assert () == found

    def test_metaclass_is_not_asked_for_attributes(self, load: Load) -> None:
        module = load(
            """
            asked = []
            class Meta(type):
                def __getattr__(cls, name):
                    asked.append(name)
                    raise AttributeError(name)
            class Box(metaclass=Meta):
                def on(self): pass
            box = Box()
            def get():
                box.on()
                return Box()
            """
        )

        scan(module)

        assert [] == module.asked

    def test_program_that_is_run_as_a_script(
        self, load: Load, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        module = load("class Handler:\n    n = 0\n    def get(self): Handler.n = 1")
        module.__name__ = module.Handler.__module__ = "__main__"
        monkeypatch.setitem(sys.modules, "__main__", module)

        assert [("WRITES_CLASS", "app.Handler.n", 3)] == told(scan(module))

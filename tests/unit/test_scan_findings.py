"""What can be scanned, what cannot, and what a finding says."""

from __future__ import annotations

import functools
import pickle
from typing import TYPE_CHECKING

import pytest

import txloop
from tests.unit.scan_programs.loading import scan, told
from txloop.scan import Finding, FindingKind, scan_function

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.scan_programs.loading import Load


class TestCallables:
    """Whatever can be called can be scanned."""

    SOURCE = """
    class Store:
        rows = []
        def __init__(self):
            self.count = 0
        def note(self):
            self.count += 1
        @staticmethod
        def add():
            Store.rows.append(1)
        @classmethod
        def clear(cls):
            cls.rows.clear()
    """

    def test_bound_method(self, load: Load) -> None:
        store = load(self.SOURCE).Store()

        assert [("MUTATES_GLOBAL", "app.Store.count", 7)] == told(
            scan_function(store.note)
        )

    def test_method_of_an_unknown_object(self, load: Load) -> None:
        """The object may be a new one: only its class is known to be shared."""
        assert () == scan_function(load(self.SOURCE).Store.note)

    def test_static_method(self, load: Load) -> None:
        assert [("WRITES_CLASS", "app.Store.rows", 10)] == told(
            scan_function(load(self.SOURCE).Store.add)
        )

    def test_class_method(self, load: Load) -> None:
        assert [("WRITES_CLASS", "app.Store.rows", 13)] == told(
            scan_function(load(self.SOURCE).Store.clear)
        )

    def test_class(self, load: Load) -> None:
        assert () == scan_function(load(self.SOURCE).Store)

    def test_partial(self, load: Load) -> None:
        module = load("def note(rows):\n    rows.append(1)")

        found = scan_function(functools.partial(module.note, []))

        assert [("MUTATES_GLOBAL", "app.note", 2)] == told(found)

    @pytest.mark.parametrize(
        ("made", "found"),
        [
            ("partial(put, ROWS)", [("MUTATES_GLOBAL", "app.ROWS", 5)]),
            ("partial(partial(put, ROWS))", [("MUTATES_GLOBAL", "app.ROWS", 5)]),
            ("partial(Rows.put, ROWS)", [("MUTATES_GLOBAL", "app.ROWS", 9)]),
            ("partial(put, one=ROWS, rows=[])", []),
            ("partial(put, rows=ROWS)", [("MUTATES_GLOBAL", "app.ROWS", 5)]),
            ("partial(put, **{'rows': ROWS})", [("MUTATES_GLOBAL", "app.ROWS", 5)]),
            ("partial(put, *[ROWS])", [("MUTATES_GLOBAL", "app.ROWS", 5)]),
            ("partial(put, [])", []),
        ],
    )
    def test_partial_that_is_called(
        self, load: Load, made: str, found: list[object]
    ) -> None:
        source = f"""
        from functools import partial
        ROWS = []
        def put(rows, one):
            rows.append(one)
        class Rows:
            @classmethod
            def put(cls, rows, one):
                rows.append(one)
        def get(name):
            then = {made}
            then(name)
        """
        assert found == told(scan_function(load(source).get, ["a"]))


class TestArguments:
    """What a call is given is looked at where the call is given."""

    SOURCE = """
    import txloop
    from txloop.transaction import threadlocalproperty
    class Row:
        scratch = threadlocalproperty(list)
        def __init__(self):
            self.count = 0
            self.parts = []
        def take(self, other):
            other.append(1)
    def fill(rows, *, more=None):
        rows.append(1)
    def look(rows, limit):
        return rows[:limit]
    def count(row):
        row.count += 1
    def through(row):
        count(row)
    def nested(rows):
        for key, each in rows.items():
            each.add(key)
    def extend(*, rows):
        rows.extend([1, 2])
    def shared(rows):
        rows[1] = 2
    def note(row):
        row.scratch = [1]
    """

    @pytest.mark.parametrize(
        ("name", "args", "found"),
        [
            ("fill", [[]], [("WRITES_ARGUMENT", "rows", 12)]),
            ("look", [[], 2], []),
            ("count", ["Row"], [("WRITES_ARGUMENT", "row.count", 16)]),
            ("through", ["Row"], [("WRITES_ARGUMENT", "row.count", 16)]),
            ("nested", [{1: {2}}], [("WRITES_ARGUMENT", "rows", 21)]),
            ("shared", [{}], [("WRITES_ARGUMENT", "rows", 25)]),
            ("shared", [txloop.TDict()], []),
            ("note", ["Row"], []),
        ],
    )
    def test_positional(
        self, load: Load, name: str, args: list[object], found: list[object]
    ) -> None:
        module = load(self.SOURCE)
        things = [module.Row() if one == "Row" else one for one in args]

        assert found == told(scan_function(getattr(module, name), things))

    def test_keyword(self, load: Load) -> None:
        found = scan_function(load(self.SOURCE).extend, (), {"rows": []})

        assert [("WRITES_ARGUMENT", "rows", 23)] == told(found)

    def test_method_and_partial(self, load: Load) -> None:
        module = load(self.SOURCE)

        expected = [("WRITES_ARGUMENT", "other", 10)]
        assert expected == told(scan_function(module.Row().take, [[]]))
        preset = functools.partial(module.Row.take, None)
        assert expected == told(scan_function(preset, [[]]))


class TestOddCode:
    """What cannot be read gives nothing, and never an error."""

    @pytest.mark.parametrize("function", [len, [].index, functools.partial(print)])
    def test_function_in_c(self, function: Callable[..., object]) -> None:
        assert () == scan_function(function)

    def test_function_without_source(self) -> None:
        namespace: dict[str, Callable[[], object]] = {}
        exec("hits = 0\ndef get():\n    global hits\n    hits = 1", namespace)

        assert () == scan_function(namespace["get"])

    def test_file_that_is_gone(self, load: Load, tmp_path: Path) -> None:
        module = load("rows = []\ndef get():\n    rows.append(1)")
        (tmp_path / "app.py").unlink()

        assert () == scan(module)

    def test_file_that_no_longer_parses(self, load: Load, tmp_path: Path) -> None:
        module = load("rows = []\ndef get():\n    rows.append(1)")
        (tmp_path / "app.py").write_text("def get(:\n")

        assert () == scan(module)

    def test_expression_as_deep_as_the_stack(self, load: Load) -> None:
        """The rest of that function is not scanned; what called it is."""
        module = load(
            "rows = []\ndef note():\n    return "
            + " + ".join(["1"] * 900)
            + "\ndef get():\n    note()\n    rows.append(1)"
        )

        assert ["app.rows"] == [each.name for each in scan(module)]

    def test_chain_of_calls_as_long_as_the_stack(self, load: Load) -> None:
        links = [f"def f{n}():\n    f{n + 1}()\n" for n in range(300)]
        last = "def f300():\n    rows.append(1)\n"
        module = load("".join(["rows = []\n", *links, last, "get = f0"]))

        assert ["app.rows"] == [each.name for each in scan(module)]

    def test_objects_are_not_asked(self, load: Load) -> None:
        """A proxy may run any code when it is looked at."""
        module = load("""
        class Proxy:
            def __getattribute__(self, name):
                raise AssertionError(name)
        proxy = Proxy()
        def get():
            proxy.count = 1
            proxy[0] = 1
            proxy.rows.append(proxy())
            return next(proxy), str(proxy), [each for each in proxy]
        """)

        assert ["app.proxy.count"] == [each.name for each in scan(module)]

    def test_verb_that_is_missing(self, load: Load) -> None:
        module = load("class Handler:\n    pass")

        assert () == scan(module)


class TestFindings:
    """A finding says where, what, and what to do."""

    def test_it_is_one_line_with_the_remedy(
        self, load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        module = load("""\
        cache = {}
        class Handler:
            def get(self):
                cache["a"] = 1
        """)

        (finding,) = scan(module)

        assert (
            "app.py:4: Handler.get() changes the module-level app.cache; make this "
            "dict a txloop.TDict, or mark with @transactional(trust=True) if each "
            "worker may keep its own copy"
        ) == str(finding)

    def test_a_read_names_the_writer(
        self, load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        module = load("""\
        db = None
        def main():
            global db
            db = 1
        def get():
            return db
        """)

        (finding,) = scan(module)

        assert (
            "app.py:6: get() reads what other code writes, app.db; main() writes it "
            "at app.py:4: keep the value in a txloop.TVar, or mark with "
            "@transactional(trust=True) if it is written before the first request only"
        ) == finding.describe()

    def test_a_file_elsewhere_keeps_its_path(self) -> None:
        finding = Finding(FindingKind.WRITES_GLOBAL, "a.b", "/x/a.py", 3, "f", "wait")

        assert "/x/a.py:3: f() assigns the module-level a.b; wait" == str(finding)

    @pytest.mark.parametrize(
        ("made", "remedy"),
        [
            ("{}", "make this dict a txloop.TDict"),
            ("Counter()", "make this Counter a txloop.TCounterDict"),
            ("[]", "an immutable tuple in a txloop.TVar"),
            ("deque()", "make this deque a txloop.TDeque"),
            ("set()", "an immutable frozenset in a txloop.TVar"),
            ("count()", "make this count a txloop.TCount"),
            ("map(int, '12')", "keep the next value in a txloop.TVar"),
            ("0", "keep the value in a txloop.TVar"),
        ],
    )
    def test_the_remedy_fits_the_object(
        self, made: str, remedy: str, load: Load
    ) -> None:
        module = load(f"""
        from collections import *
        from itertools import count
        it = {made}
        def get():
            global it
            it = None
        """)

        (finding,) = scan(module)

        assert remedy in finding.remedy
        assert "@transactional(trust=True)" in finding.remedy

    def test_they_are_sorted_and_told_once(self, load: Load) -> None:
        load("rows = []\ndef note():\n    rows.append(1)", "a")
        module = load("""
        import a
        rows, names = [], []
        def get():
            a.note()
            last()
            names.append(rows.append(1)); rows.append(2)
            a.note()
        def last():
            rows.append(3)
        """)

        found = [(each.name, each.line) for each in scan(module)]

        assert [
            ("a.rows", 3),
            ("app.names", 7),
            ("app.rows", 7),
            ("app.rows", 10),
        ] == found

    def test_they_pickle(self, load: Load) -> None:
        findings = scan(load("rows = []\ndef get():\n    rows.append(1)"))

        assert findings
        assert findings == pickle.loads(pickle.dumps(findings))


def test_a_second_scan_reads_no_file_again(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scan is quick once the index exists: it parses nothing."""
    module = load("rows = []\ndef get():\n    rows.append(1)")
    first = scan(module)
    monkeypatch.setattr("ast.parse", None)

    assert first == scan(module)

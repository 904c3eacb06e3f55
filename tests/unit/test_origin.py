"""Whose code it is."""

from __future__ import annotations

import collections
import importlib
import importlib.util
import json
import os
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import tornado.web
from tornado.web import Application, RequestHandler

import txloop
from conflict_log.web import ConflictLogHandler
from txloop.stm import origin
from txloop.stm.origin import (
    Owner,
    claim,
    is_own_function,
    is_own_module,
    own_module_of,
    owner_of,
)
from txloop.web.targets import register_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Install = Callable[[str, str], types.ModuleType]

SOURCE = """
class Handler: ...
def work(): ...
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Give a function that installs a module, and imports it."""
    folder = tmp_path / "lib" / "site-packages"
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(origin, "_claimed", frozenset())
    before = set(sys.modules)

    def install_module(name: str, source: str = SOURCE) -> types.ModuleType:
        file = folder.joinpath(*name.split(".")).with_suffix(".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    origin._owners.clear()
    yield install_module
    origin._owners.clear()
    for name in set(sys.modules) - before:
        del sys.modules[name]


def owned(module: types.ModuleType) -> set[bool]:
    """Return what the four questions answer about a module of `SOURCE`."""
    file = origin.file_of(module)
    return {
        is_own_module(module),
        is_own_function(module.work),
        own_module_of(module.Handler) is module,
        owner_of(file) is Owner.PROGRAM,
    }


def test_an_installed_package_is_a_library(install: Install) -> None:
    module = install("pkg.views", SOURCE)

    assert {False} == owned(module)


def test_what_pip_has_put_beside_the_program_is_a_library(tmp_path: Path) -> None:
    # GIVEN
    records = {
        "requests-2.dist-info": "requests/api.py,sha256=x,9\n",
        "six-1.dist-info": "six.py,sha256=x,9\n../../bin/six,,\n",
        "lost-1.dist-info": None,
    }
    for folder, record in records.items():
        (tmp_path / folder).mkdir()
        if record is not None:
            (tmp_path / folder / "RECORD").write_text(record)

    # WHEN
    files = ("requests/api.py", "requests/adapters.py", "six.py", "app.py", "lost/a.py")
    owners = [owner_of(str(tmp_path / file)) for file in files]

    # THEN
    library, program = Owner.LIBRARY, Owner.PROGRAM
    assert [library, library, library, program, program] == owners


def test_a_claim_takes_effect_after_an_answer(install: Install) -> None:
    module, sibling = install("pkg.views", SOURCE), install("pkg.models", SOURCE)
    other = install("pkg_two.views", SOURCE)
    before = owned(module)

    claim("pkg.views")

    assert [{False}, {True}, {True}, {False}] == [
        before,
        owned(module),
        owned(sibling),
        owned(other),
    ]


def test_a_module_that_is_one_file(install: Install) -> None:
    module, other = install("alone", SOURCE), install("lonely", SOURCE)

    claim("alone")

    assert [{True}, {False}] == [owned(module), owned(other)]


def test_a_package_that_is_not_imported_yet(install: Install) -> None:
    claim("later.app")

    assert {True} == owned(install("later.app", SOURCE))


def test_a_marked_function_claims_its_package(install: Install) -> None:
    module = install("pkg.views", SOURCE)

    txloop.transactional(module.work)

    assert {True} == owned(module)


def test_a_mounted_handler_claims_its_package_and_its_bases(install: Install) -> None:
    module = install(
        "pkg.views",
        "from tornado.web import RequestHandler\n"
        "class Handler(RequestHandler): ...\ndef work(): ...",
    )
    mine = type("Mine", (module.Handler,), {"__module__": __name__})
    application = Application([("/", mine)])

    register_all()

    assert application
    assert {True} == owned(module)


def test_the_main_script_claims_its_package(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = install("pkg.views", SOURCE)
    main = types.ModuleType("__main__")
    main.__file__ = os.path.join(os.path.dirname(origin.file_of(module)), "__main__.py")
    monkeypatch.setitem(sys.modules, "__main__", main)

    claim("__main__")

    assert {True} == owned(module)


@pytest.mark.parametrize(
    "thing",
    [
        json.JSONDecoder,
        RequestHandler,
        txloop.TDict,
        ConflictLogHandler,
    ],
)
def test_libraries_cannot_be_claimed(thing: type) -> None:
    claim(thing.__module__)

    assert own_module_of(thing) is None
    assert owner_of(origin.file_of(sys.modules[thing.__module__])) is not Owner.PROGRAM


def test_what_lies_elsewhere_is_the_programs() -> None:
    assert owner_of(__file__) is Owner.PROGRAM
    assert owner_of("app.py") is Owner.PROGRAM


def test_files_that_do_not_exist_are_nobodys() -> None:
    assert owner_of("<string>") is Owner.LIBRARY
    assert owner_of("<frozen importlib._bootstrap>") is Owner.LIBRARY


def test_classes_of_a_plugin_that_no_module_lists_are_the_programs(
    tmp_path: Path,
) -> None:
    file = tmp_path / "plugin.py"
    file.write_text("class Base:\n    rows = {}\n" + SOURCE.replace("...", "x = []"))
    spec = importlib.util.spec_from_file_location("a_plugin", file)
    assert spec is not None
    assert spec.loader is not None
    plugin = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plugin)

    assert own_module_of(plugin.Base) is not None
    assert own_module_of(plugin.Handler) is own_module_of(plugin.Handler)


def test_what_exec_makes_in_a_bare_namespace_is_the_programs() -> None:
    namespace: dict[str, type] = {}
    exec("class A:\n    def get(self): pass\nclass B:\n    x = 1", namespace)
    made = namespace["A"], namespace["B"]

    assert all(own_module_of(each) is not None for each in made)
    assert is_own_function(vars(made[0])["get"])


@pytest.mark.parametrize(
    "cls", [int, type, ExceptionGroup, types.SimpleNamespace, json.JSONEncoder]
)
def test_classes_of_python_are_not_the_programs(cls: type) -> None:
    assert own_module_of(cls) is None


def test_what_python_makes_for_a_namedtuple_is_not_the_programs() -> None:
    made = collections.namedtuple("made", "a b")

    assert not is_own_function(made.__new__)  # type: ignore[arg-type] # it is one


def test_txloop_and_tornado() -> None:
    assert owner_of(origin.__file__) is Owner.TXLOOP
    assert owner_of(tornado.web.__file__) is Owner.LIBRARY
    assert own_module_of(Path) is None

"""What is relied upon of Tornado is there, and nothing is relied upon in silence."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

import pytest
import tornado
from tornado.http1connection import HTTP1ServerConnection
from tornado.web import RequestHandler

from tests.unit.test_patches import parameters
from txloop.loop import tornado_private as of_loops
from txloop.loop.patches import PATCHES
from txloop.watch import code as code_of_programs
from txloop.watch import kinds
from txloop.web import tornado_private as of_requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from txloop.loop.tornado_private import Private

TXLOOP = Path(__file__).parents[2] / "txloop"
ROOMS = ("loop", "web", "check")

ROWS = (*of_loops.PRIVATE, *of_requests.PRIVATE)

OTHERS = {"_exit", "_getframe", "_name", "_read", "_stream"}
"""Names of the standard library's, or our own, that Tornado happens to use, too."""

PRIVATE_NAME = re.compile(r"_[a-z]\w*")


def row_name(row: Private) -> str:
    return f"{getattr(row.owner, '__name__', row.owner)}.{row.name}"


def stock(row: Private) -> object:
    """Return what Tornado itself has under a name, whether patched or not."""
    for one in PATCHES:
        if one.owner is row.owner and one.name == row.name:
            return one.stock
    return inspect.unwrap(getattr(row.owner, row.name))


def names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)
        elif isinstance(constant, str):
            yield constant


def names_of(cls: type) -> Iterator[str]:
    """Yield the names that the methods of a class use, and its annotations."""
    for each in cls.__mro__[:-1]:
        yield from vars(each).get("__annotations__", ())
        for thing in vars(each).values():
            function = thing.fget if isinstance(thing, property) else thing
            function = inspect.unwrap(function) if callable(function) else function
            if isinstance(function, FunctionType):
                yield from names_in(function.__code__)


@pytest.mark.parametrize(
    "row", [row for row in ROWS if not row.of_objects], ids=row_name
)
def test_it_is_there_and_takes_what_it_is_said_to_take(row):
    if row.takes is None:
        assert hasattr(row.owner, row.name)
    else:
        taken = parameters(stock(row))

        assert row.takes == taken


@pytest.mark.parametrize("row", [row for row in ROWS if row.of_objects], ids=row_name)
def test_the_code_of_the_class_uses_it(row):
    used = set(names_of(row.owner))

    assert row.name in used


def test_the_task_of_a_connection_has_what_is_looked_for_in_it():
    serve = HTTP1ServerConnection._server_request_loop

    assert inspect.iscoroutinefunction(serve)
    assert serve.__qualname__ == "HTTP1ServerConnection._server_request_loop"
    assert {"self", "conn"} <= {*serve.__code__.co_varnames}


def test_the_task_of_a_request_has_what_is_looked_for_in_it():
    execute = RequestHandler._execute

    assert inspect.iscoroutinefunction(execute)
    assert "self" in execute.__code__.co_varnames


def _known_by_name() -> Iterator[tuple[str, str]]:
    for table in (kinds._HELD, kinds._HELD_NEAR, kinds._HARMLESS, kinds._TEMPLATES):
        for module, names in table.items():
            yield from ((module, name) for name in names)


@pytest.mark.parametrize(
    ("module", "name"),
    sorted(
        (module, name)
        for module, name in (*_known_by_name(), *code_of_programs._CALLED_BY_NAME)
        if module.startswith("tornado.")
    ),
)
def test_what_the_watch_knows_by_name_is_there(module, name):
    found = importlib.import_module(module)

    assert name == "*" or isinstance(getattr(found, name), type)


# Completeness


def words_of_tornado() -> set[str]:
    """Return the private names in Tornado's source."""
    folder = Path(tornado.__file__).parent
    files = [*folder.glob("*.py"), *folder.glob("platform/*.py")]
    return {
        word for file in files for word in PRIVATE_NAME.findall(file.read_text("utf-8"))
    }


def used_of_others(tree: ast.Module) -> Iterator[str]:
    """Yield the private names by which a module speaks of other objects."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name("self" | "cls")):
                pass
            case (
                ast.Attribute(attr=name)
                | ast.Constant(value=str(name))
                | ast.alias(name=name)
            ):
                if PRIVATE_NAME.fullmatch(name):
                    yield name


def test_every_private_name_that_is_used_is_in_a_list():
    # GIVEN
    listed = {row.name for row in ROWS} | {row.name for row in PATCHES}
    used = {
        (str(path.relative_to(TXLOOP)), name)
        for room in ROOMS
        for path in sorted((TXLOOP / room).rglob("*.py"))
        for name in used_of_others(ast.parse(path.read_text()))
    }

    # THEN
    words = words_of_tornado()
    unknown = {
        (file, name) for file, name in used if name in words and name not in listed
    }
    assert set() == {(file, name) for file, name in unknown if name not in OTHERS}


def test_every_name_in_the_lists_is_used():
    # GIVEN
    lists = {"tornado_private.py", "patches.py"}
    text = "".join(
        path.read_text()
        for room in ROOMS
        for path in (TXLOOP / room).rglob("*.py")
        if path.name not in lists
    )

    # THEN
    aliases = {
        "_HandlerDelegate",
        "_has_stream_request_body",
        "_UIModuleNamespace",
        "_HTTPRequestContext",
        "__init__",
    }
    words = set(re.findall(r"\w+", text))
    assert set() == {row.name for row in ROWS} - words - aliases


def test_what_is_private_in_a_module_is_imported_by_the_list_alone():
    found = {
        str(path.relative_to(TXLOOP))
        for path in TXLOOP.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith("tornado")
        and any(alias.name.startswith("_") for alias in node.names)
    }

    assert {"web/tornado_private.py"} == found

"""The table of all options: made from the code, and what the page has.

``python -m tests.docs.test_options`` prints what belongs there.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import txloop
from txloop.__main__ import _parser
from txloop.loop.options import Options

if TYPE_CHECKING:
    import argparse

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "options.md"

_ENTRY = re.compile(r"^ {4}(\w+): (.*?)(?=^ {4}\w+: |^\w|^$|\Z)", re.DOTALL | re.M)

OF_INSTALL = list(inspect.signature(txloop.install).parameters)
OF_COMMANDS = {"transactional", "on_error", "debug"}


def described(function) -> dict[str, str]:
    """Return what a docstring says of each argument, as Markdown in one line."""
    text = inspect.cleandoc(function.__doc__)
    section = text.split("Args:\n")[1].split("\nRaises:")[0]
    entries = {name: " ".join(what.split()) for name, what in _ENTRY.findall(section)}
    return {name: what.replace("``", "`") for name, what in entries.items()}


def actions() -> dict[str, argparse.Action]:
    """Return the command's options by the names that the code has for them."""
    return {one.dest: one for one in _parser()._actions if one.option_strings}


def flag_of(name: str) -> str:
    action = actions().get(name)
    if action is None:
        return ""
    metavar = f" {action.metavar}" if action.metavar and action.nargs is None else ""
    return f"`{action.option_strings[-1]}{metavar}`"


def rows_of_install() -> list[str]:
    what = described(txloop.install)
    # `IOLoop.configure` alone leaves signals to the program.
    defaults = {**asdict(Options()), "signals": True}
    return [
        f"| `{name}` | `TXLOOP_{name.upper()}` | {flag_of(name)} | "
        f"`{defaults[name]!r}` | {what[name]} |"
        for name in OF_INSTALL
    ]


def rows_of_commands() -> list[str]:
    rows = []
    for name, action in actions().items():
        if name in OF_INSTALL or name == "help":
            continue
        variable = f"`TXLOOP_{name.upper()}`" if name in OF_COMMANDS else ""
        what = str(action.help).replace("*", r"\*")
        rows.append(f"| {flag_of(name)} | {variable} | {what} |")
    return rows


def rows_of_marks() -> list[str]:
    what = described(txloop.transactional)
    parameters = inspect.signature(txloop.transactional).parameters
    return [
        f"| `{name}` | `{parameters[name].default!r}` | {what[name]} |"
        for name in parameters
        if name != "target"
    ]


TABLES = {
    "| option | variable | command | default | what it does |": rows_of_install,
    "| command | variable | what it does |": rows_of_commands,
    "| option of a mark | default | what it does |": rows_of_marks,
}


@pytest.mark.parametrize("heading", TABLES)
def test_the_table_of_the_page_is_what_the_code_says(heading):
    lines = PAGE.read_text().splitlines()
    start = lines.index(heading) + 2
    end = next(
        (n for n in range(start, len(lines)) if not lines[n].startswith("|")),
        len(lines),
    )

    assert TABLES[heading]() == lines[start:end]


def test_each_option_can_be_given_in_all_three_ways():
    assert OF_INSTALL == [one.name for one in fields(Options)]
    assert set(OF_INSTALL) <= actions().keys()


def test_each_variable_that_is_read_is_on_the_page():
    read = {
        name
        for path in (ROOT / "txloop").rglob("*.py")
        for name in re.findall(r"\bTXLOOP_[A-Z]+(?:_[A-Z]+)*\b", path.read_text())
    }

    assert {name for name in read if name not in PAGE.read_text()} == set()


if __name__ == "__main__":
    for heading, rows in TABLES.items():
        print(heading, *rows(), "", sep="\n")  # noqa: T201 # to be pasted
